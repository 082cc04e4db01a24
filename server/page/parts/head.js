// The head of a page, and the names of things in tables.

import { h } from '../dom.js';
import { address } from '../route.js';
import { foreign, line } from '../text.js';
import { t } from '../words.js';
import { empty } from './notice.js';

/** What the page is, and what can be done with the whole of it. */
export const head = (title, sub, ...actions) => h('div.head', h('div', h('h1', title), sub && (sub instanceof Node ? sub : h('p.sub', sub))), h('div.row', actions));

/** A thing by its name, which leads to it, and its code. */
export const named = (page, code, name) => [h('a', { href: address([page, code]) }, foreign(name, 100)), h('span.under.mono', line(code, 120))];

/** No row for these filters; the way back to all. */
export const nothingFound = (place, hint) => empty(t('nothing.found'), hint ?? t('nothing.found.hint'), h('a.button', { href: address(place.at) }, t('filters.clear')));
