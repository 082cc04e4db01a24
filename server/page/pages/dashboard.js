// The first look: is something wrong, is it alive, how fresh is each site, what comes.

import { about, address, age, ago, bars, count, empty, figure, foreign, get, h, head, hour, known, line, listen, moment, ms, pill, put, shown, since, span, t, table } from '../kit.js';
import { loadChart } from './jobs.js';
import { cooling, subjectOf, verdict } from './monitoring.js';
import { happening } from './target.js';

const rowsOf = (answer) => answer?.items ?? answer ?? [];

export const dashboard = {
	title: 'nav.home',
	show(place) {
		const part = (name) => h('section', { class: name });
		const [figures, wrong, activity, load, fresh, hosts, lanes] = [part(''), part('card'), part('card span-7'), part('card span-5'), part('card flush span-7'), part('card flush'), part('card flush')];
		const live = h('ol.warnlist', { 'aria-live': 'off' });
		const happenings = h('section.card.span-7', h('h2', t('dashboard.live')), h('p.faint', t('dashboard.live.none')), live);
		put(place.root, head(t('nav.home')), h('div.stack', wrong, figures, h('div.grid', activity, load, fresh, h('div.span-5.stack', hosts, lanes), happenings)));
		const ask = place.get;
		shown(
			place,
			activity,
			() => Promise.all([ask('/stats/overview'), ask('/jobs/queue')]),
			([overview, queue]) => {
				put(figures, drawFigures(overview, queue));
				put(lanes, h('h2', t('jobs.queue')), laneTable(queue.lanes));
				return [h('header', h('h2', t('dashboard.activity')), h('span.faint', overview.last_article_at ? [t('dashboard.last'), ' ', since(overview.last_article_at)] : '')), activityChart(overview.hours ?? [])];
			},
			['job', 'crawl', 'changed'],
		);
		shown(place, wrong, () => Promise.all([ask('/alerts', { limit: 200 }), ask('/hosts', { cooling: true, limit: 20 }), ask('/jobs/queue')]), ([alerts, cold, queue]) => drawWrong(rowsOf(alerts), rowsOf(cold), queue.unhandled ?? []), ['job', 'changed']);
		shown(place, load, () => ask('/schedules/load', { hours: 24 }), (answer) => [h('header', h('h2', t('dashboard.load')), h('a', { href: '#/jobs/coming', class: 'small' }, t('more'))), loadChart(answer, true), answer.overdue ? h('p.tone-warn.small', t('load.overdue', { n: answer.overdue })) : null], ['changed', 'job']);
		shown(place, fresh, () => ask('/stats/freshness', { limit: 200 }), (answer) => [h('h2', t('dashboard.fresh')), freshTable(rowsOf(answer))], ['job', 'changed']);
		shown(place, hosts, () => ask('/hosts', { limit: 8 }), (answer) => [h('header', h('h2', t('monitoring.hosts')), h('a', { href: '#/monitoring/hosts', class: 'small' }, t('more'))), hostTable(rowsOf(answer))], ['job', 'changed']);
		listen(({ name, data }) => {
			if (name !== 'crawl' || !['stored', 'failed', 'ended', 'started'].includes(data.what)) return;
			happenings.querySelector(':scope > p')?.remove();
			const row = happening(data);
			row.querySelector('.what').append(h('span.under', h('a', { href: address(['targets', data.target]) }, line(data.target, 80))));
			live.prepend(row);
			while (live.childElementCount > 10) live.lastElementChild.remove();
		}, place.signal);
	},
};

function drawFigures(overview, queue) {
	const oldest = (queue.lanes ?? []).map((lane) => ms(lane.oldest)).filter((at) => at !== null);
	const waits = oldest.length ? age(Math.min(...oldest)) : null;
	return h('div.figures',
		figure(t('figure.new'), count(overview.articles_today), { hint: t('figure.new.hint', { n: about(overview.articles) }), href: '#/articles' }),
		figure(t('figure.sites'), count(overview.sites_enabled), { hint: t('figure.of', { n: count(overview.sites) }), href: '#/sites' }),
		figure(t('figure.targets'), count(overview.targets_enabled), { hint: t('figure.of', { n: count(overview.targets) }), href: '#/targets' }),
		figure(t('figure.failing'), count(overview.targets_failing ?? 0), { tone: overview.targets_failing ? 'bad' : null, hint: t(overview.targets_failing ? 'figure.failing.some' : 'figure.failing.none'), href: '#/monitoring' }),
		figure(t('figure.queue'), count((queue.queued ?? 0) + (queue.waiting ?? 0)), { hint: waits === null ? t('figure.running', { n: queue.running ?? 0 }) : t('figure.queue.hint', { n: queue.running ?? 0, span: span(waits) }), tone: waits > 3600 ? 'warn' : null, href: '#/jobs' }),
		figure(t('figure.frontier'), count(overview.frontier ?? 0), { hint: overview.given_up ? t('figure.given.up', { n: count(overview.given_up) }) : null }),
	);
}

