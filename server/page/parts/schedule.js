// Schedules: what makes them due in words, the list of them, a form to make and change one.

import { path, post, remove, replace } from '../api.js';
import { h, put, settled } from '../dom.js';
import { may } from '../session.js';
import { line } from '../text.js';
import { moment, span } from '../when.js';
import { known, language, t } from '../words.js';
import { formDialog, sure } from './dialog.js';
import { explanation } from './explain.js';
import { act, choice, field, tick } from './field.js';
import { pill, since } from './mark.js';
import { notice } from './notice.js';

const BUILTIN = 'builtin:';

/** `每天 02:00`, `每 30 分钟`, … as far as the page knows by itself; else the expression. */
export function triggerWords(trigger) {
	if (!trigger) return '—';
	if (trigger.type === 'cron') return [h('code', line(trigger.cron, 80))];
	if (trigger.type === 'interval') return t('trigger.every', { span: span(trigger.seconds) });
	if (trigger.type === 'adaptive') return [known('trigger', 'adaptive'), ' ', h('span.faint.small', known('policy', trigger.policy)), trigger.cron ? [' + ', h('code', line(trigger.cron, 80))] : null];
	if (trigger.type === 'once') return t('trigger.once', { at: moment(trigger.at) });
	return known('trigger', trigger.type);
}

/** The columns of a table of schedules. `opened` (a Map of names to nodes) holds the explanations that are open. */
export function scheduleColumns(opened, redraw, reload, signal) {
	return [
		[
			t('schedule'),
			(schedule) => {
				const open = opened.has(schedule.name);
				return [
					h(
						'button',
						{
							class: 'link',
							type: 'button',
							'aria-expanded': String(open),
							key: `explain-${schedule.name}`,
							onclick: () => {
								if (open) opened.delete(schedule.name);
								else opened.set(schedule.name, explanation(schedule.name, signal));
								redraw();
							},
						},
						line(schedule.title || schedule.name, 120),
					),
					h('span.under.mono', line(schedule.name, 120)),
					open ? opened.get(schedule.name) : null,
				];
			},
			'wideword',
		],
		[t('trigger'), (schedule) => [triggerWords(schedule.trigger), schedule.origin ? h('span.under', known('chain', schedule.origin)) : null]],
		[t('next'), (schedule) => (schedule.enabled ? (schedule.next_due_at ? since(schedule.next_due_at) : h('span.faint', t('by.hand'))) : pill('is', 'off'))],
		[t('last.run'), (schedule) => [since(schedule.last_run_at), schedule.last_status ? [' ', pill('run', schedule.last_status)] : null, schedule.off_why ? h('span.under.tone-bad', line(schedule.off_why, 200)) : null]],
		[
			'',
			(schedule) =>
				h('div.row',
					may('run') ? act(t('run'), () => runNow(schedule), { kind: 'small', key: `srun-${schedule.name}`, disabled: !schedule.enabled }) : null,
					may('admin') ? act(t('edit'), () => editSchedule(schedule).then((done) => done && reload()), { kind: 'small', key: `sedit-${schedule.name}` }) : null,
					may('admin') && !schedule.name.startsWith(BUILTIN) && !schedule.name.startsWith('target.') ? act(t('remove'), () => drop(schedule, reload), { kind: 'small danger', key: `sdrop-${schedule.name}` }) : null,
				),
			'acts',
		],
	];
}

async function runNow(schedule) {
	try {
		const { job } = await post(`${path('schedules', schedule.name)}/run`);
		notice(t('run.queued', { code: line(schedule.title || schedule.name, 60), job }));
	} catch (error) {
		if (error.code !== 'active') throw error;
		notice(t('run.active', { code: line(schedule.title || schedule.name, 60) }), 'warn');
	}
}

async function drop(schedule, reload) {
	if (!(await sure(t('remove'), t('schedule.remove.sure', { name: line(schedule.name, 80) }), t('remove')))) return;
	await remove(path('schedules', schedule.name));
	notice(t('removed', { code: line(schedule.name, 60) }));
	reload();
}

