-- A Markdown link that begins with "/" leads to the path from the vault before the one from
-- the folder of its note. All links are resolved again.

INSERT INTO store (key, value) VALUES ('links_stale', 'true')
  ON CONFLICT (key) DO UPDATE SET value = 'true';
