-- Version 12. What is found by words is listed by day of publication. The index hands out matches by row number only, so the number
-- of a row says when: days since 1900 in the upper bits, what was stored first on a day in the lower ones. Sorting is never needed,
-- however frequent a word is.
CREATE TABLE search_row (
    key        INTEGER PRIMARY KEY,
    article_id INTEGER NOT NULL UNIQUE
) STRICT;

DROP TRIGGER article_fts_gone;
CREATE TRIGGER article_fts_gone AFTER DELETE ON article BEGIN
    DELETE FROM article_fts WHERE rowid = (SELECT key FROM search_row WHERE article_id = old.id);
    DELETE FROM search_row WHERE article_id = old.id;
END;

-- Their rows have new numbers: worked off when the store is opened.
INSERT INTO article_fts (article_fts) VALUES ('delete-all');
INSERT OR IGNORE INTO search_backlog SELECT id FROM article;
