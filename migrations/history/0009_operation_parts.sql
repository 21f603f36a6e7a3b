-- The change that an operation is part of, by the number of its first operation: the edits
-- of several notes in one call are undone together. NULL: it is a change of its own.
ALTER TABLE operations ADD COLUMN part_of INTEGER;
CREATE INDEX operations_part_of ON operations (part_of) WHERE part_of IS NOT NULL;
