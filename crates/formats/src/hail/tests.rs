use super::*;
use crate::shared::testing::{brief, read_text, refusal};

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("hail/truncated.jsonl"), @"truncated.jsonl:2: the JSON is cut off");
    insta::assert_snapshot!(refusal("hail/wrong.jsonl"), @r#"wrong.jsonl:1: `time` is not a number: "1,5""#);
}

#[test]
fn a_version_gives_its_commit_only_when_it_has_one() {
    assert_eq!(
        commit_of("0.2.134-952ae203dbbe"),
        Some("952ae203dbbe".to_owned())
    );
    assert_eq!(commit_of("0.2.134"), None);
    assert_eq!(commit_of("1.0-beta"), None);
}

#[test]
fn times_without_an_offset_are_utc() {
    assert_eq!(
        time("start", Some("2026-01-02T03:04:05")),
        time("start", Some("2026-01-02T03:04:05+00:00"))
    );
    assert_eq!(
        time("end", Some("yesterday")),
        Err("`end` is not a time: \"yesterday\"".to_owned())
    );
}

#[test]
fn the_document_of_before_2024_has_trials() {
    let text = r#"{"config": {"cores": 1, "version": "0.2.20-952ae203dbbe", "timestamp": "2020-02-03 10:11:12"},
        "benchmarks": [
            {"name": "table_key_by", "failed": false, "timed_out": false, "times": [3.1, 3.2]},
            {"name": "mt_bad", "failed": true},
            {"name": "mt_slow", "failed": false, "timed_out": true, "times": [1800.0]},
            {"name": "combined", "trials": [{"failed": false, "timed_out": false, "times": [1.5]}, [1.25, null]]},
            {"name": "never", "trials": []}]}"#;
    let imported = read_text("hail", text);
    insta::assert_snapshot!(brief(&imported), @r#"
    table_key_by 
      Ok {"wall_time": 3.1}
      Ok {"wall_time": 3.2}
    mt_bad 
      Failed
    mt_slow 
      TimedOut
      TimedOut {"wall_time": 1800.0}
    combined 
      Ok {"wall_time": 1.5}
    combined 
      Ok {"wall_time": 1.25}
      Ok {}
    without a result: never (line 7): it has no trials
    "#);
    let session = imported.session.expect("one");
    assert_eq!(session.started.to_string(), "2020-02-03T10:11:12Z");
    assert!(is_older(text.as_bytes()));
}