/** What is wrong first; when nothing is, one quiet line. */
function drawWrong(alerts, cold, unhandled) {
	const hosts = cold.filter((host) => (ms(host.cooling_until) ?? 0) > Date.now());
	if (!alerts.length && !hosts.length && !unhandled.length) return h('p.tone-good', t('dashboard.well'));
	return [
		h('h2', t('dashboard.wrong', { n: alerts.length + hosts.length + unhandled.length })),
		h('ul.warnlist',
			alerts.slice(0, 6).map((row) =>
				h(
					'li',
					h('span.pill.bad', t('trouble.short', { n: row.failures })),
					h('div.what', subjectOf(row), h('p', line(row.error ?? '', 200)), h('p.small', known('advice', row.advice, line(row.advice_text, 300)))),
					h('span.small.faint', t('trouble.since'), ' ', since(row.since)),
				),
			),
			unhandled.slice(0, 6).map((row) =>
				h(
					'li',
					h('span.pill.warn', count(row.jobs)),
					h('div.what', h('a', { href: address(['jobs', 'list'], { kind: row.kind }) }, line(row.kind, 100)), h('p', t('dashboard.unhandled'))),
					h('span.small.faint', t('trouble.since'), ' ', since(row.since)),
				),
			),
			hosts.slice(0, 6).map((host) =>
				h(
					'li',
					h('span.pill.warn', known('host', 'cooling')),
					h('div.what', h('a', { href: '#/monitoring/hosts' }, line(host.host, 100)), h('p', known('why', line(host.why ?? '', 80)))),
					h('span.small.faint', t('host.until'), ' ', since(host.cooling_until)),
				),
			),
		),
		alerts.length > 6 ? h('p', h('a', { href: '#/monitoring' }, t('dashboard.wrong.more', { n: alerts.length - 6 }))) : null,
	];
}

function activityChart(hours) {
	if (!hours.some((each) => each.requests || each.articles)) return empty(t('dashboard.still'), t('dashboard.still.hint'), h('a.button', { href: '#/targets' }, t('nav.targets')));
	return bars({
		label: t('dashboard.activity'),
		narrow: true,
		series: [{ name: t('activity.articles'), tone: 'accent' }, { name: t('activity.good'), tone: 'idle' }, { name: t('activity.failed'), tone: 'bad' }],
		bars: hours.map((each) => ({
			label: moment(each.from),
			mark: hour(each.from) % 3 === 0 ? String(hour(each.from)) : '',
			values: [Math.min(each.articles, each.requests || each.articles), Math.max(0, each.requests - each.articles - each.failed), each.failed],
			title: t('activity.hour', { at: moment(each.from), articles: each.articles, requests: each.requests, failed: each.failed }),
		})),
	});
}

function freshTable(rows) {
	return table({
		rows,
		key: (row) => row.site,
		empty: empty(t('sites.none'), t('sites.none.hint'), h('a.button.primary', { href: '#/sites' }, t('site.import'))),
		columns: [
			[t('site'), (row) => h('a', { href: address(['sites', row.site]) }, foreign(row.name, 60))],
			[t('state'), (row) => [pill('pulse', row.pulse, { ok: 'good', failing: 'bad' }[row.pulse] ?? ''), row.failing ? h('span.under.tone-bad', t('fresh.failing', { n: row.failing, all: row.targets })) : null]],
			[t('last.article'), (row) => since(row.last_article)],
			[t('last.good'), (row) => since(row.last_good_run)],
			[t('fresh.published'), (row) => (row.newest_published ? ago(row.newest_published) : '—')],
		],
	});
}

const hostTable = (rows) =>
	table({
		rows,
		key: (row) => row.host,
		empty: empty(t('hosts.none'), t('hosts.none.hint')),
		columns: [
			[t('host'), (row) => line(row.host, 60)],
			[t('state'), cooling],
			[t('host.verdict'), (row) => verdict(row.last_verdict)],
			[t('host.today'), (row) => count(row.requests_today ?? 0), 'num'],
		],
	});

const laneTable = (lanes) =>
	table({
		rows: (lanes ?? []).slice(0, 8),
		key: (lane) => lane.lane,
		empty: empty(t('queue.none'), t('queue.none.hint')),
		columns: [
			[t('lane'), (lane) => h('a', { href: address(['jobs', 'list'], { lane: lane.lane }) }, line(lane.lane, 60))],
			[t('lane.running'), (lane) => `${lane.running} / ${lane.concurrency}`, 'num'],
			[t('lane.queued'), (lane) => lane.queued + lane.waiting, 'num'],
			[t('lane.oldest'), (lane) => (lane.oldest ? since(lane.oldest) : '—')],
		],
	});
