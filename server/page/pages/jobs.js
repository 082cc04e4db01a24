// What waits, what runs, what came of it, and what comes due.

import { act, address, bars, editSchedule, empty, explanation, filters, get, h, head, hour, keepingFocus, known, line, list, may, moment, nothingFound, notice, path, pill, post, put, scheduleColumns, shown, since, sure, t, table, tabs } from '../kit.js';

const STATES = ['scheduled', 'queued', 'retry_wait', 'running', 'cancelling', 'done', 'failed', 'expired', 'cancelled'];
const WAITING = ['scheduled', 'queued', 'retry_wait', 'running', 'cancelling'];

export const jobs = {
	title: 'nav.jobs',
	show(place) {
		const tab = place.at[1] ?? 'queue';
		const body = h('div.stack');
		put(
			place.root,
			head(t('nav.jobs'), null, tab === 'schedules' && may('admin') && h('button.primary', { onclick: () => editSchedule(null).then((done) => done && again()) }, t('schedule.new'))),
			tabs([['#/jobs', t('jobs.queue'), tab === 'queue'], ['#/jobs/list', t('jobs.list'), tab === 'list'], ['#/jobs/schedules', t('jobs.schedules'), tab === 'schedules'], ['#/jobs/coming', t('jobs.coming'), tab === 'coming']], t('nav.jobs')),
			body,
		);
		const again = ({ queue, list: all, schedules, coming }[tab] ?? queue)(place, body) ?? (() => undefined);
	},
};

function queue(place, body) {
	const root = h('div.card.flush');
	const draw = ({ lanes }) =>
		keepingFocus(root, () =>
			put(
				root,
				table({
					rows: lanes,
					caption: t('jobs.queue'),
					key: (lane) => lane.lane,
					empty: empty(t('queue.none'), t('queue.none.hint'), h('a.button', { href: '#/targets' }, t('nav.targets'))),
					columns: [
						[t('lane'), (lane) => h('a', { href: address(['jobs', 'list'], { lane: lane.lane }) }, line(lane.lane, 100)), 'wideword'],
						[t('lane.running'), (lane) => `${lane.running} / ${lane.concurrency}`, 'num'],
						[t('lane.queued'), (lane) => lane.queued, 'num'],
						[t('lane.waiting'), (lane) => lane.waiting, 'num'],
						[t('lane.oldest'), (lane) => (lane.oldest ? since(lane.oldest) : '—')],
					],
				}),
			),
		);
	put(body, root);
	const running = list(place, { where: '/jobs/list', query: () => ({ state: WAITING.join(',') }), events: ['job'], draw: (answer) => jobTable(answer, empty(t('queue.none'), null)) });
	body.append(h('h2', t('jobs.now')), running.node);
	shown(place, root, () => place.get('/jobs/queue'), (answer) => void draw(answer), ['job']);
}

function all(place, body) {
	const rows = list(place, {
		where: '/jobs/list',
		query: ({ state, lane, kind }) => ({ state, lane, kind }),
		events: ['job'],
		draw: (answer) => jobTable(answer, nothingFound(place)),
	});
	put(
		body,
		filters(place, [
			{ name: 'state', label: t('state.any'), type: 'choice', options: STATES.map((state) => [state, known('job', state)]) },
			{ name: 'kind', label: t('job.kind.any'), type: 'choice', options: ['crawl', 'deliver'].map((kind) => [kind, known('kind', kind)]) },
			{ name: 'lane', label: t('lane'), type: 'search' },
		]),
		rows.node,
	);
}

function jobTable(answer, none) {
	return {
		rows: answer.items,
		key: (job) => String(job.id),
		caption: t('jobs.list'),
		empty: none,
		columns: [
			[t('job'), (job) => [subject(job), h('span.under', `#${job.id} · ${known('kind', line(job.kind, 60))} · ${line(job.lane, 80)}`)], 'wideword'],
			[t('state'), (job) => [pill('job', job.state), job.attempts > 1 ? h('span.under', t('job.attempts', { n: job.attempts })) : null]],
			[t('job.when'), (job) => (job.finished_at ? since(job.finished_at) : job.started_at && job.state === 'running' ? since(job.started_at) : since(job.due_at))],
			[t('job.said'), (job) => said(job)],
			[
				'',
				(job) =>
					may('run')
						? h('div.row',
								WAITING.includes(job.state) && job.state !== 'cancelling' ? act(t('job.cancel'), () => cancel(job), { kind: 'small', key: `cancel-${job.id}` }) : null,
								['failed', 'expired', 'cancelled', 'retry_wait'].includes(job.state) ? act(t('job.retry'), () => retry(job), { kind: 'small', key: `retry-${job.id}` }) : null,
							)
						: null,
				'acts',
			],
		],
	};
}

