use crate::shared::testing::{brief, imported, read_text, refusal, refusal_of, shown};
use lapwing_model::Record;

#[test]
fn spans_with_links_are_tasks() {
    insta::assert_snapshot!(shown(&imported("otlp-1.45/traces.jsonl")), @r##"
    otlp because it has `resourceSpans`
    {"v":1,"kind":"session","id":"#0","suite":"otlp","started":"2026-11-23T20:55:39.077065067Z","tool":"OpenTelemetry","name":"traces","attributes":{"source":{"file":"traces.jsonl","format":"otlp","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"trace.compute":{"unit":"s","better":"lower"},"trace.compute.concat":{"unit":"s","better":"lower"},"trace.compute.retrieve":{"unit":"s","better":"lower"},"trace.critical_path":{"unit":"s","better":"lower"},"trace.load":{"unit":"s","better":"lower"},"trace.makespan":{"unit":"s","better":"lower"},"trace.parallelism":{"unit":"1","better":"higher"},"trace.utilisation":{"unit":"1","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"pipeline"},"block":0,"position":0,"attempt":0,"environment":{"host.name":"node7","service.instance.id":"worker-1","service.name":"pipeline"}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":0,"category":"span","name":"job","lane":"node7:worker-1","clock":"wall","events":{"begin":1795467339077065067,"end":1795467339081899892},"attributes":{"members":2,"span":"60e005646d8ec1f2"}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":1,"category":"task","name":"retrieve:21e5699592de206f","lane":"node7:worker-1","inputs":[],"clock":"wall","events":{"computed":1795467339079228335,"loaded":1795467339079212642,"started":1795467339077110915},"attributes":{"member":0,"parent":"60e005646d8ec1f2","ratio":0.5,"span":"21e5699592de206f","steps":[1,2]}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":2,"category":"task","name":"retrieve:5df7eaa4ada29061","lane":"node7:worker-1","inputs":[],"clock":"wall","events":{"computed":1795467339081640054,"loaded":1795467339081632853,"started":1795467339079536124},"attributes":{"member":1,"parent":"60e005646d8ec1f2","ratio":0.5,"span":"5df7eaa4ada29061","steps":[1,2]}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":3,"category":"task","name":"concat:5f38c84fc0ab95ee","lane":"node7:worker-1","inputs":["retrieve:21e5699592de206f","retrieve:5df7eaa4ada29061"],"clock":"wall","events":{"computed":1795467339081819522,"started":1795467339081805711},"attributes":{"error":"no space left","parent":"60e005646d8ec1f2","span":"5f38c84fc0ab95ee","status":"error"}}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"trace.compute":0.000036705,"trace.compute.concat":0.000013811,"trace.compute.retrieve":0.000011447,"trace.critical_path":0.002131231,"trace.load":0.004198456,"trace.makespan":0.004708607,"trace.parallelism":0.007795299119251193,"trace.utilisation":0.8994509416479226}}
    "##);
}

#[test]
fn a_document_may_have_several_lines() {
    let text = r#"{"resourceSpans": [
        {"scopeSpans": [{"spans": [
            {"spanId": "b", "name": "open", "startTimeUnixNano": 7, "endTimeUnixNano": "0",
             "attributes": [{"key": "map", "value": {"kvlistValue": {"values": [
                {"key": "k", "value": {"boolValue": true}}]}}}],
             "links": [{"spanId": "elsewhere"}]}]}]}]}"#;
    insta::assert_snapshot!(shown(&read_text("otlp", text)), @r##"
        otlp because it was said
        {"v":1,"kind":"session","id":"#0","suite":"otlp","started":"1970-01-01T00:00:00.000000007Z","tool":"OpenTelemetry","name":"made-up","attributes":{"source":{"file":"made-up","format":"otlp","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"trace"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"span","instance":"#2","index":0,"category":"span","name":"open","lane":"unknown","clock":"wall","events":{"begin":7},"attributes":{"map":{"k":true},"span":"b"}}
        "##);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("otlp-1.45/truncated.jsonl"), @"truncated.jsonl:3: the JSON is cut off");
    insta::assert_snapshot!(refusal("otlp-1.45/wrong.jsonl"), @r##"wrong.jsonl:2: `startTimeUnixNano` is not a number of nanoseconds: "noon""##);
}

#[test]
fn other_signals_and_older_keys_are_no_harm() {
    let text = [
        r#"{"resourceMetrics": [{"resource": {}}]}"#,
        r#"{"resource_spans": [{"scope_spans": [{"spans": [
            {"span_id": "a", "name": "snake", "start_time_unix_nano": 7, "end_time_unix_nano": "9"}]}]}]}"#,
        r#"{"resourceLogs": []}"#,
        r#"{"resourceSpans": [{"instrumentationLibrarySpans": [{"spans": [
            {"spanId": "b", "name": "older", "startTimeUnixNano": 8, "endTimeUnixNano": 9}]}]}]}"#,
    ];
    insta::assert_snapshot!(brief(&read_text("otlp", &text.join("\n"))), @r#"
    trace 
      snake [] {"begin": 7, "end": 9}
      older [] {"begin": 8, "end": 9}
      Ok {"trace.compute": 3e-9, "trace.makespan": 2e-9, "trace.parallelism": 1.0, "trace.utilisation": 1.0}
    left, as these requests hold no spans: logs (1), metrics (1)
    "#);
    let other = refusal_of("otlp", r#"{"spans": []}"#);
    insta::assert_snapshot!(other, @"made-up:1: `resourceSpans` is missing");
}

#[test]
fn spans_without_links_beside_linked_ones_are_tasks() {
    let span = |id: &str, parent: &str, links: &str| {
        format!(
            r#"{{"spanId": "{id}", "parentSpanId": "{parent}", "name": "n", "links": [{links}],
                "startTimeUnixNano": 1, "endTimeUnixNano": 9}}"#
        )
    };
    let spans = [
        span("run", "", ""),
        span("a", "run", ""),
        span("b", "run", r#"{"spanId": "a"}"#),
        span("alone", "run", ""),
        span("within", "b", ""),
        span("other", "", ""),
    ];
    let text = format!(
        r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{}]}}]}}]}}"#,
        spans.join(",")
    );
    let imported = read_text("otlp", &text);
    let tasks = imported.records.iter().filter_map(|record| match record {
        Record::Span(span) if span.category == "task" => Some(span.name.as_str()),
        _other => None,
    });
    assert_eq!(tasks.collect::<Vec<_>>(), ["n:a", "n:b", "n:alone"]);
}
