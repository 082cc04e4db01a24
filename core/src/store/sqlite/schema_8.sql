-- Version 8. The operator's seat: who changed what, who may, and answers that are given again.

-- Keys of the site file that were set by hand and that an import leaves alone (I14), as for targets.
ALTER TABLE crawl_site ADD COLUMN operator_set TEXT NOT NULL DEFAULT '[]';

-- One row for every change and every refused one. Nothing refers to it and nothing but time removes from it.
CREATE TABLE audit (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    actor   TEXT NOT NULL,
    via     TEXT NOT NULL,
    request TEXT,
    action  TEXT NOT NULL,
    subject TEXT NOT NULL,
    -- `ok`, or the code of the refusal.
    outcome TEXT NOT NULL,
    detail  TEXT NOT NULL DEFAULT 'null'
) STRICT;
CREATE INDEX audit_subject ON audit (subject, id);

-- Bearer tokens: only their sha256 is kept.
CREATE TABLE api_token (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL UNIQUE CHECK (name <> ''),
    hash       TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
    scope      TEXT NOT NULL CHECK (scope IN ('read', 'run', 'admin')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    used_at    INTEGER,
    revoked_at INTEGER
) STRICT;

-- The answer to a request with an idempotency key, for a day.
CREATE TABLE idempotency (
    key     TEXT NOT NULL,
    actor   TEXT NOT NULL,
    -- What was asked: the same key with another question is an error.
    asked   TEXT NOT NULL,
    at      INTEGER NOT NULL,
    status  INTEGER,
    answer  TEXT,
    PRIMARY KEY (actor, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_at ON idempotency (at);

-- "What failed last" of a target, and how many are not ready, without reading what is well.
CREATE INDEX crawl_log_failed ON crawl_log (target_id, id) WHERE success = 0;
CREATE INDEX article_not_ready ON article (status, id) WHERE status <> 'ready';
