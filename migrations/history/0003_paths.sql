-- The history of a path is that of every note that ever had it.
CREATE INDEX revisions_path     ON revisions (path, document);
CREATE INDEX revisions_old_path ON revisions (old_path, document) WHERE old_path <> '';

-- 1: the next version from outside may replace this one, as it has its text.
ALTER TABLE revisions ADD COLUMN passing INTEGER NOT NULL DEFAULT 0;

-- What was found on disk was called 'seen': the first version of a note is
-- 'found', a later one an 'edit'.
UPDATE revisions SET operation = CASE WHEN id = (SELECT min(id) FROM revisions AS r WHERE r.document = revisions.document)
  THEN 'found' ELSE 'edit' END WHERE operation = 'seen';
