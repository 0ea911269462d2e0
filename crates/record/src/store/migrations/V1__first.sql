-- The first shape of the store; docs/store.md describes it for people.
-- Objects (attributes, environment, …) are JSON text, NULL when empty.

CREATE TABLE session (
    key        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    suite      TEXT NOT NULL,
    name       TEXT,
    started    TEXT NOT NULL,
    seed       TEXT,
    tool       TEXT NOT NULL,
    attributes TEXT,
    artifacts  TEXT,
    extra      TEXT
) STRICT;

CREATE TABLE run (
    key           INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    session       INTEGER NOT NULL REFERENCES session (key),
    variant       TEXT NOT NULL,
    version       TEXT,
    "commit"      TEXT,
    branch        TEXT,
    version_date  TEXT,
    dirty         INTEGER,
    version_extra TEXT,
    factors       TEXT,
    definitions   TEXT,
    environment   TEXT,
    attributes    TEXT,
    artifacts     TEXT,
    extra         TEXT
) STRICT;

CREATE INDEX run_of_session ON run (session);

CREATE TABLE benchmark (
    key   INTEGER PRIMARY KEY,
    suite TEXT NOT NULL,
    id    TEXT NOT NULL,
    UNIQUE (suite, id)
) STRICT;

CREATE TABLE metric (
    key  INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- The four that the views show as columns.
INSERT INTO metric (key, name) VALUES
    (1, 'wall_time'), (2, 'user_time'), (3, 'system_time'), (4, 'peak_memory');

CREATE TABLE run_metric (
    run    INTEGER NOT NULL REFERENCES run (key),
    metric INTEGER NOT NULL REFERENCES metric (key),
    unit   TEXT NOT NULL,
    better TEXT CHECK (better IN ('lower', 'higher')),
    PRIMARY KEY (run, metric)
) STRICT, WITHOUT ROWID;

-- Which metrics a benchmark ever had, so that readers need not look for the others.
CREATE TABLE benchmark_metric (
    benchmark INTEGER NOT NULL REFERENCES benchmark (key),
    metric    INTEGER NOT NULL REFERENCES metric (key),
    PRIMARY KEY (benchmark, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE instance (
    key             INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    run             INTEGER NOT NULL REFERENCES run (key),
    benchmark       INTEGER NOT NULL REFERENCES benchmark (key),
    params          TEXT,
    tags            TEXT,
    fingerprint     TEXT,
    benchmark_extra TEXT,
    block           INTEGER NOT NULL,
    position        INTEGER NOT NULL,
    attempt         INTEGER NOT NULL,
    host            TEXT,
    started         TEXT,
    environment     TEXT,
    job             TEXT,
    attributes      TEXT,
    artifacts       TEXT,
    extra           TEXT,
    -- Its end; the outcome is NULL until one is known.
    outcome         TEXT CHECK (outcome IN ('ok', 'failed', 'timed_out', 'skipped', 'lost')),
    ended           TEXT,
    end_message     TEXT,
    observed        TEXT,
    end_extra       TEXT
) STRICT;

CREATE INDEX instance_of_run ON instance (run);
CREATE INDEX instance_of_benchmark ON instance (benchmark);

-- This and the next table have neither foreign keys nor checks: they would cost a third
-- of the time of writing, and `lapwing db check` looks for what they would forbid.
CREATE TABLE iteration (
    instance INTEGER NOT NULL,
    idx      INTEGER NOT NULL,
    "offset" REAL,
    burn_in  INTEGER NOT NULL,
    loops    INTEGER NOT NULL,
    outcome  TEXT NOT NULL,
    message  TEXT,
    -- {"attributes": …, "artifacts": …, "extra": …}, those of them that there are.
    detail   TEXT,
    PRIMARY KEY (instance, idx)
) STRICT, WITHOUT ROWID;

-- Metric first: the history of one metric is one scan.
CREATE TABLE value (
    metric   INTEGER NOT NULL,
    instance INTEGER NOT NULL,
    idx      INTEGER NOT NULL,
    value    REAL NOT NULL,
    PRIMARY KEY (metric, instance, idx)
) STRICT, WITHOUT ROWID;

-- Spans in chunks: zlib-compressed JSON arrays of record-v1 spans.
CREATE TABLE span_chunk (
    instance INTEGER NOT NULL REFERENCES instance (key),
    chunk    INTEGER NOT NULL,
    first    INTEGER NOT NULL,
    last     INTEGER NOT NULL,
    spans    INTEGER NOT NULL,
    data     BLOB NOT NULL,
    UNIQUE (instance, chunk)
) STRICT;

CREATE TABLE summary (
    instance  INTEGER NOT NULL REFERENCES instance (key),
    metric    INTEGER NOT NULL REFERENCES metric (key),
    statistic TEXT NOT NULL,
    n         INTEGER,
    centre    REAL NOT NULL,
    spread    REAL,
    extra     TEXT,
    PRIMARY KEY (instance, metric, statistic)
) STRICT, WITHOUT ROWID;

CREATE TABLE annotation (
    key    INTEGER PRIMARY KEY,
    id     TEXT NOT NULL UNIQUE,
    at     TEXT NOT NULL,
    by     TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT,
    reason TEXT,
    extra  TEXT
) STRICT;

CREATE VIEW iterations AS
SELECT session.suite                                                AS suite,
       coalesce(session.name, session.id)                           AS session,
       benchmark.id                                                 AS benchmark,
       coalesce(run.version, substr(run."commit", 1, 10))           AS version,
       run.variant                                                  AS variant,
       instance.id                                                  AS instance,
       instance.host                                                AS host,
       instance.block                                               AS block,
       iteration.idx                                                AS "index",
       iteration.burn_in                                            AS burn_in,
       iteration.outcome                                            AS outcome,
       iteration.message                                            AS message,
       (SELECT value FROM value
         WHERE metric = 1 AND instance = iteration.instance AND idx = iteration.idx) AS wall_time,
       (SELECT value FROM value
         WHERE metric = 2 AND instance = iteration.instance AND idx = iteration.idx) AS user_time,
       (SELECT value FROM value
         WHERE metric = 3 AND instance = iteration.instance AND idx = iteration.idx) AS system_time,
       (SELECT value FROM value
         WHERE metric = 4 AND instance = iteration.instance AND idx = iteration.idx) AS peak_memory,
       (SELECT json_group_object(metric.name, value.value)
          FROM benchmark_metric
          JOIN metric ON metric.key = benchmark_metric.metric
          JOIN value ON value.metric = benchmark_metric.metric
                    AND value.instance = iteration.instance AND value.idx = iteration.idx
         WHERE benchmark_metric.benchmark = instance.benchmark)     AS metrics
  FROM iteration
  JOIN instance ON instance.key = iteration.instance
  JOIN benchmark ON benchmark.key = instance.benchmark
  JOIN run ON run.key = instance.run
  JOIN session ON session.key = run.session;

CREATE VIEW instances AS
SELECT session.suite                                                AS suite,
       coalesce(session.name, session.id)                           AS session,
       benchmark.id                                                 AS benchmark,
       coalesce(run.version, substr(run."commit", 1, 10))           AS version,
       run.variant                                                  AS variant,
       instance.id                                                  AS instance,
       instance.host                                                AS host,
       instance.block                                               AS block,
       instance.position                                            AS position,
       instance.attempt                                             AS attempt,
       instance.started                                             AS started,
       instance.ended                                               AS ended,
       instance.outcome                                             AS outcome,
       instance.end_message                                         AS message,
       (SELECT count(*) FROM iteration
         WHERE iteration.instance = instance.key)                   AS iterations,
       (SELECT count(*) FROM iteration
         WHERE iteration.instance = instance.key
           AND iteration.outcome IN ('failed', 'timed_out'))        AS failures,
       (SELECT avg(value.value) FROM iteration
          JOIN value ON value.metric = 1 AND value.instance = iteration.instance
                    AND value.idx = iteration.idx
         WHERE iteration.instance = instance.key
           AND iteration.burn_in = 0 AND iteration.outcome = 'ok')  AS mean_wall_time,
       instance.params                                              AS params,
       instance.tags                                                AS tags,
       instance.job                                                 AS job,
       instance.environment                                         AS environment
  FROM instance
  JOIN benchmark ON benchmark.key = instance.benchmark
  JOIN run ON run.key = instance.run
  JOIN session ON session.key = run.session;
