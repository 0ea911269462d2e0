use crate::shared::testing::{imported, lanes, read_text, refusal};

#[test]
fn each_request_is_an_instance_with_the_parents_of_its_spans() {
    let imported = imported("zipkin-2/traces.json");
    let expected = [
        "checkout on 10.0.0.1:shop",
        "price on 10.0.0.1:shop: 9047175141605779 in 145257a795eea4da",
        "reserve on 10.0.0.1:shop: 2d7b3f9582705914 in 145257a795eea4da",
        "reserve on 10.0.0.1:stock: 2d7b3f9582705914/server in 2d7b3f9582705914",
        "pay on 10.0.0.1:shop: fe263e9f8470b741 in 145257a795eea4da",
        "checkout on 10.0.0.1:shop",
        "price on 10.0.0.1:shop: fe505ed0ebf65e5e in e66ffae5388e696f",
        "reserve on 10.0.0.1:shop: 0e2ec0c5f33ca6db in e66ffae5388e696f",
        "reserve on 10.0.0.1:stock: 0e2ec0c5f33ca6db/server in 0e2ec0c5f33ca6db",
        "pay on 10.0.0.1:shop: c78d6c88243e6df1 in e66ffae5388e696f",
    ];
    assert_eq!(lanes(&imported), expected);
    let instances = imported.appended.of(lapwing_model::RecordKind::Instance);
    assert_eq!(instances.new, 2);
}

#[test]
fn a_server_is_a_child_of_its_client_though_they_share_an_id() {
    let text = r#"[[
        {"traceId": "a", "id": "1", "name": "get", "timestamp": 10, "duration": 100, "localEndpoint": {"serviceName": "front"}},
        {"traceId": "a", "id": "2", "parentId": "1", "kind": "CLIENT", "name": "call", "timestamp": 20, "duration": 80, "localEndpoint": {"serviceName": "front"}},
        {"traceId": "a", "id": "2", "parentId": "1", "kind": "SERVER", "name": "call", "timestamp": 30, "duration": 60, "localEndpoint": {"serviceName": "back"}},
        {"traceId": "a", "id": "3", "parentId": "2", "name": "query", "timestamp": 40, "duration": 20, "localEndpoint": {"serviceName": "back"}}
    ]]"#;
    let expected = [
        "get on front",
        "call on front: 2 in 1",
        "call on back: 2/server in 2",
        "query on back: 3 in 2/server",
    ];
    assert_eq!(lanes(&read_text("zipkin", text)), expected);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("zipkin-2/truncated.json"), @"truncated.json:80: the JSON is cut off");
    insta::assert_snapshot!(refusal("zipkin-2/wrong.json"), @r#"wrong.json:8: `duration`: invalid type: string "long", expected a whole number"#);
}
