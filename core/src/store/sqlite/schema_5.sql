-- The durable queue: jobs, the lanes they wait in, and who owns a slot of a lane at the moment.

-- A lane: jobs of one host, or of one name. The counters follow the rows below; `doctor` compares them.
CREATE TABLE lane (
    name        TEXT PRIMARY KEY CHECK (name <> ''),
    concurrency INTEGER NOT NULL DEFAULT 1 CHECK (concurrency BETWEEN 1 AND 1000),
    queued      INTEGER NOT NULL DEFAULT 0 CHECK (queued >= 0),
    busy        INTEGER NOT NULL DEFAULT 0 CHECK (busy >= 0),
    finished    INTEGER NOT NULL DEFAULT 0 CHECK (finished >= 0),
    -- Twice the token of its last lease: the lane with the smallest is the next to be served. A new lane goes in between.
    served      INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX lane_next ON lane (served, name) WHERE queued > 0 AND busy < concurrency;

-- The right to run jobs in one slot of a lane. Tokens only grow: every effect is committed with the token of its
-- lease, and a token that is gone is refused. `until` is read on the clock of `boot`, which nobody can set.
CREATE TABLE lease (
    token    INTEGER PRIMARY KEY AUTOINCREMENT,
    lane     TEXT NOT NULL REFERENCES lane (name),
    slot     INTEGER NOT NULL CHECK (slot >= 0),
    owner    TEXT NOT NULL,
    boot     TEXT NOT NULL,
    until    INTEGER NOT NULL,
    taken_at INTEGER NOT NULL,
    UNIQUE (lane, slot)
) STRICT;

CREATE TABLE job (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT NOT NULL CHECK (kind <> ''),
    lane         TEXT NOT NULL REFERENCES lane (name),
    state        TEXT NOT NULL CHECK (state IN ('scheduled', 'queued', 'retry_wait', 'running', 'cancelling',
                                                'done', 'failed', 'expired', 'cancelled')),
    priority     INTEGER NOT NULL DEFAULT 0,
    -- The order within a lane: the expired first, by expiry; then by priority, then by due time (S1-10).
    rank         INTEGER NOT NULL,
    order_at     INTEGER NOT NULL,
    payload      TEXT NOT NULL DEFAULT 'null',
    unique_key   TEXT,
    unique_for   TEXT CHECK (unique_for IN ('live', 'ever')),
    due_at       INTEGER NOT NULL,
    expires_at   INTEGER,
    expiring     INTEGER NOT NULL DEFAULT 0 CHECK (expiring IN (0, 1)),
    attempts     INTEGER NOT NULL DEFAULT 0,
    stalls       INTEGER NOT NULL DEFAULT 0,
    slot         INTEGER,
    token        INTEGER,
    -- Which layer holds it back, and in what words (C7).
    hold         TEXT CHECK (hold IN ('source', 'host', 'job')),
    hold_why     TEXT,
    outcome      TEXT CHECK (outcome IN ('executed', 'expired', 'cancelled')),
    error_class  TEXT,
    error        TEXT,
    response     TEXT,
    created_at   INTEGER NOT NULL,
    started_at   INTEGER,
    finished_at  INTEGER,
    CHECK ((state IN ('running', 'cancelling')) = (token IS NOT NULL)),
    CHECK ((token IS NULL) = (slot IS NULL)),
    CHECK ((state IN ('done', 'failed', 'expired', 'cancelled')) = (finished_at IS NOT NULL)),
    CHECK ((unique_key IS NULL) = (unique_for IS NULL))
) STRICT;
-- S2-46: never two at work in one slot, whatever the program does.
CREATE UNIQUE INDEX job_slot ON job (lane, slot) WHERE state IN ('running', 'cancelling');
CREATE UNIQUE INDEX job_unique ON job (unique_key) WHERE unique_key IS NOT NULL
    AND (unique_for = 'ever' OR state IN ('scheduled', 'queued', 'retry_wait', 'running', 'cancelling'));
CREATE INDEX job_queue ON job (lane, rank DESC, order_at, id) WHERE state = 'queued';
CREATE INDEX job_due ON job (due_at) WHERE state IN ('scheduled', 'retry_wait');
CREATE INDEX job_expiry ON job (expires_at)
    WHERE expires_at IS NOT NULL AND expiring = 0 AND state IN ('scheduled', 'queued', 'retry_wait');
CREATE INDEX job_token ON job (token) WHERE token IS NOT NULL;
CREATE INDEX job_finished ON job (lane, finished_at) WHERE finished_at IS NOT NULL;
