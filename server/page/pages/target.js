// One target: how it is doing and why, when it is due and why, its last runs, what it is set to.

import { act, address, departmentError, departmentId, departmentOptions, diagnosis, empty, explanation, facts, field, foreign, formDialog, get, h, head, known, line, listen, may, moment, ms, notice, outside, path, pill, proposing, replace, runButtons, shown, since, span, t, table, toggleButton } from '../kit.js';

export const target = {
	title: 'nav.targets',
	show(place) {
		const code = place.at[1];
		const live = h('ol.warnlist', { 'aria-live': 'polite' });
		const load = shown(place, place.root, () => place.get(path('targets', code)), (value) => draw(place, value, live, load), ['changed', 'job']);
		listen(({ name, data }) => {
			if (name !== 'crawl' || data.target !== code) return;
			live.prepend(happening(data));
			while (live.childElementCount > 12) live.lastElementChild.remove();
			live.closest('section')?.removeAttribute('hidden');
			if (data.what === 'ended' || data.what === 'started') setTimeout(load, 300);
		}, place.signal);
	},
};

/** One line about what just happened in a crawl. */
export function happening(data) {
	const title = data.title ?? data.url ?? '';
	const words = known('crawl', data.what);
	return h(
		'li',
		h('span.faint.num.small', moment(Date.now(), true).slice(11)),
		h('div.what', h('span', { class: `pill ${{ stored: 'good', failed: 'bad', ended: 'busy', started: 'busy' }[data.what] ?? ''}` }, words), ' ', data.article ? h('a', { href: address(['articles', data.article]) }, foreign(title, 160)) : foreign(title || counts(data), 160), data.message || data.error ? h('p.tone-bad', line(data.message ?? data.error, 300)) : null),
	);
}

const COUNTS = ['seen', 'listed', 'rows', 'fresh', 'new', 'duplicate', 'failed', 'requests'];
const counts = (data) => COUNTS.filter((name) => Number.isFinite(data[name])).map((name) => `${known('count', name)} ${data[name]}`).join(' · ');

function draw(place, value, live, reload) {
	document.title = `${line(value.name, 60)} · ${t('brand')}`;
	const off = !value.enabled || value.site_enabled === false;
	const { health } = value;
	return [
		head(
			foreign(value.name, 200),
			h('p.sub', h('a', { href: address(['sites', value.site]) }, foreign(value.site_name ?? value.site, 60)), ' / ', h('code', line(value.code, 120))),
			may('run') && runButtons(value.code, off),
			h('a.button.small', { href: address(['targets', value.code, 'parser']) }, t('workbench')),
			h('a.button.small', { href: address(['articles'], { site: value.site, target: value.code }) }, t('see.articles')),
			may('admin') && act(t('edit'), () => edit(value).then((done) => done && reload()), { kind: 'small', key: 'edit-target' }),
			may('admin') && toggleButton('targets', value.code, value.enabled, reload),
		),
		h('div.stack',
			off ? h('p.lost', t(value.enabled ? 'target.site.off' : 'target.off')) : null,
			diagnosis(value.code, health),
			h('section.card', { hidden: !live.childElementCount }, h('h2', t('target.live')), live),
			h('div.grid',
				h('section.card.span-6',
					h('h2', t('settings')),
					facts([
						[t('state'), pill('is', value.enabled ? (off ? 'site_off' : 'on') : 'off')],
						[t('target.entry'), outside(value.entry_url)],
						[t('department'), value.department ? foreign(value.department.full_name, 120) : null],
						[t('field.channel_name'), value.channel_name ? foreign(value.channel_name, 120) : null],
						[t('field.content_category'), value.content_category ? foreign([value.content_category, value.content_subcategory].filter(Boolean).join(' / '), 120) : null],
						[t('last.crawl'), since(value.last_crawled_at)],
						[t('last.good'), health.last_good_run ? since(health.last_good_run) : null],
						[t('last.article'), since(value.last_article_time)],
						[t('by.operator'), value.operator_set?.length ? line(value.operator_set.join('，'), 300) : null],
						...pace(value.settings),
					]),
				),
				h('section.card.span-6',
					h('h2', t('target.due')),
					explanation(`target.${value.code}`, place.signal, t('target.no.schedule')),
				),
				h('section.card.flush.span-6',
					h('h2', t('target.runs')),
					table({
						rows: health.runs.slice(0, 20),
						key: (run) => String(run.id),
						empty: empty(t('target.no.runs'), t('target.no.runs.hint')),
						columns: [
							[t('run.began'), (run) => since(run.started_at)],
							[t('state'), (run) => [pill('run', run.state), run.reason ? h('span.under', known('reason', line(run.reason, 200))) : null]],
							[t('count.new'), (run) => run.new, 'num'],
							[t('count.listed'), (run) => run.listed, 'num'],
							[t('count.failed'), (run) => (run.failed ? h('span.tone-bad', run.failed) : 0), 'num'],
							[t('run.took'), (run) => (run.ended_at ? span((ms(run.ended_at) - ms(run.started_at)) / 1000) : '—'), 'num'],
						],
					}),
				),
				h('section.card.span-6',
					h('h2', t('target.errors')),
					failures(health.errors),
				),
			),
		),
	];
}

