use super::*;
use crate::shared::testing::{brief, imported, read_text, refusal, shown};

#[test]
fn a_task_stream_has_tasks_and_transfers() {
    insta::assert_snapshot!(shown(&imported("dask-2026.8/task_stream.json")), @r##"
    dask because it is a list of objects with `startstops`
    {"v":1,"kind":"session","id":"#0","suite":"dask","started":"2026-11-23T20:55:37.948172569Z","tool":"distributed","name":"task_stream","attributes":{"source":{"file":"task_stream.json","format":"dask","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"trace.compute":{"unit":"s","better":"lower"},"trace.compute.combine":{"unit":"s","better":"lower"},"trace.compute.fail_once":{"unit":"s","better":"lower"},"trace.compute.load":{"unit":"s","better":"lower"},"trace.compute.total":{"unit":"s","better":"lower"},"trace.makespan":{"unit":"s","better":"lower"},"trace.parallelism":{"unit":"1","better":"higher"},"trace.utilisation":{"unit":"1","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"task stream"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":0,"category":"task","name":"load-1","lane":"127.0.0.1:39101","clock":"wall","events":{"computed":1795467337948210955,"started":1795467337948172569},"attributes":{"bytes":20001,"class":"load","type":"bytes"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":1,"category":"task","name":"load-3","lane":"127.0.0.1:39101","clock":"wall","events":{"computed":1795467337949024200,"started":1795467337948992729},"attributes":{"bytes":20003,"class":"load","type":"bytes"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":2,"category":"transfer","name":"inputs of ('combine', 0)","lane":"127.0.0.1:39101","clock":"wall","events":{"completed":1795467337955661535,"started":1795467337952920437},"attributes":{"mode":"remote","source":"127.0.0.1:43817","task":"('combine', 0)"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":3,"category":"task","name":"('combine', 0)","lane":"127.0.0.1:39101","clock":"wall","events":{"computed":1795467337956212759,"started":1795467337956185102},"attributes":{"bytes":200,"class":"combine","type":"bytes"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":4,"category":"task","name":"load-0","lane":"127.0.0.1:43817","clock":"wall","events":{"computed":1795467337956560612,"started":1795467337956516266},"attributes":{"bytes":20000,"class":"load","type":"bytes"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":5,"category":"task","name":"load-2","lane":"127.0.0.1:43817","clock":"wall","events":{"computed":1795467337957406998,"started":1795467337957370758},"attributes":{"bytes":20002,"class":"load","type":"bytes"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":6,"category":"transfer","name":"inputs of ('combine', 2)","lane":"127.0.0.1:43817","clock":"wall","events":{"completed":1795467337964274168,"started":1795467337962009907},"attributes":{"mode":"remote","source":"127.0.0.1:39101","task":"('combine', 2)"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":7,"category":"task","name":"('combine', 2)","lane":"127.0.0.1:43817","clock":"wall","events":{"computed":1795467337964786053,"started":1795467337964754820},"attributes":{"bytes":200,"class":"combine","type":"bytes"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":8,"category":"transfer","name":"inputs of total","lane":"127.0.0.1:39101","clock":"wall","events":{"completed":1795467337966297150,"started":1795467337965175867},"attributes":{"mode":"remote","source":"127.0.0.1:43817","task":"total"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":9,"category":"task","name":"total","lane":"127.0.0.1:39101","clock":"wall","events":{"computed":1795467337966727972,"started":1795467337966702700},"attributes":{"bytes":400,"class":"total","type":"bytes"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":10,"category":"task","name":"fail_once-1","lane":"127.0.0.1:43817","clock":"wall","events":{"computed":1795467337985285759,"started":1795467337984476805},"attributes":{"class":"fail_once","error":"ValueError('too short')","status":"error"}}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"trace.compute":0.001043559,"trace.compute.combine":0.000029445,"trace.compute.fail_once":0.000808954,"trace.compute.load":0.00003761075,"trace.compute.total":0.000025272,"trace.makespan":0.03711319,"trace.parallelism":0.02811827816471718,"trace.utilisation":0.01405913908235859}}
    left, as spans have no place for it: metadata, stimulus_id, type, cause, exception, traceback, traceback_text
    "##);
}

#[test]
fn a_report_has_the_same_tasks() {
    insta::assert_snapshot!(shown(&imported("dask-2026.8/performance_report.html")), @r##"
    dask because its title is `Dask Performance Report`
    {"v":1,"kind":"session","id":"#0","suite":"dask","started":"2026-11-23T20:55:37.94817245Z","tool":"distributed 2026.8.0","name":"performance_report","attributes":{"source":{"file":"performance_report.html","format":"dask","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"trace.compute":{"unit":"s","better":"lower"},"trace.compute.combine":{"unit":"s","better":"lower"},"trace.compute.fail_once":{"unit":"s","better":"lower"},"trace.compute.load":{"unit":"s","better":"lower"},"trace.compute.total":{"unit":"s","better":"lower"},"trace.makespan":{"unit":"s","better":"lower"},"trace.parallelism":{"unit":"1","better":"higher"},"trace.utilisation":{"unit":"1","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"task stream"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":0,"category":"task","name":"load-1","lane":"127.0.0.1:39101","clock":"wall","events":{"computed":1795467337948210836,"started":1795467337948172450},"attributes":{"class":"load"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":1,"category":"task","name":"load-3","lane":"127.0.0.1:39101","clock":"wall","events":{"computed":1795467337949024201,"started":1795467337948992729},"attributes":{"class":"load"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":2,"category":"transfer","name":"inputs of ('combine', 0)","lane":"127.0.0.1:39101","clock":"wall","events":{"completed":1795467337955661416,"started":1795467337952920318},"attributes":{"mode":"remote","task":"('combine', 0)"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":3,"category":"task","name":"('combine', 0)","lane":"127.0.0.1:39101","clock":"wall","events":{"computed":1795467337956212759,"started":1795467337956185103},"attributes":{"class":"combine"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":4,"category":"task","name":"load-0","lane":"127.0.0.1:43817","clock":"wall","events":{"computed":1795467337956560612,"started":1795467337956516266},"attributes":{"class":"load"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":5,"category":"task","name":"load-2","lane":"127.0.0.1:43817","clock":"wall","events":{"computed":1795467337957406998,"started":1795467337957370758},"attributes":{"class":"load"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":6,"category":"transfer","name":"inputs of ('combine', 2)","lane":"127.0.0.1:43817","clock":"wall","events":{"completed":1795467337964274049,"started":1795467337962009787},"attributes":{"mode":"remote","task":"('combine', 2)"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":7,"category":"task","name":"('combine', 2)","lane":"127.0.0.1:43817","clock":"wall","events":{"computed":1795467337964785933,"started":1795467337964754701},"attributes":{"class":"combine"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":8,"category":"transfer","name":"inputs of total","lane":"127.0.0.1:39101","clock":"wall","events":{"completed":1795467337966297030,"started":1795467337965175748},"attributes":{"mode":"remote","task":"total"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":9,"category":"task","name":"total","lane":"127.0.0.1:39101","clock":"wall","events":{"computed":1795467337966727972,"started":1795467337966702700},"attributes":{"class":"total"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":10,"category":"task","name":"fail_once-1","lane":"127.0.0.1:43817","clock":"wall","events":{"computed":1795467337985285878,"started":1795467337984476924},"attributes":{"class":"fail_once","status":"error"}}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"trace.compute":0.001043558,"trace.compute.combine":0.000029444,"trace.compute.fail_once":0.000808954,"trace.compute.load":0.000037611,"trace.compute.total":0.000025272,"trace.makespan":0.037113428,"trace.parallelism":0.028118070904148224,"trace.utilisation":0.014059035452074112}}
    "##);
}

#[test]
fn a_worker_of_two_threads_has_two_lanes() {
    let row = |thread: u32, at: u32| {
        format!(
            r#"{{"key": ["x", {at}], "worker": "tls://h:1", "thread": {thread}, "startstops": [
            {{"action": "deserialize", "start": {at}, "stop": {at}.25}},
            {{"action": "compute", "start": {at}.5, "stop": {at}.75}}]}}"#
        )
    };
    let text = format!("[{}, {}, {}]", row(8, 1), row(7, 2), row(8, 3));
    insta::assert_snapshot!(shown(&read_text("dask", &text)), @r##"
    dask because it was said
    {"v":1,"kind":"session","id":"#0","suite":"dask","started":"1970-01-01T00:00:01Z","tool":"distributed","name":"made-up","attributes":{"source":{"file":"made-up","format":"dask","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"trace.compute":{"unit":"s","better":"lower"},"trace.compute.x":{"unit":"s","better":"lower"},"trace.load":{"unit":"s","better":"lower"},"trace.makespan":{"unit":"s","better":"lower"},"trace.parallelism":{"unit":"1","better":"higher"},"trace.utilisation":{"unit":"1","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"task stream"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":0,"category":"task","name":"('x', 1)","lane":"h:1/0","clock":"wall","events":{"computed":1750000000,"loaded":1500000000,"started":1000000000},"attributes":{"class":"x"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":1,"category":"span","name":"deserialize","lane":"h:1/0","clock":"wall","events":{"begin":1000000000,"end":1250000000},"attributes":{"task":"('x', 1)"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":2,"category":"task","name":"('x', 2)","lane":"h:1/1","clock":"wall","events":{"computed":2750000000,"loaded":2500000000,"started":2000000000},"attributes":{"class":"x"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":3,"category":"span","name":"deserialize","lane":"h:1/1","clock":"wall","events":{"begin":2000000000,"end":2250000000},"attributes":{"task":"('x', 2)"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":4,"category":"task","name":"('x', 3)","lane":"h:1/0","clock":"wall","events":{"computed":3750000000,"loaded":3500000000,"started":3000000000},"attributes":{"class":"x"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":5,"category":"span","name":"deserialize","lane":"h:1/0","clock":"wall","events":{"begin":3000000000,"end":3250000000},"attributes":{"task":"('x', 3)"}}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"trace.compute":0.75,"trace.compute.x":0.25,"trace.load":1.5,"trace.makespan":2.75,"trace.parallelism":0.2727272727272727,"trace.utilisation":0.4090909090909091}}
    "##);
}

#[test]
fn classes_are_those_of_dask() {
    // dask.utils.key_split of dask 2026.8.0 on the same keys.
    let expected = [
        ("x-1", "x"),
        ("('x-2', 1)", "x"),
        ("hello-world-1", "hello-world"),
        ("('hello-world-1', 1)", "hello-world"),
        ("ae05086432ca935f6eba409a8ecd4896", "data"),
        ("x-abcdefab", "x"),
        (
            "read_parquet-fused-frame-0f1e2d3c4b5a69788796a5b4c3d2e1f0",
            "read_parquet-fused-frame",
        ),
        ("total", "total"),
    ];
    for (key, class) in expected {
        assert_eq!(class_of(key), class, "{key}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("dask-2026.8/truncated.json"), @"truncated.json:1: the JSON is cut off (byte 2500)");
    insta::assert_snapshot!(refusal("dask-2026.8/wrong.json"), @r##"wrong.json:1: `startstops[0].start`: invalid type: string "soon", expected a number"##);
    insta::assert_snapshot!(refusal("dask-2026.8/truncated.html"), @"truncated.html:1: the page is cut off");
}

#[test]
fn a_task_that_was_not_run_is_left_out_by_name() {
    let text = r#"[
        {"key": "inc-1", "worker": "tcp://w1", "thread": 1, "status": "OK",
         "startstops": [["deserialize", 0.5, 1.0], {"action": "compute", "start": 1.0, "stop": 2.0}]},
        {"key": "inc-2", "worker": "tcp://w1", "thread": 1, "status": "error"}]"#;
    insta::assert_snapshot!(brief(&read_text("dask", text)), @r#"
    task stream 
      inc-1 [] {"computed": 2000000000, "loaded": 1000000000, "started": 500000000}
      deserialize [] {"begin": 500000000, "end": 1000000000}
      Ok {"trace.compute": 1.0, "trace.compute.inc": 1.0, "trace.load": 0.5, "trace.makespan": 1.5, "trace.parallelism": 0.6666666666666666, "trace.utilisation": 1.0}
    left, as these tasks have no `startstops`: inc-2
    "#);
}

#[test]
fn a_page_with_the_title_of_bokeh_is_one_of_dask() {
    let page = b"<!DOCTYPE html>\n<html><head><title>Bokeh Plot</title>\
        <script src=\"https://cdn.pydata.org/bokeh/release/bokeh-1.4.0.min.js\"></script></head>\
        <body><script type=\"application/json\">{\"a\": {\"worker_thread\": []}}</script></body></html>";
    assert!(looks_like(page).is_some());
    assert!(looks_like(b"<html><title>Bokeh Plot</title> bokeh-1.4.0.min.js</html>").is_none());
}
