// The keyboard: `/` to search, `g` and a letter to go somewhere, `?` for help, Esc to leave. Not while somebody types.

import { dialog } from './parts/dialog.js';
import { key } from './parts/mark.js';
import { h } from './dom.js';
import { go } from './route.js';
import { t } from './words.js';

const WAIT_MS = 1_500;

/** The pages and their letters after `g`. */
export const PLACES = [
	['home', 'd', '#/'],
	['sites', 's', '#/sites'],
	['targets', 't', '#/targets'],
	['articles', 'a', '#/articles'],
	['departments', 'o', '#/departments'],
	['jobs', 'j', '#/jobs'],
	['monitoring', 'm', '#/monitoring'],
	['stats', 'c', '#/stats'],
];

/** Listens from now on; `find()` puts the cursor into the search. */
export function listenToKeys(find) {
	let leader = 0;
	document.addEventListener('keydown', (event) => {
		const typing = event.target.closest?.('input:not([type=checkbox]), textarea, select');
		if (event.key === 'Escape' && typing && !typing.closest('dialog')) typing.blur();
		if (event.ctrlKey || event.metaKey || event.altKey || typing || document.querySelector('dialog[open]')) return;
		if (Date.now() - leader < WAIT_MS) {
			leader = 0;
			const place = PLACES.find(([, letter]) => letter === event.key.toLowerCase());
			if (place) {
				event.preventDefault();
				go(place[2]);
			}
			return;
		}
		if (event.key === 'g') leader = Date.now();
		else if (event.key === '/') {
			event.preventDefault();
			find();
		} else if (event.key === '?') {
			event.preventDefault();
			help();
		} else if (event.key === '[' || event.key === ']') document.querySelector(`.pager a[rel=${event.key === '[' ? 'prev' : 'next'}]`)?.click();
	});
}

/** What the keys do. */
export function help() {
	const line = (keys, words) => h('div', h('dt', keys), h('dd', words));
	return dialog(t('help'), () =>
		h('dl.facts',
			line(key('/'), t('help.find')),
			PLACES.map(([name, letter]) => line([key('g'), ' ', key(letter)], t('help.go', { page: t(`nav.${name}`) }))),
			line([key('['), ' ', key(']')], t('help.pages')),
			line(key('?'), t('help')),
			line(key('Esc'), t('help.esc')),
		),
	);
}
