// What goes wrong and where: alerts, hosts that are left alone, every request, who changed what.

import { act, address, all as allRows, empty, facts, filters, foreign, get, h, head, into, known, line, list, may, moment, ms, notice, outside, path, pill, post, put, shown, since, size, span, sure, t, table, tabs } from '../kit.js';

export const monitoring = {
	title: 'nav.monitoring',
	show(place) {
		const tab = place.at[1] ?? 'alerts';
		const body = h('div.stack');
		const names = ['alerts', 'hosts', 'logs', ...(may('admin') ? ['audit'] : [])];
		put(
			place.root,
			head(t('nav.monitoring')),
			tabs(names.map((name) => [name === 'alerts' ? '#/monitoring' : address(['monitoring', name]), t(`monitoring.${name}`), tab === name]), t('nav.monitoring')),
			body,
		);
		({ alerts, hosts, logs, audit }[tab] ?? alerts)(place, body);
	},
};

function alerts(place, body) {
	const root = h('div');
	put(body, root);
	shown(place, root, () => place.get('/alerts', { limit: 200 }), (answer) => drawAlerts(answer.items ?? answer), ['job', 'changed']);
}

/** Alerts, each with why, since when, the last good run and what to try. */
function drawAlerts(rows) {
	if (!rows.length) return h('div.card', empty(t('alerts.none'), t('alerts.none.hint')));
	return h('div.stack', rows.map(alert));
}

function alert(row) {
	return h(
		'section.card.diagnosis',
		h('header', h('h2', subjectOf(row)), h('span.faint', t('trouble.title', { n: row.failures }))),
		facts([
			[t('trouble.why'), [line(row.error ?? '', 600), row.error_class && [' ', h('span.pill.bad', known('class', row.error_class))]]],
			[t('trouble.since'), since(row.since)],
			[t('trouble.try'), known('advice', row.advice, line(row.advice_text, 600))],
			[t('alert.told'), row.told_at && since(row.told_at)],
		]),
	);
}

/** What an alert is about: a target as a rule, which then leads to its page. */
export function subjectOf(row) {
	const code = String(row.subject).replace(/^target[:.]/u, '');
	return /^[\w-]+__[\w-]+$/u.test(code) ? h('a', { href: address(['targets', code]) }, line(code, 120)) : line(code, 120);
}

function hosts(place, body) {
	const opened = new Map();
	const rows = list(place, {
		where: '/hosts',
		query: ({ cooling }) => ({ cooling }),
		events: ['changed', 'crawl'],
		draw: (answer) => ({
			rows: answer.items,
			key: (host) => host.host,
			caption: t('monitoring.hosts'),
			empty: empty(t('hosts.none'), t('hosts.none.hint')),
			columns: [
				[
					t('host'),
					(host) => [
						h('button.link', { 'aria-expanded': String(opened.has(host.host)), key: `host-${host.host}`, onclick: () => (opened.has(host.host) ? opened.delete(host.host) : opened.set(host.host, closer(host.host, place.signal)), rows.redraw()) }, line(host.host, 120)),
						host.why && h('span.under', known('why', line(host.why, 80))),
						opened.get(host.host),
					],
					'wideword',
				],
				[t('state'), (host) => cooling(host)],
				[t('host.verdict'), (host) => verdict(host.last_verdict)],
				[t('host.seen'), (host) => since(host.last_seen)],
				[t('host.today'), (host) => [host.requests_today ?? 0, h('span.under', size(host.bytes_today ?? 0))], 'num'],
				[t('host.interval'), (host) => (host.interval_ms ? `${host.interval_ms / 1000} s` : '—'), 'num'],
				[
					'',
					(host) =>
						may('run')
							? h('div.row', act(t('host.cool'), () => cool(host.host, rows), { kind: 'small', key: `cool-${host.host}` }), act(t('host.reset'), () => reset(host.host, rows), { kind: 'small', key: `reset-${host.host}` }))
							: null,
					'acts',
				],
			],
		}),
	});
	put(body, filters(place, [{ name: 'cooling', label: t('hosts.any'), type: 'choice', options: [['true', t('hosts.cooling')]] }]), rows.node);
}

/** Whether a host is left alone, and until when. */
export function cooling(host) {
	const until = ms(host.cooling_until);
	return until && until > Date.now() ? [pill('host', 'cooling'), h('span.under', since(host.cooling_until))] : pill('host', 'healthy');
}

