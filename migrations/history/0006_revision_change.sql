-- The operation that made a revision, so that it can be undone as one. NULL: another
-- program did, or the revision is older than this column.
ALTER TABLE revisions ADD COLUMN change INTEGER;

-- Which operations have a text.
CREATE INDEX operation_files_old_hash ON operation_files (old_hash);
CREATE INDEX operation_files_new_hash ON operation_files (new_hash);
