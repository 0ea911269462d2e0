use crate::shared::testing::{fixture, imported, options, refusal, shown};
use crate::{BadLines, Source, read};
use lapwing_model::Record;

#[test]
fn a_workflow_is_a_session_with_a_span_for_each_attempt() {
    insta::assert_snapshot!(shown(&imported("parsl-2026.10/monitoring.db")), @r##"
    parsl because it is an SQLite database with `workflow`, `task` and `status`
    {"v":1,"kind":"session","id":"#0","suite":"parsl","started":"2026-11-23T20:37:04.641647Z","tool":"parsl","name":"#1","attributes":{"source":{"file":"monitoring.db","format":"parsl","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#2","session":"#0","variant":"default","metrics":{"trace.compute":{"unit":"s","better":"lower"},"trace.compute.combine":{"unit":"s","better":"lower"},"trace.compute.flaky":{"unit":"s","better":"lower"},"trace.compute.load":{"unit":"s","better":"lower"},"trace.critical_path":{"unit":"s","better":"lower"},"trace.makespan":{"unit":"s","better":"lower"},"trace.off_cpu":{"unit":"s","better":"lower"},"trace.on_cpu":{"unit":"s","better":"lower"},"trace.parallelism":{"unit":"1","better":"higher"},"trace.utilisation":{"unit":"1","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#3","run":"#2","benchmark":{"id":"make.py"},"block":0,"position":0,"attempt":0,"host":"node7","started":"2026-11-23T20:37:04.641647Z"}
    {"v":1,"kind":"instance_end","instance":"#3","ended":"2026-11-23T20:37:14.656659Z","outcome":"ok"}
    {"v":1,"kind":"span","instance":"#3","iteration":0,"index":0,"category":"task","name":"load:0","lane":"node7:8867","inputs":[],"clock":"wall","events":{"completed":1795466232164640000,"computed":1795466232161823000,"invoked":1795466225474112000,"planned":1795466225474591000,"started":1795466230933770000},"attributes":{"cpu":70000000,"executor":"htex","peak_memory":123047936}}
    {"v":1,"kind":"span","instance":"#3","iteration":0,"index":1,"category":"task","name":"load:1","lane":"node7:8868","inputs":[],"clock":"wall","events":{"completed":1795466232206950000,"computed":1795466232204476000,"invoked":1795466225476145000,"planned":1795466225478473000,"started":1795466230976755000},"attributes":{"cpu":60000000,"executor":"htex","peak_memory":121217024}}
    {"v":1,"kind":"span","instance":"#3","iteration":0,"index":2,"category":"task","name":"load:2","lane":"node7:8867","inputs":[],"clock":"wall","events":{"completed":1795466233392973000,"computed":1795466233391379000,"invoked":1795466225476313000,"planned":1795466225480458000,"started":1795466232164205000},"attributes":{"cpu":60000000,"executor":"htex","peak_memory":123179008}}
    {"v":1,"kind":"span","instance":"#3","iteration":0,"index":3,"category":"task","name":"load:3","lane":"node7:8868","inputs":[],"clock":"wall","events":{"completed":1795466233447807000,"computed":1795466233438870000,"invoked":1795466225476735000,"planned":1795466225481884000,"started":1795466232208266000},"attributes":{"cpu":50000000,"executor":"htex","peak_memory":121339904}}
    {"v":1,"kind":"span","instance":"#3","iteration":0,"index":4,"category":"task","name":"combine:4","lane":"node7:8867","inputs":["load:0","load:1"],"clock":"wall","events":{"completed":1795466233473294000,"computed":1795466233471015000,"invoked":1795466225477974000,"planned":1795466232207542000,"started":1795466233433563000},"attributes":{"executor":"htex","peak_memory":123195392}}
    {"v":1,"kind":"span","instance":"#3","iteration":0,"index":5,"category":"task","name":"combine:5","lane":"node7:8867","inputs":["load:2","load:3"],"clock":"wall","events":{"completed":1795466233516130000,"computed":1795466233514339000,"invoked":1795466225478152000,"planned":1795466233448060000,"started":1795466233474775000},"attributes":{"executor":"htex","peak_memory":123203584}}
    {"v":1,"kind":"span","instance":"#3","iteration":0,"index":6,"category":"task","name":"flaky:6","lane":"node7:8867","inputs":[],"clock":"wall","events":{"completed":1795466233430939000,"computed":1795466233427461000,"invoked":1795466225478305000,"planned":1795466225483311000,"started":1795466233394853000},"attributes":{"error":"ValueError('first attempt')","executor":"htex","peak_memory":123170816,"status":"error"}}
    {"v":1,"kind":"span","instance":"#3","iteration":0,"index":7,"category":"task","name":"flaky:6","lane":"node7:8868","inputs":[],"clock":"wall","events":{"completed":1795466233498143000,"computed":1795466233492140000,"invoked":1795466233431210000,"planned":1795466233431577000,"started":1795466233447466000},"attributes":{"executor":"htex","peak_memory":121344000,"try":1}}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"trace.compute":5.06785,"trace.compute.combine":0.038508,"trace.compute.flaky":0.038641,"trace.compute.load":1.228388,"trace.critical_path":1.270168,"trace.makespan":8.041539,"trace.off_cpu":4.673552,"trace.on_cpu":0.24,"trace.parallelism":0.6302089687061145,"trace.utilisation":0.31510448435305727,"wall_time":10.015012}}
    "##);
}

#[test]
fn what_is_wrong_is_said_with_its_row() {
    insta::assert_snapshot!(refusal("parsl-2026.10/truncated.db"), @"truncated.db cannot be read as a database: it is cut off: 20000 of 61440 bytes");
    insta::assert_snapshot!(refusal("parsl-2026.10/wrong.db"), @r##"wrong.db:1: `time_began` is not a time: "yesterday""##);
}

#[test]
fn what_the_database_does_not_say_is_missing_and_tables_may_have_quotes() {
    let path = std::env::temp_dir().join(format!("lapwing-parsl-{}.db", std::process::id()));
    std::fs::copy(fixture("parsl-2026.10/monitoring.db"), &path).expect("a copy");
    let database = rusqlite::Connection::open(&path).expect("SQLite");
    database
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
             DELETE FROM status WHERE task_status_name = 'running_ended';
             CREATE TABLE \"copy\" AS SELECT * FROM workflow;
             DROP TABLE workflow;
             ALTER TABLE \"copy\" RENAME TO \"workflow\";",
        )
        .expect("SQL");
    drop(database);
    let bytes = std::fs::read(&path).expect("a file");
    std::fs::remove_file(&path).expect("a file");
    let source = Source::from_bytes("old.db", bytes).expect("bytes");
    let imported = read(&source, &options(BadLines::Refuse)).expect("recognised");
    let metrics: Vec<String> = imported
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Iteration(iteration) => Some(iteration.metrics.keys().cloned()),
            _other => None,
        })
        .flatten()
        .collect();
    insta::assert_snapshot!(metrics.join(", "), @"trace.makespan, wall_time");
}
