-- The symlink by which a note is known whose file is path; '' for none.
ALTER TABLE operation_files ADD COLUMN link TEXT NOT NULL DEFAULT '';
