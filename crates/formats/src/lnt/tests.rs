use crate::shared::testing::{imported, refusal, refusal_of, shown};

#[test]
fn a_test_is_an_instance_and_its_list_iterations() {
    insta::assert_snapshot!(shown(&imported("lnt/report.json")), @r##"
    lnt because it has `format_version`, `machine`, `run` and `tests`
    {"v":1,"kind":"session","id":"#0","suite":"lnt","started":"2026-11-03T02:00:00Z","tool":"LNT","name":"report","attributes":{"end_time":"2026-11-03 03:00:00","llvm_project_revision":"0123456789abcdef0123456789abcdef01234567","source":{"file":"report.json","format":"lnt","sha256":"…"},"start_time":"2026-11-03 02:00:00"}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","version":{"commit":"0123456789abcdef0123456789abcdef01234567"},"metrics":{"code_size":{"unit":"B","better":"lower"},"compile_time":{"unit":"s","better":"lower"},"score":{"unit":"1","better":"higher"},"steps":{"unit":"1"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"Generic CPU"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"MultiSource/sort"},"block":0,"position":0,"attempt":0,"host":"builder-1","attributes":{"hash":"d41d8cd9"}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"code_size":4096.0,"compile_time":3.5,"wall_time":1.25}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":1.5}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"MultiSource/sort"},"block":0,"position":1,"attempt":0,"host":"builder-1"}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":1.375}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"SingleSource/fib"},"block":0,"position":2,"attempt":0,"host":"builder-1"}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"ok","metrics":{"score":24.5,"steps":12.0}}
    kept in attributes of the instance: hash
    "##);
}

#[test]
fn a_broken_file_is_named() {
    let broken = [
        refusal("lnt/truncated.json"),
        refusal("lnt/wrong.json"),
        refusal_of("lnt", "{\"machine\": {}, \"run\": {}, \"tests\": []}"),
        refusal_of("lnt", "{\"format_version\": \"2\"}"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @"
    truncated.json:12: the JSON is cut off
    wrong.json:12: `name` is missing
    made-up holds no results
    made-up:1: `machine` is missing
    ");
}
