use crate::shared::testing::{brief, imported, options, refusal, refusal_of, shown};
use crate::{BadLines, Source, read};
use lapwing_model::Record;

#[test]
fn a_line_is_a_median_and_a_range_and_a_failure_says_why() {
    insta::assert_snapshot!(shown(&imported("libtest-1.95/bench.txt")), @r##"
    libtest because it has a line `test … ... bench:`
    {"v":1,"kind":"session","id":"#0","suite":"libtest","started":"2026-01-01T00:00:00Z","tool":"cargo bench","name":"bench","attributes":{"source":{"file":"bench.txt","format":"libtest","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"broken"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"failed","message":"thread 'main' (27736) panicked at benches/plain.rs:32:21:\non purpose"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"copied"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":5.954e-8,"spread":1.2891e-7,"statistic":"median/range"}
    {"v":1,"kind":"summary","instance":"#3","metric":"bytes_per_second","centre":69423000000.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"large"},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","centre":3.46115e-6,"spread":2.40136e-6,"statistic":"median/range"}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"small"},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"summary","instance":"#5","metric":"wall_time","centre":2.58e-9,"spread":1.383e-8,"statistic":"median/range"}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    left, as they were not measured: tests, or ignored: adds_up, left_out
    without a result: adds_up (line 3): it was not measured
    without a result: left_out (line 7): it was not measured
    "##);
}

#[test]
fn what_cargo_says_in_between_names_the_program() {
    insta::assert_snapshot!(shown(&imported("libtest-1.95/terminal.txt")), @r##"
    libtest because it has a line `test … ... bench:`
    {"v":1,"kind":"session","id":"#0","suite":"libtest","started":"2026-01-01T00:00:00Z","tool":"cargo bench","name":"terminal","attributes":{"source":{"file":"terminal.txt","format":"libtest","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"broken"},"block":0,"position":0,"attempt":0,"attributes":{"target":"benches/plain.rs"}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"failed","message":"thread 'main' (31725) panicked at benches/plain.rs:32:21:\non purpose"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"copied"},"block":0,"position":1,"attempt":0,"attributes":{"target":"benches/plain.rs"}}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":5.722e-8,"spread":1.0710000000000001e-8,"statistic":"median/range"}
    {"v":1,"kind":"summary","instance":"#3","metric":"bytes_per_second","centre":71859000000.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"large"},"block":0,"position":2,"attempt":0,"attributes":{"target":"benches/plain.rs"}}
    {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","centre":2.84244e-6,"spread":5.851799999999999e-7,"statistic":"median/range"}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"small"},"block":0,"position":3,"attempt":0,"attributes":{"target":"benches/plain.rs"}}
    {"v":1,"kind":"summary","instance":"#5","metric":"wall_time","centre":2.58e-9,"spread":7.6e-10,"statistic":"median/range"}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    left, as they were not measured: tests, or ignored: adds_up, left_out
    without a result: adds_up (line 5): it was not measured
    without a result: left_out (line 9): it was not measured
    "##);
}

#[test]
fn criterion_writes_a_median_and_a_standard_deviation() {
    insta::assert_snapshot!(shown(&imported("libtest-1.95/criterion-bencher.txt")), @r##"
        libtest because it has a line `test … ... bench:`
        {"v":1,"kind":"session","id":"#0","suite":"libtest","started":"2026-01-01T00:00:00Z","tool":"cargo bench","name":"criterion-bencher","attributes":{"source":{"file":"criterion-bencher.txt","format":"libtest","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"plain sum"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","centre":2e-9,"spread":0.0,"statistic":"median/sd"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sums/of: numbers/fold/100"},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":1.5e-8,"spread":0.0,"statistic":"median/sd"}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"sums/of: numbers/fold/1000"},"block":0,"position":2,"attempt":0}
        {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","centre":1.43e-7,"spread":2e-9,"statistic":"median/sd"}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"sums/of: numbers/bytes"},"block":0,"position":3,"attempt":0}
        {"v":1,"kind":"summary","instance":"#5","metric":"wall_time","centre":1.5e-8,"spread":0.0,"statistic":"median/sd"}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"flat/5000"},"block":0,"position":4,"attempt":0}
        {"v":1,"kind":"summary","instance":"#6","metric":"wall_time","centre":7.16e-7,"spread":1.1e-8,"statistic":"median/sd"}
        {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
        "##);
}

#[test]
fn other_units_names_with_dots_and_names_of_two_programs() {
    let text = "\
            Running benches/a.rs (target/release/deps/a-1)\n\
            running 2 tests\n\
            test a ... b ... bench:       1,508.5 cycles/iter (+/- 17)\n\
            test same ... bench: 9001 MS/s (+/- 69)\n\
            test result: ok. 0 passed\n\
            Running benches/b.rs (target/release/deps/b-1)\n\
            test same ... bench: 9001 MS/s (+/- 69)\n\
            test same ... bench: 9002 MS/s (+/- 69)\n";
    insta::assert_snapshot!(shown(&imported_text(text)), @r##"
        libtest because it has a line `test … ... bench:`
        {"v":1,"kind":"session","id":"#0","suite":"libtest","started":"2026-01-01T00:00:00Z","tool":"cargo bench","name":"made-up","attributes":{"source":{"file":"made-up.txt","format":"libtest","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"MS/s":{"unit":"MS/s"},"cycles/iter":{"unit":"cycles"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"a ... b"},"block":0,"position":0,"attempt":0,"attributes":{"target":"benches/a.rs"}}
        {"v":1,"kind":"summary","instance":"#2","metric":"cycles/iter","centre":1508.5,"spread":17.0,"statistic":"median/range"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"benches/a.rs::same"},"block":0,"position":1,"attempt":0,"attributes":{"target":"benches/a.rs"}}
        {"v":1,"kind":"summary","instance":"#3","metric":"MS/s","centre":9001.0,"spread":69.0,"statistic":"median/range"}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"benches/b.rs::same"},"block":0,"position":2,"attempt":0,"attributes":{"target":"benches/b.rs"}}
        {"v":1,"kind":"summary","instance":"#4","metric":"MS/s","centre":9001.0,"spread":69.0,"statistic":"median/sd"}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"benches/b.rs::same"},"block":0,"position":3,"attempt":0,"attributes":{"target":"benches/b.rs"}}
        {"v":1,"kind":"summary","instance":"#5","metric":"MS/s","centre":9002.0,"spread":69.0,"statistic":"median/sd"}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        "##);
}

fn imported_text(text: &str) -> crate::Imported {
    let source = Source::from_bytes("made-up.txt", text.as_bytes().to_vec()).expect("bytes");
    read(&source, &options(BadLines::Refuse)).expect("good")
}

#[test]
fn what_a_failure_says_is_found_though_it_stands_behind_and_bad_lines_come_first() {
    let text = "\
            test a ... FAILED\n\
            test b ... bench: 5 ns/iter (+/- 1)\n\
            test c ... bench: fast ns/iter (+/- 1)\n\
            failures:\n\
            ---- a stdout ----\n\
            it is on fire\n";
    let source = Source::from_bytes("made-up.txt", text.as_bytes().to_vec()).expect("bytes");
    let imported = read(&source, &options(BadLines::Skip)).expect("good in part");
    assert_eq!(imported.bad_lines.len(), 1);
    let mut found = Vec::new();
    for record in &imported.records {
        match record {
            Record::Instance(it) => found.push(format!("{} {}", it.position, it.benchmark.id)),
            Record::InstanceEnd(it) => found.extend(it.message.clone()),
            _other => {}
        }
    }
    assert_eq!(found, ["1 a", "it is on fire", "2 b"]);
}

#[test]
fn a_broken_line_is_named() {
    let broken = [
        refusal("libtest-1.95/truncated.txt"),
        refusal("libtest-1.95/wrong.txt"),
        refusal_of("libtest", "test a ... bench: -3 ns/iter (+/- 1)"),
        refusal_of("libtest", "running 1 test\ntest a ... ok\n"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @r#"
        truncated.txt:6: there is no `(+/- …)` behind the figure: "bench:       3,461.15 ns/iter (+/- 2,401."
        wrong.txt:6: not a number: "fast"
        made-up:1: a figure is negative: -3
        made-up holds no results
        "#);
}

#[test]
fn a_result_is_found_behind_other_output() {
    // Criterion's message about a missing baseline stands where its bencher output has the figures.
    let text = "\
        running 2 tests\n\
        test bool/cut_a ... Criterion.rs ERROR: error: Failed to access file \"base/sample.json\"\n\
        bench:   1,024,312 ns/iter (+/- 919)\n\
        warming uptest bool/cut_b ... bench:         512 ns/iter (+/- 9)\n\
        test bool/cut_c ... loaded 3 files bench:         7 ns/iter (+/- 1)\n\
        test bool/cut_d ... warning: disk full\n\
        test bool/cut_e ... ignored\n\
        test bool/cut_f ...\n";
    insta::assert_snapshot!(brief(&imported_text(text)), @"
    bool/cut_a 
      wall_time ~ 0.001024312
    bool/cut_b 
      wall_time ~ 0.000000512
    bool/cut_c 
      wall_time ~ 0.000000007
    left, as they were not measured: tests, or ignored: bool/cut_e
    without a result: bool/cut_d (line 6): its result is missing
    without a result: bool/cut_e (line 7): it was not measured
    without a result: bool/cut_f (line 8): its result is missing
    ");
}

#[test]
fn tests_of_one_line_are_several() {
    let text = "\
        test a ... bench:   1,000 ns/iter (+/- 9)test b ... bench:     512 ns/iter (+/- 9)\n\
        test c ... test d ... bench:     600 ns/iter (+/- 9)\n\
        test e ... bench:  1test f ... bench:       7 ns/iter (+/- 1) = 5 MB/stest my test ... ignored\n\
        bench:     700 ns/iter (+/- 9)\n\
        test g ... oktest h ...\n";
    let source = Source::from_bytes("made-up.txt", text.as_bytes().to_vec()).expect("bytes");
    let imported = read(&source, &options(BadLines::Skip)).expect("good in part");
    insta::assert_snapshot!(brief(&imported), @r#"
    a 
      wall_time ~ 0.000001
    b 
      wall_time ~ 0.000000512
    d 
      wall_time ~ 0.0000006
    f 
      wall_time ~ 0.000000007
      bytes_per_second ~ 5000000
    left, as they were not measured: tests, or ignored: my test, g
    without a result: c (line 2): its result is missing
    without a result: e (line 3): it is invalid
    without a result: g (line 5): it was not measured
    without a result: h (line 5): its result is missing
    without a result: my test (line 3): it was not measured
    bad line 3: there is no `(+/- …)` behind the figure: "bench:  1"
    bad line 4: no name of a test before the result: "bench:     700 ns/iter (+/- 9)"
    "#);
}

#[test]
fn dots_that_share_a_space_are_read() {
    let text = "test a ... ... ignored\ntest b ... bench:   1,000 ns/iter (+/- 9)\n";
    let source = Source::from_bytes("made-up.txt", text.as_bytes().to_vec()).expect("bytes");
    let imported = read(&source, &options(BadLines::Skip)).expect("good in part");
    insta::assert_snapshot!(brief(&imported), @"
    b 
      wall_time ~ 0.000001
    without a result: a (line 1): its result is missing
    ");
}
