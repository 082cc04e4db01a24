// Small things that stand in lines: pills of a state, moments that stay true, figures.

import { h } from '../dom.js';
import { known, t } from '../words.js';
import { ago, moment, ms } from '../when.js';
import { line } from '../text.js';

const TONES = {
	good: ['on', 'ok', 'done', 'ready', 'closed', 'healthy', 'fired', 'executed'],
	busy: ['running', 'cancelling', 'probing', 'half_open'],
	warn: ['retry_wait', 'skipped', 'interrupted', 'stale', 'thin', 'expired', 'still_busy', 'warning', 'retry_after', 'fired_late', 'cooling', 'never'],
	bad: ['failed', 'failing', 'error', 'open', 'blocked', 'challenge', 'gone', 'critical', 'bad_cron'],
};

/** Which colour a state has. */
function tone(state) {
	return Object.keys(TONES).find((name) => TONES[name].includes(state)) ?? 'idle';
}

/** A state in a word of the language, with its colour. */
export function pill(group, state, as) {
	if (state === undefined || state === null || state === '') return h('span.faint', '—');
	return h('span', { class: `pill ${as ?? tone(state)}` }, known(group, line(state, 40)));
}

/** A moment as its distance from now; it keeps itself true while it is shown. */
export function since(at) {
	const value = ms(at);
	if (value === null) return h('span.faint', t('never'));
	return h('time', { datetime: new Date(value).toISOString(), title: moment(value, true), data: { at: value }, class: 'nowrap' }, ago(value));
}

/** Brings every shown distance up to date; asks nobody. */
export function keepTime() {
	for (const node of document.querySelectorAll('time[data-at]')) {
		const text = ago(Number(node.dataset.at));
		if (node.textContent !== text) node.textContent = text;
	}
}

/** A figure with what it counts below it; with `href` it leads to what it counts. */
export function figure(label, value, { href, hint, tone: colour } = {}) {
	const inner = [
		h('span.label', label),
		h('strong', { class: colour ? `tone-${colour}` : null }, value),
		h('span.hint', hint ?? '\u00a0'),
	];
	return href ? h('a.figure', { href }, inner) : h('div.figure', inner);
}

/** Names and values of one thing, one below the other; those without a value are left out. */
export function facts(pairs) {
	const shown = pairs.filter(([, value]) => value !== undefined && value !== null && value !== '');
	return h('dl.facts', shown.map(([name, value]) => h('div', h('dt', name), h('dd', value))));
}

/** A key on the keyboard. */
export const key = (name) => h('kbd', name);
