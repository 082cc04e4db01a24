// One site: what it is set to, its file, its targets, how it fares.

import { act, address, body, choice, dialog, discover, facts, field, foreign, formDialog, get, h, head, known, line, may, named, notice, outside, path, pill, replace, runMany, shown, since, t, table, tick, toggleButton } from '../kit.js';

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
			may('admin') && act(t('site.edit'), () => edit(value, reload), { key: 'edit-site' }),
			may('admin') && act(t('site.yaml'), () => show(value.code), { key: 'site-file' }),
			may('admin') && toggleButton('sites', value.code, value.enabled, reload),
		),
		h('div.grid',
			h('section.card.span-5',
				h('h2', t('settings')),
				facts([
					[t('state'), pill('is', value.enabled ? 'on' : 'off')],
					[t('site.base'), outside(value.base_url)],
					[t('site.adapter'), line(value.adapter, 80)],
					[t('site.strategy'), known('strategy', value.strategy)],
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

/** The settings that are changed most often, and any other by its key; what is said here is left alone by imports. */
async function edit(value, reload) {
	const said = { site_name: value.name, base_url: value.base_url, schedule: value.schedule };
	const before = Object.fromEntries(Object.entries(said).map(([name, now]) => [name, now ?? '']));
	const text = (name, props) => h('input', { name, value: before[name], maxlength: 500, ...props });
	const strategy = choice({ name: 'default_strategy', value: value.strategy }, ['auto', 'http', 'browser'].map((name) => [name, known('strategy', name)]));
	const more = h('textarea', { name: 'more', rows: 5, spellcheck: 'false', placeholder: '{"interval_sec": 10, "params": {}, "crawl_plan": {}}' });
	const change = await formDialog(
		t('site.edit'),
		[
			h('div.two', field(t('target.name'), text('site_name', { required: true })), field(t('site.base'), text('base_url', { type: 'url', required: true }))),
			h('div.two', field(t('site.schedule'), text('schedule', { placeholder: '0 8 * * *' })), field(t('site.strategy'), strategy)),
			tick(`${t('site.robots')}：${t('robots.yes')}`, { name: 'respect_robots', checked: value.respect_robots }),
			field(t('site.more'), more, t('site.more.hint')),
		],
		t('save'),
		(data) => {
			const body = data.get('more').trim() ? JSON.parse(data.get('more')) : {};
			for (const [name, now] of Object.entries(before)) if (data.get(name).trim() !== now) body[name] = data.get(name).trim() || null;
			if (data.get('default_strategy') !== value.strategy) body.default_strategy = data.get('default_strategy');
			const robots = data.get('respect_robots') === 'on';
			if (robots !== value.respect_robots) body.respect_robots = robots;
			return replace(path('sites', value.code), body);
		},
	);
	if (!change) return;
	notice(t('saved'));
	reload();
}

/** The site as a file: to keep, and to take elsewhere. */
async function show(code) {
	const { yaml } = await get(`${path('sites', code)}/export`);
	await dialog(t('site.yaml'), () => h('pre', body(yaml)), { wide: true });
}