export const verdict = (value) => {
	return value ? pill('verdict', line(value.split(/[ :(]/u)[0], 40)) : '—';
};

function closer(host, signal) {
	const root = h('div.words');
	const load = () =>
		into(
			root,
			Promise.all([get(path('hosts', host), null, { signal }), get(`${path('hosts', host)}/ledger`, { days: 7 }, { signal })]),
			([row, ledger]) => [
				row.trouble ? h('p', h('strong', t('host.trouble')), ' ', line(row.trouble, 500)) : null,
				table({ rows: ledger.items ?? [], key: (day) => day.day, columns: Object.keys(ledger.items?.[0] ?? {}).slice(0, 7).map((name) => [known('ledger', name), (day) => line(typeof day[name] === 'object' ? JSON.stringify(day[name]) : day[name], 60), name === 'day' ? 'nowrap' : 'num']) }),
			],
			load,
		);
	load();
	return root;
}

async function cool(host, rows) {
	await post(`${path('hosts', host)}/cool`, { seconds: 3600 });
	notice(t('host.cooled', { host: line(host, 80), span: span(3600) }));
	rows.reload();
}

async function reset(host, rows) {
	if (!(await sure(t('host.reset'), t('host.reset.sure', { host: line(host, 80) }), t('host.reset'), 'primary'))) return;
	await post(`${path('hosts', host)}/reset`);
	notice(t('host.was.reset', { host: line(host, 80) }));
	rows.reload();
}

async function logs(place, body) {
	const rows = list(place, {
		where: '/logs/recent',
		query: ({ hours, site, target, success }) => ({ hours, site, target, success }),
		events: ['crawl'],
		draw: (answer) => ({
			rows: answer.items,
			key: (row) => String(row.id),
			caption: t('monitoring.logs'),
			empty: empty(t('logs.none'), t('logs.none.hint')),
			columns: [
				[t('log.what'), (row) => [outside(row.url, line(row.url, 140)), h('span.under', `${known('purpose', row.purpose)} · ${line(row.target ?? '', 80)}`)], 'wideword'],
				[t('log.when'), (row) => h('time', { datetime: row.occurred_at }, moment(row.occurred_at, true)), 'nowrap'],
				[t('log.answer'), (row) => [h('span', { class: `pill ${row.success ? 'good' : 'bad'}` }, row.http_status ?? (row.success ? 'ok' : '—')), row.fetch_strategy === 'browser' ? h('span.under', known('strategy', 'browser')) : null]],
				[t('log.took'), (row) => `${row.duration_ms} ms`, 'num'],
				[t('log.why'), (row) => !row.success && h('span.tone-bad', line(row.error ?? row.verdict, 240))],
			],
		}),
	});
	const bar = h('div');
	put(body, bar, rows.node);
	const sites = await allRows('/sites').catch(() => []);
	put(
		bar,
		filters(place, [
			{ name: 'hours', label: t('log.day'), type: 'choice', options: [[1, t('log.hours', { n: 1 })], [6, t('log.hours', { n: 6 })], [72, t('log.days', { n: 3 })], [168, t('log.days', { n: 7 })]] },
			{ name: 'success', label: t('log.any'), type: 'choice', options: [['false', t('log.failed')], ['true', t('log.good')]] },
			{ name: 'site', label: t('site.any'), type: 'choice', options: sites.map((site) => [site.code, line(site.name, 40)]) },
			{ name: 'target', label: t('target.code'), type: 'search' },
		]),
	);
}

function audit(place, body) {
	const rows = list(place, {
		where: '/audit',
		query: ({ actor, action }) => ({ actor, action }),
		events: ['changed'],
		draw: (answer) => ({
			rows: answer.items,
			key: (row) => String(row.id),
			caption: t('monitoring.audit'),
			empty: empty(t('audit.none'), ''),
			columns: [
				[t('audit.what'), (row) => [h('code', line(row.action, 60)), ' ', foreign(row.subject, 120)], 'wideword'],
				[t('audit.who'), (row) => [foreign(row.actor, 60), h('span.under', line(row.via, 20))]],
				[t('log.when'), (row) => moment(row.at, true), 'nowrap'],
				[t('audit.outcome'), (row) => h('span', { class: `pill ${row.outcome === 'ok' ? 'good' : 'warn'}` }, known('outcome', row.outcome, known('code', line(row.outcome, 40))))],
				[t('request.id'), (row) => h('code.faint', line(row.request ?? '', 40))],
			],
		}),
	});
	put(body, filters(place, [{ name: 'actor', label: t('audit.who'), type: 'search' }, { name: 'action', label: t('audit.what'), type: 'search' }]), rows.node);
}
