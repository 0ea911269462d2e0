use crate::shared::testing::{imported, refusal, refusal_of, shown};

#[test]
fn an_estimate_is_a_summary_and_a_change_none() {
    insta::assert_snapshot!(shown(&imported("criterion-text-0.8/second-run.txt")), @r##"
    criterion-text because it has a line `time: [… … …]` of Criterion
    {"v":1,"kind":"session","id":"#0","suite":"criterion","started":"2026-01-01T00:00:00Z","tool":"Criterion","name":"second-run","attributes":{"source":{"file":"second-run.txt","format":"criterion-text","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"throughput":{"unit":"1/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sort/100"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":20,"centre":1.2102999999999999e-6,"statistic":"estimate","lower_bound":1.166e-6,"upper_bound":1.2554e-6}
    {"v":1,"kind":"summary","instance":"#2","metric":"bytes_per_second","n":20,"centre":660990853.12,"statistic":"estimate","lower_bound":637230120.96,"upper_bound":686093762.56}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sort/10000"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":0.00018766,"statistic":"estimate","lower_bound":0.00015516,"upper_bound":0.0002126}
    {"v":1,"kind":"summary","instance":"#3","metric":"bytes_per_second","centre":426309058.56,"statistic":"estimate","lower_bound":376291983.36,"upper_bound":515595304.96}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"a benchmark with a name that is longer than one line"},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","centre":9.7222e-10,"statistic":"estimate","lower_bound":8.3614e-10,"upper_bound":1.1042e-9}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"elements/sum"},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"summary","instance":"#5","metric":"wall_time","n":20,"centre":1.4350000000000001e-9,"statistic":"estimate","lower_bound":1.2875000000000002e-9,"upper_bound":1.7001e-9}
    {"v":1,"kind":"summary","instance":"#5","metric":"throughput","n":20,"centre":696850000000.0,"statistic":"estimate","lower_bound":588190000000.0,"upper_bound":776690000000.0}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    "##);
}

#[test]
fn what_a_terminal_shows_is_read_and_what_has_no_time_is_named() {
    insta::assert_snapshot!(shown(&imported("criterion-text-0.8/terminal.txt")), @r##"
    criterion-text because it has a line `time: [… … …]` of Criterion
    {"v":1,"kind":"session","id":"#0","suite":"criterion","started":"2026-01-01T00:00:00Z","tool":"Criterion","name":"terminal","attributes":{"source":{"file":"terminal.txt","format":"criterion-text","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sort/100"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":100,"centre":1.4368000000000002e-6,"statistic":"estimate","lower_bound":1.4338e-6,"upper_bound":1.4402e-6}
    {"v":1,"kind":"summary","instance":"#2","metric":"bytes_per_second","n":100,"centre":174210416.64,"statistic":"estimate","lower_bound":172962611.2,"upper_bound":175217049.6}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"last"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":0.0011,"statistic":"estimate","lower_bound":0.001,"upper_bound":0.0012}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    without a result: sort/killed (line 0): it has no time
    "##);
}

#[test]
fn a_broken_file_is_named() {
    let broken = [
        refusal("criterion-text-0.8/wrong.txt"),
        refusal_of("criterion-text", "Benchmarking a\n"),
        refusal_of("criterion-text", "time: [1 ms 2 ms 3 ms]\n"),
        refusal_of("criterion-text", "sort   time:   [155.16 µs 187.\n"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @"
    wrong.txt:15: no figures of Criterion: sort/10000              time:   [155.16 parsecs 187.66 parsecs 212.60 µs]
    made-up holds no results
    made-up:1: the benchmark has no name
    made-up:1: a time that is cut off: sort   time:   [155.16 µs 187.
    ");
    // A line that is cut off is no result; its benchmark is named where it was announced.
    insta::assert_snapshot!(shown(&imported("criterion-text-0.8/truncated.txt")), @r##"
    criterion-text because it has a line `time: [… … …]` of Criterion
    {"v":1,"kind":"session","id":"#0","suite":"criterion","started":"2026-01-01T00:00:00Z","tool":"Criterion","name":"truncated","attributes":{"source":{"file":"truncated.txt","format":"criterion-text","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sort/100"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","centre":1.2102999999999999e-6,"statistic":"estimate","lower_bound":1.166e-6,"upper_bound":1.2554e-6}
    {"v":1,"kind":"summary","instance":"#2","metric":"bytes_per_second","centre":660990853.12,"statistic":"estimate","lower_bound":637230120.96,"upper_bound":686093762.56}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    "##);
}
