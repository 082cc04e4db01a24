// Finds the columns of a site by looking at it, and takes over those that somebody picks.

import { all, post, postOnce } from '../api.js';
import { h, put } from '../dom.js';
import { dialog } from './dialog.js';
import { act, choice, field } from './field.js';
import { empty, notice, problem } from './notice.js';
import { line } from '../text.js';
import { t } from '../words.js';

/** Opens the dialog; `code`: for the site of that code. */
export async function discover(code) {
	const sites = await all('/sites').catch(() => []);
	const chosen = sites.find((site) => site.code === code);
	await dialog(
		t('discover'),
		(close) => {
			const url = h('input', { type: 'url', required: true, value: chosen?.base_url ?? '', placeholder: 'https://www.example.gov.cn/zwgk/', maxlength: 2000 });
			const found = h('div');
			const look = act(t('discover.look'), async () => {
				if (!url.reportValidity()) return;
				put(found, h('p.loading', t('discover.looking')));
				try {
					const { columns, yaml } = await post('/targets/discover-html', { url: url.value });
					put(found, result(columns ?? [], yaml, sites, chosen, close));
				} catch (error) {
					put(found, problem(error));
				}
			}, { kind: 'primary' });
			return [h('p.soft', t('discover.hint')), field(t('discover.url'), url), h('div.row', look), found];
		},
		{ wide: true },
	);
}

function result(columns, yaml, sites, chosen, close) {
	if (!columns.length) return empty(t('discover.none'), t('discover.none.hint'));
	const boxes = columns.map(({ id, column }) => h('input', { type: 'checkbox', checked: Boolean(column), disabled: !column, value: id, 'aria-label': id }));
	const site = choice({ value: chosen?.code ?? '' }, [['', t('discover.new')], ...sites.map((each) => [each.code, line(each.name, 60)])]);
	const take = act(
		t('discover.take'),
		async () => {
			const picked = columns.filter((_, index) => boxes[index].checked).map(({ column }) => column);
			if (!picked.length) return;
			let taken = columns.filter(({ column }) => column).length;
			if (site.value) taken = (await postOnce('/targets/bulk-create', { site: site.value, columns: picked })).results.filter((result) => result.outcome === 'done').length;
			else await post('/sites', yaml, { type: 'application/yaml' });
			notice(t('discover.taken', { n: taken }));
			close(true);
		},
		{ kind: 'primary' },
	);
	return h('div.stack',
		h('p', t('discover.found', { n: columns.length })),
		h('ul.warnlist', columns.slice(0, 500).map((column, index) => h('li', boxes[index], h('div.what', line(column.path || column.name, 120), h('p.mono', line(column.url ?? '', 160)), (column.titles ?? []).map((title) => h('p.soft', line(title, 120))))))),
		field(t('discover.site'), site),
		yaml ? h('details', h('summary', t('site.yaml')), h('pre', yaml)) : null,
		h('div.row.end', take),
	);
}
