-- Version 10. Full text over articles. The text is cut into tokens by the program (`store/search`), so the tokenizer only has to part
-- them at spaces; `tags` holds what is filtered by (`s<site> t<target> x<status> y2026 m202604 d20260410`), so that a frequent word under
-- a rare filter costs what the filter costs. The text itself is in `article`.
CREATE VIRTUAL TABLE article_fts USING fts5 (title, body, docno, tags, content = '', contentless_delete = 1, tokenize = 'ascii');

-- An article that goes leaves the index, whoever removes it and by whatever cascade.
CREATE TRIGGER article_fts_gone AFTER DELETE ON article BEGIN
    DELETE FROM article_fts WHERE rowid = old.id;
END;

-- Articles that are not in the index yet: those from before it. Worked off when the store is opened.
CREATE TABLE search_backlog (article_id INTEGER PRIMARY KEY) STRICT;
INSERT INTO search_backlog SELECT id FROM article;

-- Lists by publication time under a filter, without sorting.
CREATE INDEX article_site_time ON article (site_id, publish_time);
CREATE INDEX article_target_time ON article (target_id, publish_time);
DROP INDEX article_dept;
CREATE INDEX article_dept ON article (dept_id, publish_time) WHERE dept_id IS NOT NULL;
