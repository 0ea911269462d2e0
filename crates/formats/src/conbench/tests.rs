use crate::shared::testing::fate_of_a_key;

#[test]
fn an_unknown_key_is_kept() {
    for page in ["get", "compare"] {
        let fate = |place: &str| {
            fate_of_a_key(&format!("conbench-benchadapt-2024.3.20/{page}.json"), place)
        };
        assert_eq!(fate(""), "kept in attributes of the session");
        assert_eq!(
            fate("/metadata"),
            "kept in attributes of the session, under `metadata`"
        );
    }
    let fate = |place: &str| fate_of_a_key("conbench-benchadapt-2024.3.20/get.json", place);
    assert_eq!(fate("/data/0"), "kept in attributes of the instance");
    assert_eq!(
        fate("/data/0/stats"),
        "kept in attributes of the instance, under `stats`"
    );
}
