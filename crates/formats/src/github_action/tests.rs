use super::{Better, Source, Tool, quantity};
use crate::shared::testing::{
    brief, fate_of_a_key, imported, options, read_as, refusal, refusal_of, shown,
};
use crate::{BadLines, read};

#[test]
fn an_array_gives_summaries_with_the_directions_of_their_units() {
    insta::assert_snapshot!(shown(&imported("github-action-benchmark-1/smaller.json")), @r##"
    github-action because it is an array of `name`, `value` and `unit`
    {"v":1,"kind":"session","id":"#0","suite":"github-action","started":"2026-01-01T00:00:00Z","tool":"github-action-benchmark","name":"smaller","attributes":{"source":{"file":"smaller.json","format":"github-action","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes":{"unit":"B","better":"lower"},"bytes_per_second":{"unit":"B/s","better":"higher"},"points":{"unit":"points"},"throughput":{"unit":"1/s","better":"higher"},"value":{"unit":"1"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sort 10"},"block":0,"position":0,"attempt":0,"attributes":{"extra":"30 samples"}}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":30,"centre":0.00125,"spread":0.00005,"statistic":"value/range"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sort 1000"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":0.1305,"spread":0.0025,"statistic":"value/range"}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"peak memory"},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"summary","instance":"#4","metric":"bytes","centre":10485760.0,"spread":104857.6,"statistic":"value/range"}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"requests"},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"summary","instance":"#5","metric":"throughput","centre":7000.0,"statistic":"value"}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"copied"},"block":0,"position":4,"attempt":0}
    {"v":1,"kind":"summary","instance":"#6","metric":"bytes_per_second","centre":120500000.0,"statistic":"value"}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"warnings"},"block":0,"position":5,"attempt":0,"attributes":{"host":"runner-1","range":"2 to 5"}}
    {"v":1,"kind":"summary","instance":"#7","metric":"value","centre":3.0,"statistic":"value"}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#8","run":"#1","benchmark":{"id":"score"},"block":0,"position":6,"attempt":0}
    {"v":1,"kind":"summary","instance":"#8","metric":"points","centre":70.0,"statistic":"value"}
    {"v":1,"kind":"instance_end","instance":"#8","outcome":"ok"}
    kept in attributes of the instance: host
    "##);
}

