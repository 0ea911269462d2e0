-- Iterations and their values in columns: a row for some dozens of them instead of one for each
-- iteration and value. Arrays and objects are JSON text, so that any SQLite can read them.
-- `lapwing_json_number` is ours (migrate.rs): SQLite itself would round to 15 digits.

-- No foreign keys and no checks: `lapwing db check` looks for what they would forbid.
CREATE TABLE chunk (
    instance INTEGER NOT NULL,
    -- The index of its first iteration, and how many it has.
    first    INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    -- Arrays, place by place. The indices, increasing; NULL when they are first, first + 1, ….
    idx      TEXT,
    -- Numbers or null; NULL when none is known.
    "offset" TEXT,
    -- 0 or 1; NULL when all are 0.
    burn_in  TEXT,
    -- NULL when all are 1.
    loops    TEXT,
    -- Objects from place to what is there, for the few that have something to say: NULL when
    -- none has. An outcome other than ok; a message;
    outcome  TEXT,
    message  TEXT,
    -- {"attributes": …, "artifacts": …, "extra": …}, those of them that there are.
    detail   TEXT,
    UNIQUE (instance, first)
) STRICT;

-- Metric first: the history of one metric is one scan.
CREATE TABLE series (
    metric   INTEGER NOT NULL,
    instance INTEGER NOT NULL,
    first    INTEGER NOT NULL,
    -- An array with a number or null for each iteration of the chunk.
    vals     TEXT NOT NULL,
    PRIMARY KEY (metric, instance, first)
) STRICT, WITHOUT ROWID;

-- The places that a chunk may have, for the views to count with.
CREATE TABLE place (
    k INTEGER PRIMARY KEY
) STRICT;

INSERT INTO place (k)
WITH RECURSIVE counted (k) AS (VALUES (0) UNION ALL SELECT k + 1 FROM counted WHERE k < 255)
SELECT k FROM counted;

-- Where each iteration of the first version comes to stand.
CREATE TEMP TABLE placed (
    instance INTEGER NOT NULL,
    idx      INTEGER NOT NULL,
    first    INTEGER NOT NULL,
    k        INTEGER NOT NULL,
    PRIMARY KEY (instance, idx)
) STRICT, WITHOUT ROWID;

INSERT INTO temp.placed (instance, idx, first, k)
SELECT instance, idx, min(idx) OVER (PARTITION BY instance, at / 80), at % 80
  FROM (SELECT instance, idx,
               row_number() OVER (PARTITION BY instance ORDER BY idx) - 1 AS at
          FROM iteration);

CREATE INDEX temp.placed_by_chunk ON placed (instance, first);

INSERT INTO chunk (instance, first, count, idx, "offset", burn_in, loops, outcome, message, detail)
SELECT it.instance,
       at.first,
       count(*),
       CASE WHEN max(it.idx) - at.first + 1 > count(*)
            THEN '[' || group_concat(it.idx, ',' ORDER BY it.idx) || ']' END,
       CASE WHEN count(it."offset") > 0
            THEN '[' || group_concat(lapwing_json_number(it."offset"), ',' ORDER BY it.idx) || ']'
            END,
       CASE WHEN max(it.burn_in) > 0
            THEN '[' || group_concat(it.burn_in, ',' ORDER BY it.idx) || ']' END,
       -- The first version kept loops above 2^63 - 1 as negative numbers.
       CASE WHEN min(it.loops) <> 1 OR max(it.loops) <> 1
            THEN '[' || group_concat(format('%u', it.loops), ',' ORDER BY it.idx) || ']' END,
       '{' || group_concat('"' || at.k || '":' || json_quote(it.outcome), ',' ORDER BY it.idx)
              FILTER (WHERE it.outcome <> 'ok') || '}',
       '{' || group_concat('"' || at.k || '":' || json_quote(it.message), ',' ORDER BY it.idx)
              FILTER (WHERE it.message IS NOT NULL) || '}',
       '{' || group_concat('"' || at.k || '":' || it.detail, ',' ORDER BY it.idx)
              FILTER (WHERE it.detail IS NOT NULL) || '}'
  FROM iteration AS it
  JOIN temp.placed AS at ON at.instance = it.instance AND at.idx = it.idx
 GROUP BY it.instance, at.first
 ORDER BY it.instance, at.first;

