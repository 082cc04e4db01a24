// All sites: how fresh they are, whether they are on, and the way in for new ones.

import { act, address, empty, field, filters, formDialog, go, h, head, line, list, may, ms, named, nothingFound, notice, outside, path, pill, post, put, remove, since, sure, t, toggleButton } from '../kit.js';

const newest = (targets, name) => (targets ?? []).reduce((best, target) => ((ms(target[name]) ?? -1) > (ms(best) ?? -1) ? target[name] : best), null);

export const sites = {
	title: 'nav.sites',
	show(place) {
		const rows = list(place, {
			where: '/sites',
			query: ({ q, enabled }) => ({ q, enabled }),
			events: ['changed', 'crawl'],
			draw: (answer) => ({
				rows: answer.items,
				key: (site) => site.code,
				caption: t('nav.sites'),
				empty: nothing(place),
				columns: [
					[t('site'), (site) => named('sites', site.code, site.name), 'wideword'],
					[t('site.base'), (site) => [outside(site.base_url, line(String(site.base_url).replace(/^https?:\/\//u, ''), 60)), h('span.under', line(site.adapter, 60))]],
					[t('targets'), (site) => h('a', { href: address(['targets'], { site: site.code }) }, t('on.of', { on: (site.targets ?? []).filter((target) => target.enabled).length, all: (site.targets ?? []).length })), 'num'],
					[t('last.article'), (site) => since(newest(site.targets, 'last_article_time'))],
					[t('last.crawl'), (site) => since(newest(site.targets, 'last_crawled_at'))],
					[t('state'), (site) => pill('is', site.enabled ? 'on' : 'off')],
					[
						'',
						(site) =>
							h('div.row',
								h('a.button.small', { href: address(['articles'], { site: site.code }) }, t('see.articles')),
								may('admin') && toggleButton('sites', site.code, site.enabled),
								may('admin') && act(t('remove'), () => drop(site, rows.reload), { kind: 'small danger', key: `remove-${site.code}` }),
							),
						'acts',
					],
				],
			}),
		});
		put(
			place.root,
			head(t('nav.sites'), null, may('admin') && h('button.primary', { data: { act: 'import' }, onclick: () => bring() }, t('site.import'))),
			filters(place, [
				{ name: 'q', label: t('sites.find'), type: 'search', grow: true },
				{ name: 'enabled', label: t('state.any'), type: 'choice', options: [['true', t('is.on')], ['false', t('is.off')]] },
			]),
			rows.node,
		);
	},
};

function nothing(place) {
	if (place.query.q || place.query.enabled) return nothingFound(place);
	return empty(t('sites.none'), t('sites.none.hint'), may('admin') ? h('button.primary', { onclick: () => bring() }, t('site.import')) : null);
}

async function drop(site, done) {
	if (!(await sure(t('remove'), t('site.remove.sure', { name: line(site.name, 80), n: (site.targets ?? []).length }), t('remove')))) return;
	await remove(path('sites', site.code));
	notice(t('removed', { code: line(site.code, 80) }));
	done();
}

/** A site file from the disk or the clipboard. */
async function bring() {
	const text = h('textarea', { name: 'yaml', rows: 14, spellcheck: 'false', required: true, placeholder: 'site_id: example\nsite_name: 某市人民政府\nbase_url: https://www.example.gov.cn\ncolumns:\n  - …' });
	const file = h('input', {
		type: 'file',
		accept: '.yaml,.yml,.json,text/yaml',
		onchange: async () => {
			if (file.files[0]) text.value = await file.files[0].text();
		},
	});
	const change = await formDialog(
		t('site.import'),
		[field(t('site.file'), file), field(t('site.yaml'), text, t('site.yaml.hint'))],
		t('site.import'),
		() => post('/sites', text.value, { type: 'application/yaml' }),
		{ wide: true },
	);
	if (!change) return;
	notice(t('site.imported', { name: line(change.name, 60), n: change.targets.length }));
	go(address(['targets'], { site: change.code }));
}
