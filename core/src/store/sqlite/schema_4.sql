-- The politeness ledger: what was done to a host on a day (UTC). Counted, never replaced: several processes add up.
CREATE TABLE host_day (
    host                 TEXT NOT NULL CHECK (host <> ''),
    day                  TEXT NOT NULL,
    requests             INTEGER NOT NULL DEFAULT 0,
    bytes                INTEGER NOT NULL DEFAULT 0,
    ok                   INTEGER NOT NULL DEFAULT 0,
    thin                 INTEGER NOT NULL DEFAULT 0,
    challenge            INTEGER NOT NULL DEFAULT 0,
    blocked              INTEGER NOT NULL DEFAULT 0,
    gone                 INTEGER NOT NULL DEFAULT 0,
    retry_after          INTEGER NOT NULL DEFAULT 0,
    server_error         INTEGER NOT NULL DEFAULT 0,
    wrong_content        INTEGER NOT NULL DEFAULT 0,
    network_error        INTEGER NOT NULL DEFAULT 0,
    robots_denied        INTEGER NOT NULL DEFAULT 0,
    refused              INTEGER NOT NULL DEFAULT 0,
    retry_after_honoured INTEGER NOT NULL DEFAULT 0,
    cooldowns            INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (host, day)
) STRICT, WITHOUT ROWID;
