// What is wrong with a target: why, since when, the last good run, what to try.

import { h } from '../dom.js';
import { address } from '../route.js';
import { line } from '../text.js';
import { known, t } from '../words.js';
import { since } from './mark.js';
import { runButtons } from './work.js';
import { may } from '../session.js';

const ADVICE = { shape: 'parser', gone: 'edit', cooldown: 'hosts', rate: 'edit', challenge: 'edit', adapter: 'parser' };

/** The whole of it, for the page of the target. */
export function diagnosis(code, health) {
	const trouble = health?.trouble;
	if (!trouble) return null;
	return h(
		'section',
		{ class: 'card diagnosis', 'aria-label': t('trouble') },
		h('h2.tone-bad', t('trouble.title', { n: trouble.failures })),
		h('dl.facts',
			fact(t('trouble.why'), [line(trouble.why, 600), trouble.class ? [' ', h('span.pill.bad', known('class', trouble.class))] : null]),
			fact(t('trouble.since'), since(trouble.since)),
			fact(t('trouble.good'), health.last_good_run ? since(health.last_good_run) : t('never')),
			fact(t('trouble.try'), adviceOf(trouble.advice)),
		),
		h('div.row', next(code, trouble.advice), may('run') ? runButtons(code, false) : null),
	);
}

/** What to try, in the language of the page where it has words for it. */
export function adviceOf(advice) {
	if (!advice) return null;
	return known('advice', advice.code, line(advice.text, 600));
}

function next(code, advice) {
	const to = ADVICE[advice?.code];
	if (to === 'parser') return h('a.button.primary', { href: address(['targets', code, 'parser']) }, t('workbench'));
	if (to === 'hosts') return h('a.button.primary', { href: '#/monitoring/hosts' }, t('monitoring.hosts'));
	return null;
}

const fact = (name, value) => h('div', h('dt', name), h('dd', value));
