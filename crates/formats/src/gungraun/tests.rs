use crate::shared::testing::{imported, refusal, refusal_of, shown};

#[test]
fn counts_are_the_metrics_of_one_iteration_whatever_the_version() {
    let files = ["version-7.json", "version-6.json", "version-3.jsonl"];
    let files = files.map(|file| shown(&imported(&format!("gungraun/{file}"))));
    insta::assert_snapshot!(files.join("\n"), @r##"
    gungraun because it has `module_path`, `function_name` and counts of Valgrind
    {"v":1,"kind":"session","id":"#0","suite":"gungraun","started":"2026-09-25T16:02:04.121680298Z","tool":"Gungraun","name":"version-7","attributes":{"source":{"file":"version-7.json","format":"gungraun","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"Ir":{"unit":"1","better":"lower"},"L1HitRate":{"unit":"1"},"RamHits":{"unit":"1","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sums::group::bench_sum::small"},"block":0,"position":0,"attempt":0,"started":"2026-09-25T16:02:04.121680298Z","attributes":{"benchmark_file":"benches/sums.rs","details":"vec![1, 2]","function_name":"bench_sum","kind":"LibraryBenchmark","version":"7"}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"Ir":687.0,"L1HitRate":0.995,"RamHits":3.0}}
    left, as they are no results of this run: counts of the run before

    gungraun because it has `module_path`, `function_name` and counts of Valgrind
    {"v":1,"kind":"session","id":"#0","suite":"gungraun","started":"2026-01-01T00:00:00Z","tool":"Gungraun","name":"version-6","attributes":{"source":{"file":"version-6.json","format":"gungraun","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"EstimatedCycles":{"unit":"1","better":"lower"},"I1MissRate":{"unit":"1","better":"lower"},"TotalBytes":{"unit":"B","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sums::group::bench_alloc::one"},"block":0,"position":0,"attempt":0,"attributes":{"function_name":"bench_alloc","kind":"LibraryBenchmark","version":"6"}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"EstimatedCycles":184.0,"I1MissRate":0.0525,"TotalBytes":1024.0}}
    left, as it has no number in this run: Ir
    left, as they are no results of this run: counts of the run before

    gungraun because it has `module_path`, `function_name` and counts of Valgrind
    {"v":1,"kind":"session","id":"#0","suite":"gungraun","started":"2026-01-01T00:00:00Z","tool":"Gungraun","name":"version-3","attributes":{"source":{"file":"version-3.jsonl","format":"gungraun","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"Ir":{"unit":"1","better":"lower"},"RamHits":{"unit":"1","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sums::bench_sum::small"},"block":0,"position":0,"attempt":0,"attributes":{"function_name":"bench_sum","kind":"LibraryBenchmark","version":"3"}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"Ir":1000.0,"RamHits":7.0}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sums::bench_sum::large"},"block":0,"position":1,"attempt":0,"attributes":{"function_name":"bench_sum","kind":"LibraryBenchmark","version":"3"}}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"Ir":25000.0}}
    left, as they are no results of this run: counts of the run before
    "##);
}

#[test]
fn a_broken_file_is_named() {
    let broken = [
        refusal("gungraun/truncated.json"),
        refusal("gungraun/wrong.json"),
        refusal_of("gungraun", "{\"function_name\": \"a\"}"),
        refusal_of("gungraun", "[]"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @"
    truncated.json:2: the JSON is cut off
    wrong.json:1: `sums::group::bench_sum` has no counts of this run
    made-up:1: `module_path` is missing
    made-up:1: `module_path` is missing
    ");
}
