// Where we are: the part of the address behind `#`. It holds every filter, so that a link shows what its sender saw.

import { get, search } from './api.js';

/** `#/articles/7?from=x` as `{path, at: ['articles', '7'], query: {from: 'x'}}`. */
export function parse(hash) {
	const text = hash.replace(/^#\/?/u, '');
	const cut = text.indexOf('?');
	const plain = cut < 0 ? text : text.slice(0, cut);
	const at = plain.split('/').filter(Boolean).map(decode);
	return { path: at.join('/'), at, query: Object.fromEntries(new URLSearchParams(cut < 0 ? '' : text.slice(cut + 1))) };
}

function decode(part) {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

/** The address of a place: `address(['articles', 7], {from: 'x'})`. */
export function address(at, query) {
	return `#/${at.map((part) => encodeURIComponent(part)).join('/')}${search(query)}`;
}

/** Shows the page of the current address in `root`, now and whenever the address changes. */
export function follow(find, root, arrived) {
	let current = null;
	const arrive = () => {
		const route = parse(location.hash);
		if (current?.path === route.path) {
			current.query = route.query;
			current.changed.forEach((call) => call());
			return;
		}
		current?.leave.abort();
		const leave = new AbortController();
		const place = (current = {
			...route,
			leave,
			root,
			signal: leave.signal,
			changed: new Set(),
			/** The address with some filters changed. */
			link: (changes) => address(place.at, { ...place.query, ...changes }),
			/** Goes there; `replace`: without a step back. */
			set: (changes, replace) => go(place.link(changes), replace),
			/** Reads, and gives it up when the page is left. */
			get: (where, query) => get(where, query, { signal: leave.signal }),
			onquery: (call) => place.changed.add(call),
		});
		// What was asked about another page is not answered on this one.
		document.querySelectorAll('dialog[open]').forEach((node) => node.close());
		root.replaceChildren();
		const page = find(route.at);
		arrived(place, page);
		page.show(place);
	};
	window.addEventListener('hashchange', arrive);
	arrive();
	return { again: () => ((current = null), arrive()), stop: () => (current?.leave.abort(), window.removeEventListener('hashchange', arrive)) };
}

/** Goes to an address. */
export function go(to, replace) {
	if (to === location.hash) return;
	if (!replace) {
		location.hash = to;
		return;
	}
	history.replaceState(null, '', to);
	window.dispatchEvent(new HashChangeEvent('hashchange'));
}
