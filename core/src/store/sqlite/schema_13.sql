-- Version 13. What a page was at other times (I24): one row for each time it had changed, its bytes in the blobs. The page that the
-- article was read from is the first of them, once there is a second.
CREATE TABLE article_version (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    article_id INTEGER NOT NULL REFERENCES article (id) ON DELETE CASCADE,
    at         INTEGER NOT NULL,
    sha256     TEXT NOT NULL CHECK (length(sha256) = 64),
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0)
) STRICT;
CREATE INDEX article_version_article ON article_version (article_id, id);
CREATE INDEX article_version_sha256 ON article_version (sha256);
