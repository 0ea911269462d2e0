use crate::shared::testing::refusal;

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("record/truncated.jsonl"), @"truncated.jsonl:32: the JSON is cut off");
    insta::assert_snapshot!(refusal("record/wrong.jsonl"), @r#"wrong.jsonl:6: invalid type: string "no", expected a boolean"#);
}
