// Counts by day, site and department; each leads to the articles it counts.

import { about, address, bars, choice, count, empty, figure, foreign, get, h, head, known, line, meter, put, shown, t, table } from '../kit.js';

const rowsOf = (answer) => answer.items ?? answer;

export const stats = {
	title: 'nav.stats',
	show(place) {
		const figures = h('div');
		const days = h('section.card');
		const sites = h('section.card.flush');
		const departments = h('section.card.flush');
		const asked = () => Number(place.query.days) || 30;
		const picker = choice({ 'aria-label': t('stats.days'), value: String(asked()), onchange: (event) => place.set({ days: event.target.value === '30' ? null : event.target.value }) }, [7, 30, 90, 365].map((n) => [String(n), t('log.days', { n })]));
		put(place.root, head(t('nav.stats'), null, picker), h('div.stack', figures, days, h('div.grid', h('div.span-6', sites), h('div.span-6', departments))));
		const ask = place.get;
		const byDay = shown(place, days, () => ask('/stats/by-day', { days: asked() }), (answer) => [h('h2', t('stats.by.day')), chart(rowsOf(answer), 'fetched'), h('h2', t('stats.by.published')), chart(rowsOf(answer), 'published')]);
		shown(place, figures, () => ask('/stats/overview'), drawFigures);
		const bySite = shown(place, sites, () => ask('/stats/by-site', { limit: 200 }), (answer) => [h('h2', t('stats.by.site')), siteTable(rowsOf(answer), place)]);
		shown(place, departments, () => ask('/stats/by-dept', { limit: 200 }), (answer) => [h('h2', t('stats.by.dept')), deptTable(rowsOf(answer))]);
		place.onquery(() => {
			picker.value = String(asked());
			byDay();
			bySite();
		});
	},
};

function drawFigures(overview) {
	return h('div.figures',
		figure(t('figure.articles'), about(overview.articles), { hint: t('figure.today', { n: count(overview.articles_today) }), href: '#/articles' }),
		figure(t('figure.week'), count(overview.articles_week)),
		figure(t('figure.files'), about(overview.attachments)),
		...Object.entries(overview.by_status ?? {}).map(([status, n]) => figure(known('article', status), about(n), { href: address(['articles'], { status }) })),
	);
}

/** Articles by day: stored, or published; the list of articles knows the latter, so only there a bar leads to it. */
function chart(days, what) {
	const published = what === 'published';
	return bars({
		label: t(published ? 'stats.by.published' : 'stats.by.day'),
		series: [{ name: t(published ? 'stats.published' : 'stats.fetched'), tone: 'accent' }],
		bars: days.map((day, index) => ({
			label: day.day,
			mark: days.length <= 10 || index % Math.ceil(days.length / 8) === 0 ? day.day.slice(5) : '',
			values: [day[what]],
			title: t('stats.day', { day: day.day, fetched: day.fetched, published: day.published }),
			href: published ? address(['articles'], { from: day.day, to: day.day }) : null,
		})),
	});
}

function siteTable(rows, place) {
	const by = place.query.sort ?? 'articles';
	const down = place.query.up !== '1';
	const sorted = [...rows].sort((a, b) => (down ? 1 : -1) * ((b[by] ?? 0) - (a[by] ?? 0)));
	const most = Math.max(1, ...rows.map((row) => row.articles));
	return table({
		rows: sorted,
		key: (row) => row.site,
		empty: empty(t('stats.none'), t('articles.none.hint')),
		sort: { by, down, set: (name, now) => place.set({ sort: name === 'articles' ? null : name, up: now ? null : '1' }, true) },
		columns: [
			[t('site'), (row) => [h('a', { href: address(['sites', row.site]) }, foreign(row.name, 60)), meter(row.articles, most)]],
			[t('stats.all'), (row) => count(row.articles), 'num', 'articles'],
			[t('stats.week'), (row) => count(row.week), 'num', 'week'],
			[t('stats.today'), (row) => count(row.today), 'num', 'today'],
			[t('stats.not.ready'), (row) => (row.not_ready ? h('a.tone-warn', { href: address(['articles'], { site: row.site, status: 'failed' }) }, count(row.not_ready)) : 0), 'num', 'not_ready'],
			['', (row) => h('a.button.small', { href: address(['articles'], { site: row.site }) }, t('see.articles')), 'acts'],
		],
	});
}

function deptTable(rows) {
	const most = Math.max(1, ...rows.map((row) => row.articles));
	return table({
		rows,
		key: (row) => String(row.dept_id ?? ''),
		empty: empty(t('departments.none'), t('departments.none.hint'), h('a.button', { href: '#/departments' }, t('nav.departments'))),
		columns: [
			[t('department'), (row) => [row.name ? foreign(row.name, 100) : h('span.faint', t('department.without')), row.region || row.category ? h('span.under', line([row.region, row.category].filter(Boolean).join(' · '), 80)) : null, meter(row.articles, most)]],
			[t('stats.all'), (row) => count(row.articles), 'num'],
			[t('stats.week'), (row) => count(row.week), 'num'],
			['', (row) => (row.name ? h('a.button.small', { href: address(['articles'], { dept: row.dept_id }) }, t('see.articles')) : null), 'acts'],
		],
	});
}
