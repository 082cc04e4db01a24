// The departments that targets belong to.

import { act, address, empty, field, filters, foreign, formDialog, h, head, line, list, may, nothingFound, notice, path, post, proposing, put, remove, replace, sure, t } from '../kit.js';

const seen = { region: new Set(), category: new Set() };

export const departments = {
	title: 'nav.departments',
	show(place) {
		const rows = list(place, {
			where: '/local-departments',
			query: ({ q, region, category }) => ({ q, region, category }),
			events: ['changed'],
			after: (answer) => {
				for (const name of ['region', 'category']) answer.items.forEach((item) => item[name] && seen[name].add(line(item[name], 80)));
				for (const name of ['region', 'category']) fill(bar.querySelector(`[name=${name}]`)?.list, seen[name]);
			},
			draw: (answer) => ({
				rows: answer.items,
				key: (department) => String(department.dept_id),
				caption: t('nav.departments'),
				empty: Object.keys(place.query).length
					? nothingFound(place)
					: empty(t('departments.none'), t('departments.none.hint'), may('admin') ? h('button.primary', { onclick: () => edit(null, rows) }, t('department.new')) : null),
				columns: [
					[t('department'), (department) => [foreign(department.full_name, 160), department.short_name ? h('span.under', foreign(department.short_name, 80)) : null], 'wideword'],
					[t('region'), (department) => (department.region ? foreign(department.region, 80) : '—')],
					[t('category'), (department) => (department.category ? foreign(department.category, 80) : '—')],
					[
						'',
						(department) =>
							h('div.row',
								h('a.button.small', { href: address(['targets'], { dept: department.dept_id }) }, t('targets')),
								h('a.button.small', { href: address(['articles'], { dept: department.dept_id }) }, t('see.articles')),
								may('admin') && act(t('edit'), () => edit(department, rows), { kind: 'small', key: `edit-${department.dept_id}` }),
								may('admin') && act(t('remove'), () => drop(department, rows), { kind: 'small danger', key: `remove-${department.dept_id}` }),
							),
						'acts',
					],
				],
			}),
		});
		const bar = filters(place, [
			{ name: 'q', label: t('departments.find'), type: 'search', grow: true },
			{ name: 'region', label: t('region'), type: 'proposing' },
			{ name: 'category', label: t('category'), type: 'proposing' },
		]);
		put(
			place.root,
			head(t('nav.departments'), null, may('admin') && h('button.primary', { onclick: () => edit(null, rows) }, t('department.new'))),
			bar,
			rows.node,
		);
	},
};

const fill = (node, values) => node && put(node, [...values].map((value) => h('option', { value })));

async function edit(department, rows) {
	const input = (name, props) => h('input', { name, value: department?.[name] ?? '', maxlength: 200, ...props });
	const offer = (name) => proposing({ name, type: 'text', value: department?.[name] ?? '', maxlength: 100 }, [...seen[name]].map((value) => [value]));
	const done = await formDialog(
		t(department ? 'department.edit' : 'department.new'),
		[field(t('full_name'), input('full_name', { required: true, autofocus: true })), field(t('short_name'), input('short_name')), h('div.two', field(t('region'), offer('region')), field(t('category'), offer('category')))],
		t('save'),
		(data) => {
			const body = Object.fromEntries(['full_name', 'short_name', 'region', 'category'].map((name) => [name, data.get(name).trim()]));
			return department ? replace(path('local-departments', department.dept_id), body) : post('/local-departments', body);
		},
	);
	if (!done) return;
	notice(t('saved'));
	rows.reload();
}

async function drop(department, rows) {
	if (!(await sure(t('remove'), t('department.remove.sure', { name: line(department.full_name, 80) }), t('remove')))) return;
	await remove(path('local-departments', department.dept_id));
	notice(t('removed', { code: line(department.full_name, 60) }));
	rows.reload();
}
