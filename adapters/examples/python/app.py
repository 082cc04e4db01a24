"""Xinhua (www.news.cn): a list page names a data source, and the data source is the whole column as JSON.

Life of a list page: the page (to learn the id of its data source) -> `ds_<id>.json` beside it -> rows. The id is kept in
the session, so that the next run asks for the data source alone; when that has moved, the session is `stale`, and the host
begins again. Where there is no data source, the rows of the page itself are what there is.

Everything here is a pure function of its arguments; the host makes the requests.
"""

import json
import re

from componentize_py_types import Err
from wit_world.exports.site import (
    DetailStep_Done,
    DetailStep_Fetch,
    DetailTurn,
    ListStep_Done,
    ListStep_Fetch,
    ListTurn,
)
from wit_world.imports import charset, html
from wit_world.imports.types import (
    About,
    Article,
    Attachment,
    Body_At,
    Context,
    Entry,
    Expects,
    Failure_Config,
    Failure_Gone,
    Failure_Refused,
    Failure_Shape,
    Failure_Stale,
    Found,
    Method,
    Page,
    Place,
    Reply,
    Request,
)

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["list_url"],
    "additionalProperties": False,
    "properties": {
        "list_url": {"type": "string", "format": "uri", "description": "The column's page"},
        "datasource": {
            "type": "string",
            "pattern": "^[0-9a-f]{32}$",
            "description": "The id of its data source; found on the page when absent",
        },
    },
}

# Brackets within brackets that a data source may have; real ones have four.
DEEPEST = 100

# Rows of the page itself, newest skin first.
ROWS = "ul.xpage-content-list li, ul.wz-list li, ul.dataList li, .conList li"
BODY = "span#detailContent, #detail, div.content.clearfix"
ANCHORS = "#detail a[href]"
FILE = re.compile(r"\.(pdf|docx?|xlsx?|pptx?|zip|rar|wps|ofd)([?#]|$)", re.IGNORECASE)


class Site:
    def describe(self) -> About:
        return About(
            name="xinhua",
            version="0.1.0",
            config_schema=json.dumps(SCHEMA),
            hosts=["site"],
            default_interval=0,
        )

    def list_page(self, ctx: Context, cursor: str | None, replies: list[Reply]) -> ListTurn:
        config = json.loads(ctx.config)
        known = remembered(ctx)
        if not replies:
            source = config.get("datasource") or known
            if source:
                return fetch_list(datasource(config["list_url"], source), known)
            return fetch_list(get("page", config["list_url"], Expects.HTML), known)
        reply = replies[-1]
        if reply.tag == "page":
            check(reply)
            source = source_on(reply)
            if source:
                # Relative to the page that was answered, wherever redirects led.
                return fetch_list(datasource(reply.url, source), source)
            return done(rows_of_page(reply), known)
        if reply.status in (404, 410) and known and "datasource" not in config:
            raise Err(Failure_Stale(f"the data source {known} is no longer there"))
        check(reply)
        return done(rows_of_source(reply), known)

    def detail(self, ctx: Context, entry: Entry, replies: list[Reply]) -> DetailTurn:
        if not replies:
            return DetailTurn(DetailStep_Fetch([get("article", entry.url, Expects.HTML)]), ctx.session)
        reply = replies[-1]
        if reply.status in (404, 410):
            raise Err(Failure_Gone())
        check(reply)
        return DetailTurn(DetailStep_Done(article(reply)), ctx.session)


# Requests.


def get(tag: str, url: str, expects: Expects) -> Request:
    return Request(tag=tag, method=Method.GET, url=url, headers=[], body=None, expects=expects)


def datasource(beside: str, source: str) -> Request:
    """The data source lies in the directory of its page."""
    return get("source", beside.rsplit("/", 1)[0] + f"/ds_{source}.json", Expects.JSON)


def fetch_list(request: Request, source: str | None) -> ListTurn:
    return ListTurn(ListStep_Fetch([request]), remember(source))


def done(entries: list[Entry], source: str | None) -> ListTurn:
    return ListTurn(ListStep_Done(Page(entries=entries, next=None)), remember(source))


# The session: the id of the data source.


def remember(source: str | None) -> bytes:
    return json.dumps({"datasource": source}).encode() if source else b""


def remembered(ctx: Context) -> str | None:
    if not ctx.session:
        return None
    try:
        source = json.loads(ctx.session)["datasource"]
    except (ValueError, KeyError, TypeError):
        raise Err(Failure_Stale("the stored session does not parse"))
    return source if isinstance(source, str) else None


def too_deep(text: str) -> bool:
    """Whether reading it could need more than the stack of a turn, which is smaller than Python believes."""
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth += 1 if bracket in "[{" else -1
        if depth > DEEPEST:
            return True
    return False


def check(reply: Reply) -> None:
    if reply.status == 200:
        return
    if reply.status in (404, 410):
        raise Err(Failure_Shape(f"{reply.url} is not there (HTTP {reply.status}): has the column moved?"))
    raise Err(Failure_Refused(f"HTTP {reply.status} from {reply.url}"))


# Lists.


