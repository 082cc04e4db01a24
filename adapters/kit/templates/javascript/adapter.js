// An adapter for dibao: lists of `ul.news > li`, paged as `index_2.html`, `index_3.html`, …, and their documents.
//
// Pure functions: given data, they answer with data. They ask for requests, and are called again with the replies. Change the
// selectors, then `dibao adapter build`, `dibao adapter run --url …` and `dibao adapter record …`.

import { select as selectFrom } from 'dibao:adapter/html@0.1.0';

// One match is one row.
const ROW = 'ul.news > li';
// Of a row. Alternatives are separated by commas, the first that finds something wins.
const LINK = 'a::attr(href)';
const TITLE = 'a::attr(title), a::text';
const DATE = 'span::text';
// Only there when a further page is.
const NEXT = 'a.next::attr(href)';
// Of a document: each with the words under which its origin is kept.
const DOC_TITLE = 'h1::text';
const DOC_DATE = "meta[name='PubDate']::attr(content)";
const DOC_SOURCE = "meta[name='ContentSource']::attr(content)";
const DOC_BODY = 'div.content';
const DOC_FILES = "div.content a[href*='/files/']";
const FILE_NAME = '::attr(title), ::attr(alt), ::text';

// The settings of a column, as a site file gives them; the host checks them.
const SCHEMA = {
  type: 'object',
  required: ['list_url'],
  additionalProperties: false,
  properties: { list_url: { type: 'string', description: 'The first page of the column' } },
};

export const site = {
  describe() {
    return { name: '{{name}}', version: '0.1.0', configSchema: JSON.stringify(SCHEMA), hosts: ['site'], defaultInterval: 0 };
  },

  listPage(ctx, cursor, replies) {
    const number = pageNumber(cursor);
    if (replies.length === 0) {
      let url = JSON.parse(ctx.config).list_url;
      if (number > 1) url = `${url.slice(0, url.lastIndexOf('/'))}/index_${number}.html`;
      return answer('fetch', [get('list', url)], ctx);
    }
    const reply = replies[replies.length - 1];
    if (reply.status === 404 && number > 1) return answer('done', { entries: [], next: undefined }, ctx);
    check(reply);
    const rows = select(reply, ROW, [LINK, TITLE, DATE]);
    if (rows.length === 0) fail('shape', `no row matches ${ROW}`);
    const entries = rows
      .filter(([url, title]) => url && title)
      .map(([url, title, published]) => ({ url, title, published, nativeId: undefined, pinned: false, fields: [] }));
    const [more] = select(reply, undefined, [NEXT])[0];
    return answer('done', { entries, next: more && String(number + 1) }, ctx);
  },

  detail(ctx, entry, replies) {
    if (replies.length === 0) return answer('fetch', [get('page', entry.url)], ctx);
    const reply = replies[replies.length - 1];
    if (reply.status === 404 || reply.status === 410) fail('gone');
    check(reply);
    const [title, date, source] = select(reply, undefined, [DOC_TITLE, DOC_DATE, DOC_SOURCE])[0];
    const files = select(reply, DOC_FILES, ['::attr(href)', FILE_NAME]);
    const article = {
      title: found(title, DOC_TITLE),
      published: found(date, DOC_DATE),
      source: found(source, DOC_SOURCE),
      content: { tag: 'at', val: { reply: reply.tag, css: DOC_BODY } },
      fields: [],
      attachments: files.filter(([url]) => url).map(([url, name]) => ({ url, name })),
    };
    return answer('done', article, ctx);
  },
};

// The session is what has to be remembered between calls, a token for example: any bytes.
function answer(tag, val, ctx) {
  return { step: { tag, val }, session: ctx.session };
}

function pageNumber(cursor) {
  if (cursor === undefined) return 1;
  if (!/^\d+$/.test(cursor)) fail('stale', `the cursor ${cursor} is not a number`);
  return Number(cursor);
}

function get(tag, url) {
  return { tag, method: 'get', url, headers: [], body: undefined, expects: 'html' };
}

// A failure of the contract is what a function throws.
function fail(tag, val) {
  throw { tag, val };
}

// Any status is a reply; what each means is for the adapter to say.
function check(reply) {
  if (reply.status === 404 || reply.status === 410) fail('shape', `${reply.url} is not there: has the column moved?`);
  if (reply.status !== 200) fail('refused', `HTTP ${reply.status} from ${reply.url}`);
}

// Row by row the values of the queries; one row for the whole page when there is no row selector.
function select(reply, row, queries) {
  let table;
  try {
    table = selectFrom({ tag: 'reply', val: reply.tag }, row, queries.map((css) => ({ css, all: false })));
  } catch (error) {
    fail('config', String(error.payload ?? error));
  }
  const values = table.cells.map((hit) => hit?.value);
  const rows = [];
  for (let at = 0; at < values.length; at += queries.length) rows.push(values.slice(at, at + queries.length));
  return rows;
}

function found(value, css) {
  return value && { value, origin: `css:${css}` };
}
