use super::*;
use crate::shared::testing::{brief, imported, read_text, refusal, refusal_of, shown};

#[test]
fn tasks_have_inputs_and_a_duration() {
    let all = shown(&imported("wfcommons-1.6/srasearch.json"));
    let some: Vec<&str> = all.lines().take(7).chain(all.lines().skip(26)).collect();
    insta::assert_snapshot!(some.join("\n"), @r##"
    wfcommons because it has `schemaVersion` and `workflow`
    {"v":1,"kind":"session","id":"#0","suite":"wfcommons","started":"2026-11-23T20:58:05.235195Z","tool":"WfCommons unknown","name":"srasearch","attributes":{"source":{"file":"srasearch.json","format":"wfcommons","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"trace.compute.bowtie2":{"unit":"s","better":"lower"},"trace.compute.bowtie2-build":{"unit":"s","better":"lower"},"trace.compute.fasterq-dump":{"unit":"s","better":"lower"},"trace.compute.merge":{"unit":"s","better":"lower"},"trace.critical_path":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"Srasearch-synthetic-instance"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":0,"category":"task","name":"bowtie2-build_00000001","inputs":[],"events":{},"attributes":{"bytes":422685,"class":"bowtie2-build","cores":1.0,"duration":116031000000}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":1,"category":"task","name":"fasterq-dump_00000002","inputs":[],"events":{},"attributes":{"bytes":1051706769,"class":"fasterq-dump","cores":1.0,"duration":1529068000000}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":21,"category":"task","name":"merge_00000022","inputs":["bowtie2_00000003","bowtie2_00000005","bowtie2_00000007","bowtie2_00000009","bowtie2_00000011","bowtie2_00000013","bowtie2_00000015","bowtie2_00000017","bowtie2_00000019","bowtie2_00000021"],"events":{},"attributes":{"bytes":2955,"class":"merge","cores":1.0,"duration":30000000}}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"trace.compute.bowtie2":54.65,"trace.compute.bowtie2-build":116.031,"trace.compute.fasterq-dump":1781.0755,"trace.compute.merge":0.03,"trace.critical_path":4503.009}}
    "##);
}

#[test]
fn a_task_with_a_start_has_events() {
    let text = r#"{"schemaVersion": "1.5", "runtimeSystem": {"name": "n", "version": "2"}, "workflow": {
        "specification": {"tasks": [{"id": "a.1", "outputFiles": ["f"]}, {"id": "b", "parents": ["a.1"]}],
            "files": [{"id": "f", "sizeInBytes": 5}]},
        "execution": {"makespanInSeconds": 3, "executedAt": "05-10-23T16:23:32Z", "tasks": [
            {"id": "a.1", "runtimeInSeconds": 1.5, "avgCPU": 50, "machines": ["m"],
             "executedAt": "2023-05-10T16:23:33Z"},
            {"id": "b", "runtimeInSeconds": 1}]}}}"#;
    insta::assert_snapshot!(shown(&read_text("wfcommons", text)), @r##"
    wfcommons because it was said
    {"v":1,"kind":"session","id":"#0","suite":"wfcommons","started":"2023-05-10T16:23:32Z","tool":"n 2","name":"made-up","attributes":{"source":{"file":"made-up","format":"wfcommons","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"trace.compute":{"unit":"s","better":"lower"},"trace.compute.a":{"unit":"s","better":"lower"},"trace.compute.b":{"unit":"s","better":"lower"},"trace.critical_path":{"unit":"s","better":"lower"},"trace.makespan":{"unit":"s","better":"lower"},"trace.off_cpu":{"unit":"s","better":"lower"},"trace.on_cpu":{"unit":"s","better":"lower"},"trace.parallelism":{"unit":"1","better":"higher"},"trace.utilisation":{"unit":"1","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"made-up"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":0,"category":"task","name":"b","inputs":["a.1"],"events":{},"attributes":{"class":"b","duration":1000000000}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":1,"category":"micro","name":"makespan","events":{},"attributes":{"count":1,"max":3000000000,"sum":3000000000}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":2,"category":"task","name":"a.1","lane":"m","inputs":[],"clock":"wall","events":{"computed":1683735814500000000,"started":1683735813000000000},"attributes":{"bytes":5,"class":"a","cpu":750000000,"duration":1500000000}}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"trace.compute":2.5,"trace.compute.a":1.5,"trace.compute.b":1.0,"trace.critical_path":2.5,"trace.makespan":1.5,"trace.off_cpu":0.75,"trace.on_cpu":0.75,"trace.parallelism":1.0,"trace.utilisation":0.5,"wall_time":3.0}}
    "##);
}

#[test]
fn times_are_read_as_writers_have_them() {
    for text in [
        "2020-04-01T03:50:43Z",
        "20200401T035043+0000",
        "04-01-20T03:50:43Z",
    ] {
        let time = time_of(text).map(|time| time.to_string());
        assert_eq!(time.as_deref(), Some("2020-04-01T03:50:43Z"), "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("wfcommons-1.6/truncated.json"), @"truncated.json:55: the JSON is cut off");
    insta::assert_snapshot!(refusal("wfcommons-1.6/wrong.json"), @r##"wrong.json:543: `runtimeInSeconds`: invalid type: string "long", expected a number"##);
    insta::assert_snapshot!(refusal_of("wfcommons", r#"{"schemaVersion": "1.2", "workflow": {}}"#), @"made-up:1: WfFormat 1.2 is older than 1.3, the oldest that is read");
}

#[test]
fn before_1_5_a_task_is_one_object() {
    let text = r#"{"name": "blast", "schemaVersion": "1.4", "workflow": {
        "executedAt": "2031-02-03T10:11:12Z", "makespanInSeconds": 30, "tasks": [
            {"name": "split", "id": "ID1", "runtimeInSeconds": 10.0, "parents": [],
             "files": [{"link": "output", "name": "x", "sizeInBytes": 7}], "machine": "w1"},
            {"name": "blast", "id": "ID2", "runtimeInSeconds": 20.0, "parents": ["split"], "machine": "w1"}]}}"#;
    insta::assert_snapshot!(brief(&read_text("wfcommons", text)), @r#"
    blast 
      ID1 [] {}
      ID2 ["ID1"] {}
      makespan [] {}
      Ok {"trace.compute.blast": 20.0, "trace.compute.split": 10.0, "trace.critical_path": 30.0, "wall_time": 30.0}
    "#);
    let oldest = r#"{"name": "old", "schemaVersion": "1.3", "workflow": {"makespan": 3, "tasks": [
        {"name": "a_1", "runtime": 1, "cores": 2}, {"name": "b_2", "runtime": 2, "parents": ["a_1"]}]}}"#;
    insta::assert_snapshot!(brief(&read_text("wfcommons", oldest)), @r#"
    old 
      a_1 [] {}
      b_2 ["a_1"] {}
      makespan [] {}
      Ok {"trace.compute.a": 1.0, "trace.compute.b": 2.0, "trace.critical_path": 3.0, "wall_time": 3.0}
    "#);
}

#[test]
fn machines_have_cores_that_tasks_share() {
    let instance = |machines: &str, cores: &str| {
        let text = format!(
            r#"{{"schemaVersion": "1.5", "workflow": {{"specification": {{"tasks": [{{"id": "a"}}, {{"id": "b"}}]}},
            "execution": {{"makespanInSeconds": 3, "machines": [{machines}], "tasks": [
                {{"id": "a", "runtimeInSeconds": 2{cores}}}, {{"id": "b", "runtimeInSeconds": 2{cores}}}]}}}}}}"#
        );
        let imported = read_text("wfcommons", &text);
        let spans = imported.records.iter().filter_map(|record| match record {
            lapwing_model::Record::Span(span) => Some(span),
            _other => None,
        });
        let trace = lapwing_trace::Trace::of_spans(spans);
        assert_eq!(trace.measured_makespan(), Some(3_000_000_000));
        let slots = trace.slots.iter();
        let slots = slots.map(|(machine, slots)| format!("{}: {slots}", trace.text(*machine)));
        slots.collect::<Vec<_>>().join(", ")
    };
    let machine = r#"{"nodeName": "m", "cpu": {"coreCount": 2}}"#;
    let two = format!("{machine}, {machine}").replacen("\"m\"", "\"n\"", 1);
    // No more than there are tasks.
    for (machines, cores, expected) in [
        (machine, "", "m: 2"),
        (machine, r#", "coreCount": 1"#, "m: 2"),
        (machine, r#", "coreCount": 2"#, "m: 1"),
        (machine, r#", "avgCPU": 170"#, "m: 1"),
        (&two, r#", "coreCount": 2"#, ": 2"),
        (r#"{"nodeName": "m"}"#, "", ""),
        ("", "", ""),
    ] {
        assert_eq!(instance(machines, cores), expected, "{machines} {cores}");
    }
}
