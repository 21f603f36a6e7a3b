-- The path at which a site shows a note, without the slashes around it. A link to it leads to
-- the note wherever that is. All links are resolved again.

ALTER TABLE notes ADD COLUMN permalink TEXT GENERATED ALWAYS AS (trim(coalesce(
  iif(json_type(front_matter, '$.permalink') IN ('true', 'false'), NULL, front_matter ->> '$.permalink'),
  iif(front_matter ->> '$.url' LIKE '/%', front_matter ->> '$.url', NULL),
  iif(front_matter ->> '$.slug' LIKE '/%', front_matter ->> '$.slug', NULL), ''), '/')) VIRTUAL;
CREATE INDEX notes_permalink ON notes (permalink) WHERE permalink <> '';

INSERT INTO store (key, value) VALUES ('links_stale', 'true')
  ON CONFLICT (key) DO UPDATE SET value = 'true';
