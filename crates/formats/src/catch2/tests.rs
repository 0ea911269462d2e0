use crate::shared::testing::{imported, refusal, refusal_of, shown};

#[test]
fn benchmarks_are_summaries_named_by_test_case_and_sections() {
    insta::assert_snapshot!(shown(&imported("catch2-2.13/benchmarks.xml")), @r##"
    catch2 because it has `BenchmarkResults` of Catch2
    {"v":1,"kind":"session","id":"#0","suite":"catch2","started":"2026-01-01T00:00:00Z","tool":"Catch2","name":"benchmarks","attributes":{"name":"fib","source":{"file":"benchmarks.xml","format":"catch2","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"Fibonacci::fib 10"},"block":0,"position":0,"attempt":0,"attributes":{"clockResolution":40.097,"estimatedDuration":809600,"iterations":88,"outliers":{"highMild":2,"highSevere":1,"lowMild":0,"lowSevere":0,"variance":0.0475},"resamples":100000,"samples":20}}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":20,"centre":2.42707e-7,"spread":1.25468e-9,"statistic":"mean/sd","confidence":0.95,"lower_bound":2.4240100000000003e-7,"upper_bound":2.43878e-7}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"Fibonacci::fib 15"},"block":0,"position":1,"attempt":0,"attributes":{"clockResolution":40.097,"estimatedDuration":834020,"iterations":11,"outliers":{"highMild":0,"highSevere":2,"lowMild":0,"lowSevere":3,"variance":0.0475},"resamples":100000,"samples":20}}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","n":20,"centre":2.71783e-6,"spread":1.43491e-8,"statistic":"mean/sd","confidence":0.95,"lower_bound":2.71436e-6,"upper_bound":2.73169e-6}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"Sorting::small::sort","tags":["sort"]},"block":0,"position":2,"attempt":0,"attributes":{"clockResolution":40.097,"estimatedDuration":792540,"iterations":1071,"outliers":{"highMild":0,"highSevere":4,"lowMild":0,"lowSevere":0,"variance":0.738013},"resamples":100000,"samples":20}}
    {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","n":20,"centre":2.2073000000000002e-8,"spread":4.22624e-9,"statistic":"mean/sd","confidence":0.95,"lower_bound":2.1005e-8,"upper_bound":2.60915e-8}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"Sorting::larger::sort","tags":["sort"]},"block":0,"position":3,"attempt":0,"attributes":{"clockResolution":40.097,"estimatedDuration":886560,"iterations":3,"outliers":{"highMild":1,"highSevere":3,"lowMild":0,"lowSevere":0,"variance":0.949954},"resamples":100000,"samples":20}}
    {"v":1,"kind":"summary","instance":"#5","metric":"wall_time","n":20,"centre":0.00007641160000000001,"spread":0.000298893,"statistic":"mean/sd","confidence":0.95,"lower_bound":7.304949999999999e-6,"upper_bound":0.000351893}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"Sorting::larger::throws","tags":["sort"]},"block":0,"position":4,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"failed","message":"no such order"}
    "##);
    insta::assert_snapshot!(shown(&imported("catch2-2.13/version-3.xml")), @r##"
    catch2 because it has `BenchmarkResults` of Catch2
    {"v":1,"kind":"session","id":"#0","suite":"catch2","started":"2026-01-01T00:00:00Z","tool":"Catch2 3.4.0","name":"version-3","attributes":{"name":"sums","rng-seed":"1","source":{"file":"version-3.xml","format":"catch2","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"Sums::sum 20"},"block":0,"position":0,"attempt":0,"attributes":{"clockResolution":19.7,"estimatedDuration":"3.1e+06","iterations":2,"outliers":{"highMild":3,"highSevere":5,"lowMild":0,"lowSevere":0,"variance":0.2},"resamples":100000,"samples":100}}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":100,"centre":0.0000154205,"spread":4.04e-7,"statistic":"mean/sd","confidence":0.95,"lower_bound":0.00001536,"upper_bound":0.00001553}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    "##);
}

#[test]
fn a_broken_file_is_named() {
    let broken = [
        refusal("catch2-2.13/truncated.xml"),
        refusal("catch2-2.13/wrong.xml"),
        refusal_of("catch2", "<Catch name=\"a\"><TestCase name=\"b\"/></Catch>"),
        refusal_of("catch2", "<Catch><BenchmarkResults name=\"b\"/></Catch>"),
        refusal_of("catch2", "{}"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @r#"
    truncated.xml:1: the XML is cut off
    wrong.xml:13: `value` is not a number: "fast"
    made-up holds no results
    made-up:1: `mean` is missing
    made-up:1: not valid XML: unknown token at 1:1
    "#);
}

#[test]
fn deep_documents_are_refused_or_read() {
    let deep = "<a>".repeat(100_000);
    insta::assert_snapshot!(refusal_of("catch2", &deep), @"made-up:1: elements are nested deeper than 200 levels");
}
