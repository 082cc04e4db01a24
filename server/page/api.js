// The way to the server: JSON in, JSON out, and every refusal as one kind of error. What the routes mean is not known here.

const BASE = '/admin/api';
const PATIENCE_MS = 60_000;

/** Why the server, or the way to it, refused (RFC 9457). */
export class Problem extends Error {
	constructor(status, told, requestId) {
		super(told.title ?? `HTTP ${status}`);
		this.name = 'Problem';
		this.status = status;
		this.title = told.title ?? `HTTP ${status}`;
		this.detail = told.detail ?? '';
		this.code = told.code ?? '';
		this.requestId = told.request_id ?? requestId ?? '';
		this.told = told;
		this.fields = told.field ? [{ name: told.field, message: '' }] : [];
	}
}

const strangers = new Set();

/** Somebody was not let in: he has to sign in again. */
export const stranger = () => strangers.forEach((call) => call());

/** Is called when the server does not know us any more. */
export const onStranger = (call) => strangers.add(call);

/** `/sites/a b` with each part quoted: `path('sites', code)`. */
export const path = (...parts) => `/${parts.map((part) => encodeURIComponent(part)).join('/')}`;

/** `?a=1`, without what is empty. */
export function search(query) {
	const pairs = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false);
	return pairs.length ? `?${new URLSearchParams(pairs.map(([key, value]) => [key, String(value)]))}` : '';
}

async function call(method, where, { query, body, type, signal, once, text } = {}) {
	const headers = { Accept: text ? 'text/plain, application/problem+json' : 'application/json, application/problem+json' };
	if (body !== undefined) headers['Content-Type'] = type ?? 'application/json';
	if (once) headers['Idempotency-Key'] = once;
	const patience = AbortSignal.timeout(PATIENCE_MS);
	const either = new AbortController();
	for (const each of [patience, signal]) {
		if (each?.aborted) either.abort(each.reason);
		each?.addEventListener('abort', () => either.abort(each.reason), { once: true });
	}
	let answer;
	let told;
	try {
		answer = await fetch(`${BASE}${where}${search(query)}`, {
			method,
			headers,
			signal: either.signal,
			credentials: 'same-origin',
			cache: 'no-cache',
			body: body === undefined ? undefined : type ? body : JSON.stringify(body),
		});
		told = await answer.text();
	} catch (error) {
		if (error?.name === 'AbortError' && signal?.aborted) throw error;
		throw new Problem(0, { title: 'The server does not answer', detail: String(error?.message ?? error), code: 'offline' });
	}
	const id = answer.headers.get('x-request-id');
	if (text && answer.ok) return told;
	let value = null;
	try {
		value = told ? JSON.parse(told) : null;
	} catch {
		throw new Problem(answer.status, { title: `HTTP ${answer.status}`, detail: told.slice(0, 300) }, id);
	}
	if (answer.ok) return value;
	if (answer.status === 401 && where !== '/session') stranger();
	throw new Problem(answer.status, value ?? {}, id);
}

/** Reads. */
export const get = (where, query, options) => call('GET', where, { query, ...options });
/** Reads text. */
export const getText = (where, options) => call('GET', where, { text: true, ...options });
/** Asks for something to be done. */
export const post = (where, body, options) => call('POST', where, { body: body ?? {}, ...options });
/** The same for what must not happen twice, however often it is sent. */
export const postOnce = (where, body) => call('POST', where, { body: body ?? {}, once: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}` });
/** Puts in place of what is there. */
export const replace = (where, body, options) => call('PUT', where, { body, ...options });
/** Removes. */
export const remove = (where) => call('DELETE', where);

/** Every row of a list, up to `most`: for choices in forms. */
export async function all(where, query, most = 2_000) {
	const items = [];
	for (let offset = 0; offset < most; offset += 200) {
		const page = await get(where, { ...query, limit: 200, offset });
		items.push(...page.items);
		if (items.length >= page.total || !page.items.length) break;
	}
	return items;
}
