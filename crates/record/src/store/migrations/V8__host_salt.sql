-- What hosts are hashed with where their names are hidden. It never leaves the store.

CREATE TABLE host_salt (
    salt BLOB NOT NULL
) STRICT;

INSERT INTO host_salt (salt) VALUES (randomblob(16));
