// The selector workbench: selectors are changed beside what they find, on a page that is stored; only what is saved counts.

import { act, address, choice, day, empty, field, foreign, get, h, head, into, known, line, may, notice, path, post, problem, put, replace, settled, sure, t, table } from '../kit.js';

const LIST = ['row', 'href', 'title', 'date'];
const DETAIL = ['title', 'publish_time', 'source', 'content', 'attachment_css'];

export const workbench = {
	title: 'workbench',
	show(place) {
		const code = place.at[1];
		const load = () =>
			into(
				place.root,
				Promise.all([place.get(`${path('targets', code)}/parser`), place.get('/articles/search', { target: code, limit: 30 })]),
				([parser, stored]) => draw(place, code, parser, stored.items, load),
				load,
			);
		load();
	},
};

const plain = (value) => (value && typeof value === 'object' && !Array.isArray(value) ? value : {});

function draw(place, code, parser, stored, reload) {
	const config = plain(parser.config);
	const before = plain(parser.override ?? parser.parser_override);
	const effective = plain(parser.effective);
	let override = structuredClone(before);
	let showing = 'fields';
	const trouble = h('div');
	const result = h('div');
	const json = h('textarea', { rows: 10, spellcheck: 'false', 'aria-label': t('bench.json'), value: text(override) });
	const inputs = [];
	const article = choice({ 'aria-label': t('bench.page'), value: place.query.article ?? String(stored[0]?.id ?? ''), onchange: () => preview() }, [
		...(place.query.article && !stored.some((each) => String(each.id) === place.query.article) ? [[place.query.article, `#${place.query.article}`]] : []),
		...stored.map((each) => [String(each.id), line(each.title.map((piece) => piece.text).join(''), 60)]),
	]);

	const selector = (group, name) => {
		const own = plain(override[group])[name];
		const base = plain(config[group])[name];
		const input = h('input', {
			value: own ?? base ?? '',
			placeholder: t('bench.none'),
			spellcheck: 'false',
			autocomplete: 'off',
			maxlength: 2000,
			key: `${group}.${name}`,
			oninput: () => {
				const value = input.value.trim();
				const rest = { ...plain(override[group]) };
				if (value === String(base ?? '')) delete rest[name];
				else rest[name] = value || null;
				override = { ...override, [group]: rest };
				if (!Object.keys(rest).length) delete override[group];
				json.value = text(override);
				mark();
				if ((group === 'list_selector') === (showing === 'rows')) later();
			},
		});
		const was = h('span.was.mono', { hidden: true }, line(base ?? '', 300));
		inputs.push(() => {
			const changed = plain(override[group])[name] !== undefined;
			input.classList.toggle('changed', changed);
			was.hidden = !changed || !base;
		});
		return h('div', field(known('selector', name), input), was);
	};
	const mark = () => inputs.forEach((each) => each());

	let turn = 0;
	const preview = async () => {
		const mine = (turn += 1);
		if (showing === 'fields' && !article.value) {
			put(result, empty(t('bench.no.page'), t('bench.no.page.hint')));
			return;
		}
		result.setAttribute('aria-busy', 'true');
		try {
			const ask = showing === 'fields' ? { override, article: Number(article.value) } : { override };
			const told = await post(`${path('targets', code)}/parser/preview`, ask, { signal: place.signal });
			if (mine !== turn) return;
			put(trouble);
			put(result, showing === 'fields' ? fields(told) : rowsOf(told));
		} catch (error) {
			// What was found before stays: a selector that is still being typed is often no selector.
			if (mine === turn && error.name !== 'AbortError') put(trouble, problem(error));
		} finally {
			if (mine === turn) result.removeAttribute('aria-busy');
		}
	};
	const later = settled(preview, 350, 1200);
	json.addEventListener('input', () => {
		try {
			override = JSON.parse(json.value || '{}');
			json.removeAttribute('aria-invalid');
			mark();
			later();
		} catch {
			json.setAttribute('aria-invalid', 'true');
		}
	});

	const tab = (name) => h('button', { class: 'small', 'aria-pressed': String(showing === name), onclick: () => choose(name) }, t(`bench.${name}`));
	const tabs = h('div.row');
	const choose = (name) => {
		showing = name;
		put(tabs, tab('fields'), tab('rows'), showing === 'fields' ? article : h('span.faint.small', t('bench.rows.hint')));
		put(trouble);
		put(result, h('p.loading', t('loading')));
		preview();
	};
	const simple = [...LIST.map((name) => plain(effective.list_selector)[name]), ...DETAIL.map((name) => plain(effective.detail)[name])].some(Boolean) || !Object.keys(config).length;
	const node = [
		head(
			t('workbench'),
			h('p.sub', h('a', { href: address(['targets', code]) }, line(code, 120)), parser.adapter ? ` · ${line(parser.adapter, 60)}` : ''),
			may('admin') && Object.keys(before).length > 0 && act(t('bench.drop'), () => save(code, null, reload), { kind: 'danger', key: 'bench-drop' }),
			may('admin') && act(t('bench.save'), () => save(code, override, reload), { kind: 'primary', key: 'bench-save' }),
		),
		h('div.bench',
			h('section.card.stack',
				h('p.soft.small', t('bench.hint')),
				simple ? h('fieldset.plainset.stack.tight', h('legend', t('bench.detail')), DETAIL.map((name) => selector('detail', name))) : null,
				simple ? h('fieldset.plainset.stack.tight', h('legend', t('bench.list')), LIST.map((name) => selector('list_selector', name))) : null,
				h('details', { open: !simple }, h('summary', t('bench.json')), json),
			),
			h('section.card.stack', tabs, trouble, result),
		),
	];
	mark();
	queueMicrotask(() => choose('fields'));
	return node;
}

