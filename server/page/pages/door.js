// Signing in.

import { enter, field, h, problem, put, t } from '../kit.js';

/** Shows the form; `entered` is called when the server let somebody in. */
export function door(body, entered) {
	document.title = `${t('door')} · ${t('brand')}`;
	const user = h('input', { name: 'user', autocomplete: 'username', required: true, maxlength: 200 });
	const password = h('input', { name: 'password', type: 'password', autocomplete: 'current-password', required: true, maxlength: 1000 });
	const trouble = h('div');
	const submit = h('button.primary', { type: 'submit' }, t('door.enter'));
	const send = async (event) => {
		event.preventDefault();
		submit.disabled = true;
		put(trouble);
		try {
			await enter(user.value, password.value);
			entered();
		} catch (error) {
			if (error.status === 401) Object.assign(error, { title: t('door.wrong'), code: '' });
			if (error.status === 429) Object.assign(error, { title: t('door.throttled'), code: '' });
			put(trouble, problem(error));
			password.select();
		} finally {
			submit.disabled = false;
		}
	};
	put(
		body,
		h('main.door',
			h(
				'form',
				{ class: 'card stack', onsubmit: send },
				h('div', h('p.brand', h('i', { 'aria-hidden': 'true' }, '邸'), t('brand')), h('p.faint', t('door.hint'))),
				field(t('door.user'), user),
				field(t('door.password'), password),
				trouble,
				submit,
			),
		),
	);
	user.focus();
}
