use crate::shared::testing::{imported, refusal, refusal_of, shown};

#[test]
fn a_report_has_summaries_or_samples_in_milliseconds() {
    insta::assert_snapshot!(shown(&imported("vitest-4.1/report.json")), @r##"
    vitest because it has `files` with `groups` of `benchmarks`
    {"v":1,"kind":"session","id":"#0","suite":"vitest","started":"2026-01-01T00:00:00Z","tool":"vitest bench","name":"report","attributes":{"files":["/home/user/vt/sort.bench.mjs"],"source":{"file":"report.json","format":"vitest","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"vt/sort.bench.mjs > sort > normal"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":38516,"centre":5.192680963754145e-7,"spread":0.000039409129309244744,"statistic":"mean/sd","max":0.006551050999999973,"median":1.8999999997504348e-7,"min":1.5999999999394276e-7,"p75":2.000000000066393e-7,"p99":5.209999999920001e-7}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"vt/sort.bench.mjs > sort > reverse"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","n":57653,"centre":4.102920923456012e-7,"spread":0.000027040854273077467,"statistic":"mean/sd","max":0.004441187000000014,"median":1.8999999997504348e-7,"min":1.6999999991185178e-7,"p75":2.0000000006348273e-7,"p99":5.100000000766158e-7}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"vt/sort.bench.mjs > strings > short > join"},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","n":145469,"centre":1.3748675662857228e-7,"spread":0.000010639409893777963,"statistic":"mean/sd","max":0.004057154999999966,"median":1.0999999994965037e-7,"min":9.999999997489795e-8,"p75":1.1000000017702405e-7,"p99":1.4099999998506973e-7}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    left, as they follow from count, mean and standard deviation, or say the same of the rate: hz, rme, sem, variance, throughput …
    "##);
    insta::assert_snapshot!(shown(&imported("vitest-4.1/samples.json")), @r##"
    vitest because it has `files` with `groups` of `benchmarks`
    {"v":1,"kind":"session","id":"#0","suite":"vitest","started":"2026-01-01T00:00:00Z","tool":"vitest bench","name":"samples","attributes":{"files":["/home/user/a.bench.ts"],"source":{"file":"samples.json","format":"vitest","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"a.bench.ts > sum > loop"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.0005}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.00025}}
    {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.00075}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"a.bench.ts > sum > broken"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"failed"}
    left, as they follow from the samples: mean, sd, median, min, max, hz …
    "##);
}

#[test]
fn tasks_of_tinybench_are_read_too() {
    insta::assert_snapshot!(shown(&imported("vitest-4.1/tinybench-6.2.json")), @r##"
    vitest because it is an array of `name`, `latency` and `throughput`
    {"v":1,"kind":"session","id":"#0","suite":"vitest","started":"2026-01-01T00:00:00Z","tool":"tinybench","name":"tinybench-6.2","attributes":{"source":{"file":"tinybench-6.2.json","format":"vitest","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"faster"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":386296,"centre":5.1773802990458026e-8,"spread":6.571167821312542e-6,"statistic":"mean/sd","mad":2.2737367544323206e-16,"max":0.004068741999999929,"median":3.9999999899009705e-8,"min":2.999999992425728e-8,"p75":4.0000000126383385e-8,"p99":4.100000001017179e-8}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"slower"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","n":43800,"centre":4.566214840177363e-7,"spread":0.00002998741726206537,"statistic":"mean/sd","mad":9.000000090964022e-9,"max":0.004726621999999907,"median":2.0100000006095798e-7,"min":1.7999999977291737e-7,"p75":2.110000000357104e-7,"p99":5.70010000151344e-7}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"throws"},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"failed","message":"errored"}
    left, as they follow from count, mean and standard deviation, or say the same of the rate: hz, rme, sem, variance, throughput …
    "##);
}

#[test]
fn a_broken_file_is_named() {
    let broken = [
        refusal("vitest-4.1/truncated.json"),
        refusal("vitest-4.1/wrong.json"),
        refusal_of("vitest", "{\"files\": []}"),
        refusal_of("vitest", "[{\"name\": \"\", \"latency\": {\"mean\": 1}}]"),
        refusal_of("vitest", "{\"testResults\": {}}"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @r#"
    truncated.json:2: the JSON is cut off
    wrong.json:2: invalid type: string "soon", expected a number
    made-up holds no results
    made-up:1: the benchmark has no name
    made-up:1: `files` is missing
    "#);
}
