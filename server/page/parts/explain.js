// Why a schedule is due when it is, in words.

import { get, path } from '../api.js';
import { h } from '../dom.js';
import { line } from '../text.js';
import { moment } from '../when.js';
import { known, language, t } from '../words.js';
import { into } from './notice.js';

/** A place that fills itself with the explanation; `none` is said where there is no such schedule. */
export function explanation(name, signal, none) {
	const root = h('div.words');
	const told = async () => {
		// Asked for by name it would be an error where there is none yet.
		const there = !none || (await get('/schedules', { q: name, limit: 200 }, { signal })).items.some((each) => each.name === name);
		return there ? get(`${path('schedules', name)}/explain`, null, { signal }) : { text: none };
	};
	const load = () => into(root, told(), draw, load);
	load();
	return root;
}

function draw(told) {
	const { text = told[`text_${language()}`] ?? [], decisions = [] } = told;
	return [
		[text].flat().map((each) => h('p', line(each, 600))),
		decisions.length > 0 &&
			h(
				'details',
				h('summary', t('explain.decisions')),
				h('ol', decisions.slice(0, 20).map((decided) => h('li', h('span.num.faint', moment(decided.at, true)), ' ', line(decided.words ?? known('rule', decided.rule), 400)))),
			),
	];
}
