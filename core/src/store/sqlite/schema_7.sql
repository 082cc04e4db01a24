-- When work comes due. One row, one `next_due_at`; firing inserts the job and moves it in one transaction (C1).
CREATE TABLE schedule (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    -- `target.<code>` for crawls, `builtin:<name>` for what the program brings, any other word for the rest.
    name          TEXT NOT NULL UNIQUE CHECK (name <> ''),
    title         TEXT NOT NULL DEFAULT '',
    -- The job it makes.
    kind          TEXT NOT NULL CHECK (kind <> ''),
    lane          TEXT NOT NULL CHECK (lane <> ''),
    payload       TEXT NOT NULL DEFAULT 'null',
    priority      INTEGER NOT NULL DEFAULT 0,
    -- What makes it due. Of these columns a trigger uses its own; `combine` says how cron and adaptive share a target.
    trigger       TEXT NOT NULL CHECK (trigger IN ('cron', 'interval', 'adaptive', 'once', 'manual')),
    cron          TEXT,
    interval_sec  INTEGER CHECK (interval_sec > 0),
    adaptive      TEXT CHECK (adaptive IN ('predictive', 'classic', 'budget')),
    combine       TEXT NOT NULL DEFAULT 'either' CHECK (combine IN ('either', 'cron_only', 'adaptive_only')),
    once_at       INTEGER,
    expires_at    INTEGER,
    zone          TEXT,
    misfire       TEXT NOT NULL DEFAULT 'run_once' CHECK (misfire IN ('run_once', 'skip', 'expire')),
    expires_sec   INTEGER CHECK (expires_sec > 0),
    overlap       TEXT NOT NULL DEFAULT 'skip' CHECK (overlap IN ('skip', 'queue')),
    enabled       INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
    off_why       TEXT,
    -- Where the cron came from, and the fields that were set by hand and that reconciling leaves alone (I14).
    origin        TEXT,
    operator_set  TEXT NOT NULL DEFAULT '[]',
    -- None: it will not come due by itself.
    next_due_at   INTEGER,
    -- What the adaptive policy last decided; `next_due_at` is the earlier of this and the cron where both count.
    adaptive_at   INTEGER,
    last_due_at   INTEGER,
    last_fired_at INTEGER,
    last_job      INTEGER,
    last_run_at   INTEGER,
    last_status   TEXT CHECK (last_status IN ('ok', 'error', 'skipped')),
    last_error    TEXT,
    last_response TEXT,
    run_count     INTEGER NOT NULL DEFAULT 0,
    error_count   INTEGER NOT NULL DEFAULT 0,
    -- How many decisions were recorded; the last ones are kept.
    decisions     INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX schedule_due ON schedule (next_due_at) WHERE next_due_at IS NOT NULL;

-- Why things came due, or did not: a ring of the last decisions of each schedule.
CREATE TABLE schedule_decision (
    schedule_id INTEGER NOT NULL REFERENCES schedule (id) ON DELETE CASCADE,
    slot        INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    rule        TEXT NOT NULL,
    due_at      INTEGER,
    next_at     INTEGER,
    job_id      INTEGER,
    inputs      TEXT NOT NULL DEFAULT 'null',
    PRIMARY KEY (schedule_id, slot)
) STRICT, WITHOUT ROWID;

-- One row. `changes` counts what may have moved a due time, so that a timer in another process hears of it; `seen_at` is the
-- latest time from which a due time was computed: a clock that shows less was set back. `dirty`: sites or targets changed since
-- schedules were last made to follow them.
CREATE TABLE schedule_clock (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    changes INTEGER NOT NULL DEFAULT 0,
    seen_at INTEGER NOT NULL DEFAULT 0,
    dirty   INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO schedule_clock (id) VALUES (1);

-- The seed's table (S0-5 … S0-9), times in seconds.
CREATE TABLE source_stats (
    source_id        TEXT PRIMARY KEY,
    source_type      TEXT NOT NULL DEFAULT 'rss',
    frequency_type   TEXT DEFAULT 'daily',
    cadence          TEXT DEFAULT 'P2',
    avg_publish_hour REAL,
    std_publish_hour REAL,
    next_due_at      INTEGER DEFAULT 0,
    last_check_at    INTEGER DEFAULT 0,
    last_article_at  INTEGER DEFAULT 0,
    fail_count       INTEGER DEFAULT 0,
    backoff_until    INTEGER DEFAULT 0,
    last_error       TEXT,
    check_count      INTEGER DEFAULT 0,
    hit_count        INTEGER DEFAULT 0,
    created_at       INTEGER,
    updated_at       INTEGER
);
CREATE INDEX idx_source_stats_next_due ON source_stats (next_due_at);
CREATE INDEX idx_source_stats_cadence ON source_stats (cadence);
CREATE INDEX idx_source_stats_type ON source_stats (source_type);
CREATE INDEX idx_source_stats_type_due ON source_stats (source_type, next_due_at);

-- Site files as they were last read, so that a change is seen and a broken one is told once (I15).
CREATE TABLE site_file (
    site_code  TEXT PRIMARY KEY,
    path       TEXT NOT NULL,
    sha256     TEXT NOT NULL,
    error      TEXT,
    checked_at INTEGER NOT NULL
) STRICT;
