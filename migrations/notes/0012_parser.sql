-- The version of the parser that made a note's rows. A scan parses the notes of any other again.
-- It replaces two settings: the version that made all notes, and a list of the paths of those
-- that could not be read at the time.

ALTER TABLE notes ADD COLUMN parser INTEGER NOT NULL DEFAULT 0;

UPDATE notes SET parser = (SELECT value FROM store WHERE key = 'parser')
  WHERE EXISTS (SELECT 1 FROM store WHERE key = 'parser')
  AND path NOT IN (SELECT j.value FROM store s, json_each(s.value) j WHERE s.key = 'unparsed' AND j.value IS NOT NULL); -- an empty list is null

DELETE FROM store WHERE key IN ('parser', 'unparsed');
