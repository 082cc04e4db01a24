// Why a schedule is due when it is, in words.

import { get, path } from '../api.js';
import { h } from '../dom.js';
import { body, line } from '../text.js';
import { moment } from '../when.js';
import { known, language, t } from '../words.js';
import { into } from './notice.js';

/** A place that fills itself with the explanation; `none` is said where there is no such schedule. */
export function explanation(name, signal, none) {
	const root = h('div.words');
	const told = () => get(`${path('schedules', name)}/explain`, null, { signal }).catch((error) => (none && error.status === 404 ? { text: none } : Promise.reject(error)));
	const load = () => into(root, told(), draw, load);
	load();
	return root;
}

function draw(told) {
	const words = told[`text_${language()}`] ?? told.text ?? told.words ?? told.lines;
	const lines = Array.isArray(words) ? words : body(words ?? '').split('\n');
	return [
		lines.filter(Boolean).map((each) => h('p', line(each, 600))),
		told.decisions?.length
			? h(
					'details',
					h('summary', t('explain.decisions')),
					h('ol', told.decisions.slice(0, 20).map((decided) => h('li', h('span.num.faint', moment(decided.at, true)), ' ', known('rule', decided.rule), decided.next_at ? h('span.faint', ` → ${moment(decided.next_at)}`) : null))),
				)
			: null,
	];
}
