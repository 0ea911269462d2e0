-- What change detection needs of each run: a value per benchmark and metric. All of it is derived from the other tables
-- and can be deleted: it is made again when a history is read.

-- Runs whose points are there.
CREATE TABLE history_run (
    run INTEGER PRIMARY KEY
) STRICT;

-- The points of a run, by metric; those of metric 0 are of benchmarks that were tried without any value.
CREATE TABLE history_chunk (
    run        INTEGER NOT NULL,
    metric     INTEGER NOT NULL,
    -- Arrays, place by place. The keys of the benchmarks;
    benchmarks TEXT NOT NULL,
    -- numbers of instances; NULL when all are 1;
    instances  TEXT,
    -- means of the means of the instances;
    means      TEXT NOT NULL,
    -- means and standard deviations of the logarithms of the means of the instances, null where one is not positive;
    -- NULL when all numbers of instances are 1.
    logs       TEXT,
    spreads    TEXT,
    checksum   INTEGER NOT NULL,
    UNIQUE (run, metric)
) STRICT;

-- Benchmarks of which everything has to be read, because of failures, several definitions, or results without samples;
-- and the definition of the others.
CREATE TABLE history_benchmark (
    benchmark   INTEGER PRIMARY KEY,
    fingerprint TEXT,
    params      TEXT,
    is_whole    INTEGER NOT NULL
) STRICT;

-- Different hosts and environments of the instances of a run, up to 50.
CREATE TABLE history_surroundings (
    run         INTEGER NOT NULL,
    host        TEXT,
    environment TEXT
) STRICT;

CREATE INDEX history_surroundings_of_run ON history_surroundings (run);

-- `->>` would be shorter, but needs SQLite 3.38.
CREATE VIEW history_points AS
SELECT session.suite                                       AS suite,
       coalesce(session.name, session.id)                  AS session,
       benchmark.id                                        AS benchmark,
       coalesce(run.version, substr(run."commit", 1, 10))  AS version,
       run.variant                                         AS variant,
       metric.name                                         AS metric,
       coalesce(json_extract(chunk.instances, '$[' || point.key || ']'), 1) AS instances,
       json_extract(chunk.means, '$[' || point.key || ']') AS mean,
       json_extract(chunk.logs, '$[' || point.key || ']')  AS mean_log,
       json_extract(chunk.spreads, '$[' || point.key || ']') AS spread_log
  FROM history_chunk AS chunk
  JOIN history_run ON history_run.run = chunk.run
  JOIN metric ON metric.key = chunk.metric
  JOIN run ON run.key = chunk.run
  JOIN session ON session.key = run.session
  JOIN json_each(chunk.benchmarks) AS point
  JOIN benchmark ON benchmark.key = point.value
  JOIN history_benchmark ON history_benchmark.benchmark = benchmark.key
 WHERE NOT history_benchmark.is_whole;
