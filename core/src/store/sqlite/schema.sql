-- Version 1. Times are milliseconds since 1970 in UTC (C13). Names are those of S2-8 to S2-13;
-- crawl_run and entry are what makes a killed crawl go on where it stood.

CREATE TABLE local_department (
    dept_id    INTEGER PRIMARY KEY,
    full_name  TEXT NOT NULL,
    short_name TEXT,
    region     TEXT,
    category   TEXT
) STRICT;

CREATE TABLE crawl_site (
    id                     INTEGER PRIMARY KEY,
    site_code              TEXT NOT NULL UNIQUE CHECK (site_code <> ''),
    site_name              TEXT NOT NULL,
    base_url               TEXT NOT NULL,
    cms_adapter            TEXT NOT NULL,
    adapter_params_json    TEXT,
    default_fetch_strategy TEXT NOT NULL DEFAULT 'auto' CHECK (default_fetch_strategy IN ('auto', 'http', 'browser')),
    schedule_cron          TEXT,
    enabled                INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
    respect_robots         INTEGER NOT NULL DEFAULT 1 CHECK (respect_robots IN (0, 1)),
    concurrency            INTEGER NOT NULL DEFAULT 1 CHECK (concurrency >= 0),
    hosts_json             TEXT NOT NULL DEFAULT '[]',
    yaml_path              TEXT,
    managed_by             TEXT NOT NULL DEFAULT 'yaml' CHECK (managed_by IN ('yaml', 'admin')),
    crawl_plan_json        TEXT,
    source_json            TEXT NOT NULL DEFAULT 'null'
) STRICT;

CREATE TABLE crawl_target (
    id                   INTEGER PRIMARY KEY,
    site_id              INTEGER NOT NULL REFERENCES crawl_site (id) ON DELETE CASCADE,
    target_code          TEXT NOT NULL UNIQUE CHECK (target_code <> ''),
    target_name          TEXT NOT NULL,
    entry_url            TEXT NOT NULL,
    channel_name         TEXT,
    channel_path         TEXT,
    content_category     TEXT,
    content_subcategory  TEXT,
    dept_id              INTEGER REFERENCES local_department (dept_id) ON DELETE SET NULL,
    schedule_cron        TEXT,
    interval_sec         REAL CHECK (interval_sec >= 0),
    interval_jitter_sec  REAL CHECK (interval_jitter_sec >= 0),
    config_json          TEXT NOT NULL DEFAULT 'null',
    parser_override_json TEXT,
    enabled              INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
    -- JSON list of the columns that were set by hand and that an import leaves alone.
    operator_set         TEXT NOT NULL DEFAULT '[]',
    last_crawled_at      INTEGER,
    last_article_time    INTEGER
) STRICT;
CREATE INDEX crawl_target_site ON crawl_target (site_id);
CREATE INDEX crawl_target_dept ON crawl_target (dept_id) WHERE dept_id IS NOT NULL;

CREATE TABLE crawl_run (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    target_id          INTEGER NOT NULL REFERENCES crawl_target (id) ON DELETE CASCADE,
    state              TEXT NOT NULL CHECK (state IN ('running', 'interrupted', 'done', 'failed')),
    options_json       TEXT NOT NULL,
    cursor             TEXT,
    session            BLOB NOT NULL DEFAULT x'',
    pages              INTEGER NOT NULL DEFAULT 0,
    listing_done       INTEGER NOT NULL DEFAULT 0 CHECK (listing_done IN (0, 1)),
    listed             INTEGER NOT NULL DEFAULT 0,
    new                INTEGER NOT NULL DEFAULT 0,
    duplicate          INTEGER NOT NULL DEFAULT 0,
    failed             INTEGER NOT NULL DEFAULT 0,
    attachments        INTEGER NOT NULL DEFAULT 0,
    attachments_failed INTEGER NOT NULL DEFAULT 0,
    requests           INTEGER NOT NULL DEFAULT 0,
    reason             TEXT,
    started_at         INTEGER NOT NULL,
    ended_at           INTEGER
) STRICT;
CREATE INDEX crawl_run_target ON crawl_run (target_id, id);
-- A target has at most one run to take up.
CREATE UNIQUE INDEX crawl_run_unfinished ON crawl_run (target_id) WHERE state IN ('running', 'interrupted');

