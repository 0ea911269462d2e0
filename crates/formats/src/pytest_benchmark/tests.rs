use crate::shared::testing::{read_as, shown};

#[test]
fn of_rounds_without_values_the_statistics_stay() {
    let text = r#"{"benchmarks": [{"fullname": "a", "stats": {
            "data": [null, null], "rounds": 2, "mean": 0.5, "stddev": 0.1, "ops": 2}}]}"#;
    insta::assert_snapshot!(shown(&read_as("pytest-benchmark", text)), @r##"
        pytest-benchmark because it was said
        {"v":1,"kind":"session","id":"#0","suite":"pytest-benchmark","started":"2026-01-01T00:00:00Z","tool":"pytest-benchmark","name":"made-up","attributes":{"source":{"file":"made-up","format":"pytest-benchmark","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"a"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":2,"centre":0.5,"spread":0.1,"statistic":"mean/sd"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        left, as none of its rounds has a value: data
        left, as they follow from the mean and the number of rounds: ops
        "##);
}
