// All targets: filter, pick over many pages, put in line, switch, look closer.

import { act, address, all, departmentFilter, departmentId, departmentOptions, discover, empty, filters, foreign, h, head, line, list, may, named, noDepartment, nothingFound, notice, path, pill, post, put, runButtons, runMany, since, t, toggleButton } from '../kit.js';

/** Picked targets, over pages and over visits. */
const picked = new Set();

function asked({ q, site, enabled, dept: named }) {
	const dept = departmentId(named);
	return dept === null ? null : { q, site, enabled, dept };
}

export const targets = {
	title: 'nav.targets',
	async show(place) {
		const bulk = h('div');
		const rows = list(place, {
			where: '/targets',
			query: asked,
			events: ['changed', 'crawl', 'job'],
			after: () => drawBulk(),
			draw: (answer) => ({
				rows: answer.items,
				key: (target) => target.code,
				caption: t('nav.targets'),
				picked: may('run') && picked,
				onpick: () => rows.redraw(),
				empty: noDepartment(place.query) || nothing(place),
				rowClass: (target) => (target.enabled && target.site_enabled !== false ? null : 'off'),
				columns: [
					[t('target'), (target) => named('targets', target.code, target.name), 'wideword'],
					[t('site'), (target) => h('a', { href: address(['sites', target.site]) }, foreign(target.site_name ?? target.site, 60))],
					[t('department'), (target) => (target.department ? foreign(target.department.short_name ?? target.department.full_name, 60) : h('span.faint', '—'))],
					[t('last.crawl'), (target) => since(target.last_crawled_at)],
					[t('last.article'), (target) => since(target.last_article_time)],
					[t('state'), (target) => stateOf(target)],
					[
						'',
						(target) => {
							const off = !target.enabled || target.site_enabled === false;
							return h('div.row',
								may('run') && runButtons(target.code, off),
								may('admin') && toggleButton('targets', target.code, target.enabled),
								h('a.button.small', { href: address(['targets', target.code, 'parser']) }, t('workbench.short')),
							);
						},
						'acts',
					],
				],
			}),
		});
		const force = h('input', { type: 'checkbox' });
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
					h('strong', t('bulk.picked', { n: picked.size })),
					picked.size < total ? act(t('bulk.all', { n: total.toLocaleString('en-US') }), () => pickAll(place, rows), { kind: 'link', key: 'pick-all' }) : null,
					h('button.link', { key: 'pick-none', onclick: () => (picked.clear(), rows.redraw()) }, t('bulk.none')),
					h('span.spacer'),
					h('label.tick', force, h('span', t('bulk.force'))),
					act(t('bulk.run'), async () => (await runMany([...picked], force.checked), picked.clear(), rows.redraw()), { kind: 'primary', key: 'bulk-run' }),
					may('admin') && act(t('switch.off'), () => many(false, rows), { key: 'bulk-off' }),
					may('admin') && act(t('switch.on'), () => many(true, rows), { key: 'bulk-on' }),
				),
			);
		};
		const top = head(t('nav.targets'), t('targets.sub'), may('admin') && h('button', { onclick: () => discover(place.query.site) }, t('discover')));
		const bar = h('div');
		put(place.root, top, bar, rows.node, bulk);
		const [known, departments] = await Promise.all([all('/sites').catch(() => []), departmentOptions()]);
		put(
			bar,
			filters(place, [
				{ name: 'q', label: t('targets.find'), type: 'search', grow: true },
				{ name: 'site', label: t('site.any'), type: 'choice', options: known.map((site) => [site.code, line(site.name, 40)]) },
				departmentFilter(departments),
				{ name: 'enabled', label: t('state.any'), type: 'choice', options: [['true', t('is.on')], ['false', t('is.off')]] },
			]),
		);
	},
};

function stateOf(target) {
	if (!target.enabled) return pill('is', 'off');
	if (target.site_enabled === false) return pill('is', 'site_off');
	return [pill('is', 'on'), target.has_override ? [' ', pill('is', 'override', 'busy')] : null];
}

function nothing(place) {
	if (Object.keys(place.query).length) return nothingFound(place);
	return empty(t('targets.none'), t('targets.none.hint'), h('a.button.primary', { href: '#/sites' }, t('nav.sites')));
}

async function pickAll(place, rows) {
	(await all('/targets', asked(place.query), 20_000)).forEach((target) => picked.add(target.code));
	rows.redraw();
}

async function many(enabled, rows) {
	let failed = 0;
	const codes = [...picked];
	for (const code of codes) {
		try {
			await post(`${path('targets', code)}/toggle`, { enabled });
		} catch {
			failed += 1;
		}
	}
	notice(t('bulk.switched', { n: codes.length - failed, failed }), failed ? 'warn' : 'good');
	picked.clear();
	rows.reload();
}
