// Who is signed in and what he may do.

import { get, post, remove } from './api.js';

const SCOPES = ['read', 'run', 'admin'];
let me = { signed_in: false, required: true, scope: 'read', user: null };

/** Asks the server. */
export async function ask() {
	me = await get('/me');
	return me;
}

/** Signs in. */
export async function enter(user, password) {
	me = await post('/session', { user, password });
	return me;
}

/** Signs out. */
export async function leave() {
	await remove('/session');
	me = { ...me, signed_in: false };
}

/** Who it is. */
export const who = () => me;

/** Whether he may do what needs `run` or `admin`. What he may not is not offered; the server checks again. */
export const may = (scope) => SCOPES.indexOf(me.scope) >= SCOPES.indexOf(scope);
