// The filters of a list. They live in the address: what is typed goes there, and what is there is shown here.

import { h } from '../dom.js';
import { choice, proposing } from './field.js';

const TYPING_MS = 350;

/**
 * `specs`: `{name, label, type: 'search' | 'choice' | 'proposing' | 'date', options?, grow?, show?, read?}`; the last two turn what stands in the address into what is typed, and back. A change of a filter goes
 * back to the first page.
 */
export function filters(place, specs, ...more) {
	const inputs = specs.map((spec) => [spec.name, control(place, spec), spec.show]);
	const form = h('form.filters', { onsubmit: (event) => event.preventDefault() }, inputs.map(([, node]) => node), more);
	place.onquery(() => {
		for (const [name, node, shows = String] of inputs) {
			const input = node.matches('input, select') ? node : node.querySelector('input');
			if (input !== document.activeElement) input.value = shows(place.query[name] ?? '');
		}
	});
	return form;
}

function control(place, { name, label, type, options, grow, show = String, read = String }) {
	let timer = 0;
	const send = (value, replace) => {
		clearTimeout(timer);
		if ((place.query[name] ?? '') !== value) place.set({ [name]: value, offset: null }, replace);
	};
	const props = { name, 'aria-label': label, title: label, placeholder: label, value: show(place.query[name] ?? ''), key: `filter-${name}`, class: grow ? 'grow' : null };
	if (type === 'choice') return choice({ ...props, onchange: (event) => send(event.target.value) }, [['', label], ...options]);
	if (type === 'date') return h('label.dated', label, h('input', { ...props, class: null, type: 'date', onchange: (event) => send(event.target.value) }));
	const typed = {
		...props,
		maxlength: 200,
		oninput: (event) => {
			clearTimeout(timer);
			timer = setTimeout(() => send(read(event.target.value.trim()), true), TYPING_MS);
		},
		onchange: (event) => send(read(event.target.value.trim()), true),
	};
	return type === 'proposing' ? proposing(typed, options ?? []) : h('input', { ...typed, type: 'search' });
}
