-- links.state 4: resolved, to a note that has no such heading or block (anchor).
-- The states of all links are computed again.

CREATE INDEX links_anchored ON links (resolved) WHERE anchor <> '';

INSERT INTO store (key, value) VALUES ('links_stale', 'true')
  ON CONFLICT (key) DO UPDATE SET value = 'true';
