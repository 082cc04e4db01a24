-- What keeps failing, and whether somebody was told: one row per subject of an alert, gone when it went well again.
CREATE TABLE alert (
    subject TEXT PRIMARY KEY CHECK (subject <> ''),
    state   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- With the kind in it, the first job a worker can do is one seek away, however many of another kind are before it.
DROP INDEX job_queue;
CREATE INDEX job_queue ON job (lane, kind, rank DESC, order_at, id) WHERE state = 'queued';