#[test]
fn each_entry_of_the_history_is_a_session() {
    insta::assert_snapshot!(shown(&imported("github-action-benchmark-1/data.js")), @r##"
    github-action because it begins with `window.BENCHMARK_DATA`
    {"v":1,"kind":"session","id":"#0","suite":"Rust","started":"2026-01-02T03:05:00Z","tool":"github-action-benchmark","name":"Rust 0123456789","attributes":{"repository":"https://github.com/example/demo","source":{"file":"data.js","format":"github-action","sha256":"…"},"tool":"cargo"}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","version":{"commit":"0123456789abcdef0123456789abcdef01234567","date":"2026-01-02T03:04:05+01:00"},"metrics":{"wall_time":{"unit":"s","better":"lower"}},"attributes":{"commit":{"author":{"email":"dev@example.org","name":"dev","username":"dev"},"committer":{"email":"dev@example.org","name":"dev","username":"dev"},"distinct":true,"message":"Sort in place","tree_id":"9999999999999999999999999999999999999999","url":"https://github.com/example/demo/commit/0123456789abcdef0123456789abcdef01234567"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sort_10"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","centre":1.35e-7,"spread":2.4e-8,"statistic":"value/range"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sort_20"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":0.000018149,"spread":7.55e-7,"statistic":"value/range"}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"session","id":"#4","suite":"Rust","started":"2026-01-03T03:05:00Z","tool":"github-action-benchmark","name":"Rust 89abcdef01","attributes":{"repository":"https://github.com/example/demo","source":{"file":"data.js","format":"github-action","sha256":"…"},"tool":"cargo"}}
    {"v":1,"kind":"run","id":"#5","session":"#4","variant":"default","version":{"commit":"89abcdef0123456789abcdef0123456789abcdef","date":"2026-01-03T03:04:05+01:00"},"metrics":{"wall_time":{"unit":"s","better":"lower"}},"attributes":{"commit":{"author":{"email":"dev@example.org","name":"dev","username":"dev"},"committer":{"email":"dev@example.org","name":"dev","username":"dev"},"distinct":true,"message":"Sort in parallel","tree_id":"9999999999999999999999999999999999999999","url":"https://github.com/example/demo/commit/89abcdef0123456789abcdef0123456789abcdef"}}}
    {"v":1,"kind":"instance","id":"#6","run":"#5","benchmark":{"id":"sort_10"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#6","metric":"wall_time","centre":9.9e-8,"spread":4e-9,"statistic":"value/range"}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#7","run":"#5","benchmark":{"id":"sort_20"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#7","metric":"wall_time","centre":0.000016031,"spread":5.55e-7,"statistic":"value/range"}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"session","id":"#8","suite":"Python","started":"2026-01-03T03:06:40Z","tool":"github-action-benchmark","name":"Python 89abcdef01","attributes":{"repository":"https://github.com/example/demo","source":{"file":"data.js","format":"github-action","sha256":"…"},"tool":"pytest"}}
    {"v":1,"kind":"run","id":"#9","session":"#8","variant":"default","version":{"commit":"89abcdef0123456789abcdef0123456789abcdef","date":"2026-01-03T03:04:05+01:00"},"metrics":{"throughput":{"unit":"1/s","better":"higher"}},"attributes":{"commit":{"author":{"email":"dev@example.org","name":"dev","username":"dev"},"committer":{"email":"dev@example.org","name":"dev","username":"dev"},"distinct":true,"message":"Sort in parallel","tree_id":"9999999999999999999999999999999999999999","url":"https://github.com/example/demo/commit/89abcdef0123456789abcdef0123456789abcdef"}}}
    {"v":1,"kind":"instance","id":"#10","run":"#9","benchmark":{"id":"bench.py::test_sort"},"block":0,"position":0,"attempt":0,"attributes":{"extra":"mean: 24.0887 usec\nrounds: 38523","range":"stddev: 0.0000061"}}
    {"v":1,"kind":"summary","instance":"#10","metric":"throughput","n":38523,"centre":41513.27,"statistic":"value"}
    {"v":1,"kind":"instance_end","instance":"#10","outcome":"ok"}
    {"v":1,"kind":"session","id":"#11","suite":"Go","started":"2026-01-03T03:08:20Z","tool":"github-action-benchmark","name":"Go 89abcdef01","attributes":{"repository":"https://github.com/example/demo","source":{"file":"data.js","format":"github-action","sha256":"…"},"tool":"go"}}
    {"v":1,"kind":"run","id":"#12","session":"#11","variant":"default","version":{"commit":"89abcdef0123456789abcdef0123456789abcdef","date":"2026-01-03T03:04:05+01:00"},"metrics":{"B/op":{"unit":"B","better":"lower"},"allocs/op":{"unit":"allocs","better":"lower"},"wall_time":{"unit":"s","better":"lower"},"words/op":{"unit":"words","better":"lower"}},"attributes":{"commit":{"author":{"email":"dev@example.org","name":"dev","username":"dev"},"committer":{"email":"dev@example.org","name":"dev","username":"dev"},"distinct":true,"message":"Sort in parallel","tree_id":"9999999999999999999999999999999999999999","url":"https://github.com/example/demo/commit/89abcdef0123456789abcdef0123456789abcdef"}}}
    {"v":1,"kind":"instance","id":"#13","run":"#12","benchmark":{"id":"BenchmarkSort"},"block":0,"position":0,"attempt":0,"attributes":{"extra":"5000000 times\n8 procs"}}
    {"v":1,"kind":"summary","instance":"#13","metric":"wall_time","centre":3.255e-7,"statistic":"value"}
    {"v":1,"kind":"summary","instance":"#13","metric":"B/op","centre":512.0,"statistic":"value"}
    {"v":1,"kind":"summary","instance":"#13","metric":"allocs/op","centre":3.0,"statistic":"value"}
    {"v":1,"kind":"summary","instance":"#13","metric":"words/op","centre":8.0,"statistic":"value"}
    {"v":1,"kind":"instance_end","instance":"#13","outcome":"ok"}
    {"v":1,"kind":"session","id":"#14","suite":"Own","started":"2026-01-03T03:10:00Z","tool":"github-action-benchmark","name":"Own 89abcdef01","attributes":{"repository":"https://github.com/example/demo","source":{"file":"data.js","format":"github-action","sha256":"…"},"tool":"customBiggerIsBetter"}}
    {"v":1,"kind":"run","id":"#15","session":"#14","variant":"default","version":{"commit":"89abcdef0123456789abcdef0123456789abcdef","date":"2026-01-03T03:04:05+01:00"},"metrics":{"throughput":{"unit":"1/s","better":"higher"},"value":{"unit":"B","better":"higher"}},"attributes":{"commit":{"author":{"email":"dev@example.org","name":"dev","username":"dev"},"committer":{"email":"dev@example.org","name":"dev","username":"dev"},"distinct":true,"message":"Sort in parallel","tree_id":"9999999999999999999999999999999999999999","url":"https://github.com/example/demo/commit/89abcdef0123456789abcdef0123456789abcdef"}}}
    {"v":1,"kind":"instance","id":"#16","run":"#15","benchmark":{"id":"Throughput"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#16","metric":"throughput","centre":70.0,"statistic":"value"}
    {"v":1,"kind":"instance_end","instance":"#16","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#17","run":"#15","benchmark":{"id":"Free memory"},"block":0,"position":1,"attempt":0,"attributes":{"extra":"only\nnotes"}}
    {"v":1,"kind":"summary","instance":"#17","metric":"value","centre":150000000.0,"spread":3000000.0,"statistic":"value/range"}
    {"v":1,"kind":"instance_end","instance":"#17","outcome":"ok"}
    left, as every entry has its own date: lastUpdate
    left, as they repeat a unit of another result, which has it as a metric: BenchmarkSort - words/op
    "##);
}

#[test]
fn a_value_that_is_missing_is_said() {
    let text = br#"[{"name": "a", "unit": "s", "value": NaN}]"#;
    let source = Source::from_bytes("made-up", text.to_vec()).expect("bytes");
    let imported = read(&source, &options(BadLines::Refuse)).expect("results");
    assert_eq!(imported.notes[0].what, ["a"]);
    assert_eq!(imported.notes[0].why, "it has no value");
}

#[test]
fn the_direction_is_that_of_the_tool() {
    let better = |unit: &str, tool: &str| {
        let (name, unit) = quantity(unit, Tool::named(tool));
        (name, unit.metric.better)
    };
    let named = str::to_owned;
    let (lower, higher) = (Some(Better::Lower), Some(Better::Higher));
    assert_eq!(
        better("points", "customBiggerIsBetter"),
        (named("points"), higher)
    );
    assert_eq!(
        better("points", "customSmallerIsBetter"),
        (named("points"), lower)
    );
    assert_eq!(better("points", "?"), (named("points"), None));
    assert_eq!(
        better("s", "customBiggerIsBetter"),
        (named("value"), higher)
    );
    assert_eq!(
        better("MB", "customBiggerIsBetter"),
        (named("value"), higher)
    );
    assert_eq!(better("ops/ms", "jmh"), (named("throughput"), higher));
    assert_eq!(better("MB/s", "go"), (named("bytes_per_second"), higher));
    assert_eq!(better("words/op", "go"), (named("words/op"), lower));
}

#[test]
fn an_unknown_key_is_kept_or_named() {
    let fate = |pointer: &str| fate_of_a_key("github-action-benchmark-1/data.js", pointer);
    assert_eq!(fate(""), "left, as they belong to no entry");
    assert_eq!(fate("/entries/Rust/0"), "kept in attributes of the session");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("github-action-benchmark-1/truncated.js"), @"truncated.js:55: the JSON is cut off");
    insta::assert_snapshot!(refusal("github-action-benchmark-1/wrong.js"), @r#"wrong.js:34: `value` of `sort_20` is not a number: "slow""#);
    insta::assert_snapshot!(refusal("github-action-benchmark-1/negative.js"), @"negative.js:34: `wall_time` of `sort_20` is negative: -0.000018149");
    insta::assert_snapshot!(refusal_of("github-action", r#"[{"name": "a", "unit": "s"}]"#), @"made-up:1: `value` is missing");
    insta::assert_snapshot!(refusal_of("github-action", r#"{"entries": {}}"#), @"made-up holds no results");
    insta::assert_snapshot!(refusal_of("github-action", "window.BENCHMARK_DATA = 3"), @"made-up:1: invalid type: integer `3`, expected an object");
}

#[test]
fn a_result_for_each_unit_of_another_one_is_a_metric_of_it() {
    let text = r#"[
        {"name": "A", "value": 466.4, "unit": "ns/op"},
        {"name": "A - ns/op", "value": 466.4, "unit": "ns/op"},
        {"name": "A - B/op", "value": 1568, "unit": "B/op"},
        {"name": "B - C", "value": 1, "unit": "ns"}]"#;
    insta::assert_snapshot!(brief(&read_as("github-action", text)), @"
    A 
      wall_time ~ 0.0000004664
      bytes ~ 1568
    B - C 
      wall_time ~ 0.000000001
    left, as they repeat a unit of another result, which has it as a metric: A - ns/op, A - B/op
    ");
}
