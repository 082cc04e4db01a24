// What the page says by itself: short notices, problems in full, empty places with the next step.

import { h, put } from '../dom.js';
import { line } from '../text.js';
import { known, t } from '../words.js';
import { icon } from './icon.js';

const SHOWN_MS = 5_000;
let corner = null;

/** A short notice in the corner. */
export function notice(text, kind = 'good') {
	corner ??= document.body.appendChild(h('div.notices', { role: 'status', 'aria-live': 'polite' }));
	const box = h('div', { class: `notice ${kind}` }, h('span', text));
	const close = h('button.plain', { 'aria-label': t('close'), onclick: () => box.remove() }, icon('close'));
	box.append(close);
	corner.append(box);
	while (corner.childElementCount > 4) corner.firstElementChild.remove();
	if (kind !== 'bad') setTimeout(() => box.remove(), SHOWN_MS);
}

/** The same for an error. */
export function complain(error) {
	if (error?.name === 'AbortError') return;
	const id = error?.requestId ? ` · ${t('request.id')} ${line(error.requestId, 60)}` : '';
	notice(`${line(titleOf(error), 200)}${error?.detail ? `：${line(error.detail, 300)}` : ''}${id}`, 'bad');
}

const titleOf = (error) => known('code', error?.code, error?.title ?? error?.message ?? t('problem.unknown'));

/** An error in the place of what could not be shown. */
export function problem(error, again) {
	return h(
		'div',
		{ class: 'problem', role: 'alert' },
		h('h3', icon('warn'), line(titleOf(error), 200)),
		h('p', line(error?.detail ?? error?.message ?? '', 1_000)),
		error?.fields?.length ? h('ul', error.fields.map((field) => h('li', h('code', line(field.name, 100)), ' ', line(field.message, 400)))) : null,
		h('p.faint.small',
			error?.status ? `HTTP ${error.status}` : error?.local ? '' : t('problem.offline'),
			error?.code ? ` · ${line(error.code, 80)}` : '',
			error?.requestId ? [` · ${t('request.id')} `, h('code', line(error.requestId, 80))] : '',
		),
		again ? h('button', { onclick: again }, t('again')) : null,
	);
}

/** A place with nothing in it, and what to do next. */
export function empty(title, hint, ...actions) {
	return h('div.empty', h('p.title', title), hint ? h('p', hint) : null, actions.length ? h('div.row.centre', actions) : null);
}

/** Shows what a promise brings, or its problem, in the place of `root`; the old content stays until then. */
export async function into(root, promise, show, again) {
	root.setAttribute('aria-busy', 'true');
	if (!root.hasChildNodes()) put(root, h('div.loading', t('loading')));
	try {
		const value = await promise;
		const nodes = show(value);
		if (nodes !== undefined) put(root, nodes);
	} catch (error) {
		if (error?.name !== 'AbortError') put(root, problem(error, again));
	} finally {
		root.removeAttribute('aria-busy');
	}
}
