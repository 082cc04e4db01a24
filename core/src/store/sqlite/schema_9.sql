-- Version 9. Schedules hear of every change of a site or target that matters to them, whoever makes it; looks are counted for
-- the budget.

CREATE TRIGGER schedule_site_changed AFTER UPDATE OF enabled, schedule_cron, base_url, source_json ON crawl_site
WHEN old.enabled IS NOT new.enabled OR old.schedule_cron IS NOT new.schedule_cron OR old.base_url IS NOT new.base_url
    OR old.source_json IS NOT new.source_json
BEGIN
    UPDATE schedule_clock SET dirty = dirty + 1, changes = changes + 1;
END;
CREATE TRIGGER schedule_target_changed
AFTER UPDATE OF target_code, target_name, entry_url, schedule_cron, enabled ON crawl_target
WHEN old.target_code IS NOT new.target_code OR old.target_name IS NOT new.target_name
    OR old.entry_url IS NOT new.entry_url OR old.schedule_cron IS NOT new.schedule_cron OR old.enabled IS NOT new.enabled
BEGIN
    UPDATE schedule_clock SET dirty = dirty + 1, changes = changes + 1;
END;
CREATE TRIGGER schedule_target_added AFTER INSERT ON crawl_target
BEGIN
    UPDATE schedule_clock SET dirty = dirty + 1, changes = changes + 1;
END;
CREATE TRIGGER schedule_target_removed AFTER DELETE ON crawl_target
BEGIN
    UPDATE schedule_clock SET dirty = dirty + 1, changes = changes + 1;
END;
-- Targets that are here already.
UPDATE schedule_clock SET dirty = 1 WHERE EXISTS (SELECT 1 FROM crawl_target);

-- One row: how many checks a day all adaptive sources together may make (none: as many as they want), and the price of a
-- check that keeps them to it. `checks` counts since `since`.
CREATE TABLE schedule_budget (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    checks_per_day REAL CHECK (checks_per_day > 0),
    price          REAL NOT NULL DEFAULT 1.0 CHECK (price > 0),
    checks         INTEGER NOT NULL DEFAULT 0,
    since          INTEGER,
    steered_at     INTEGER
) STRICT;
INSERT INTO schedule_budget (id) VALUES (1);
