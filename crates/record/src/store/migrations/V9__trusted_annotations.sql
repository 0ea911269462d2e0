-- The annotations that count in judgements without being asked for: those that were made in this store, and those that
-- came in a segment of a shared history that an allowed signer had signed (docs/sharing.md). Whoever writes an annotation
-- chooses its author; this is known here only, and is never shared, exported or imported.

CREATE TABLE trusted_annotation (
    annotation TEXT PRIMARY KEY,
    -- The signer; NULL where it was made in this store.
    signer     TEXT
) STRICT, WITHOUT ROWID;

-- What no shared history has was probably made here.
INSERT INTO trusted_annotation (annotation)
SELECT id FROM annotation WHERE id NOT IN (SELECT annotation FROM remote_annotation);
