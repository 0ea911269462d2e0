-- What this store knows of shared histories (docs/sharing.md).

CREATE TABLE remote (
    key     INTEGER PRIMARY KEY,
    -- Of its `lapwing.json`: the same history may have several addresses, one after another.
    id      TEXT NOT NULL UNIQUE,
    -- Where it was last, without passwords; NULL when another one was begun there.
    address TEXT,
    -- The address that was seen to refuse a second creation.
    probed  TEXT
) STRICT;

-- The segments that were taken in, or pushed from here.
CREATE TABLE remote_segment (
    remote INTEGER NOT NULL REFERENCES remote (key),
    number INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    bytes  INTEGER NOT NULL,
    PRIMARY KEY (remote, number)
) STRICT, WITHOUT ROWID;

-- The sessions of which everything is in a shared history that is in the store, as long as the
-- store has no more of them than `extent` says. By id, since a key may be given again.
CREATE TABLE remote_session (
    remote  INTEGER NOT NULL REFERENCES remote (key),
    session TEXT NOT NULL,
    extent  TEXT NOT NULL,
    PRIMARY KEY (remote, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE remote_annotation (
    remote     INTEGER NOT NULL REFERENCES remote (key),
    annotation TEXT NOT NULL,
    PRIMARY KEY (remote, annotation)
) STRICT, WITHOUT ROWID;
