use crate::shared::testing::{imported, refusal, refusal_of, shown};

#[test]
fn means_are_summaries_named_by_test_case_and_sections() {
    insta::assert_snapshot!(shown(&imported("catch2-text-2.13/benchmarks.txt")), @r##"
    catch2-text because it has the table `benchmark name … samples … iterations` of Catch2
    {"v":1,"kind":"session","id":"#0","suite":"catch2","started":"2026-01-01T00:00:00Z","tool":"Catch2 2.13.10","name":"benchmarks","attributes":{"source":{"file":"benchmarks.txt","format":"catch2-text","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"Fibonacci::fib 10"},"block":0,"position":0,"attempt":0,"attributes":{"iterations":114}}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":20,"centre":2.42818e-7,"spread":4.2291299999999996e-10,"statistic":"mean/sd","lower_bound":2.4270400000000003e-7,"upper_bound":2.4318899999999997e-7}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"Fibonacci::fib 20, a benchmark with a name that is longer than the column of names"},"block":0,"position":1,"attempt":0,"attributes":{"iterations":1}}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","n":20,"centre":0.0000302165,"spread":1.01463e-7,"statistic":"mean/sd","lower_bound":0.0000301885,"upper_bound":0.0000303075}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"Sorting::copy::sort"},"block":0,"position":2,"attempt":0,"attributes":{"iterations":2}}
    {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","n":20,"centre":0.0000179906,"spread":6.04883e-6,"statistic":"mean/sd","lower_bound":0.000016310099999999998,"upper_bound":0.000023423999999999998}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"Sorting::fails::throws"},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"failed","message":"no such order"}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"Sorting::fails::sum"},"block":0,"position":4,"attempt":0,"attributes":{"iterations":50}}
    {"v":1,"kind":"summary","instance":"#6","metric":"wall_time","n":20,"centre":5.54577e-7,"spread":3.67204e-9,"statistic":"mean/sd","lower_bound":5.53725e-7,"upper_bound":5.57958e-7}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    "##);
    insta::assert_snapshot!(shown(&imported("catch2-text-2.13/no-analysis.txt")), @r##"
    catch2-text because it has the table `benchmark name … samples … iterations` of Catch2
    {"v":1,"kind":"session","id":"#0","suite":"catch2","started":"2026-01-01T00:00:00Z","tool":"Catch2 2.13.10","name":"no-analysis","attributes":{"source":{"file":"no-analysis.txt","format":"catch2-text","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"Fibonacci::fib 10"},"block":0,"position":0,"attempt":0,"attributes":{"iterations":109}}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":20,"centre":2.42876e-7,"statistic":"mean"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"Fibonacci::fib 20, a benchmark with a name that is longer than the column of names"},"block":0,"position":1,"attempt":0,"attributes":{"iterations":1}}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","n":20,"centre":0.000030223500000000003,"statistic":"mean"}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"Sorting::copy::sort"},"block":0,"position":2,"attempt":0,"attributes":{"iterations":2}}
    {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","n":20,"centre":0.0000185897,"statistic":"mean"}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"Sorting::fails::throws"},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"failed","message":"no such order"}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"Sorting::fails::sum"},"block":0,"position":4,"attempt":0,"attributes":{"iterations":48}}
    {"v":1,"kind":"summary","instance":"#6","metric":"wall_time","n":20,"centre":5.54973e-7,"statistic":"mean"}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    "##);
}

#[test]
fn a_broken_file_is_named() {
    let broken = [
        refusal_of("catch2-text", "all tests passed\n"),
        refusal("catch2-text-2.13/wrong.txt"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @"
    made-up holds no results
    wrong.txt holds no results
    ");
    insta::assert_snapshot!(shown(&imported("catch2-text-2.13/truncated.txt")), @r##"
    catch2-text because it has the table `benchmark name … samples … iterations` of Catch2
    {"v":1,"kind":"session","id":"#0","suite":"catch2","started":"2026-01-01T00:00:00Z","tool":"Catch2 2.13.10","name":"truncated","attributes":{"source":{"file":"truncated.txt","format":"catch2-text","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"Fibonacci::fib 10"},"block":0,"position":0,"attempt":0,"attributes":{"iterations":114}}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":20,"centre":2.42818e-7,"spread":4.2291299999999996e-10,"statistic":"mean/sd","lower_bound":2.4270400000000003e-7,"upper_bound":2.4318899999999997e-7}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"Fibonacci::fib 20, a benchmark with a name that is longer than the column of names"},"block":0,"position":1,"attempt":0,"attributes":{"iterations":1}}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","n":20,"centre":0.0000302165,"spread":1.01463e-7,"statistic":"mean/sd","lower_bound":0.0000301885,"upper_bound":0.0000303075}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    without a result: Sorting::copy::sort (line 38): it has no mean
    "##);
}
