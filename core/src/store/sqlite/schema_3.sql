-- Version 3. What the operator says about a target, and what a list looked like when it was last read whole.

-- How hard the target's host is asked, by hand (I14): keys as in site files. No import writes it.
ALTER TABLE crawl_target ADD COLUMN pace_json TEXT NOT NULL DEFAULT '{}';

-- The validators of a list's first page, from the run that last read it to its end: the next run asks with them.
CREATE TABLE list_validator (
    target_id     INTEGER PRIMARY KEY REFERENCES crawl_target (id) ON DELETE CASCADE,
    url           TEXT NOT NULL,
    etag          TEXT,
    last_modified TEXT,
    -- What it was read with; under another adapter or other settings it says nothing.
    basis         TEXT NOT NULL,
    saved_at      INTEGER NOT NULL
) STRICT;
