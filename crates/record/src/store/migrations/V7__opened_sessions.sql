-- The sessions that were opened in this store for measuring, by whom and where: only their plans are
-- executed when a session is continued. What a session record says may have come from elsewhere. This
-- table is never exported, shared, merged or imported.

CREATE TABLE opened_session (
    session    TEXT PRIMARY KEY,
    host       TEXT NOT NULL,
    user       INTEGER NOT NULL,
    store      TEXT NOT NULL,
    attributes TEXT NOT NULL,
    seal       TEXT NOT NULL
) STRICT;
