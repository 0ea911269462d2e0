use crate::shared::testing::{fixture, imported, options, refusal, shown};
use crate::{BadLines, Source, import, read as read_alone};
use lapwing_model::{Record, RecordKind};
use lapwing_record::{Filter, Store};

fn store(folder: &tempfile::TempDir, name: &str) -> Store {
    Store::open(&folder.path().join(name)).expect("a store")
}

/// Imports a fixture and returns how many instances were new, and how many were there.
fn take(store: &mut Store, name: &str) -> (u64, u64) {
    let source = Source::open(&fixture(name), std::path::Path::new(".")).expect("it is there");
    let imported = import(store, &source, &options(BadLines::Refuse)).expect("good");
    let count = imported.appended.of(RecordKind::Instance);
    (count.new, count.already_there)
}

fn records(store: &Store) -> Vec<Record> {
    let mut all = Vec::new();
    let keep = |record| -> Result<(), lapwing_record::StoreError> {
        all.push(record);
        Ok(())
    };
    store.scan(&Filter::default(), keep).expect("a scan");
    all
}

#[test]
fn every_row_is_an_instance_with_all_that_it_says() {
    insta::assert_snapshot!(shown(&imported("coiled/benchmark.db")), @r##"
    coiled because it is an SQLite database with `test_run` or `tpch_run`
    {"v":1,"kind":"session","id":"#0","suite":"coiled","started":"2026-09-06T00:10:00.25Z","tool":"coiled benchmarks","name":"a1","attributes":{"source":{"file":"benchmark.db","format":"coiled","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"Python 3.12","factors":{"python":"3.12"},"version":{"name":"2026.9.0"},"metrics":{"peak_memory":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"packages":{"dask":"2026.9.0","distributed":"2026.9.0"},"platform":"linux","python":"3.12.4.final.0"},"attributes":{"coiled_runtime_version":"upstream"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"stability/test_gpu.py::test_gpu","tags":["stability"]},"block":0,"position":0,"attempt":0,"attributes":{"originalname":"test_gpu","setup_outcome":"skipped"}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"skipped"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"stability/test_io.py::test_io","tags":["stability"]},"block":0,"position":0,"attempt":0,"attributes":{"originalname":"test_io","setup_outcome":"failed"}}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"failed","message":"setting up failed"}
    {"v":1,"kind":"run","id":"#4","session":"#0","variant":"Python 3.12","factors":{"python":"3.12"},"version":{"name":"2026.9.0"},"metrics":{"average_memory":{"unit":"B","better":"lower"},"compute_time":{"unit":"s","better":"lower"},"disk_spill_time":{"unit":"s","better":"lower"},"peak_memory":{"unit":"B","better":"lower"},"scheduler_cpu_avg":{"unit":"1","better":"lower"},"scheduler_max_tick":{"unit":"s","better":"lower"},"scheduler_memory_max":{"unit":"B","better":"lower"},"serializing_time":{"unit":"s","better":"lower"},"transfer_time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"},"worker_max_tick":{"unit":"s","better":"lower"}},"environment":{"coiled_software_name":"package_sync","packages":{"dask":"2026.9.0","distributed":"2026.9.0"},"platform":"linux","python":"3.12.4.final.0"},"attributes":{"coiled_runtime_version":"upstream"}}
    {"v":1,"kind":"instance","id":"#5","run":"#4","benchmark":{"id":"benchmarks/test_sum.py::test_sum[p2p-10]","params":{"param":"p2p-10"},"tags":["benchmarks"]},"block":0,"position":0,"attempt":0,"started":"2026-09-06T00:10:00.25Z","job":{"cluster_id":501,"cluster_name":"sum-1"},"attributes":{"call_outcome":"passed","originalname":"test_sum","setup_outcome":"passed"},"artifacts":{"ci_run":"https://ci.example/runs/1","cluster_details":"https://clusters.example/501","cluster_dump":"https://files.example/dump.gz","memray_profiles":"https://files.example/memray.tar.gz","performance_report":"https://files.example/report.html","py_spy_profiles":"https://files.example/py-spy.tar.gz"}}
    {"v":1,"kind":"instance_end","instance":"#5","ended":"2026-09-06T00:10:04.5Z","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"outcome":"ok","metrics":{"average_memory":1073741824.0,"compute_time":12.5,"disk_spill_time":0.25,"peak_memory":2147483648.0,"scheduler_cpu_avg":0.75,"scheduler_max_tick":0.5,"scheduler_memory_max":536870912.0,"serializing_time":0.125,"transfer_time":3.0,"wall_time":4.25,"worker_max_tick":0.02}}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"benchmarks/test_join.py::test_join","tags":["benchmarks"]},"block":0,"position":0,"attempt":0,"started":"2026-09-06T00:11:00Z","attributes":{"call_outcome":"failed","originalname":"test_join","setup_outcome":"passed"}}
    {"v":1,"kind":"instance_end","instance":"#6","ended":"2026-09-06T00:11:01.5Z","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"outcome":"failed","message":"the test failed","metrics":{"peak_memory":1000000000.0,"wall_time":1.5}}
    {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"stability/test_mess.py::test_mess","tags":["stability"]},"block":0,"position":0,"attempt":0,"started":"2026-09-06T00:12:00Z","attributes":{"call_outcome":"passed","originalname":"test_mess","setup_outcome":"passed","teardown_outcome":"failed"}}
    {"v":1,"kind":"instance_end","instance":"#7","ended":"2026-09-06T00:12:02Z","outcome":"failed","message":"tearing down failed"}
    {"v":1,"kind":"iteration","instance":"#7","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":2000000000.0,"wall_time":2.0}}
    {"v":1,"kind":"session","id":"#8","suite":"coiled","started":"2026-09-07T10:00:00Z","tool":"coiled benchmarks","name":"b2","attributes":{"source":{"file":"benchmark.db","format":"coiled","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#9","session":"#8","variant":"baseline","factors":{"python":"3.12"},"version":{"name":"2026.9.0"},"metrics":{"peak_memory":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"packages":{"dask":"2026.9.0","distributed":"2026.9.0"},"platform":"linux","python":"3.12.4.final.0"},"attributes":{"coiled_runtime_version":"AB_baseline"}}
    {"v":1,"kind":"instance","id":"#10","run":"#9","benchmark":{"id":"benchmarks/test_join.py::test_join","tags":["benchmarks"]},"block":0,"position":0,"attempt":0,"started":"2026-09-07T10:00:00Z","attributes":{"call_outcome":"passed","originalname":"test_join","setup_outcome":"passed","teardown_outcome":"passed"}}
    {"v":1,"kind":"instance_end","instance":"#10","ended":"2026-09-07T10:00:01.25Z","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#10","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":1000000000.0,"wall_time":1.25}}
    {"v":1,"kind":"session","id":"#11","suite":"coiled","started":"2026-09-07T10:30:00Z","tool":"coiled benchmarks","name":"c3","attributes":{"source":{"file":"benchmark.db","format":"coiled","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#12","session":"#11","variant":"no_spill","factors":{"python":"3.12"},"version":{"name":"2026.9.0/2026.9.0+3.gabc1234"},"metrics":{"peak_memory":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"packages":{"dask":"2026.9.0","distributed":"2026.9.0+3.gabc1234"},"platform":"linux","python":"3.12.4.final.0"},"attributes":{"coiled_runtime_version":"AB_no_spill"}}
    {"v":1,"kind":"instance","id":"#13","run":"#12","benchmark":{"id":"benchmarks/test_join.py::test_join","tags":["benchmarks"]},"block":0,"position":0,"attempt":0,"started":"2026-09-07T10:30:00Z","attributes":{"call_outcome":"passed","originalname":"test_join","setup_outcome":"passed","teardown_outcome":"passed"}}
    {"v":1,"kind":"instance_end","instance":"#13","ended":"2026-09-07T10:30:01Z","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#13","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":1000000000.0,"wall_time":1.0}}
    {"v":1,"kind":"session","id":"#14","suite":"coiled","started":"2026-09-08T10:00:00Z","tool":"coiled benchmarks","name":"d4","attributes":{"source":{"file":"benchmark.db","format":"coiled","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#15","session":"#14","variant":"Python 3.11","factors":{"python":"3.11"},"version":{"name":"2026.9.0"},"metrics":{"peak_memory":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"packages":{"dask":"2026.9.0","distributed":"2026.9.0"},"platform":"linux","python":"3.11.9.final.0"},"attributes":{"coiled_runtime_version":"upstream"}}
    {"v":1,"kind":"instance","id":"#16","run":"#15","benchmark":{"id":"benchmarks/test_join.py::test_join","tags":["benchmarks"]},"block":0,"position":0,"attempt":0,"started":"2026-09-08T10:00:00Z","attributes":{"call_outcome":"passed","originalname":"test_join","setup_outcome":"passed"}}
    {"v":1,"kind":"instance_end","instance":"#16","ended":"2026-09-08T10:00:01.75Z","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#16","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":1000000000.0,"wall_time":1.75}}
    {"v":1,"kind":"run","id":"#17","session":"#14","variant":"Python 3.12, win32","factors":{"python":"3.12"},"version":{"name":"2026.9.0"},"metrics":{"peak_memory":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"packages":{"dask":"2026.9.0","distributed":"2026.9.0"},"platform":"win32","python":"3.12.4.final.0"},"attributes":{"coiled_runtime_version":"upstream"}}
    {"v":1,"kind":"instance","id":"#18","run":"#17","benchmark":{"id":"benchmarks/test_join.py::test_join","tags":["benchmarks"]},"block":0,"position":0,"attempt":0,"started":"2026-09-08T11:00:00Z","attributes":{"call_outcome":"passed","originalname":"test_join","setup_outcome":"passed"}}
    {"v":1,"kind":"instance_end","instance":"#18","ended":"2026-09-08T11:00:02.75Z","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#18","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":1000000000.0,"wall_time":2.75}}
    {"v":1,"kind":"session","id":"#19","suite":"coiled","started":"2026-09-09T01:00:00Z","tool":"coiled benchmarks","name":"e5","attributes":{"source":{"file":"benchmark.db","format":"coiled","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#20","session":"#19","variant":"Python 3.12","factors":{"python":"3.12"},"version":{"name":"2026.9.0"},"metrics":{"peak_memory":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"packages":{"dask":"2026.9.0","distributed":"2026.9.0","duckdb":"1.4.0","polars":"1.33.0","pyspark":"4.0.0"},"platform":"linux","python":"3.12.4.final.0"},"attributes":{"coiled_runtime_version":"upstream"}}
    {"v":1,"kind":"instance","id":"#21","run":"#20","benchmark":{"id":"tpch/test_dask.py::test_query_1[scale=100]","params":{"compression":"lz4","local":false,"partition_size":"128 MiB","query":1,"scale":100},"tags":["tpch"]},"block":0,"position":0,"attempt":0,"started":"2026-09-09T01:00:00Z","environment":{"cluster_disk_size":128,"n_workers":16,"worker_vm_type":"m6i.large"},"attributes":{"call_outcome":"passed","originalname":"test_query_1","setup_outcome":"passed","tpch_run":{"duration":29.9998,"end":"2026-09-09 01:00:29.999900","start":"2026-09-09 01:00:00.000100"}}}
    {"v":1,"kind":"instance_end","instance":"#21","ended":"2026-09-09T01:00:30Z","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#21","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":4000000000.0,"wall_time":30.0}}
    {"v":1,"kind":"run","id":"#22","session":"#19","variant":"Python 3.12","factors":{"python":"3.12"},"version":{"name":"2026.9.0"},"metrics":{"peak_memory":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"packages":{"dask":"2026.9.0","distributed":"2026.9.0","duckdb":"1.4.0","polars":"1.33.0","pyspark":"4.0.0"},"platform":"linux","python":"3.12.4.final.0"}}
    {"v":1,"kind":"instance","id":"#23","run":"#22","benchmark":{"id":"tpch/test_duckdb.py::test_query_1[scale=100-local]","params":{"local":true,"query":1,"scale":100},"tags":["tpch"]},"block":0,"position":0,"attempt":0,"started":"2026-09-09T01:10:00Z","attributes":{"call_outcome":"passed","originalname":"test_query_1","setup_outcome":"passed"}}
    {"v":1,"kind":"instance_end","instance":"#23","ended":"2026-09-09T01:10:07.5Z","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#23","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3000000000.0,"wall_time":7.5}}
    left, as another row is alike in everything but its id: row 12
    left, as merging gives rows new ones: id
    "##);
}

#[test]
fn columns_that_were_added_later_may_be_missing() {
    insta::assert_snapshot!(shown(&imported("coiled/old.db")), @r##"
    coiled because it is an SQLite database with `test_run` or `tpch_run`
    {"v":1,"kind":"session","id":"#0","suite":"coiled","started":"2026-08-07T10:00:00Z","tool":"coiled benchmarks","name":"a0","attributes":{"source":{"file":"old.db","format":"coiled","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"Python 3.12","factors":{"python":"3.12"},"version":{"name":"2026.8.0"},"metrics":{"peak_memory":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"packages":{"dask":"2026.8.0","distributed":"2026.8.0"},"platform":"linux","python":"3.12.4.final.0"},"attributes":{"coiled_runtime_version":"upstream"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"benchmarks/test_join.py::test_join","tags":["benchmarks"]},"block":0,"position":0,"attempt":0,"started":"2026-08-07T10:00:00Z","attributes":{"call_outcome":"passed","originalname":"test_join","setup_outcome":"passed"}}
    {"v":1,"kind":"instance_end","instance":"#2","ended":"2026-08-07T10:00:01.25Z","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":1000000000.0,"wall_time":1.25}}
    {"v":1,"kind":"session","id":"#3","suite":"coiled","started":"2026-09-07T10:00:00Z","tool":"coiled benchmarks","name":"b2","attributes":{"source":{"file":"old.db","format":"coiled","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#4","session":"#3","variant":"baseline","factors":{"python":"3.12"},"version":{"name":"2026.9.0"},"metrics":{"peak_memory":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"packages":{"dask":"2026.9.0","distributed":"2026.9.0"},"platform":"linux","python":"3.12.4.final.0"},"attributes":{"coiled_runtime_version":"AB_baseline"}}
    {"v":1,"kind":"instance","id":"#5","run":"#4","benchmark":{"id":"benchmarks/test_join.py::test_join","tags":["benchmarks"]},"block":0,"position":0,"attempt":0,"started":"2026-09-07T10:00:00Z","attributes":{"call_outcome":"passed","originalname":"test_join","setup_outcome":"passed","teardown_outcome":"passed"}}
    {"v":1,"kind":"instance_end","instance":"#5","ended":"2026-09-07T10:00:01.25Z","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":1000000000.0,"wall_time":1.25}}
    left, as merging gives rows new ones: id
    "##);
}

#[test]
fn what_is_wrong_is_said_with_the_row() {
    insta::assert_snapshot!(refusal("coiled/truncated.db"), @"truncated.db cannot be read as a database: it is cut off: 6000 of 8192 bytes");
    insta::assert_snapshot!(refusal("coiled/wrong.db"), @r#"wrong.db:11: `duration` is "4,25", expected a number"#);
    insta::assert_snapshot!(refusal("coiled/other.db"), @"other.db is an SQLite database of another program, not UTF-8 text");
    let bytes = std::fs::read(fixture("coiled/wrong.db")).expect("a fixture");
    let source = Source::from_bytes("wrong.db", bytes).expect("bytes");
    let lenient = read_alone(&source, &options(BadLines::Skip)).expect("good rows");
    let bad: Vec<String> = lenient
        .bad_lines
        .iter()
        .map(|bad| bad.in_source("wrong.db"))
        .collect();
    insta::assert_snapshot!(bad.join("\n"), @r#"
    wrong.db:11: `duration` is "4,25", expected a number
    wrong.db:13: `call_outcome` is "exploded", expected passed, failed or skipped
    wrong.db:16: `start` is "yesterday", expected a time
    "#);
}

#[test]
fn names_and_texts_that_are_no_utf_8_are_errors() {
    let refused = |text: &[u8]| {
        let mut bytes = std::fs::read(fixture("coiled/benchmark.db")).expect("a fixture");
        let at = memchr::memmem::find(&bytes, text).expect("it is there");
        bytes[at] = 0xFF;
        let source = Source::from_bytes("b.db", bytes).expect("bytes");
        let read = read_alone(&source, &options(BadLines::Refuse));
        read.expect_err("no UTF-8").to_string()
    };
    insta::assert_snapshot!(refused(b"scheduler_cpu_avg"), @"b.db cannot be read as a database: the name of a column is no UTF-8 text");
    insta::assert_snapshot!(refused(b"package_sync"), @"b.db:11: `coiled_software_name` is 12 bytes, expected text or a number");
}

#[test]
fn a_row_that_stands_in_two_databases_is_one_instance() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut one = store(&folder, "one.db");
    assert_eq!(take(&mut one, "coiled/benchmark.db"), (11, 0));
    assert_eq!(take(&mut one, "coiled/benchmark.db"), (0, 11));
    assert_eq!(take(&mut one, "coiled/old.db"), (1, 1));

    // The other way round, the same instances are there.
    let mut other = store(&folder, "other.db");
    assert_eq!(take(&mut other, "coiled/old.db"), (2, 0));
    assert_eq!(take(&mut other, "coiled/benchmark.db"), (10, 1));
    let ids = |store: &Store| {
        let mut ids: Vec<String> = records(store)
            .iter()
            .filter_map(|record| match record {
                Record::Instance(it) => Some(it.id.to_string()),
                _other => None,
            })
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&one), ids(&other));
}

#[test]
fn stores_of_databases_that_overlap_are_merged() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut new, mut old) = (store(&folder, "new.db"), store(&folder, "old.db"));
    take(&mut new, "coiled/benchmark.db");
    // Rows of which a database has a part only, under other ids.
    let part = folder.path().join("part.db");
    std::fs::copy(fixture("coiled/benchmark.db"), &part).expect("a copy");
    let connection = rusqlite::Connection::open(&part).expect("a database");
    connection
        .execute_batch(
            "DELETE FROM test_run WHERE id IN (11, 12, 13); UPDATE test_run SET id = id + 1000;",
        )
        .expect("SQL");
    drop(connection);
    let source = Source::open(&part, folder.path()).expect("it is there");
    import(&mut old, &source, &options(BadLines::Refuse)).expect("good");
    let before = new.upkeep().info().expect("numbers").counts;
    let appended = new
        .write(|writer| writer.merge(&old))
        .expect("the same sessions");
    assert_eq!(appended.total().new, 0);
    assert_eq!(new.upkeep().info().expect("numbers").counts, before);
    assert_eq!(
        old.write(|writer| writer.merge(&new))
            .expect("the same")
            .of(RecordKind::Instance)
            .new,
        2
    );
    assert_eq!(old.upkeep().info().expect("numbers").counts, before);
}

#[test]
fn a_compressed_database_is_read_and_a_log_beside_it_is_not_overlooked() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = std::fs::read(fixture("coiled/old.db")).expect("a fixture");
    let path = folder.path().join("b.db");
    std::fs::write(&path, &bytes).expect("a file");
    std::fs::write(folder.path().join("b.db-wal"), b"x").expect("a file");
    let source = Source::open(&path, folder.path()).expect("it is there");
    let refused = read_alone(&source, &options(BadLines::Refuse)).expect_err("a log");
    let text = refused
        .to_string()
        .replace(&folder.path().display().to_string(), "");
    insta::assert_snapshot!(text, @"/b.db cannot be read as a database: /b.db-wal holds changes that are not in it yet, because a program has it open or was killed");

    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &bytes).expect("memory");
    let packed = Source::from_bytes("old.db", packed.finish().expect("memory")).expect("bytes");
    let plain = Source::from_bytes("old.db", bytes).expect("bytes");
    let [packed, plain] = [packed, plain]
        .map(|source| read_alone(&source, &options(BadLines::Refuse)).expect("good"));
    assert_eq!(packed.records, plain.records);
}

#[test]
fn rows_that_differ_in_anything_measured_are_two() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("b.db");
    std::fs::copy(fixture("coiled/old.db"), &path).expect("a copy");
    let connection = rusqlite::Connection::open(&path).expect("a database");
    connection
        .execute_batch(
            "INSERT INTO test_run SELECT 9, session_id, 'test_other', originalname, path, \
             setup_outcome, call_outcome, teardown_outcome, coiled_runtime_version, dask_version, \
             distributed_version, python_version, platform, start, \"end\", duration, peak_memory \
             FROM test_run WHERE id = 3",
        )
        .expect("SQL");
    drop(connection);
    let source = Source::open(&path, folder.path()).expect("it is there");
    let imported = read_alone(&source, &options(BadLines::Refuse)).expect("good");
    assert_eq!(imported.appended.of(RecordKind::Instance).new, 3);
}

/// A database with a row for each session, name, minute of its start, and duration.
fn database(folder: &tempfile::TempDir, name: &str, rows: &[(&str, &str, u8, f64)]) -> Source {
    let path = folder.path().join(name);
    let connection = rusqlite::Connection::open(&path).expect("a database");
    connection
        .execute_batch(
            "CREATE TABLE test_run (id INTEGER PRIMARY KEY, session_id TEXT, name TEXT, \
             call_outcome TEXT, start TEXT, \"end\" TEXT, duration FLOAT, peak_memory FLOAT)",
        )
        .expect("SQL");
    for (session, test, minute, duration) in rows {
        let time = format!("2025-01-01 00:{minute:02}:00");
        connection
            .execute(
                "INSERT INTO test_run (session_id, name, call_outcome, start, \"end\", duration, \
                 peak_memory) VALUES (?1, ?2, 'passed', ?3, ?3, ?4, 5.0)",
                rusqlite::params![session, test, time, duration],
            )
            .expect("SQL");
    }
    drop(connection);
    Source::open(&path, folder.path()).expect("it is there")
}

/// Imports databases into a new store, and returns the benchmarks of its instances.
fn names(folder: &tempfile::TempDir, store_name: &str, sources: &[&Source]) -> Vec<String> {
    let mut store = store(folder, store_name);
    for source in sources {
        import(&mut store, source, &options(BadLines::Refuse)).expect("good");
    }
    let mut names: Vec<String> = records(&store)
        .into_iter()
        .filter_map(|record| match record {
            Record::Instance(it) => Some(it.benchmark.id),
            _other => None,
        })
        .collect();
    names.sort();
    names
}

#[test]
fn infinite_values_are_left_out_with_a_note() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = [("s", "a", 1, f64::INFINITY), ("s", "b", 2, 1.0)];
    let source = database(&folder, "a.db", &rows);
    let imported = read_alone(&source, &options(BadLines::Refuse)).expect("good");
    let notes: Vec<(Vec<String>, &str)> = imported
        .notes
        .into_iter()
        .map(|note| (note.what, note.why))
        .collect();
    let expected = (vec!["1 value of duration".to_owned()], "they are infinite");
    assert!(notes.contains(&expected), "{notes:?}");
    let values: Vec<usize> = imported
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Iteration(it) => Some(it.metrics.len()),
            _other => None,
        })
        .collect();
    assert_eq!(values, [1, 2]);
}

#[test]
fn a_session_begins_with_its_first_start_whichever_database_came_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let early = database(
        &folder,
        "early.db",
        &[("s", "a", 1, 1.0), ("s", "b", 2, 1.0)],
    );
    let late = database(
        &folder,
        "late.db",
        &[("s", "b", 2, 1.0), ("s", "c", 3, 1.0)],
    );
    let started = |store: &Store| {
        let session = store
            .catalogue()
            .latest_session()
            .expect("readable")
            .expect("one");
        session.started.to_string()
    };
    let mut stores = Vec::new();
    for (name, order) in [("1.db", [&early, &late]), ("2.db", [&late, &early])] {
        let mut store = store(&folder, name);
        for source in order {
            import(&mut store, source, &options(BadLines::Refuse)).expect("good");
        }
        assert_eq!(started(&store), "2025-01-01T00:01:00Z", "{name}");
        stores.push(store);
    }
    let mut only_late = store(&folder, "3.db");
    import(&mut only_late, &late, &options(BadLines::Refuse)).expect("good");
    assert_eq!(started(&only_late), "2025-01-01T00:02:00Z");
    only_late
        .write(|writer| writer.merge(&stores[0]))
        .expect("the same session");
    assert_eq!(started(&only_late), "2025-01-01T00:01:00Z");
}

#[test]
fn tests_of_the_same_time_are_told_apart_by_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = [("s", "a", 1, 1.0), ("s", "b", 1, 1.0)];
    let both = database(&folder, "both.db", &rows);
    let other_order = database(&folder, "other.db", &[rows[1], rows[0]]);
    assert_eq!(names(&folder, "1.st", &[&both, &other_order]), ["a", "b"]);
}

#[test]
fn a_row_that_got_another_name_keeps_its_first_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let before = database(&folder, "before.db", &[("s", "a", 1, 1.0)]);
    let after = database(&folder, "after.db", &[("s", "a[default]", 1, 1.0)]);
    assert_eq!(names(&folder, "1.st", &[&before, &after]), ["a"]);
}
