-- A version of the log that is about to be placed in the folder, before it is known that
-- it was: a crash between the two must not make it look like a change of the folder's.

ALTER TABLE base ADD COLUMN placing     TEXT    NOT NULL DEFAULT ''; -- its hash
ALTER TABLE base ADD COLUMN placing_seq INTEGER NOT NULL DEFAULT 0;  -- of the batch that wrote it
