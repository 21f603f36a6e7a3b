-- The folder that base is of. What base says of another folder, such as a restored backup, holds
-- only for the files that are equal in both.

ALTER TABLE position ADD COLUMN folder TEXT NOT NULL DEFAULT ''; -- its inode and time of creation; '' if unknown, or 'emptied'
