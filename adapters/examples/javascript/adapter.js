// NF-CMS (南方网), the CMS of the portals of Guangdong: an adapter in JavaScript.
//
// Lists are `index.html`, `index_2.html`, …; the page itself names the next one (`div.page a.next`), and where it does
// not, the cursor counts. Documents are `…/content/post_<id>.html`; the names of files are only in `alt`. The document library
// (文件库) shows its metadata as pairs of label and value.
//
// Everything here is a pure function of its arguments; the host makes the requests.

import { select } from 'dibao:adapter/html@0.1.0';

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['list_url'],
  additionalProperties: false,
  properties: {
    list_url: { type: 'string', format: 'uri', description: 'The first page of the column' },
    max_pages: { type: 'integer', minimum: 1, default: 50, description: 'Pages that are read at most' },
    row: { type: 'string', description: 'Selector of a row, where the usual ones do not fit' },
  },
};

// Skins that were seen, the more telling ones first.
const ROWS = [
  'div.news_list ul li',
  'div.viewList ul li',
  'div.newsList ul.list li',
  'div.zx_ml_list ul li',
  'div.main > div.content > ul > li',
  'ul li:has(a._recurl)',
].join(', ');
const LINK = ['a._recurl', 'span.tit a', 'span.name a', 'a[href*="post_"]', 'a'];
const TITLES = ['h1.title', 'h3.zw-title', 'meta[name="ArticleTitle"]::attr(content)', 'h1'];
const DATES = ['meta[name="PubDate"]::attr(content)', '.date-row span'];
const SOURCES = ['meta[name="ContentSource"]::attr(content)'];
const BODY = 'div.article-content, div.viewList.left > div.zw, div.article, #zoomcon, div.news_cont_d_wrap, div.content';
const FILES = 'a.nfw-cms-attachment, div.fjdown a[href], a[href*="/attachment/"]';
// Labels of the document library by the names of the store.
const LABELS = { 索引号: 'index_no', 发布机构: 'publisher', 文号: 'doc_no', 主题词: 'topic_words', 分类: 'open_category' };

export const site = {
  describe() {
    return {
      name: 'nfcms',
      version: '0.1.0',
      configSchema: JSON.stringify(SCHEMA),
      hosts: ['site'],
      defaultInterval: 0,
    };
  },

  listPage(ctx, cursor, replies) {
    const config = JSON.parse(ctx.config);
    const { number, url } = position(cursor, config.list_url);
    if (replies.length === 0) {
      return { step: { tag: 'fetch', val: [get('list', url)] }, session: ctx.session };
    }
    const reply = replies[replies.length - 1];
    // Past the end these portals answer 404.
    if ((reply.status === 404 || reply.status === 410) && number > 1) return done([], undefined, ctx);
    check(reply);
    const entries = rows(reply.tag, config.row ?? ROWS);
    if (entries.length === 0) {
      if (number > 1) return done([], undefined, ctx);
      fail('shape', `no row matches ${config.row ?? ROWS}`);
    }
    const last = number >= (config.max_pages ?? 50);
    return done(entries, last ? undefined : next(reply, number), ctx);
  },

  detail(ctx, entry, replies) {
    if (replies.length === 0) {
      return { step: { tag: 'fetch', val: [get('article', entry.url)] }, session: ctx.session };
    }
    const reply = replies[replies.length - 1];
    if (reply.status === 404 || reply.status === 410) fail('gone');
    check(reply);
    return { step: { tag: 'done', val: article(reply.tag) }, session: ctx.session };
  },
};

function get(tag, url) {
  return { tag, method: 'get', url, headers: [], body: undefined, expects: 'html' };
}

function done(entries, next, ctx) {
  return { step: { tag: 'done', val: { entries, next } }, session: ctx.session };
}

// A failure of the contract is what a function throws.
function fail(tag, val) {
  throw { tag, val };
}

function check(reply) {
  if (reply.status === 200) return;
  if (reply.status === 404 || reply.status === 410) {
    fail('shape', `${reply.url} is not there (HTTP ${reply.status}): has the column moved?`);
  }
  fail('refused', `HTTP ${reply.status} from ${reply.url}`);
}

// The cursor is the number of the page and its address: a killed crawl goes on from it.
function position(cursor, first) {
  if (cursor === undefined) return { number: 1, url: first };
  try {
    const { number, url } = JSON.parse(cursor);
    if (Number.isInteger(number) && typeof url === 'string') return { number, url };
  } catch {
    // Not ours: below.
  }
  fail('stale', `the cursor ${cursor} is not one of this adapter`);
}

function next(reply, number) {
  const [link, pager] = query(reply.tag, undefined, ['div.page a.next::attr(href)', 'div.page'])[0];
  if (link) return JSON.stringify({ number: number + 1, url: link.value });
  // A pager without a next link is the last page; no pager at all: count.
  if (pager) return undefined;
  const directory = reply.url.replace(/[?#].*$/, '').replace(/[^/]*$/, '');
  return JSON.stringify({ number: number + 1, url: `${directory}index_${number + 1}.html` });
}

function rows(tag, row) {
  const links = LINK.map((css) => `${css}::attr(href)`).join(', ');
  const titles = LINK.flatMap((css) => [`${css}::attr(title)`, css]).join(', ');
  const asked = [links, titles, 'span.time, span.date, span:last-of-type', 'i.zd', 'span.wh'];
  return query(tag, row, asked)
    .filter(([url, title]) => url && title)
    .map(([url, title, date, pin, number]) => ({
      url: url.value,
      title: title.value,
      published: date && /\d/.test(date.value) ? date.value : undefined,
      nativeId: /post_(\d+)/.exec(url.value)?.[1],
      pinned: pin !== undefined,
      fields: number ? [['doc_no', number.value]] : [],
    }));
}

function article(tag) {
  const pairs = 'div.introduce > div > div';
  const asked = [TITLES.join(', '), DATES.join(', '), SOURCES.join(', ')];
  const [title, published, source] = query(tag, undefined, asked)[0];
  const files = query(tag, FILES, ['::attr(href)', '::attr(alt), ::attr(title), ::text']);
  return {
    title: found(title, TITLES),
    published: found(published, DATES),
    source: found(source, SOURCES),
    content: { tag: 'at', val: { reply: tag, css: BODY } },
    fields: metadata(query(tag, pairs, ['label', 'span'])),
    attachments: files.filter(([url]) => url).map(([url, name]) => ({ url: url.value, name: name?.value })),
  };
}

function metadata(pairs) {
  const fields = [];
  for (const [label, value] of pairs) {
    const name = LABELS[label?.value.replace(/[\s\u3000：:]/g, '')];
    if (name && value) fields.push([name, { value: value.value, origin: `css:div.introduce label ${label.value}` }]);
  }
  return fields;
}

function found(hit, alternatives) {
  return hit && { value: hit.value, origin: `css:${alternatives[hit.alternative]}` };
}

// Row by row the hits of the queries; one row for the whole page when there is no row selector.
function query(tag, row, queries) {
  let table;
  try {
    const page = { tag: 'reply', val: tag };
    table = select(page, row, queries.map((css) => ({ css, all: false })));
  } catch (error) {
    fail('config', String(error.payload ?? error));
  }
  const found = [];
  for (let at = 0; at < table.cells.length; at += queries.length) found.push(table.cells.slice(at, at + queries.length));
  return found;
}
