-- Version 2. What is known of hosts, so that a restarted process does not ask again what it knew, and does not storm a
-- host that it was avoiding.

-- The last definite answer about the robots.txt of an origin (`https://host[:port]`).
CREATE TABLE robots_copy (
    origin     TEXT PRIMARY KEY CHECK (origin <> ''),
    copy_json  TEXT NOT NULL,
    fetched_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Breaker, cooldown, learned limits and the last verdicts of a host.
CREATE TABLE host_state (
    host       TEXT PRIMARY KEY CHECK (host <> ''),
    state_json TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What the answer was worth; NULL for requests from before it was judged.
ALTER TABLE crawl_log ADD COLUMN verdict TEXT;
