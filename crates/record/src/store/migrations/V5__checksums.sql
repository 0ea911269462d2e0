-- A checksum for each chunk of iterations, values and spans: SQLite notices damage to its pages, and
-- not that a digit has become another one. `lapwing_checksum` is ours (checksum.rs). The upper
-- half of a chunk's is that of its detail, which not every reader reads.

ALTER TABLE chunk ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE series ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE span_chunk ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;

UPDATE chunk SET checksum = lapwing_checksum(instance, first, count, idx, "offset", burn_in, loops,
                                             outcome, message)
                          | (lapwing_checksum(detail) << 32);
UPDATE series SET checksum = lapwing_checksum(metric, instance, first, vals);
UPDATE span_chunk SET checksum = lapwing_checksum(instance, chunk, first, last, spans, data);

-- The view `iterations` writes the numbers in `metrics` as they are stored, with all of their digits.
DROP VIEW iterations;

-- `->>` would be shorter, but needs SQLite 3.38. With two paths, json_extract returns an array that
-- has the number as it stands in the text: `[1.5,null]`, seven characters more than the number.
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
       (SELECT json_group_object(name, json(substr(value, 2, length(value) - 7)))
          FROM (SELECT metric.name AS name,
                       json_extract(series.vals, '$[' || place.k || ']', '$.none') AS value
                  FROM benchmark_metric
                  JOIN metric ON metric.key = benchmark_metric.metric
                  JOIN series ON series.metric = benchmark_metric.metric
                             AND series.instance = chunk.instance AND series.first = chunk.first
                 WHERE benchmark_metric.benchmark = instance.benchmark)
         WHERE value <> '[null,null]')                              AS metrics
  FROM chunk
  JOIN place ON place.k < chunk.count
  JOIN instance ON instance.key = chunk.instance
  JOIN benchmark ON benchmark.key = instance.benchmark
  JOIN run ON run.key = instance.run
  JOIN session ON session.key = run.session;

-- An instance that failed as a whole is a failure too, even if it has no iteration.
DROP VIEW instances;

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
       max((SELECT count(*) FROM chunk JOIN json_each(chunk.outcome) AS marked
             WHERE chunk.instance = instance.key
               AND marked.value IN ('failed', 'timed_out')),
           coalesce(instance.outcome IN ('failed', 'timed_out'), 0)) AS failures,
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
