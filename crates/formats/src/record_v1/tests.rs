use crate::shared::testing::{read_text, refusal};
use lapwing_model::Record;

const TRACE: &str = r#"{"v":1,"kind":"session","id":"019f0000-0000-7000-8000-000000000001","suite":"s","started":"2026-01-01T00:00:00Z","tool":"t"}
{"v":1,"kind":"run","id":"019f0000-0000-7000-8000-000000000002","session":"019f0000-0000-7000-8000-000000000001","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
{"v":1,"kind":"instance","id":"019f0000-0000-7000-8000-000000000003","run":"019f0000-0000-7000-8000-000000000002","benchmark":{"id":"b"}}
{"v":1,"kind":"iteration","instance":"019f0000-0000-7000-8000-000000000003","index":0,"metrics":{"wall_time":3.0}}
{"v":1,"kind":"span","instance":"019f0000-0000-7000-8000-000000000003","index":0,"category":"task","name":"a-1","lane":"h:w","events":{"started":0,"computed":2000000000},"attributes":{"class":"a"}}
"#;

/// Returns the metrics of each iteration of a file.
fn metrics(text: &str) -> Vec<Vec<String>> {
    let records = read_text("record", text).records.into_iter();
    let iterations = records.filter_map(|record| match record {
        Record::Iteration(it) => Some(it.metrics.into_keys().collect()),
        _ => None,
    });
    iterations.collect()
}

#[test]
fn a_trace_gets_the_metrics_of_traces_and_other_records_do_not() {
    let of_trace = metrics(TRACE);
    assert!(
        of_trace[0].contains(&"trace.makespan".to_owned()),
        "{of_trace:?}"
    );
    assert!(
        of_trace[0].contains(&"trace.compute.a".to_owned()),
        "{of_trace:?}"
    );
    // Two iterations are results of a benchmark, whose spans are of one of them.
    let iteration = TRACE
        .lines()
        .nth(3)
        .unwrap()
        .replace("\"index\":0", "\"index\":1");
    let several = metrics(&format!("{TRACE}{iteration}\n"));
    assert_eq!(several, [["wall_time"], ["wall_time"]]);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("record/truncated.jsonl"), @"truncated.jsonl:32: the JSON is cut off");
    insta::assert_snapshot!(refusal("record/wrong.jsonl"), @r#"wrong.jsonl:6: invalid type: string "no", expected a boolean"#);
}
