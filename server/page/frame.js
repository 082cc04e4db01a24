// What stands around every page: the search, the line to the server, the ways to the pages.

import { h, put } from './dom.js';
import { connect, watch } from './live.js';
import { address, follow, go } from './route.js';
import { help, PLACES } from './keys.js';
import { leave, who } from './session.js';
import { isDark, switchTheme } from './theme.js';
import { language, setLanguage, t } from './words.js';
import { icon } from './parts/icon.js';
import { complain } from './parts/notice.js';
import { key } from './parts/mark.js';
import { dashboard } from './pages/dashboard.js';
import { sites } from './pages/sites.js';
import { site } from './pages/site.js';
import { targets } from './pages/targets.js';
import { target } from './pages/target.js';
import { workbench } from './pages/workbench.js';
import { articles } from './pages/articles.js';
import { reader } from './pages/reader.js';
import { departments } from './pages/departments.js';
import { jobs } from './pages/jobs.js';
import { monitoring } from './pages/monitoring.js';
import { stats } from './pages/stats.js';
import { nowhere } from './pages/nowhere.js';

/** Which page shows a place. */
function find([first, second, third]) {
	if (first === undefined) return dashboard;
	if (first === 'sites') return second === undefined ? sites : site;
	if (first === 'targets') return second === undefined ? targets : third === 'parser' ? workbench : target;
	if (first === 'articles') return second === undefined ? articles : reader;
	return { departments, jobs, monitoring, stats }[first] ?? nowhere;
}

/** Builds it and shows the page of the address. `again` begins anew: somebody signed out, or took another language. */
export function frame(body, again) {
	const ended = new AbortController();
	const main = h('main', { id: 'main', tabindex: '-1' });
	const input = h('input', { type: 'search', placeholder: t('find'), 'aria-label': t('find'), autocomplete: 'off', maxlength: 200 });
	const side = h('nav.side', { 'aria-label': t('nav') }, PLACES.map(([name, letter, to]) => h('a', { href: to, data: { page: name }, title: `${t(`nav.${name}`)}  g ${letter}` }, icon(name), h('span', t(`nav.${name}`)))));
	const live = h('span.live', { role: 'status' }, h('span'));
	const light = button('', () => {
		switchTheme();
		drawLight();
	});
	const drawLight = () => {
		put(light, icon(isDark() ? 'sun' : 'moon'));
		light.setAttribute('aria-label', t(isDark() ? 'theme.light' : 'theme.dark'));
		light.title = t(isDark() ? 'theme.light' : 'theme.dark');
	};
	drawLight();
	const other = language() === 'zh' ? 'en' : 'zh';
	const top = h('header.top',
		h('a.brand', { href: '#/', 'aria-label': `${t('brand')} ${t('nav.home')}` }, h('i', { 'aria-hidden': 'true' }, '邸'), h('b', t('brand'))),
		h(
			'form',
			{
				class: 'find',
				role: 'search',
				onsubmit: (event) => {
					event.preventDefault();
					go(address(['articles'], { q: input.value.trim() }));
					input.blur();
				},
			},
			icon('search'),
			input,
			key('/'),
		),
		h('div.tools',
			live,
			h('button.plain', { lang: other === 'en' ? 'en' : 'zh-CN', title: other === 'en' ? 'English' : '中文', 'aria-label': other === 'en' ? 'English' : '中文', data: { act: 'language' }, onclick: () => (setLanguage(other), again()) }, other === 'en' ? 'EN' : '中'),
			light,
			button(t('help'), help, 'help'),
			who().required ? button(`${t('leave')}${who().user ? ` · ${who().user}` : ''}`, () => leave().then(again, complain), 'out') : null,
		),
	);
	light.dataset.act = 'theme';
	put(body, h('a.skip', { href: '#main', onclick: (event) => (event.preventDefault(), main.focus()) }, t('skip')), h('div.frame', top, side, main));
	showLine(live, ended.signal);
	let first = true;
	const route = follow(find, main, (place, page) => {
		const name = place.at[0] ?? 'home';
		for (const link of side.children) {
			if (link.dataset.page === name) link.setAttribute('aria-current', 'page');
			else link.removeAttribute('aria-current');
		}
		input.value = place.at[0] === 'articles' ? (place.query.q ?? '') : '';
		document.title = `${t(page.title)} · ${t('brand')}`;
		window.scrollTo(0, 0);
		// Who moves by keyboard goes on in the new page and not behind the link he came by.
		if (!first) main.focus({ preventScroll: true });
		first = false;
	});
	return { stop: () => (ended.abort(), route.stop()) };
}

function button(label, work, drawing) {
	return h('button.plain', { title: label, 'aria-label': label, data: drawing ? { act: drawing } : undefined, onclick: work }, drawing ? icon(drawing) : null);
}

function showLine(node, signal) {
	let told = ['wait', 0];
	const draw = () => {
		const [state, retryAt] = told;
		const seconds = Math.max(1, Math.round((retryAt - Date.now()) / 1000));
		const words = state === 'lost' ? t('live.lost', { n: seconds }) : t(`live.${state}`);
		node.dataset.state = state;
		if (node.firstChild.textContent !== words) node.firstChild.textContent = words;
		node.title = state === 'lost' ? t('live.lost.hint') : words;
	};
	node.addEventListener('click', () => told[0] === 'lost' && connect());
	watch((...now) => ((told = now), draw()), signal);
	const clock = setInterval(draw, 1_000);
	signal.addEventListener('abort', () => clearInterval(clock));
}
