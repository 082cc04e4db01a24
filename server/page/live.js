// Events of the server as they happen. Says whether the line is up, notices a line that is dead without being closed,
// and takes it up again. It reads the stream itself because an EventSource hides the heartbeat.

import { stranger } from './api.js';
import { settled } from './dom.js';

const SILENCE_MS = 45_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;
const NAME = 'dibao.live';

const listeners = new Set();
const watchers = new Set();
let state = 'wait';
let retryAt = 0;
let last = null;
let wait = FIRST_WAIT_MS;
let line = null;
let timer = 0;
let was = false;

// A browser opens six lines to one server: of all windows one holds a line, and tells the others what it hears. Where
// windows cannot agree (without TLS), those that nobody looks at hold none.
const { locks } = navigator;
const others = locks ? new BroadcastChannel(NAME) : null;
let place = null;
let leads = !locks;

/** Calls with each event, `{name, data}`, until the signal ends. */
export function listen(call, signal) {
	listeners.add(call);
	signal?.addEventListener('abort', () => listeners.delete(call), { once: true });
}

/** Calls `reload` a little after events of these names. */
export function reloadOn(names, reload, signal) {
	const later = settled(() => signal?.aborted || reload());
	listen(({ name }) => (name === 'refresh' || name === 'missed' || names.includes(name)) && later(), signal);
}

/** Calls with the state of the line (`wait`, `on`, `lost`) and when it is tried again; at once and on every change, until the signal ends. */
export function watch(call, signal) {
	watchers.add(call);
	signal.addEventListener('abort', () => watchers.delete(call), { once: true });
	call(state, retryAt);
}

/** Opens the line, or opens it anew at once. */
export function connect() {
	if (place) {
		if (leads) open();
		else say(state === 'lost' ? { anew: true } : { asks: true });
		return;
	}
	const mine = (place = new AbortController());
	if (leads) {
		if (!document.hidden) open();
		return;
	}
	say({ asks: true });
	const lead = () => {
		leads = true;
		open();
		return new Promise((done) => mine.signal.addEventListener('abort', done));
	};
	locks.request(NAME, { signal: mine.signal }, lead).catch(() => {});
}

async function open() {
	clearTimeout(timer);
	line?.abort();
	const mine = (line = new AbortController());
	if (state !== 'lost') tell('wait');
	let silence = 0;
	const heard = () => {
		clearTimeout(silence);
		silence = setTimeout(() => mine.abort(), SILENCE_MS);
	};
	try {
		heard();
		const headers = { Accept: 'text/event-stream', ...(last ? { 'Last-Event-ID': last } : {}) };
		const answer = await fetch('/admin/api/events', { headers, signal: mine.signal, credentials: 'same-origin', cache: 'no-store' });
		// Sessions end with the server that gave them.
		if (answer.status === 401) {
			say({ stranger: true });
			stranger();
			return;
		}
		if (!answer.ok || !answer.body) throw new Error(`HTTP ${answer.status}`);
		tell('on');
		wait = FIRST_WAIT_MS;
		// What happened while nobody listened is not known.
		if (was) emit('refresh', {});
		was = true;
		const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
		let rest = '';
		for (;;) {
			const { value, done } = await reader.read();
			if (done) break;
			heard();
			const blocks = (rest + value).replace(/\r\n?/gu, '\n').split('\n\n');
			rest = blocks.pop();
			blocks.forEach(take);
		}
	} catch {
		// Whatever it was: the line is down.
	} finally {
		clearTimeout(silence);
	}
	if (line !== mine) return;
	retryAt = Date.now() + wait;
	tell('lost');
	timer = setTimeout(open, wait * (0.8 + Math.random() * 0.4));
	wait = Math.min(wait * 2, LONGEST_WAIT_MS);
}

/** Closes it: nobody is signed in. */
export function disconnect() {
	rest();
	place?.abort();
	[place, last, was, leads] = [null, null, false, !locks];
}

function rest() {
	clearTimeout(timer);
	const mine = line;
	line = null;
	mine?.abort();
}

if (others) others.onmessage = ({ data }) => place && (leads ? asked(data) : told(data));
else document.addEventListener('visibilitychange', () => place && (document.hidden ? rest() : open()));

const say = (data) => others?.postMessage(data);

/** What another window wants of the one that holds the line. */
function asked(data) {
	if (data.anew) open();
	else if (data.asks) say({ state, retryAt });
}

/** What the one that holds the line says. */
function told(data) {
	if (data.stranger) stranger();
	else if (data.event) {
		({ last } = data);
		hear(data.event);
	} else if (data.state) {
		({ state, retryAt } = data);
		// Whoever holds the line next has to ask what was missed.
		was ||= state === 'on';
		watchers.forEach((call) => call(state, retryAt));
	}
}

function take(block) {
	let name = 'message';
	const data = [];
	for (const row of block.split('\n')) {
		const at = row.indexOf(':');
		if (at <= 0) continue;
		const value = row.slice(at + 1).replace(/^ /u, '');
		if (row.startsWith('event:')) name = value;
		else if (row.startsWith('data:')) data.push(value);
		else if (row.startsWith('id:')) last = value;
	}
	if (!data.length) return;
	try {
		emit(name, JSON.parse(data.join('\n')));
	} catch {
		// Not for us.
	}
}

function emit(name, data) {
	const event = { name, data };
	say({ event, last });
	hear(event);
}

const hear = (event) => [...listeners].forEach((call) => call(event));

function tell(now) {
	state = now;
	say({ state, retryAt });
	watchers.forEach((call) => call(state, retryAt));
}
