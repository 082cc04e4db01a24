// Rows of things. On a narrow screen each row becomes a small card: the first column its head, the others named lines.

import { h } from '../dom.js';
import { t } from '../words.js';

/**
 * `columns`: `[head, cell(row), class?, sort?]`; `key(row)` names a row; `picked` (a Set) puts a box before each row;
 * `sort`: `{by, down, set(by, down)}` makes heads into buttons.
 */
export function table({ columns, rows, key, picked, onpick, empty, caption, sort, rowClass }) {
	if (!rows.length) return empty ?? h('p.faint', t('nothing'));
	const head = columns.map((column) => h('th', { scope: 'col', class: column[2], 'aria-sort': ariaSort(column, sort) }, headOf(column, sort)));
	const line = (row) => {
		const cells = columns.map(([label, cell, names], index) => h(index ? 'td' : 'th', { scope: index ? null : 'row', class: names, data: { label } }, cell(row)));
		return h('tr', { class: rowClass?.(row), data: { row: key?.(row) } }, picked ? h('td.box', box(row)) : null, cells);
	};
	const box = (row) =>
		h('input', {
			type: 'checkbox',
			checked: picked.has(key(row)),
			'aria-label': t('pick.row'),
			key: `pick-${key(row)}`,
			onchange: (event) => {
				if (event.target.checked) picked.add(key(row));
				else picked.delete(key(row));
				onpick();
			},
		});
	return h('div.scroll',
		h(
			'table',
			{ class: picked ? 'pickable' : null },
			caption ? h('caption.unseen', caption) : null,
			h('thead', h('tr', picked ? h('th.box', { scope: 'col' }, all(rows, key, picked, onpick)) : null, head)),
			h('tbody', rows.map(line)),
		),
	);
}

function all(rows, key, picked, onpick) {
	const here = rows.filter((row) => picked.has(key(row))).length;
	return h('input', {
		type: 'checkbox',
		checked: here === rows.length,
		indeterminate: here > 0 && here < rows.length,
		'aria-label': t('pick.page'),
		key: 'pick-page',
		onchange: (event) => {
			for (const row of rows) {
				if (event.target.checked) picked.add(key(row));
				else picked.delete(key(row));
			}
			onpick();
		},
	});
}

function headOf([label, , , name], sort) {
	if (!sort || !name) return label;
	const chosen = sort.by === name;
	const down = chosen ? !sort.down : true;
	return h('button.plain.sort', { key: `sort-${name}`, onclick: () => sort.set(name, down) }, label, chosen && (sort.down ? ' ↓' : ' ↑'));
}

function ariaSort([, , , name], sort) {
	if (!sort || sort.by !== name || !name) return null;
	return sort.down ? 'descending' : 'ascending';
}

/** Where in the rows we are, and the ways to the others; `link(offset)` is the address of a page. */
export function pager({ total, offset, limit, shown, link }) {
	const first = total ? offset + 1 : 0;
	const step = (to, label, rel) =>
		to === null
			? h('span.button.off', { 'aria-disabled': 'true' }, label)
			: h('a.button', { rel, href: link(to), key: `pager-${rel}` }, label);
	const last = Math.max(0, Math.floor((total - 1) / limit) * limit);
	return h(
		'nav',
		{ class: 'pager', 'aria-label': t('pager') },
		h('span.faint', t('pager.range', { first, last: offset + shown, total: total.toLocaleString('en-US') })),
		h('span.row',
			offset > 0 ? step(0, t('pager.first'), 'first') : null,
			step(offset > 0 ? Math.max(0, offset - limit) : null, t('pager.prev'), 'prev'),
			step(offset + limit < total ? offset + limit : null, t('pager.next'), 'next'),
			offset + limit < total ? step(last, t('pager.last'), 'last') : null,
		),
	);
}