INSERT INTO series (metric, instance, first, vals)
SELECT had.metric,
       had.instance,
       had.first,
       '[' || group_concat(lapwing_json_number(value.value), ',' ORDER BY at.idx) || ']'
  FROM (SELECT DISTINCT value.metric, at.instance, at.first
          FROM value
          JOIN temp.placed AS at ON at.instance = value.instance AND at.idx = value.idx) AS had
  JOIN temp.placed AS at ON at.instance = had.instance AND at.first = had.first
  LEFT JOIN value ON value.metric = had.metric AND value.instance = at.instance
                 AND value.idx = at.idx
 GROUP BY had.metric, had.instance, had.first
 ORDER BY had.metric, had.instance, had.first;

DROP TABLE temp.placed;
DROP VIEW iterations;
DROP VIEW instances;
DROP TABLE value;
DROP TABLE iteration;

-- The same columns as before. `->>` would be shorter, but needs SQLite 3.38.
CREATE VIEW iterations AS
SELECT session.suite                                                AS suite,
       coalesce(session.name, session.id)                           AS session,
       benchmark.id                                                 AS benchmark,
       coalesce(run.version, substr(run."commit", 1, 10))           AS version,
       run.variant                                                  AS variant,
       instance.id                                                  AS instance,
       instance.host                                                AS host,
       instance.block                                               AS block,
       coalesce(json_extract(chunk.idx, '$[' || place.k || ']'),
                chunk.first + place.k)                              AS "index",
       coalesce(json_extract(chunk.burn_in, '$[' || place.k || ']'), 0) AS burn_in,
       coalesce(json_extract(chunk.outcome, '$."' || place.k || '"'), 'ok') AS outcome,
       json_extract(chunk.message, '$."' || place.k || '"')         AS message,
       (SELECT json_extract(vals, '$[' || place.k || ']') FROM series
         WHERE metric = 1 AND instance = chunk.instance AND first = chunk.first) AS wall_time,
       (SELECT json_extract(vals, '$[' || place.k || ']') FROM series
         WHERE metric = 2 AND instance = chunk.instance AND first = chunk.first) AS user_time,
       (SELECT json_extract(vals, '$[' || place.k || ']') FROM series
         WHERE metric = 3 AND instance = chunk.instance AND first = chunk.first) AS system_time,
       (SELECT json_extract(vals, '$[' || place.k || ']') FROM series
         WHERE metric = 4 AND instance = chunk.instance AND first = chunk.first) AS peak_memory,
       (SELECT json_group_object(name, value)
          FROM (SELECT metric.name AS name,
                       json_extract(series.vals, '$[' || place.k || ']') AS value
                  FROM benchmark_metric
                  JOIN metric ON metric.key = benchmark_metric.metric
                  JOIN series ON series.metric = benchmark_metric.metric
                             AND series.instance = chunk.instance AND series.first = chunk.first
                 WHERE benchmark_metric.benchmark = instance.benchmark)
         WHERE value IS NOT NULL)                                   AS metrics
  FROM chunk
  JOIN place ON place.k < chunk.count
  JOIN instance ON instance.key = chunk.instance
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
       (SELECT coalesce(sum(chunk.count), 0) FROM chunk
         WHERE chunk.instance = instance.key)                       AS iterations,
       (SELECT count(*) FROM chunk JOIN json_each(chunk.outcome) AS marked
         WHERE chunk.instance = instance.key
           AND marked.value IN ('failed', 'timed_out'))             AS failures,
       (SELECT avg(measured.value) FROM chunk
          JOIN series ON series.metric = 1 AND series.instance = chunk.instance
                     AND series.first = chunk.first
          JOIN json_each(series.vals) AS measured
         WHERE chunk.instance = instance.key
           AND coalesce(json_extract(chunk.burn_in, '$[' || measured.key || ']'), 0) = 0
           AND json_extract(chunk.outcome, '$."' || measured.key || '"') IS NULL)
                                                                    AS mean_wall_time,
       instance.params                                              AS params,
       instance.tags                                                AS tags,
       instance.job                                                 AS job,
       instance.environment                                         AS environment
  FROM instance
  JOIN benchmark ON benchmark.key = instance.benchmark
  JOIN run ON run.key = instance.run
  JOIN session ON session.key = run.session;
