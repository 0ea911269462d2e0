-- Every address at which a shared history was seen: one that was moved has gone from where it was.

CREATE TABLE remote_address (
    -- Without passwords.
    address TEXT PRIMARY KEY,
    -- The history that was there last.
    remote  INTEGER NOT NULL REFERENCES remote (key)
) STRICT, WITHOUT ROWID;

INSERT INTO remote_address (address, remote)
SELECT address, max(key) FROM remote WHERE address IS NOT NULL GROUP BY address;

ALTER TABLE remote DROP COLUMN address;
