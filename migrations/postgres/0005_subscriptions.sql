-- What the clients of sessions over HTTP have subscribed to: a session may continue on another node.

CREATE TABLE subscriptions (
    vault   bigint      NOT NULL REFERENCES vaults,
    session text        COLLATE "C" NOT NULL,       -- SHA-256 of the subject and the session's id
    uri     text        COLLATE "C" NOT NULL,       -- as the client wrote it
    used    timestamptz NOT NULL DEFAULT now(),     -- when the client last began to listen
    PRIMARY KEY (vault, session, uri)
);