/** Makes a schedule, or changes one; resolves to whether that was done. */
export async function editSchedule(schedule) {
	const trigger = schedule?.trigger ?? { type: 'cron', cron: '0 9 * * 1-5' };
	const kind = choice({ name: 'type', value: trigger.type, onchange: () => show() }, ['cron', 'interval', 'adaptive', 'once', 'manual'].map((type) => [type, known('trigger', type)]));
	const cron = h('input', { name: 'cron', class: 'mono', value: trigger.cron ?? '', maxlength: 200, placeholder: '0 9 * * 1-5', oninput: () => check() });
	const seconds = h('input', { name: 'seconds', type: 'number', min: 1, value: trigger.seconds ?? 3600 });
	const policy = choice({ name: 'policy', value: trigger.policy ?? 'predictive' }, ['predictive', 'classic', 'budget'].map((name) => [name, known('policy', name)]));
	const combine = choice({ name: 'combine', value: trigger.combine ?? 'either' }, ['either', 'cron_only', 'adaptive_only'].map((name) => [name, known('combine', name)]));
	const at = h('input', { name: 'at', type: 'datetime-local' });
	const told = h('p.hint', { role: 'status' });
	const parts = { cron: field(t('trigger.cron'), cron, t('trigger.cron.hint')), seconds: field(t('trigger.seconds'), seconds), policy: field(t('trigger.policy'), policy), combine: field(t('trigger.combine'), combine), at: field(t('trigger.at'), at) };
	const shown = { cron: ['cron'], interval: ['seconds'], adaptive: ['policy', 'combine', 'cron'], once: ['at'], manual: [] };
	const show = () => Object.entries(parts).forEach(([name, node]) => (node.hidden = !shown[kind.value].includes(name)));
	const check = settled(async () => {
		if (!cron.value.trim()) return void put(told);
		try {
			const answer = await post('/cron/validate', { expression: cron.value.trim() });
			put(told, `${answer[`description_${language()}`] ?? ''} → ${(answer.next ?? []).slice(0, 3).map((next) => moment(next)).join('，')}`);
			told.className = 'hint';
		} catch (error) {
			put(told, line(error.detail || error.title, 300));
			told.className = 'hint tone-bad';
		}
	});
	show();
	check();
	const enabled = tick(t('is.on'), { name: 'enabled', checked: schedule?.enabled ?? true });
	const misfire = choice({ name: 'misfire', value: schedule?.misfire ?? 'run_once' }, ['run_once', 'skip', 'expire'].map((name) => [name, known('misfire', name)]));
	const read = () => {
		const type = kind.value;
		if (type === 'cron') return { type, cron: cron.value.trim() };
		if (type === 'interval') return { type, seconds: Number(seconds.value) };
		if (type === 'adaptive') return { type, policy: policy.value, combine: combine.value, ...(cron.value.trim() ? { cron: cron.value.trim() } : {}) };
		if (type === 'once') return { type, at: new Date(at.value).toISOString() };
		return { type };
	};
	const own = schedule
		? []
		: [
				h('div.two', field(t('schedule.name'), h('input', { name: 'name', required: true, maxlength: 200, autofocus: true, placeholder: 'report.daily' })), field(t('schedule.kind'), h('input', { name: 'kind', required: true, maxlength: 100, placeholder: 'hook:report' }))),
				field(t('schedule.payload'), h('textarea', { name: 'payload', rows: 3, spellcheck: 'false', placeholder: '{}' })),
			];
	const done = await formDialog(
		schedule ? line(schedule.title || schedule.name, 80) : t('schedule.new'),
		[own, field(t('trigger'), kind), Object.values(parts), told, field(t('misfire'), misfire), enabled],
		t('save'),
		(data) => {
			const body = { trigger: read(), enabled: data.get('enabled') === 'on', misfire: misfire.value };
			if (schedule) return replace(path('schedules', schedule.name), body);
			const payload = data.get('payload').trim();
			return post('/schedules', { ...body, name: data.get('name').trim(), kind: data.get('kind').trim(), ...(payload ? { payload: JSON.parse(payload) } : {}) });
		},
	);
	if (done) notice(t('saved'));
	return Boolean(done);
}