-- The frontier. An entry's number becomes its article's, so numbers are never given twice (AUTOINCREMENT).
CREATE TABLE entry (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    target_id           INTEGER NOT NULL REFERENCES crawl_target (id) ON DELETE CASCADE,
    url                 TEXT NOT NULL,
    url_hash            TEXT NOT NULL CHECK (length(url_hash) = 64),
    native_post_id      TEXT,
    title               TEXT NOT NULL,
    published_raw       TEXT,
    publish_time        INTEGER,
    publish_date        TEXT,
    publish_precision   TEXT CHECK (publish_precision IN ('day', 'minute', 'second')),
    pinned              INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    fields_json         TEXT NOT NULL DEFAULT '[]',
    state               TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'failed', 'dead')),
    attempts            INTEGER NOT NULL DEFAULT 0,
    failed_run          INTEGER,
    failed_at           INTEGER,
    error_class         TEXT,
    error_msg           TEXT,
    found_at            INTEGER NOT NULL,
    UNIQUE (target_id, url_hash)
) STRICT;

CREATE TABLE article (
    id                  INTEGER PRIMARY KEY,
    site_id             INTEGER NOT NULL REFERENCES crawl_site (id) ON DELETE CASCADE,
    target_id           INTEGER NOT NULL REFERENCES crawl_target (id) ON DELETE CASCADE,
    dept_id             INTEGER REFERENCES local_department (dept_id) ON DELETE SET NULL,
    run_id              INTEGER REFERENCES crawl_run (id) ON DELETE SET NULL,
    url                 TEXT NOT NULL,
    url_hash            TEXT NOT NULL UNIQUE CHECK (length(url_hash) = 64),
    native_post_id      TEXT,
    title               TEXT NOT NULL,
    publish_time        INTEGER,
    publish_date        TEXT,
    publish_precision   TEXT CHECK (publish_precision IN ('day', 'minute', 'second')),
    source_raw          TEXT,
    publisher           TEXT,
    index_no            TEXT,
    doc_no              TEXT,
    topic_words         TEXT,
    open_category       TEXT,
    channel_name        TEXT,
    channel_path        TEXT,
    content_category    TEXT,
    content_subcategory TEXT,
    content_text        TEXT NOT NULL -- 14,000 characters; counted in bytes, as counting characters cost more than the rest of the insert.
        CHECK (octet_length(content_text) <= 56000),
    truncated           INTEGER NOT NULL DEFAULT 0 CHECK (truncated IN (0, 1)),
    raw_html_path       TEXT,
    text_path           TEXT,
    has_attachment      INTEGER NOT NULL DEFAULT 0 CHECK (has_attachment IN (0, 1)),
    inline_image_count  INTEGER NOT NULL DEFAULT 0,
    status              TEXT NOT NULL CHECK (status IN ('ready', 'failed', 'raw')),
    fetch_strategy      TEXT NOT NULL,
    provenance_json     TEXT NOT NULL DEFAULT '{}',
    metadata_json       TEXT NOT NULL DEFAULT '{}',
    exported_to_rag_at  INTEGER,
    fetched_at          INTEGER NOT NULL,
    UNIQUE (site_id, native_post_id)
) STRICT;
CREATE INDEX article_fetched_at ON article (fetched_at);
CREATE INDEX article_publish_time ON article (publish_time);
CREATE INDEX article_target ON article (target_id, id);
CREATE INDEX article_dept ON article (dept_id) WHERE dept_id IS NOT NULL;

CREATE TABLE attachment (
    id              INTEGER PRIMARY KEY,
    article_id      INTEGER NOT NULL REFERENCES article (id) ON DELETE CASCADE,
    url             TEXT NOT NULL,
    file_path       TEXT,
    filename        TEXT NOT NULL,
    mime            TEXT,
    size_bytes      INTEGER CHECK (size_bytes >= 0),
    sha256          TEXT,
    download_status TEXT NOT NULL CHECK (download_status IN ('done', 'failed')),
    error_msg       TEXT
) STRICT;
CREATE INDEX attachment_article ON attachment (article_id);
CREATE INDEX attachment_sha256 ON attachment (sha256) WHERE sha256 IS NOT NULL;

CREATE TABLE crawl_log (
    id             INTEGER PRIMARY KEY,
    site_id        INTEGER NOT NULL REFERENCES crawl_site (id) ON DELETE CASCADE,
    target_id      INTEGER NOT NULL REFERENCES crawl_target (id) ON DELETE CASCADE,
    article_id     INTEGER REFERENCES article (id) ON DELETE SET NULL,
    occurred_at    INTEGER NOT NULL,
    purpose        TEXT NOT NULL,
    success        INTEGER NOT NULL CHECK (success IN (0, 1)),
    http_status    INTEGER,
    fetch_strategy TEXT NOT NULL,
    duration_ms    INTEGER NOT NULL,
    error_msg      TEXT,
    url            TEXT NOT NULL
) STRICT;
CREATE INDEX crawl_log_target ON crawl_log (target_id, id);
CREATE INDEX crawl_log_article ON crawl_log (article_id) WHERE article_id IS NOT NULL;
