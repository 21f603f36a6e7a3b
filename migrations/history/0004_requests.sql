-- What a request key was used for: a digest of the tool and its arguments; ''
-- when that is not known. The journal also answers for vector tables, whose
-- operations have no files.
ALTER TABLE operations ADD COLUMN request TEXT NOT NULL DEFAULT '';
