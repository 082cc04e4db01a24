// Fields of forms and filters, and buttons that do something once.

import { h } from '../dom.js';
import { complain } from './notice.js';

let made = 0;

/** A field under its name; `hint` stands below it. */
export function field(label, control, hint) {
	const id = `f${(made += 1)}`;
	const input = control.matches('.proposing') ? control.querySelector('input') : control;
	input.id = id;
	if (hint) input.setAttribute('aria-describedby', `${id}h`);
	return h('div.field', h('label', { for: id }, label), control, hint ? h('p.hint', { id: `${id}h` }, hint) : null);
}

/** A box to tick with its words. */
export function tick(label, props) {
	return h('label.tick', h('input', { type: 'checkbox', ...props }), h('span', label));
}

/** A choice; `options`: `[value, label]`. */
export function choice(props, options) {
	return h('select', props, options.map(([value, label]) => h('option', { value, selected: String(value) === String(props.value ?? '') }, label)));
}

/** A field that proposes: what is typed is completed from `options` (`[value, label?]`). */
export function proposing(props, options) {
	const id = `d${(made += 1)}`;
	const list = h('datalist', { id }, options.map(([value, label]) => h('option', { value }, label ?? value)));
	return h('span.proposing', h('input', { type: 'search', autocomplete: 'off', ...props, list: id }), list);
}

/** A button that does one thing at a time and says what went wrong. */
export function act(label, work, { kind, key, title, disabled } = {}) {
	const button = h(
		'button',
		{
			type: 'button',
			class: kind,
			title,
			disabled,
			data: key ? { key } : undefined,
			onclick: async () => {
				button.disabled = true;
				button.setAttribute('aria-busy', 'true');
				try {
					await work();
				} catch (error) {
					complain(error);
				} finally {
					button.disabled = false;
					button.removeAttribute('aria-busy');
				}
			},
		},
		label,
	);
	return button;
}

/** Tabs that are links: `[href, label, chosen]`. */
export function tabs(entries, label) {
	return h('nav.tabs', { 'aria-label': label }, entries.map(([href, text, chosen]) => h('a', { href, 'aria-current': chosen ? 'page' : null }, text)));
}
