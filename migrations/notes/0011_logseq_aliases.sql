-- In folders that Logseq writes, links to aliases have targets now: all links are resolved again.

INSERT INTO store (key, value)
	SELECT 'links_stale', 'true' FROM store WHERE key = 'logseq_titles' AND value <> '{}'
	ON CONFLICT (key) DO UPDATE SET value = excluded.value;