def source_on(reply: Reply) -> str | None:
    for value in cells(reply.tag, None, ["[data^='datasource:']::attr(data)"])[0]:
        found = re.fullmatch(r"datasource:([0-9a-f]{32})", (value or "").strip())
        if found:
            return found.group(1)
    return None


def rows_of_source(reply: Reply) -> list[Entry]:
    text = charset.decode(reply.body, header(reply, "content-type"))
    if too_deep(text):
        raise Err(Failure_Shape("the data source is nested too deeply"))
    try:
        data = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise Err(Failure_Shape(f"the data source is not JSON: {error}"))
    # Rarely a bare array.
    items = data.get("datasource") if isinstance(data, dict) else data
    if not isinstance(items, list):
        raise Err(Failure_Shape("the data source has no list `datasource`"))
    entries = [entry for item in items if isinstance(item, dict) and (entry := row_of(item))]
    if items and not entries:
        raise Err(Failure_Shape(f"none of the {len(items)} rows has an address and a title"))
    return entries


def row_of(item: dict) -> Entry | None:
    url = text_of(item.get("publishUrl"))
    title = plain(text_of(item.get("title"))) or plain(text_of(item.get("showTitle")))
    if not url or not title:
        return None
    return Entry(
        url=url,
        title=title,
        published=text_of(item.get("publishTime")) or None,
        native_id=text_of(item.get("contentId")) or None,
        pinned=False,
        fields=[("topic_words", words)] if (words := text_of(item.get("keywords"))) else [],
    )


def rows_of_page(reply: Reply) -> list[Entry]:
    queries = [
        "h3 a::attr(href), .tit a::attr(href), a::attr(href)",
        "h3 a::text, .tit a::text, a::text",
        ".time::text, ::attr(data-pt)",
    ]
    rows = cells(reply.tag, ROWS, queries)
    entries = [
        Entry(url=url, title=title, published=date, native_id=None, pinned=False, fields=[])
        for url, title, date in rows
        if url and title
    ]
    if not entries:
        raise Err(Failure_Shape(f"neither a data source nor rows ({ROWS}) on the page"))
    return entries


# Documents.


def article(reply: Reply) -> Article:
    titles = ["span.title", ".head-line .title", "h1"]
    sources = [".header-top .source", ".source"]
    asked = [", ".join(titles), ", ".join(sources), ".mheader .info, .info"]
    asked += [".header-time .year em", ".header-time .time", "meta[name='publishdate']::attr(content)"]
    table = select(reply.tag, None, asked, [".header-time .day em", f"{ANCHORS}::attr(href)", f"{ANCHORS}::text"])
    title, source, stamp, year, clock, meta, days, links, names = table.cells
    return Article(
        title=found(title, titles),
        published=published(stamp, year, days, clock, meta),
        source=found(source, sources),
        content=Body_At(Place(reply=reply.tag, css=BODY)),
        fields=[],
        attachments=files(links, names),
    )


def files(links, names) -> list[Attachment]:
    urls, shown = every(links), every(names)
    # Both lists are of the same anchors; where one has no text, its name is unknown.
    shown = shown if len(shown) == len(urls) else [None] * len(urls)
    return [Attachment(url=url, name=name or None) for url, name in zip(urls, shown) if FILE.search(url)]


def published(stamp, year, days, clock, meta) -> Found | None:
    """The desktop header is in pieces (year, month/day, time); the mobile one has the whole stamp."""
    if stamp and re.search(r"\d{4}-\d{1,2}-\d{1,2}", stamp.value):
        return Found(value=stamp.value, origin="css:.info::text")
    pieces = every(days)
    if year and len(pieces) == 2:
        time = clock.value if clock else ""
        return Found(value=f"{year.value}-{pieces[0]}-{pieces[1]} {time}".strip(), origin="css:.header-time")
    return Found(value=meta.value, origin="css:meta[name='publishdate']") if meta else None


def found(hit, alternatives: list[str]) -> Found | None:
    if hit is None:
        return None
    return Found(value=hit.value, origin=f"css:{alternatives[hit.alternative]}::text")


# Small things.


def select(tag: str, row: str | None, one: list[str], every_match: list[str] = []) -> html.Table:
    queries = [html.Query(css=css, all=False) for css in one] + [html.Query(css=css, all=True) for css in every_match]
    try:
        return html.select(html.Page_Reply(tag), row, queries)
    except Err as error:
        raise Err(Failure_Config(error.value))


def cells(tag: str, row: str | None, queries: list[str]) -> list[list[str | None]]:
    """Row by row the values of the queries."""
    table = select(tag, row, queries)
    values = [hit.value if hit else None for hit in table.cells]
    return [values[at : at + len(queries)] for at in range(0, len(values), len(queries))]


def every(hit) -> list[str]:
    return [hit.value, *hit.more] if hit else []


def header(reply: Reply, name: str) -> str | None:
    return next((value for key, value in reply.headers if key == name), None)


def text_of(value) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    # Half of a surrogate pair is JSON, but no text; NUL is text that no store takes.
    return str(value).encode("utf-8", "replace").decode().replace("\0", "").strip()


def plain(text: str) -> str:
    """A title that may hold HTML."""
    if "<" not in text and "&" not in text:
        return text
    try:
        return " ".join(html.text(html.Page_Text(text)).split())
    except Err:
        return text
