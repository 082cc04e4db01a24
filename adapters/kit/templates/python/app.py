"""An adapter for dibao: lists of `ul.news > li`, paged as `index_2.html`, `index_3.html`, ..., and their documents.

Pure functions: given data, they answer with data. They ask for requests, and are called again with the replies. Change the
selectors, then `dibao adapter build`, `dibao adapter run --url ...` and `dibao adapter record ...`.

The modules `wit_world` and `componentize_py_types` are made from wit/adapter.wit when the adapter is built.
"""

import json

from componentize_py_types import Err
from wit_world.exports.site import (
    DetailStep_Done,
    DetailStep_Fetch,
    DetailTurn,
    ListStep_Done,
    ListStep_Fetch,
    ListTurn,
)
from wit_world.imports import html
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

# One match is one row.
ROW = "ul.news > li"
# Of a row. Alternatives are separated by commas, the first that finds something wins.
LINK = "a::attr(href)"
TITLE = "a::attr(title), a::text"
DATE = "span::text"
# Only there when a further page is.
NEXT = "a.next::attr(href)"
# Of a document: each with the words under which its origin is kept.
DOC_TITLE = "h1::text"
DOC_DATE = "meta[name='PubDate']::attr(content)"
DOC_SOURCE = "meta[name='ContentSource']::attr(content)"
DOC_BODY = "div.content"
DOC_FILES = "div.content a[href*='/files/']"
FILE_NAME = "::attr(title), ::attr(alt), ::text"

# The settings of a column, as a site file gives them; the host checks them.
SCHEMA = {
    "type": "object",
    "required": ["list_url"],
    "additionalProperties": False,
    "properties": {"list_url": {"type": "string", "description": "The first page of the column"}},
}


class Site:
    def describe(self) -> About:
        return About(
            name="{{name}}",
            version="0.1.0",
            config_schema=json.dumps(SCHEMA),
            hosts=["site"],
            default_interval=0,
        )

    def list_page(self, ctx: Context, cursor: str | None, replies: list[Reply]) -> ListTurn:
        number = page_number(cursor)
        if not replies:
            url = json.loads(ctx.config)["list_url"]
            if number > 1:
                url = f"{url.rsplit('/', 1)[0]}/index_{number}.html"
            return ListTurn(ListStep_Fetch([get("list", url)]), ctx.session)
        reply = replies[-1]
        if reply.status == 404 and number > 1:
            return ListTurn(ListStep_Done(Page(entries=[], next=None)), ctx.session)
        check(reply)
        rows = select(reply, ROW, [LINK, TITLE, DATE])
        if not rows:
            raise Err(Failure_Shape(f"no row matches {ROW}"))
        entries = [
            Entry(url=link, title=title, published=date, native_id=None, pinned=False, fields=[])
            for link, title, date in rows
            if link and title
        ]
        more = select(reply, None, [NEXT])[0][0]
        page = Page(entries=entries, next=str(number + 1) if more else None)
        # The session is what has to be remembered between calls, a token for example: any bytes.
        return ListTurn(ListStep_Done(page), ctx.session)

    def detail(self, ctx: Context, entry: Entry, replies: list[Reply]) -> DetailTurn:
        if not replies:
            return DetailTurn(DetailStep_Fetch([get("page", entry.url)]), ctx.session)
        reply = replies[-1]
        if reply.status in (404, 410):
            raise Err(Failure_Gone())
        check(reply)
        title, date, source = select(reply, None, [DOC_TITLE, DOC_DATE, DOC_SOURCE])[0]
        files = select(reply, DOC_FILES, ["::attr(href)", FILE_NAME])
        article = Article(
            title=found(title, DOC_TITLE),
            published=found(date, DOC_DATE),
            source=found(source, DOC_SOURCE),
            content=Body_At(Place(reply=reply.tag, css=DOC_BODY)),
            fields=[],
            attachments=[Attachment(url=url, name=name) for url, name in files if url],
        )
        return DetailTurn(DetailStep_Done(article), ctx.session)


def page_number(cursor: str | None) -> int:
    if cursor is None:
        return 1
    if not cursor.isdigit():
        raise Err(Failure_Stale(f"the cursor {cursor!r} is not a number"))
    return int(cursor)


def get(tag: str, url: str) -> Request:
    return Request(tag=tag, method=Method.GET, url=url, headers=[], body=None, expects=Expects.HTML)


def check(reply: Reply) -> None:
    """Any status is a reply; what each means is for the adapter to say."""
    if reply.status in (404, 410):
        raise Err(Failure_Shape(f"{reply.url} is not there: has the column moved?"))
    if reply.status != 200:
        raise Err(Failure_Refused(f"HTTP {reply.status} from {reply.url}"))


def select(reply: Reply, row: str | None, queries: list[str]) -> list[list[str | None]]:
    """Row by row the values of the queries; one row for the whole page when there is no row selector."""
    try:
        table = html.select(html.Page_Reply(reply.tag), row, [html.Query(css=css, all=False) for css in queries])
    except Err as error:
        raise Err(Failure_Config(error.value))
    values = [hit.value if hit else None for hit in table.cells]
    return [values[at : at + len(queries)] for at in range(0, len(values), len(queries))]


def found(value: str | None, css: str) -> Found | None:
    return Found(value=value, origin=f"css:{css}") if value else None
