use super::*;
use crate::shared::testing::{brief, imported, read_text, refusal, refusal_of, shown};

#[test]
fn measures_are_summaries_without_a_spread() {
    insta::assert_snapshot!(shown(&imported("bmf/results.json")), @r##"
        bmf because it is an object of objects of `value`
        {"v":1,"kind":"session","id":"#0","suite":"bmf","started":"2026-01-01T00:00:00Z","tool":"Bencher Metric Format","name":"results","attributes":{"source":{"file":"results.json","format":"bmf","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"#2":{"unit":""},"allocations":{"unit":""},"build-time":{"unit":"s","better":"lower"},"file-size":{"unit":"B","better":"lower"},"throughput":{"unit":"1/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"demo::sort"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":1.25e-6,"statistic":"value","lower":1.2e-6,"upper":1.31e-6}
        {"v":1,"kind":"summary","instance":"#3","metric":"throughput","centre":800000.0,"statistic":"value"}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"demo::hash/size=64"},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","centre":8.8205e-8,"statistic":"value","lower":8.771e-8,"upper":8.771e-8}
        {"v":1,"kind":"summary","instance":"#4","metric":"allocations","centre":12.0,"statistic":"value","upper":14.0}
        {"v":1,"kind":"summary","instance":"#4","metric":"#2","centre":3.5,"statistic":"value"}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"target/release/demo"},"block":0,"position":2,"attempt":0}
        {"v":1,"kind":"summary","instance":"#5","metric":"build-time","centre":87.0,"statistic":"value"}
        {"v":1,"kind":"summary","instance":"#5","metric":"file-size","centre":1048576.0,"statistic":"value"}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        "##);
}

#[test]
fn what_is_not_known_is_kept_and_what_is_missing_is_said() {
    insta::assert_snapshot!(shown(&imported("bmf/unknown-keys.json")), @r##"
        bmf because it is an object of objects of `value`
        {"v":1,"kind":"session","id":"#0","suite":"bmf","started":"2026-01-01T00:00:00Z","tool":"Bencher Metric Format","name":"unknown-keys","attributes":{"source":{"file":"unknown-keys.json","format":"bmf","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"demo::sort"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","centre":1.25e-6,"statistic":"value","p99_value":1400.0}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        left, as it has no value: accuracy
        kept in summary, as it is: p99_value
        "##);
}

#[test]
fn keys_that_a_record_has_already_make_way() {
    let text =
        r#"{"a": {"b": {"value": 1, "lower_value": 2, "lower": 3, "n": 4, "n_": 5, "v": 6}}}"#;
    insta::assert_snapshot!(shown(&read_text("bmf", text)), @r##"
        bmf because it was said
        {"v":1,"kind":"session","id":"#0","suite":"bmf","started":"2026-01-01T00:00:00Z","tool":"Bencher Metric Format","name":"made-up","attributes":{"source":{"file":"made-up","format":"bmf","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"b":{"unit":""}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"a"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"b","centre":1.0,"statistic":"value","lower":2.0,"lower_":3,"n_":5,"n__":4,"v_":6}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        kept in summary, as it is: lower, n, n_, v
        "##);
}

#[test]
fn only_an_object_of_objects_of_values_looks_like_it() {
    assert!(looks_like(br#" { "a \" b": {"c": {"upper_value": 1"#).is_some());
    assert_eq!(looks_like(br#"{"a": {"value": 1}}"#), None);
    assert_eq!(looks_like(br#"{"a": {"b": {"mean": 1}}}"#), None);
    assert_eq!(looks_like(br#"[{"a": {"value": 1}}]"#), None);
    assert_eq!(looks_like(br#"{"a"#), None);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("bmf/truncated.json"), @"truncated.json:7: the JSON is cut off");
    insta::assert_snapshot!(refusal("bmf/wrong.json"), @r#"wrong.json:7: `value`: invalid type: string "fast", expected a number"#);
    insta::assert_snapshot!(refusal("bmf/negative.json"), @"negative.json:7: `latency` of `demo::hash/size=64` is negative");
    insta::assert_snapshot!(refusal_of("bmf", r#"{"a": {"b": {}}}"#), @"made-up:1: `value` is missing");
    insta::assert_snapshot!(refusal_of("bmf", r#"{"a": [1]}"#), @"made-up:1: invalid type: integer `1`, expected an object");
    insta::assert_snapshot!(refusal_of("bmf", "{}"), @"made-up holds no results");
}

#[test]
fn in_version_1_a_benchmark_has_a_list_with_parameters() {
    let text = r#"{"sort": [
        {"parameters": {"n": "10"}, "measures": {"latency": {"value": 120.5, "p99": 150.0}}},
        {"parameters": {"n": "1000"}, "measures": {"latency": {"value": 9120.5}}}],
        "none": []}"#;
    insta::assert_snapshot!(brief(&read_text("bmf", text)), @r#"
    sort[n=10] {"n":"10"}
      wall_time ~ 0.0000001205
    sort[n=1000] {"n":"1000"}
      wall_time ~ 0.0000091205
    kept in summary, as it is: p99
    without a result: none (line 4): its list is empty
    "#);
    let source = crate::Source::from_bytes("v1.json", text.as_bytes().to_vec()).expect("bytes");
    let options = crate::shared::testing::options(crate::BadLines::Refuse);
    let format = crate::recognise(&source, &options).expect("recognised");
    assert_eq!(format.name, "bmf");
}