function subject(job) {
	const target = job.payload?.target ?? job.payload?.code;
	return typeof target === 'string' ? h('a', { href: address(['targets', target]) }, line(target, 100)) : line(job.unique_key ?? job.kind, 100);
}

function said(job) {
	if (job.error) return h('span.tone-bad', line(job.error, 300), job.error_class ? h('span.under', known('class', job.error_class)) : null);
	if (job.hold_why) return h('span.soft', line(job.hold_why, 300));
	return job.response ? h('span.soft', response(job.response)) : h('span.faint', '—');
}

/** What a handler said: counts where it is JSON, else its words. */
function response(text) {
	try {
		const value = JSON.parse(text);
		if (value && typeof value === 'object') return line(Object.entries(value).filter(([name, each]) => name !== 'run' && typeof each !== 'object').map(([name, each]) => `${known('count', name)} ${each}`).join(' · '), 200);
	} catch {
		// Then it is words.
	}
	return line(text, 200);
}

async function cancel(job) {
	if (job.state === 'running' && !(await sure(t('job.cancel'), t('job.cancel.sure', { id: job.id }), t('job.cancel')))) return;
	const { state } = await post(`${path('jobs', job.id)}/cancel`);
	notice(t('job.is', { id: job.id, state: known('job', state) }));
}

async function retry(job) {
	const { state } = await post(`${path('jobs', job.id)}/retry`);
	notice(t('job.is', { id: job.id, state: known('job', state) }));
}

function schedules(place, body) {
	const opened = new Map(place.query.open ? [[place.query.open, explanation(place.query.open, place.signal)]] : []);
	const rows = list(place, {
		where: '/schedules',
		query: ({ q, kind, enabled }) => ({ q, kind, enabled }),
		events: ['job', 'changed'],
		draw: (answer) => ({ rows: answer.items, key: (schedule) => schedule.name, caption: t('jobs.schedules'), empty: empty(t('schedules.none'), t('schedules.none.hint')), columns: scheduleColumns(opened, () => rows.redraw(), () => rows.reload(), place.signal) }),
	});
	put(
		body,
		filters(place, [
			{ name: 'q', label: t('schedules.find'), type: 'search', grow: true },
			{ name: 'enabled', label: t('state.any'), type: 'choice', options: [['true', t('is.on')], ['false', t('is.off')]] },
		]),
		rows.node,
	);
	return rows.reload;
}

function coming(place, body) {
	const chart = h('div.card');
	const opened = new Map();
	const rows = list(place, {
		where: '/jobs/scheduled',
		query: () => ({ within_sec: 86_400 }),
		events: ['job', 'changed'],
		draw: (answer) => ({ rows: answer.items, key: (schedule) => schedule.name, caption: t('jobs.coming'), empty: empty(t('coming.none'), t('coming.none.hint')), columns: scheduleColumns(opened, () => rows.redraw(), () => rows.reload(), place.signal) }),
	});
	put(body, chart, rows.node);
	shown(place, chart, () => place.get('/schedules/load', { hours: 24 }), (answer) => [h('h2', t('dashboard.load')), loadChart(answer)], ['job', 'changed']);
}

/** What comes due in each of the coming hours. */
export function loadChart(answer, narrow) {
	const kinds = [['cron', 'accent'], ['adaptive', 'good'], ['interval', 'warn'], ['once', 'idle']];
	const hours = answer.hours ?? [];
	const used = kinds.filter(([name]) => hours.some((each) => each[name] > 0));
	const series = used.length ? used : kinds.slice(0, 1);
	return bars({
		label: t('dashboard.load'),
		narrow,
		series: series.map(([name, tone]) => ({ name: known('trigger', name), tone })),
		bars: hours.map((each) => ({
			label: moment(each.from),
			mark: hour(each.from) % 3 === 0 ? String(hour(each.from)) : '',
			values: series.map(([name]) => each[name] ?? 0),
			title: t('load.hour', { at: moment(each.from), n: series.reduce((sum, [name]) => sum + (each[name] ?? 0), 0) }),
		})),
	});
}
