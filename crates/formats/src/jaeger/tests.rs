use crate::shared::testing::{imported, lanes, read_text, refusal};
use lapwing_model::Record;

#[test]
fn spans_of_a_trace_have_their_parents() {
    let expected = [
        "checkout on h0:shop",
        "price on h0:shop: 02 in 01",
        "reserve on h0:shop: 03 in 01",
        "reserve on h1:stock: 04 in 03",
        "pay on h0:shop: 05 in 01",
    ];
    assert_eq!(lanes(&imported("jaeger/traces.json")), expected);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("jaeger/truncated.json"), @"truncated.json:63: the JSON is cut off");
    insta::assert_snapshot!(refusal("jaeger/wrong.json"), @r#"wrong.json:36: `duration`: invalid type: string "long", expected a whole number"#);
}

#[test]
fn spans_that_follow_from_others_are_a_graph_of_tasks() {
    let span = |id: &str, name: &str, start: u32, references: &str| {
        format!(
            r#"{{"traceID": "t", "spanID": "{id}", "operationName": "{name}", "startTime": {start}, "duration": 2,
                "processID": "p", "references": [{references}]}}"#
        )
    };
    let reference = |kind: &str, id: &str| {
        format!(r#"{{"refType": "{kind}", "traceID": "t", "spanID": "{id}"}}"#)
    };
    let follows = |id: &str| reference("FOLLOWS_FROM", id);
    let spans = [
        span("1", "load", 1, ""),
        span("2", "sort", 3, &follows("1")),
        span("3", "join", 5, &[follows("1"), follows("2")].join(",")),
        span("4", "log", 6, &reference("CHILD_OF", "3")),
        span("5", "after another trace", 7, &follows("9")),
    ];
    let text = format!(
        r#"{{"data": [{{"traceID": "t", "spans": [{}], "processes": {{"p": {{"serviceName": "s"}}}}}}]}}"#,
        spans.join(",")
    );
    let imported = read_text("jaeger", &text);
    let spans = imported.records.iter().filter_map(|record| match record {
        Record::Span(span) => Some((
            span.category.as_str(),
            span.name.as_str(),
            span.inputs.clone(),
        )),
        _other => None,
    });
    let inputs = |names: &[&str]| Some(names.iter().map(ToString::to_string).collect::<Vec<_>>());
    let expected = [
        ("task", "load:1", inputs(&[])),
        ("task", "sort:2", inputs(&["load:1"])),
        ("task", "join:3", inputs(&["load:1", "sort:2"])),
        ("span", "log", None),
        ("task", "after another trace:5", inputs(&[])),
    ];
    assert_eq!(spans.collect::<Vec<_>>(), expected);
}
