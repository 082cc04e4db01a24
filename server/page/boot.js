// Begins: who is it, which language and light, then the frame with the page of the address in it.

import { onStranger } from './api.js';
import { connect, disconnect } from './live.js';
import { ask, who } from './session.js';
import { frame } from './frame.js';
import { door } from './pages/door.js';
import { put } from './dom.js';
import { problem } from './parts/notice.js';
import { keepTime } from './parts/mark.js';
import { applyTheme } from './theme.js';
import { listenToKeys } from './keys.js';
import { applyLanguage } from './words.js';

let open = null;

async function begin() {
	try {
		await ask();
	} catch (error) {
		put(document.body, problem(error, begin));
		return;
	}
	if (who().required && !who().signed_in) knock();
	else enter();
}

function enter() {
	open?.stop();
	open = frame(document.body, begin);
	connect();
}

function knock() {
	open?.stop();
	open = null;
	disconnect();
	door(document.body, enter);
}

applyTheme();
applyLanguage();
onStranger(() => open && knock());
listenToKeys(() => document.querySelector('.find input')?.select());
setInterval(keepTime, 1_000);
begin();
