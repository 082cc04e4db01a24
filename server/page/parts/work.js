// Things that are done to sites and targets from several pages: run, run in full, switch on and off.

import { path, post, postOnce } from '../api.js';
import { line } from '../text.js';
import { t } from '../words.js';
import { act } from './field.js';
import { sure } from './dialog.js';
import { notice } from './notice.js';

/** Puts a target in line. `force`: the whole list, not only down to the first known article. */
async function run(code, force) {
	if (force && !(await sure(t('run.full'), t('run.full.sure', { code: line(code, 80) }), t('run.full'), 'primary'))) return;
	try {
		const { job } = await postOnce(`${path('targets', code)}/run`, force ? { force: true } : {});
		notice(t('run.queued', { code: line(code, 80), job }));
	} catch (error) {
		if (error.code === 'active') notice(t('run.active', { code: line(code, 80) }), 'warn');
		else if (error.code === 'disabled') notice(t('run.disabled', { code: line(code, 80) }), 'warn');
		else throw error;
	}
}

/** The two buttons of a row. */
export const runButtons = (code, off) => [
	act(t('run'), () => run(code, false), { kind: 'small', key: `run-${code}`, disabled: off, title: off ? t('run.off') : undefined }),
	act(t('run.full'), () => run(code, true), { kind: 'small', key: `full-${code}`, disabled: off, title: off ? t('run.off') : t('run.full.hint') }),
];

/** Switches something on or off and says so. */
async function toggle(kind, code, enabled) {
	await post(`${path(kind, code)}/toggle`, { enabled });
	notice(t(enabled ? 'switched.on' : 'switched.off', { code: line(code, 80) }));
}

/** Its button. */
export const toggleButton = (kind, code, enabled, done) =>
	act(t(enabled ? 'switch.off' : 'switch.on'), async () => (await toggle(kind, code, !enabled), done?.()), { kind: 'small', key: `toggle-${code}` });

/** Puts many targets in line at once. */
export async function runMany(targets, force) {
	const { results } = await postOnce('/targets/bulk-run', force ? { targets, force: true } : { targets });
	const queued = results.filter((result) => result.outcome === 'submitted').length;
	const refused = results.length - queued;
	notice(t('bulk.queued', { queued, refused }), refused ? 'warn' : 'good');
}
