// One site: what it is set to, its file, its targets, how it fares.

import { act, address, discover, facts, field, foreign, formDialog, get, h, head, line, may, named, notice, outside, path, pill, replace, runMany, shown, since, t, table, toggleButton } from '../kit.js';

export const site = {
	title: 'nav.sites',
	show(place) {
		const code = place.at[1];
		const load = shown(place, place.root, () => place.get(path('sites', code)), (value) => draw(value, load), ['changed']);
	},
};

function draw(value, reload) {
	document.title = `${line(value.name, 60)} · ${t('brand')}`;
	const targets = value.targets ?? [];
	return [
		head(
			foreign(value.name, 200),
			h('p.sub', h('a', { href: '#/sites' }, t('nav.sites')), ' / ', h('code', line(value.code, 80))),
			h('a.button', { href: address(['articles'], { site: value.code }) }, t('see.articles')),
			may('run') && value.enabled ? act(t('site.run'), () => runMany(targets.filter((target) => target.enabled).map((target) => target.code), false), { key: 'run-site', disabled: !targets.some((target) => target.enabled) }) : null,
			may('admin') && h('button', { onclick: () => discover(value.code) }, t('discover')),
			may('admin') && act(t('site.edit'), () => edit(value.code, reload), { key: 'edit-site' }),
			may('admin') && toggleButton('sites', value.code, value.enabled, reload),
		),
		h('div.grid',
			h('section.card.span-5',
				h('h2', t('settings')),
				facts([
					[t('state'), pill('is', value.enabled ? 'on' : 'off')],
					[t('site.base'), outside(value.base_url)],
					[t('site.adapter'), line(value.adapter, 80)],
					[t('site.strategy'), line(value.strategy, 40)],
					[t('site.schedule'), value.schedule ? h('code', line(value.schedule, 80)) : null],
					[t('site.robots'), value.respect_robots ? t('robots.yes') : h('span.tone-warn', t('robots.no'))],
					[t('site.hosts'), value.hosts?.length ? line(value.hosts.join('，'), 400) : null],
					[t('site.managed'), value.managed_by ? line(value.managed_by, 40) : null],
					[t('by.operator'), value.operator_set?.length ? line(value.operator_set.join('，'), 300) : null],
					[t('site.plan'), value.crawl_plan ? h('pre', JSON.stringify(value.crawl_plan, null, 2).slice(0, 2000)) : null],
				]),
			),
			h('section.card.flush.span-7',
				h('h2', t('nav.targets')),
				table({
					rows: targets,
					key: (target) => target.code,
					columns: [
						[t('target'), (target) => named('targets', target.code, target.name)],
						[t('last.crawl'), (target) => since(target.last_crawled_at)],
						[t('last.article'), (target) => since(target.last_article_time)],
						[t('state'), (target) => pill('is', target.enabled ? 'on' : 'off')],
					],
				}),
			),
		),
	];
}

async function edit(code, reload) {
	const { yaml } = await get(`${path('sites', code)}/export`);
	const text = h('textarea', { name: 'yaml', rows: 24, spellcheck: 'false', value: yaml });
	const change = await formDialog(t('site.edit'), [field(t('site.yaml'), text, t('site.yaml.hint'))], t('save'), () => replace(path('sites', code), text.value, { type: 'application/yaml' }), { wide: true });
	if (!change) return;
	notice(t('saved'));
	reload();
}
