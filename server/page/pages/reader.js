// One article: its text, where each field was found, its files, the page as it came.

import { act, address, body, facts, foreign, get, getText, go, h, highlighted, known, line, may, moment, notice, outside, path, pill, post, put, remove, shown, since, size, sure, t } from '../kit.js';
import { published } from './articles.js';

const FIELDS = ['publisher', 'source', 'doc_no', 'index_no', 'topic_words', 'open_category', 'channel_name', 'channel_path', 'content_category', 'content_subcategory', 'native_post_id'];

export const reader = {
	title: 'nav.articles',
	show(place) {
		const id = place.at[1];
		const load = shown(place, place.root, () => place.get(path('articles', id)), (article) => draw(place, article, load));
	},
};

function draw(place, article, load) {
	document.title = `${line(article.title, 80)} · ${t('brand')}`;
	const q = place.query.q ?? '';
	const text = h('div.text', { lang: 'zh-CN' }, highlighted(body(article.content_text), q));
	const whole = article.truncated
		? act(t('reader.whole'), async () => {
				put(text, highlighted(body(await getText(`${path('articles', article.id)}/text`)), q));
				whole.remove();
			})
		: null;
	return [
		h('div.head.crumbs',
			h('p.sub', h('a', { href: address(['articles'], { site: article.site }) }, foreign(article.site, 60)), ' / ', h('a', { href: address(['articles'], { site: article.site, target: article.target }) }, foreign(article.target_name ?? article.target, 80))),
			h('div.row',
				outside(article.url, t('reader.origin'), { class: 'button' }),
				may('admin') && act(t('remove'), () => drop(article), { kind: 'danger' }),
			),
		),
		h('div.reader',
			h('article.card.paper',
				h('h1', traced(article, 'title', foreign(article.title, 4_000))),
				h('div.meta',
					h('span', `${t('published')} `, traced(article, 'published', published(article.published))),
					article.source_raw ? h('span', `${t('field.source')} `, traced(article, 'source', foreign(article.source_raw, 200))) : null,
					article.doc_no ? h('span', traced(article, 'doc_no', foreign(article.doc_no, 200))) : null,
					pill('article', article.status),
				),
				article.content_text ? text : h('p.faint', t('reader.empty')),
				article.truncated ? h('p.row', h('span.faint', t('reader.cut')), whole) : null,
			),
			h('aside.stack',
				files(article),
				h('section.card', h('h2', t('reader.fields')), facts(FIELDS.filter((name) => valueOf(article, name)).map((name) => [known('field', name), traced(article, name, foreign(valueOf(article, name), 400))]).concat(Object.entries(article.metadata ?? {}).map(([name, value]) => [line(name, 40), traced(article, name, foreign(value, 400))])))),
				h('section.card',
					h('h2', t('reader.proof')),
					facts([
						[t('field.content'), origin(article.provenance?.content)],
						[t('reader.by'), known('strategy', article.fetch_strategy)],
						[t('fetched'), [moment(article.fetched_at, true), ' ', h('span.faint', since(article.fetched_at))]],
						[t('reader.images'), article.inline_image_count || null],
						[t('reader.hash'), h('code', line(article.url_hash, 80))],
					]),
				),
				pages(article, load),
			),
		),
	];
}

const valueOf = (article, name) => (name === 'source' ? article.source_raw : article[name]);

/** A value whose origin is shown when the pointer or the focus is on it. */
function traced(article, name, value) {
	const from = article.provenance?.[name];
	if (!from) return value;
	return h('span.traced', { tabindex: '0' }, value, h('span.origin', { role: 'note' }, origin(from)));
}

/** Where a value was found, in words with the proof behind them. */
function origin(from) {
	if (!from) return null;
	const text = line(from, 400);
	const cut = text.indexOf(':');
	const [kind, proof] = cut > 0 ? [text.slice(0, cut), text.slice(cut + 1).trim()] : [text, ''];
	return [known('origin', kind), proof ? [' ', h('code', proof)] : null];
}

function files(article) {
	const all = article.attachments ?? [];
	if (!all.length) return null;
	return h('section.card',
		h('h2', t('files', { n: all.length })),
		h('ul.warnlist',
			all.map((file, index) =>
				h(
					'li',
					pill('download', file.status),
					h('div.what',
						file.status === 'done' ? h('a', { href: `/admin/api/articles/${article.id}/attachments/${index}`, download: '' }, foreign(file.filename, 160)) : outside(file.url, line(file.filename, 160)),
						file.error ? h('p.tone-bad', line(file.error, 300)) : null,
						h('p.faint.small', [file.mime, file.size_bytes ? size(file.size_bytes) : null].filter(Boolean).map((each) => line(each, 80)).join(' · ')),
					),
				),
			),
		),
	);
}

function pages(article, load) {
	const versions = article.versions ?? [];
	return h('section.card',
		h('h2', t('reader.raw')),
		article.raw_html_path ? h('p', h('a', { href: `/admin/api/articles/${article.id}/raw`, download: '' }, t('reader.raw.get')), ' ', h('span.faint.small', t('reader.raw.hint'))) : h('p.faint', t('reader.raw.none')),
		versions.length
			? h('ul', versions.map((version) => h('li', h('a', { href: `/admin/api/articles/${article.id}/raw?version=${version.n}`, download: '' }, moment(version.at, true)), h('span.faint.small', ` ${size(version.size_bytes)}`))))
			: null,
		may('run') ? h('p', act(t('reader.again'), () => lookAgain(article, load), { kind: 'small' })) : null,
		h('p.small', h('a', { href: address(['targets', article.target, 'parser'], { article: article.id }) }, t('reader.workbench'))),
	);
}

async function lookAgain(article, load) {
	const { changed } = await post(`${path('articles', article.id)}/fetch`);
	notice(t(changed ? 'reader.changed' : 'reader.same'));
	if (changed) load();
}

async function drop(article) {
	if (!(await sure(t('remove'), t('article.remove.sure', { title: line(article.title, 80) }), t('remove')))) return;
	await remove(path('articles', article.id));
	notice(t('removed', { code: line(article.title, 60) }));
	go(address(['articles'], { site: article.site }));
}
