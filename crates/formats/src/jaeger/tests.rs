use crate::shared::testing::{imported, lanes, refusal};

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
