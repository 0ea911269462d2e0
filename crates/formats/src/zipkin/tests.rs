use crate::shared::testing::{brief, imported, read_text, refusal, shown};

#[test]
fn each_request_is_an_instance_with_the_parents_of_its_spans() {
    let all = shown(&imported("zipkin-2/traces.json"));
    let some: Vec<&str> = all.lines().take(10).collect();
    insta::assert_snapshot!(some.join("\n"), @"");
}

#[test]
fn a_server_is_a_child_of_its_client_though_they_share_an_id() {
    let text = r#"[[
        {"traceId": "a", "id": "1", "name": "get", "timestamp": 10, "duration": 100, "localEndpoint": {"serviceName": "front"}},
        {"traceId": "a", "id": "2", "parentId": "1", "kind": "CLIENT", "name": "call", "timestamp": 20, "duration": 80, "localEndpoint": {"serviceName": "front"}},
        {"traceId": "a", "id": "2", "parentId": "1", "kind": "SERVER", "name": "call", "timestamp": 30, "duration": 60, "localEndpoint": {"serviceName": "back"}},
        {"traceId": "a", "id": "3", "parentId": "2", "name": "query", "timestamp": 40, "duration": 20, "localEndpoint": {"serviceName": "back"}}
    ]]"#;
    let all = shown(&read_text("zipkin", text));
    let attributes = all
        .lines()
        .filter_map(|line| line.split_once("\"attributes\":{\"")?.1.strip_suffix("}}"));
    let spans: Vec<&str> = attributes.filter(|it| it.contains("span")).collect();
    insta::assert_snapshot!(spans.join("\n"), @"");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("zipkin-2/truncated.json"), @"");
    insta::assert_snapshot!(refusal("zipkin-2/wrong.json"), @"");
}
