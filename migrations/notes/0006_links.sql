-- A Markdown link to a folder no longer leads to a file of another project.
-- All links are resolved again.

INSERT INTO store (key, value) VALUES ('links_stale', 'true')
  ON CONFLICT (key) DO UPDATE SET value = 'true';
