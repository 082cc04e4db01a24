// Search: full text and filters, true pages, a choice that is kept over pages, and all results at once.

import { act, address, all, departmentFilter, departmentId, departmentOptions, empty, filters, foreign, get, h, head, known, line, list, marked, may, moment, noDepartment, nothingFound, notice, pill, post, put, short, sure, t } from '../kit.js';

const picked = new Set();
const FILTERS = ['q', 'site', 'target', 'status', 'from', 'to', 'doc_no'];

function asked(query) {
	const wanted = Object.fromEntries(FILTERS.map((name) => [name, query[name]]));
	const dept = departmentId(query.dept);
	return dept === null ? null : { ...wanted, dept };
}

export const articles = {
	title: 'nav.articles',
	async show(place) {
		const bulk = h('div');
		const sub = h('p.sub', t('articles.sub'));
		const bar = h('div');
		put(place.root, head(t('nav.articles'), sub), bar);
		// Whether there is such a department must be known before the first search.
		const departments = await departmentOptions();
		if (place.signal.aborted) return;
		const rows = list(place, {
			where: '/articles/search',
			query: asked,
			events: ['changed'],
			after: (answer) => {
				sub.textContent = place.query.q ? t('articles.found', { n: answer.total.toLocaleString('en-US'), q: line(place.query.q, 60) }) : t('articles.count', { n: answer.total.toLocaleString('en-US') });
				drawBulk();
			},
			draw: (answer) => ({
				rows: answer.items,
				key: (article) => String(article.id),
				caption: t('nav.articles'),
				picked: may('admin') && picked,
				onpick: () => rows.redraw(),
				empty: noDepartment(place.query) || nothing(place),
				columns: [
					[
						t('title'),
						(article) => [
							h('a', { href: address(['articles', article.id], place.query.q ? { q: place.query.q } : {}) }, marked(article.title, place.query.q, 200)),
							article.snippet?.length > 0 && h('span.under', marked(article.snippet, place.query.q)),
						],
						'titles',
					],
					[t('published'), (article) => published(article.published), 'nowrap'],
					[t('doc_no'), (article) => (article.doc_no ? foreign(article.doc_no, 60) : h('span.faint', '—')), 'docno'],
					[t('target'), (article) => [h('a', { href: address(['targets', article.target]) }, foreign(article.target_name ?? article.target, 60)), article.publisher ? h('span.under', foreign(article.publisher, 60)) : null], 'docno'],
					[t('state'), (article) => [pill('article', article.status), article.has_attachment ? [' ', h('span.faint.small', { title: t('has.files') }, t('files.short'))] : null]],
					[t('fetched'), (article) => h('time', { datetime: article.fetched_at, title: moment(article.fetched_at, true) }, short(article.fetched_at)), 'nowrap'],
				],
			}),
		});
		const drawBulk = () => {
			if (!picked.size) {
				put(bulk);
				return;
			}
			const total = rows.answer()?.total ?? 0;
			put(
				bulk,
				h(
					'div',
					{ class: 'bulk', role: 'region', 'aria-label': t('bulk') },
					h('strong', t('bulk.picked.articles', { n: picked.size.toLocaleString('en-US') })),
					picked.size < total ? act(t('bulk.all.found', { n: total.toLocaleString('en-US') }), () => pickAll(place, rows), { kind: 'link', key: 'pick-all' }) : null,
					h('button.link', { key: 'pick-none', onclick: () => (picked.clear(), rows.redraw()) }, t('bulk.none')),
					h('span.spacer'),
					act(t('remove'), () => dropPicked(rows), { kind: 'danger', key: 'bulk-remove' }),
				),
			);
		};
		place.root.append(rows.node, bulk);
		const [sites, targets] = await Promise.all([all('/sites').catch(() => []), place.query.site ? all('/targets', { site: place.query.site }).catch(() => []) : []]);
		const names = targets.map((target) => [target.code, line(target.name, 60)]);
		put(
			bar,
			filters(
				place,
				[
					{ name: 'q', label: t('articles.find'), type: 'search', grow: true },
					{ name: 'site', label: t('site.any'), type: 'choice', options: sites.map((site) => [site.code, line(site.name, 40)]) },
					{ name: 'target', label: t('target.code'), type: 'proposing', options: names },
					departmentFilter(departments),
					{ name: 'status', label: t('state.any'), type: 'choice', options: ['ready', 'failed', 'raw'].map((state) => [state, known('article', state)]) },
					{ name: 'doc_no', label: t('doc_no'), type: 'search' },
					{ name: 'from', label: t('from'), type: 'date' },
					{ name: 'to', label: t('to'), type: 'date' },
				],
				h('a.button.plain', { href: '#/articles' }, t('filters.clear')),
			),
		);
	},
};

/** A publication time as exactly as the site wrote it. */
export function published(value) {
	if (!value) return h('span.faint', '—');
	if (typeof value === 'string') return line(value, 30);
	return value.precision === 'day' ? line(value.date, 12) : moment(value.at);
}

function nothing(place) {
	if (Object.keys(place.query).some((name) => name !== 'offset')) return nothingFound(place, t('articles.nothing.hint'));
	return empty(t('articles.none'), t('articles.none.hint'), h('a.button.primary', { href: '#/targets' }, t('nav.targets')));
}

async function pickAll(place, rows) {
	const { ids, truncated, complete } = await get('/articles/search/ids', asked(place.query));
	const total = rows.answer().total;
	ids.forEach((id) => picked.add(String(id)));
	if (truncated || complete === false) notice(t('bulk.truncated', { n: ids.length.toLocaleString('en-US'), total: total.toLocaleString('en-US') }), 'warn');
	rows.redraw();
}

async function dropPicked(rows) {
	const ids = [...picked].map(Number);
	if (!(await sure(t('remove'), t('articles.remove.sure', { n: ids.length.toLocaleString('en-US') }), t('remove')))) return;
	let deleted = 0;
	for (let at = 0; at < ids.length; at += 1_000) deleted += (await post('/articles/bulk-delete', { ids: ids.slice(at, at + 1_000) })).deleted;
	notice(t('articles.removed', { n: deleted.toLocaleString('en-US') }));
	picked.clear();
	rows.reload();
}
