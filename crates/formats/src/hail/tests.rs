use super::*;
use crate::shared::testing::refusal;

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
