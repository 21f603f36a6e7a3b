-- What is removed when it is older than the history's limits.

ALTER TABLE vaults
    ADD kept   bigint      NOT NULL DEFAULT 1,    -- the first batch whose changes are in feed; of earlier ones there is only the row in batches
    ADD pruned timestamptz NOT NULL DEFAULT now();

CREATE INDEX files_hash ON files (vault, hash); -- a blob that is removed must not be one of these