const text = (override) => (Object.keys(override).length ? JSON.stringify(override, null, 2) : '');

async function save(code, override, reload) {
	const value = override && Object.keys(override).length ? override : null;
	if (!value && !(await sure(t('bench.drop'), t('bench.drop.sure'), t('bench.drop')))) return;
	await replace(`${path('targets', code)}/parser`, { override: value });
	notice(t(value ? 'bench.saved' : 'bench.dropped'));
	reload();
}

/** The fields of the stored page: as stored and under the selectors that are typed. */
function fields(told) {
	const [now, was] = [told.now ?? told.article ?? told.fields ?? told, told.before ?? told.stored ?? {}];
	const names = ['title', 'published', 'source', 'source_raw', 'doc_no', 'publisher', 'content', 'content_text', 'attachments', 'status'].filter((name) => now[name] !== undefined || was[name] !== undefined);
	return table({
		rows: names,
		key: (name) => name,
		columns: [
			[t('bench.field'), (name) => known('field', name), 'nowrap'],
			[
				t('bench.found'),
				(name) => {
					const [a, b] = [shown(was[name]), shown(now[name])];
					const from = now.provenance?.[name] ?? now.origins?.[name];
					return [h('span', { class: a !== b && was[name] !== undefined ? 'changed' : null }, b ? foreign(b, 600) : h('span.tone-bad', t('bench.nothing'))), a !== b && a ? h('span.was', foreign(a, 200)) : null, from ? h('span.under.mono', line(from, 200)) : null];
				}
			],
		],
	});
}

function shown(value) {
	if (value === undefined || value === null || value === '') return '';
	if (Array.isArray(value)) return value.map((each) => each?.filename ?? each?.url ?? shown(each)).join('，');
	if (typeof value === 'object') return value.date ?? value.at ?? value.value ?? JSON.stringify(value);
	return String(value);
}

function rowsOf(told) {
	const rows = told.rows ?? told.entries ?? [];
	return table({
		rows: rows.slice(0, 60),
		key: (row) => row.url,
		empty: empty(t('bench.no.rows'), t('bench.no.rows.hint')),
		columns: [
			[t('title'), (row) => [foreign(row.title, 160), h('span.under.mono', line(row.url, 160))]],
			[t('published'), (row) => (row.published ? (row.published.date ?? day(row.published.at)) : row.published_raw ? h('span.tone-warn', line(row.published_raw, 40)) : '—')],
			[t('bench.would'), (row) => known('decision', typeof row.decision === 'string' ? row.decision : ''), 'nowrap'],
		],
	});
}