function failures(errors) {
	if (!errors.length) return h('p.faint', t('target.no.errors'));
	return h('ul.warnlist', errors.slice(0, 12).map((row) => h('li', h('span.small', since(row.occurred_at)), h('div.what', row.http_status && `${row.http_status} · `, outside(row.url, line(row.url, 160)), h('p.tone-bad', line(row.error ?? row.verdict, 300))))));
}

/** What holds and who says so, for the chain of the pace. */
function pace(settings) {
	if (!settings || typeof settings !== 'object') return [];
	return Object.entries(settings)
		.filter(([, said]) => said?.origin && said.value !== undefined && said.value !== null)
		.slice(0, 24)
		.map(([name, said]) => [known('setting', name), [h('span.num', line(plain(said.value), 200)), h('span.under', known('chain', line(said.origin, 80)))]]);
}

const plain = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

async function edit(value) {
	const departments = await departmentOptions();
	const said = { name: value.name, schedule: value.schedule, interval_sec: value.interval_sec, channel_name: value.channel_name, category: value.content_category };
	const before = Object.fromEntries(Object.entries(said).map(([name, now]) => [name, String(now ?? '')]));
	const text = (name, props) => h('input', { name, value: before[name], maxlength: 200, ...props });
	const interval = text('interval_sec', { type: 'number', step: 'any', min: 0 });
	const ours = line(value.department?.full_name ?? '', 80);
	const department = proposing({ name: 'dept', type: 'search', value: ours }, departments);
	const done = await formDialog(
		t('edit'),
		[
			field(t('target.name'), text('name', { required: true })),
			field(t('target.schedule'), text('schedule', { placeholder: '0 8 * * *' }), t('trigger.cron.hint')),
			h('div.two', field(t('department'), department), field(t('target.interval'), interval)),
			h('div.two', field(t('field.channel_name'), text('channel_name')), field(t('field.content_category'), text('category'))),
		],
		t('save'),
		(data) => {
			const body = {};
			// What stays as it is is not sent: it would count as set by hand.
			for (const [name, now] of Object.entries(before)) {
				const typed = (data.get(name) ?? '').trim();
				if (typed !== now) body[name] = typed || null;
			}
			if (body.interval_sec) body.interval_sec = Number(body.interval_sec);
			const department = (data.get('dept') ?? '').trim();
			if (department !== ours) {
				const dept = departmentId(department);
				// Only who says nothing takes it away.
				if (dept === null) throw departmentError(department);
				body.dept_id = dept ?? null;
			}
			return replace(path('targets', value.code), body);
		},
	);
	if (done) notice(t('saved'));
	return Boolean(done);
}
