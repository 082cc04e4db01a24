// Moments, spans, sizes and numbers in words. Moments come as RFC 3339 and are shown in the sites' zone.

import { language, t } from './words.js';

/** The zone of the sites; an operator reads their times, not those of his browser. */
const ZONE = 'Asia/Shanghai';
let format = null;

/** Milliseconds, or none. */
export function ms(at) {
	if (at === undefined || at === null || at === '') return null;
	const value = typeof at === 'number' ? at : Date.parse(at);
	return Number.isFinite(value) ? value : null;
}

function parts(at) {
	format ??= new Intl.DateTimeFormat('en-GB', { timeZone: ZONE, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
	return Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
}

/** `2026-04-10 09:30`. */
export function moment(at, seconds = false) {
	const value = ms(at);
	if (value === null) return '—';
	const p = parts(value);
	return `${p.year}-${p.month}-${p.day} ${p.hour}:${p.minute}${seconds ? `:${p.second}` : ''}`;
}

/** `04-10 09:30`, or only the time today. */
export function short(at) {
	const value = ms(at);
	if (value === null) return '—';
	const [p, now] = [parts(value), parts(Date.now())];
	if (p.year === now.year && p.month === now.month && p.day === now.day) return `${p.hour}:${p.minute}`;
	return p.year === now.year ? `${p.month}-${p.day} ${p.hour}:${p.minute}` : `${p.year}-${p.month}-${p.day}`;
}

/** `2026-04-10`. */
export function day(at) {
	const value = ms(at);
	return value === null ? '—' : moment(value).slice(0, 10);
}

/** The hour of the day, 0–23. */
export const hour = (at) => Number(parts(ms(at) ?? 0).hour);

/** `3 分钟`, `2 小时`, `5 天`. */
export function span(seconds) {
	if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '—';
	const s = Math.max(0, Math.round(seconds));
	if (s < 60) return t('span.seconds', { n: s });
	if (s < 3600) return t('span.minutes', { n: Math.round(s / 60) });
	if (s < 129_600) return t('span.hours', { n: Math.round(s / 3600) });
	return t('span.days', { n: Math.round(s / 86_400) });
}

/** `3 分钟前`, `2 小时后`. */
export function ago(at) {
	const value = ms(at);
	if (value === null) return t('never');
	const seconds = (Date.now() - value) / 1000;
	if (Math.abs(seconds) < 5) return t('now');
	return t(seconds > 0 ? 'ago' : 'ahead', { span: span(Math.abs(seconds)) });
}

/** Seconds since then; none when it never was. */
export function age(at) {
	const value = ms(at);
	return value === null ? null : (Date.now() - value) / 1000;
}

/** `12,345`. */
export const count = (n) => (Number.isFinite(n) ? n.toLocaleString('en-US') : '—');

/** `1.2 万` or `12.3k`: for places where the exact number does not fit. */
export function about(n) {
	if (!Number.isFinite(n)) return '—';
	if (n < 10_000) return count(n);
	return new Intl.NumberFormat(language() === 'zh' ? 'zh-CN' : 'en', { notation: 'compact', maximumFractionDigits: 1 }).format(n);
}

/** `1.4 MB`. */
export function size(bytes) {
	if (!Number.isFinite(bytes)) return '—';
	for (const [unit, each] of [['GB', 1e9], ['MB', 1e6], ['KB', 1e3]]) if (bytes >= each) return `${(bytes / each).toFixed(1)} ${unit}`;
	return `${bytes} B`;
}
