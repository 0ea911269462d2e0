use crate::shared::testing::{imported, refusal, shown};

#[test]
fn each_trace_is_an_instance_with_the_parents_of_its_spans() {
    let all = shown(&imported("jaeger/traces.json"));
    let some: Vec<&str> = all.lines().collect();
    insta::assert_snapshot!(some.join("\n"), @"");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("jaeger/truncated.json"), @"");
    insta::assert_snapshot!(refusal("jaeger/wrong.json"), @"");
}
