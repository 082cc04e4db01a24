// Text of strangers as one line or as a body. Escaping is not done here: text nodes need none (see dom.js). What is done:
// marks that turn the direction of writing around are made visible, control characters go, long values are cut.

import { h } from './dom.js';

const TURNS = /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/gu;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]/gu;

/** One line, at most `most` characters. */
export function line(value, most = 300) {
	const text = String(value ?? '').replace(TURNS, '\u2022').replace(CONTROLS, ' ').replace(/\s+/gu, ' ').trim();
	return cut(text, most);
}

/** Many lines. */
export function body(value) {
	return String(value ?? '').replace(TURNS, '').replace(CONTROLS, ' ');
}

function cut(text, most) {
	if (text.length <= most) return text;
	return `${[...text.slice(0, most * 2)].slice(0, most).join('')}…`;
}

/** One line of a stranger, kept apart from what stands around it. */
export function foreign(value, most) {
	return h('bdi', line(value, most) || '—');
}

/** An address of a stranger: a link only when it goes to the web. */
export function outside(url, label, props) {
	const shown = label ?? line(url, 160);
	let address = null;
	try {
		address = new URL(String(url));
	} catch {
		return h('bdi', props, shown);
	}
	if (address.protocol !== 'http:' && address.protocol !== 'https:') return h('bdi', props, shown);
	return h('a', { ...props, href: address.href, target: '_blank', rel: 'noopener noreferrer' }, h('bdi', shown));
}

/** A text with the words of a search marked. */
export function highlighted(text, q) {
	const words = [...new Set(String(q ?? '').split(/[\s"“”]+/u).filter((word) => word.length > 0))].slice(0, 8);
	if (!words.length) return text;
	const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&')).join('|')})`, 'giu');
	return String(text).split(pattern).map((part, index) => (index % 2 ? h('mark', part) : part));
}

/** What a search found, in pieces that say themselves what is to be marked; or a text in which words are looked for. */
export function marked(pieces, q, most = 300) {
	if (!Array.isArray(pieces)) return h('bdi', highlighted(line(pieces, most) || '—', q));
	return h('bdi', pieces.slice(0, 60).map((piece) => (piece.hit ? h('mark', body(piece.text)) : body(piece.text))));
}
