use crate::shared::testing::{brief, imported, lanes, read_text, refusal, refusal_of, shown};

#[test]
fn complete_events_are_spans() {
    insta::assert_snapshot!(shown(&imported("chrome-trace/viztracer.json")), @r##"
    chrome-trace because it has `traceEvents`
    {"v":1,"kind":"session","id":"#0","suite":"chrome-trace","started":"2026-01-01T00:00:00Z","tool":"Chrome trace events","name":"viztracer","attributes":{"source":{"file":"viztracer.json","format":"chrome-trace","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"trace.compute":{"unit":"s","better":"lower"},"trace.compute.<module>":{"unit":"s","better":"lower"},"trace.compute.job":{"unit":"s","better":"lower"},"trace.compute.parse":{"unit":"s","better":"lower"},"trace.compute.parse.<locals>.<listcomp>":{"unit":"s","better":"lower"},"trace.compute.reduce":{"unit":"s","better":"lower"},"trace.makespan":{"unit":"s","better":"lower"},"trace.parallelism":{"unit":"1","better":"higher"},"trace.utilisation":{"unit":"1","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"trace"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":0,"category":"span","name":"<module> (work.py:1)","lane":"MainProcess:MainThread","clock":"trace","events":{"begin":78715031220909,"end":78715033556504},"attributes":{"category":"fee"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":1,"category":"span","name":"job (work.py:16)","lane":"MainProcess:MainThread","clock":"trace","events":{"begin":78715031462189,"end":78715033539259},"attributes":{"category":"fee"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":2,"category":"span","name":"parse (work.py:7)","lane":"MainProcess:MainThread","clock":"trace","events":{"begin":78715031462420,"end":78715031465634},"attributes":{"category":"fee"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":3,"category":"span","name":"parse.<locals>.<listcomp> (work.py:8)","lane":"MainProcess:MainThread","clock":"trace","events":{"begin":78715031463431,"end":78715031465363},"attributes":{"category":"fee"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":4,"category":"span","name":"reduce (work.py:11)","lane":"MainProcess:MainThread","clock":"trace","events":{"begin":78715031465795,"end":78715033539049},"attributes":{"category":"fee"}}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"trace.compute":0.002335595,"trace.compute.<module>":0.000258525,"trace.compute.job":6.02e-7,"trace.compute.parse":1.282e-6,"trace.compute.parse.<locals>.<listcomp>":1.932e-6,"trace.compute.reduce":0.002073254,"trace.makespan":0.002335595,"trace.parallelism":1.0,"trace.utilisation":1.0}}
    left, as they are no events: viztracer_metadata, file_info
    "##);
}

#[test]
fn a_beginning_and_its_end_are_a_span() {
    let all = shown(&imported("chrome-trace/py-spy.json"));
    let some: Vec<&str> = all.lines().take(9).collect();
    insta::assert_snapshot!(some.join("\n"), @r##"
    chrome-trace because it is a list of objects with `ph`, `pid` and `ts`
    {"v":1,"kind":"session","id":"#0","suite":"chrome-trace","started":"2026-01-01T00:00:00Z","tool":"Chrome trace events","name":"py-spy","attributes":{"source":{"file":"py-spy.json","format":"chrome-trace","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"trace.compute":{"unit":"s","better":"lower"},"trace.makespan":{"unit":"s","better":"lower"},"trace.parallelism":{"unit":"1","better":"higher"},"trace.utilisation":{"unit":"1","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"trace"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":0,"category":"span","name":"Thread._bootstrap","lane":"25306:139702942721728","clock":"trace","events":{"begin":31095000,"end":364102000},"attributes":{"category":"py-spy","filename":"/usr/lib/python3.11/threading.py","line":1002}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":1,"category":"span","name":"Thread._bootstrap_inner","lane":"25306:139702942721728","clock":"trace","events":{"begin":31095000,"end":364102000},"attributes":{"category":"py-spy","filename":"/usr/lib/python3.11/threading.py","line":1045}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":2,"category":"span","name":"Thread.run","lane":"25306:139702942721728","clock":"trace","events":{"begin":31095000,"end":364102000},"attributes":{"category":"py-spy","filename":"/usr/lib/python3.11/threading.py","line":982}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":3,"category":"span","name":"job","lane":"25306:139702942721728","clock":"trace","events":{"begin":31095000,"end":364102000},"attributes":{"category":"py-spy","filename":"spin.py","line":12}}
    "##);
}

#[test]
fn a_list_may_lack_its_end() {
    let whole = imported("chrome-trace/py-spy.json").records.len();
    let open = imported("chrome-trace/open.json");
    // The last event ended a span, which now has no end.
    assert_eq!(open.records.len(), whole);
    let notes: Vec<_> = open
        .notes
        .iter()
        .map(|note| (&note.what[..], note.why))
        .collect();
    assert_eq!(
        notes,
        [(&["the end".to_owned()][..], "the file has no `]`")]
    );
}

#[test]
fn what_changes_threads_is_matched_by_its_id() {
    let text = r#"{"traceEvents": [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "p"}},
        {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "p"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 4, "args": {"name": "t"}},
        {"ph": "b", "name": "n", "cat": "c", "id": "0x1", "pid": 1, "tid": 4, "ts": 1.5, "args": {"a": 1}},
        {"ph": "b", "name": "m", "cat": "c", "id2": {"local": "0x1"}, "pid": 2, "tid": 9, "ts": "2"},
        {"ph": "e", "name": "n", "cat": "c", "id": "0x1", "pid": 1, "tid": 5, "ts": 3, "args": {"b": 2}},
        {"ph": "E", "name": "x", "pid": 1, "tid": 5, "ts": 3},
        {"ph": "C", "name": "y", "pid": 1, "tid": 5, "ts": 3},
        {"ph": "s", "name": "z", "pid": 1, "tid": 5, "ts": 3}]}"#;
    insta::assert_snapshot!(shown(&read_text("chrome-trace", text)), @r##"
    chrome-trace because it was said
    {"v":1,"kind":"session","id":"#0","suite":"chrome-trace","started":"2026-01-01T00:00:00Z","tool":"Chrome trace events","name":"made-up","attributes":{"source":{"file":"made-up","format":"chrome-trace","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"trace.compute":{"unit":"s","better":"lower"},"trace.makespan":{"unit":"s","better":"lower"},"trace.parallelism":{"unit":"1","better":"higher"},"trace.utilisation":{"unit":"1","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"trace"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":0,"category":"span","name":"n","lane":"p 1:t","clock":"trace","events":{"begin":1500,"end":3000},"attributes":{"a":1,"async":"c/\"0x1\"","b":2,"category":"c"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":1,"category":"span","name":"m","lane":"p 2:9","clock":"trace","events":{"begin":2000},"attributes":{"async":"c/2/\"0x1\"","category":"c"}}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"trace.compute":1.5e-6,"trace.makespan":1.5e-6,"trace.parallelism":1.0,"trace.utilisation":0.5}}
    left, as it ends and has not begun: x
    left, as tasks do not get inputs from them: flows
    left, as they have no duration: events of phase `C`
    "##);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("chrome-trace/wrong.json"), @r##"wrong.json:1: `ts` is not a time: "now""##);
    insta::assert_snapshot!(refusal_of("chrome-trace", r#"{"events": []}"#), @"made-up:1: `traceEvents` is missing");
    insta::assert_snapshot!(refusal_of("chrome-trace", r#"[{"ph": "X", "dur": 1}]"#), @"made-up:1: `ts` is missing");
}

#[test]
fn complete_events_of_a_killed_or_careless_program_are_kept() {
    insta::assert_snapshot!(brief(&imported("chrome-trace/truncated.json")), @r#"
    trace 
      Thread._bootstrap [] {"begin": 31095000}
      Thread._bootstrap_inner [] {"begin": 31095000}
      Thread.run [] {"begin": 31095000}
    left, as the file is cut off there: the event in line 1
    "#);
    let text = "[,{\"name\": \"a\u{1}\", \"ph\": \"X\", \"ts\": 1, \"dur\": 2},]";
    let said = brief(&read_text("chrome-trace", text)).replace('\u{1}', "^A");
    insta::assert_snapshot!(said, @r#"
    trace 
      a^A [] {"begin": 1000, "end": 3000}
      Ok {"trace.compute": 2e-6, "trace.makespan": 2e-6, "trace.parallelism": 1.0, "trace.utilisation": 1.0}
    left, as nothing stands between them and the next: 2 commas
    kept in names and texts: 1 control character
    "#);
    insta::assert_snapshot!(refusal_of("chrome-trace", "[{\"name\": x}]"), @"made-up:1: not valid JSON: expected value");
}

#[test]
fn a_profile_of_bazel_is_read_without_its_lane_of_repeated_actions() {
    let lanes = lanes(&imported("bazel-4.2/profile.gz"));
    let on = |lane: &str| lanes.iter().filter(|it| it.ends_with(lane)).count();
    assert_eq!(on(":Critical Path"), 0);
    assert_eq!(on(":grpc-command-0"), 30);
    assert_eq!(lanes.len(), 64);
}

#[test]
fn a_timeline_of_ray_has_the_parts_of_tasks_on_their_worker() {
    let lanes = lanes(&imported("ray-2.60/timeline.json"));
    let of = |name: &str| {
        let own = lanes
            .iter()
            .filter(|it| it.starts_with(&format!("{name} on ")));
        own.count()
    };
    let names = [
        "__main__.add",
        "__main__.load",
        "deserialize_arguments",
        "execute",
        "store_outputs",
    ];
    assert_eq!(names.map(of), [1, 2, 3, 3, 3]);
    assert!(
        lanes.iter().all(|it| it.contains(" on 192.0.2.2:")),
        "{lanes:?}"
    );
}
