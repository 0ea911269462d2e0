use crate::shared::testing::{imported, refusal, refusal_of, shown};

#[test]
fn a_rate_is_a_summary() {
    insta::assert_snapshot!(shown(&imported("benchmarkjs-2.1.4/suite.txt")), @r##"
    benchmarkjs because it has a line `… x … ops/sec ±…% (… runs sampled)`
    {"v":1,"kind":"session","id":"#0","suite":"benchmarkjs","started":"2026-01-01T00:00:00Z","tool":"Benchmark.js","name":"suite","attributes":{"source":{"file":"suite.txt","format":"benchmarkjs","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"throughput":{"unit":"1/s","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"RegExp#test"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#2","metric":"throughput","n":73,"centre":47722290.0,"statistic":"mean","relative_margin_of_error":0.0407}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"String#indexOf"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#3","metric":"throughput","n":68,"centre":794253399.0,"statistic":"mean","relative_margin_of_error":0.0383}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"sort 100,000 numbers"},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"summary","instance":"#4","metric":"throughput","n":39,"centre":30.46,"statistic":"mean","relative_margin_of_error":0.037200000000000004}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    left, as they are no results: line 4, line 5, line 6
    "##);
}

#[test]
fn a_broken_file_is_named() {
    let broken = [
        refusal("benchmarkjs-2.1.4/truncated.txt"),
        refusal("benchmarkjs-2.1.4/wrong.txt"),
        refusal_of("benchmarkjs", "Fastest is sort\n"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @"
    truncated.txt:2: not a whole result of Benchmark.js
    wrong.txt:1: not a whole result of Benchmark.js
    made-up holds no results
    ");
}
