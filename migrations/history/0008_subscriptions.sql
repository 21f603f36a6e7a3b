-- What the clients of sessions over HTTP have subscribed to: a session continues after the
-- daemon has been restarted.
CREATE TABLE subscriptions (
  id      INTEGER PRIMARY KEY,
  session TEXT NOT NULL,                 -- SHA-256 of the session's id
  uri     TEXT NOT NULL,                 -- as the client wrote it
  UNIQUE (session, uri)
) STRICT;
