-- The "key:: value" fields of a note's text: a JSON object, '' for none.

ALTER TABLE notes ADD COLUMN inline TEXT NOT NULL DEFAULT '';
