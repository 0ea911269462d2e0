use crate::shared::testing::{fixture, imported, options, refusal, refusal_of, shown};
use crate::{BadLines, Source, read};

#[test]
fn engines_are_variants_and_their_errors_are_failures() {
    insta::assert_snapshot!(shown(&imported("rebar/2026-11-20/matchers.csv")), @r##"
        rebar because its first line has `name`, `model` and `engine`
        {"v":1,"kind":"session","id":"#0","suite":"rebar","started":"2026-01-01T00:00:00Z","tool":"rebar 0.0.1 (rev 0123456789)","name":"matchers","attributes":{"source":{"file":"matchers.csv","format":"rebar","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"engine-a","version":{"name":"1.2.3"},"metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"demo/literal","params":{"haystack_len":1000000,"model":"count"},"tags":["count"]},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":45000,"centre":0.00010025,"spread":5e-7,"statistic":"median/mad","max":0.0001304,"mean":0.0001009,"min":0.000098,"sd":2.1000000000000002e-6,"total":4.5}
        {"v":1,"kind":"summary","instance":"#2","metric":"bytes_per_second","n":45000,"centre":9975062344.13965,"statistic":"median"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"run","id":"#3","session":"#0","variant":"engine-b","version":{"name":"0.9.0 2026-01-02"},"metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#4","run":"#3","benchmark":{"id":"demo/literal","params":{"haystack_len":1000000,"model":"count"},"tags":["count"]},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","n":900,"centre":0.005,"spread":1.2e-8,"statistic":"median/mad","max":0.00535,"mean":0.00501,"min":0.004900000000000001,"sd":0.00010131,"total":4.51}
        {"v":1,"kind":"summary","instance":"#4","metric":"bytes_per_second","n":900,"centre":200000000.0,"statistic":"median"}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"run","id":"#5","session":"#0","variant":"engine-c","version":{"name":"2.0.0"},"metrics":{}}
        {"v":1,"kind":"instance","id":"#6","run":"#5","benchmark":{"id":"demo/literal","params":{"model":"count"},"tags":["count"]},"block":0,"position":2,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#6","outcome":"failed","message":"got count 3, but expected 4"}
        {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"demo/compile","params":{"model":"compile"},"tags":["compile"]},"block":0,"position":3,"attempt":0}
        {"v":1,"kind":"summary","instance":"#7","metric":"wall_time","n":120000,"centre":0.0000372,"spread":3.1e-7,"statistic":"median/mad","max":0.000061,"mean":0.000037409999999999996,"min":0.000036,"sd":1.2e-6,"total":4.5}
        {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#8","run":"#3","benchmark":{"id":"demo/quoted \"name\"","params":{"model":"grep"},"tags":["grep"]},"block":0,"position":4,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#8","outcome":"failed","message":"timeout: 1m"}
        "##);
}

#[test]
fn the_folder_has_the_date() {
    let path = fixture("rebar/2026-11-20/matchers.csv");
    let source = Source::open(&path, &std::env::temp_dir()).expect("it opens");
    let imported = read(&source, &options(BadLines::Refuse)).expect("good");
    let session = imported.session.expect("one session");
    assert_eq!(session.started.to_string(), "2026-11-20T00:00:00Z");
}

#[test]
fn a_broken_row_is_named() {
    let header = "name,model,rebar_version,engine,engine_version,err,iters,median";
    let broken = [
        refusal("rebar/truncated.csv"),
        refusal("rebar/wrong.csv"),
        refusal("rebar/negative.csv"),
        refusal_of("rebar", &format!("{header}\na,count,1,b,2,,many,3.00ns\n")),
        refusal_of("rebar", &format!("{header}\na,count,1,b,2,,3,\n")),
        refusal_of("rebar", &format!("{header}\n,count,1,b,2,,3,1.00s\n")),
        refusal_of("rebar", "name,model\na,b\n"),
        refusal_of("rebar", &format!("{header}\n")),
    ];
    insta::assert_snapshot!(broken.join("\n"), @r#"
        truncated.csv:4: the row has 5 columns where the first line has 15
        wrong.csv:3: `median` is not a duration: "5.00 parsecs"
        negative.csv:5: `median` is negative: -37.20us
        made-up:2: `iters` is not a whole number: "many"
        made-up:2: `median` is empty where there is no `err`
        made-up:2: the benchmark has no name
        made-up:1: there is no column `engine`
        made-up holds no results
        "#);
}
