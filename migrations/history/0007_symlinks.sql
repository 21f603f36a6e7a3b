-- Where symlinks of the vault have led, also those that are gone or lead elsewhere now:
-- who may not read the target may not read the versions that the symlink had.
CREATE TABLE symlinks (
  path   TEXT NOT NULL,
  target TEXT NOT NULL,                  -- folded
  PRIMARY KEY (path, target)
) STRICT, WITHOUT ROWID;
