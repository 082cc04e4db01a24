// A question or a form over the page. Esc closes it; the focus goes back to where it was.

import { h } from '../dom.js';
import { t } from '../words.js';
import { icon } from './icon.js';
import { problem } from './notice.js';

/** Opens a dialog; `build(close)` gives its content. Resolves with what `close` was called with. */
export function dialog(title, build, { wide } = {}) {
	const back = document.activeElement;
	return new Promise((resolve) => {
		let answer;
		const node = h('dialog', { class: wide ? 'wide' : null, 'aria-label': title });
		const close = (value) => {
			answer = value;
			node.close();
		};
		node.append(
			h('header', h('h2', title), h('button.plain', { 'aria-label': t('close'), onclick: () => close() }, icon('close'))),
			h('div.inside', build(close)),
		);
		node.addEventListener('close', () => {
			node.remove();
			if (back?.isConnected) back.focus();
			resolve(answer);
		});
		document.body.append(node);
		node.showModal();
		(node.querySelector('[autofocus]') ?? node.querySelector('.inside input, .inside textarea'))?.focus();
	});
}

/** Asks whether to go on; resolves to true or false. */
export async function sure(title, text, action, kind = 'danger') {
	const yes = await dialog(title, (close) => [
		h('p', text),
		h('div.row.end',
			h('button', { onclick: () => close(false) }, t('cancel')),
			h('button', { class: kind, autofocus: true, onclick: () => close(true) }, action),
		),
	]);
	return yes === true;
}

/** A form in a dialog. `send()` does the work; its error is shown in the form, which stays open with what was typed. */
export function formDialog(title, fields, action, send, options) {
	return dialog(
		title,
		(close) => {
			const trouble = h('div');
			const submit = h('button.primary', { type: 'submit' }, action);
			const form = h(
				'form',
				{
					class: 'stack',
					onsubmit: async (event) => {
						event.preventDefault();
						submit.disabled = true;
						trouble.replaceChildren();
						for (const node of form.querySelectorAll('[aria-invalid]')) node.removeAttribute('aria-invalid');
						try {
							close((await send(new FormData(form), form)) ?? true);
						} catch (error) {
							trouble.replaceChildren(problem(error));
							for (const field of error?.fields ?? []) form.elements.namedItem?.(field.name)?.setAttribute?.('aria-invalid', 'true');
							trouble.scrollIntoView({ block: 'nearest' });
						} finally {
							submit.disabled = false;
						}
					},
				},
				fields,
				trouble,
				h('div.row.end', h('button', { onclick: () => close() }, t('cancel')), submit),
			);
			return form;
		},
		options,
	);
}
