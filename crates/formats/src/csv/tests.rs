use std::collections::BTreeSet;

use lapwing_model::Record;

use crate::shared::testing::{
    brief, imported, options, read_as, read_text, refusal, refusal_of, shown,
};
use crate::{BadLines, ColumnChoices, Source, format_named, read};

/// Returns what the columns of a text mean.
fn columns(text: &str) -> String {
    let used = read_as("csv", text).columns.expect("a table");
    match used.rivals.is_empty() {
        true => used.text,
        false => format!("{} or {}", used.text, used.rivals.join(", ")),
    }
}

#[test]
fn each_date_and_version_is_a_run_and_columns_of_numbers_are_metrics() {
    insta::assert_snapshot!(shown(&imported("csv/history.csv")), @r##"
    csv because its first line names columns, and the rows have numbers
    {"v":1,"kind":"session","id":"#0","suite":"csv","started":"2026-11-01T02:00:00Z","tool":"CSV","name":"history aaa0 main 2026-11-01 02:00:00","attributes":{"source":{"columns":"date=time, commit=commit, branch=branch, value=throughput, value=latency_p50","file":"history.csv","format":"csv","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","version":{"commit":"aaa0","branch":"main"},"metrics":{"latency_p50":{"unit":"1","better":"lower"},"throughput":{"unit":"1","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"history"},"block":0,"position":0,"attempt":0,"started":"2026-11-01T02:00:00Z"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"latency_p50":20.14,"throughput":1000.2}}
    {"v":1,"kind":"session","id":"#3","suite":"csv","started":"2026-11-02T02:00:00Z","tool":"CSV","name":"history aaa1 main 2026-11-02 02:00:00","attributes":{"source":{"columns":"date=time, commit=commit, branch=branch, value=throughput, value=latency_p50","file":"history.csv","format":"csv","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#4","session":"#3","variant":"default","version":{"commit":"aaa1","branch":"main"},"metrics":{"latency_p50":{"unit":"1","better":"lower"},"throughput":{"unit":"1","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#5","run":"#4","benchmark":{"id":"history"},"block":0,"position":0,"attempt":0,"started":"2026-11-02T02:00:00Z"}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"outcome":"ok","metrics":{"latency_p50":20.11,"throughput":997.7}}
    {"v":1,"kind":"session","id":"#6","suite":"csv","started":"2026-11-03T02:00:00Z","tool":"CSV","name":"history aaa2 main 2026-11-03 02:00:00","attributes":{"source":{"columns":"date=time, commit=commit, branch=branch, value=throughput, value=latency_p50","file":"history.csv","format":"csv","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#7","session":"#6","variant":"default","version":{"commit":"aaa2","branch":"main"},"metrics":{"latency_p50":{"unit":"1","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#8","run":"#7","benchmark":{"id":"history"},"block":0,"position":0,"attempt":0,"started":"2026-11-03T02:00:00Z"}
    {"v":1,"kind":"instance_end","instance":"#8","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#8","index":0,"burn_in":false,"outcome":"ok","metrics":{"latency_p50":20.12}}
    "##);
}

#[test]
fn parameters_tell_benchmarks_apart_and_figures_belong_to_the_score() {
    insta::assert_snapshot!(shown(&imported("csv/jmh.csv")), @r##"
    csv because its first line names columns, and the rows have numbers
    {"v":1,"kind":"session","id":"#0","suite":"csv","started":"2026-01-01T00:00:00Z","tool":"CSV","name":"jmh","attributes":{"source":{"columns":"benchmark=Benchmark, parameter=Param: n, value=Score, unit=Unit, statistic=Score Error (99.9%), count=Samples, attribute=Mode, attribute=Threads","file":"jmh.csv","format":"csv","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"throughput":{"unit":"1/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"org.example.Demo.sort[n=1000]","params":{"n":"1000"}},"block":0,"position":0,"attempt":0,"attributes":{"Mode":"avgt","Threads":"1"}}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":10,"centre":0.00001025,"statistic":"mean","score_error_99_9":4.0000000000000003e-7}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"org.example.Demo.sort[n=10000]","params":{"n":"10000"}},"block":0,"position":1,"attempt":0,"attributes":{"Mode":"avgt","Threads":"1"}}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","n":10,"centre":0.0000995,"statistic":"mean","score_error_99_9":1.5e-6}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"org.example.Demo.hash"},"block":0,"position":2,"attempt":0,"attributes":{"Mode":"thrpt","Threads":"1"}}
    {"v":1,"kind":"summary","instance":"#4","metric":"throughput","n":10,"centre":52000000.0,"statistic":"mean"}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    kept in attributes of the instance: Mode, Threads
    "##);
    insta::assert_snapshot!(shown(&imported("csv/hyperfine.csv")), @r##"
    csv because its first line names columns, and the rows have numbers
    {"v":1,"kind":"session","id":"#0","suite":"csv","started":"2026-01-01T00:00:00Z","tool":"CSV","name":"hyperfine","attributes":{"source":{"columns":"benchmark=command, value=mean [s], value=user [s], value=system [s], statistic=stddev, statistic=median, statistic=min, statistic=max","file":"hyperfine.csv","format":"csv","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"system":{"unit":"s","better":"lower"},"user":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sleep 0.01"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","centre":0.0125,"spread":0.0005,"statistic":"mean/sd","max":0.014,"median":0.0124,"min":0.012}
    {"v":1,"kind":"summary","instance":"#2","metric":"user","centre":0.001,"statistic":"mean"}
    {"v":1,"kind":"summary","instance":"#2","metric":"system","centre":0.002,"statistic":"mean"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"grep 'a, b' file"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":0.25,"spread":0.05,"statistic":"mean/sd","max":0.31,"median":0.24,"min":0.2}
    {"v":1,"kind":"summary","instance":"#3","metric":"user","centre":0.2,"statistic":"mean"}
    {"v":1,"kind":"summary","instance":"#3","metric":"system","centre":0.02,"statistic":"mean"}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    "##);
}

#[test]
fn rows_of_a_fork_are_its_iterations() {
    insta::assert_snapshot!(shown(&imported("csv/forks.csv")), @r##"
    csv because its first line names columns, and the rows have numbers
    {"v":1,"kind":"session","id":"#0","suite":"csv","started":"2026-01-01T00:00:00Z","tool":"CSV","name":"forks","attributes":{"source":{"columns":"benchmark=Benchmark, value=Zeit [ms], value=Peak memory (MiB), instance=Fork, iteration=Iteration, burn_in=Warmup, attribute=Bemerkung","file":"forks.csv","format":"csv","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"Peak memory":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sort \"small\"; up"},"block":0,"position":0,"attempt":0,"attributes":{"Bemerkung":"kalt"}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":true,"outcome":"ok","metrics":{"Peak memory":3145728.0,"wall_time":0.0125}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"Peak memory":3145728.0,"wall_time":0.01025}}
    {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.0105}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sort \"small\"; up"},"block":0,"position":1,"attempt":0,"attributes":{"Bemerkung":"kalt"}}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":true,"outcome":"ok","metrics":{"Peak memory":3145728.0,"wall_time":0.013}}
    {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"outcome":"ok","metrics":{"Peak memory":3145728.0,"wall_time":0.01075}}
    kept in attributes of the instance: Bemerkung
    "##);
}

#[test]
fn a_row_has_a_value_of_the_metric_and_unit_that_it_names() {
    insta::assert_snapshot!(shown(&imported("csv/long.tsv")), @r##"
    csv because its first line names columns, and the rows have numbers
    {"v":1,"kind":"session","id":"#0","suite":"csv","started":"2026-11-01T00:00:00Z","tool":"CSV","name":"long 101 2026-11-01 00:00:00","attributes":{"source":{"columns":"date=date, version=build, benchmark=test, parameter=engine, metric=metric, value=value, unit=unit, host=machine","file":"long.tsv","format":"csv","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","version":{"name":"101"},"metrics":{"memory":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"join[engine=hash]","params":{"engine":"hash"}},"block":0,"position":0,"attempt":0,"host":"m1","started":"2026-11-01T00:00:00Z"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"memory":12000000.0,"wall_time":1.5}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":1.6}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"join[engine=merge]","params":{"engine":"merge"}},"block":0,"position":1,"attempt":0,"host":"m1","started":"2026-11-01T00:00:00Z"}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":2.5}}
    {"v":1,"kind":"session","id":"#4","suite":"csv","started":"2026-11-02T00:00:00Z","tool":"CSV","name":"long 102 2026-11-02 00:00:00","attributes":{"source":{"columns":"date=date, version=build, benchmark=test, parameter=engine, metric=metric, value=value, unit=unit, host=machine","file":"long.tsv","format":"csv","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#5","session":"#4","variant":"default","version":{"name":"102"},"metrics":{"rows read":{"unit":"rows/s"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#6","run":"#5","benchmark":{"id":"join[engine=hash]","params":{"engine":"hash"}},"block":0,"position":0,"attempt":0,"host":"m1","started":"2026-11-02T00:00:00Z"}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":1.4}}
    {"v":1,"kind":"instance","id":"#7","run":"#5","benchmark":{"id":"scan[engine=hash]","params":{"engine":"hash"}},"block":0,"position":1,"attempt":0,"host":"m1","started":"2026-11-02T00:00:00Z"}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#7","index":0,"burn_in":false,"outcome":"ok","metrics":{"rows read":1000.0}}
    "##);
}

#[test]
fn columns_are_found_by_name_and_content() {
    let header_and_row = [
        "time,commit,metric1,metric2\n1609466400,aaa0,154023,10.43\n",
        "time,benchmark\n12.5,a\n",
        "id,fullname,duration,peak_memory\n30029,test_a,767.3,21.8\n",
        "item,mean_s,cv,instances\nb,11.41,0.18,15\n",
        "benchmark,params,date_ms,commit,seconds\na,10,1450231876000,f05047763b,0.00068\n",
        "project;commit;benchmark;instance;trial;fork;iteration;unit;value_count;value\n;00c7;a;0;0;0;0;ns/op;1;92.3\n",
        "engine,seconds\na,1\nb,2\n",
        "threads,time_ms\n1,10\n2,6\n",
        "test,value,score\na,1,2\n",
        "when,release,ops_per_second\nx,1.2,15\n",
        "Stand;Version;Testfall;Mittelwert (ms)\n5.11.2026;1.0;a;1.234,5\n6.11.2026;1.1;a;998,1\n",
        "d,name,seconds\n05/11/2026,a,1.5\n13/11/2026,a,1.5\n",
    ];
    insta::assert_snapshot!(header_and_row.map(columns).join("\n"), @"
    date=time, commit=commit, value=metric1, value=metric2
    benchmark=benchmark, value=time
    benchmark=fullname, value=duration, value=peak_memory, attribute=id
    benchmark=item, value=mean_s [s], statistic=cv, attribute=instances
    date=date_ms, commit=commit, benchmark=benchmark, parameter=params, value=seconds [s]
    commit=commit, benchmark=benchmark, value=value, unit=unit, instance=instance, instance=trial, instance=fork, iteration=iteration, attribute=project, attribute=value_count
    parameter=engine, value=seconds [s]
    parameter=threads, value=time_ms [ms]
    benchmark=test, value=value, attribute=score or score
    version=release, value=ops_per_second [1/s], attribute=when
    date=Stand, version=Version, benchmark=Testfall, value=Mittelwert (ms)
    date_dmy=d, benchmark=name, value=seconds [s]
    ");
}

#[test]
fn chosen_columns_come_first() {
    let text = "name,value,seconds,id\na,10,1.5,#1\na,20,1.25,#2\n";
    let source = Source::from_bytes("made-up", text.into()).expect("bytes");
    let mut options = options(BadLines::Refuse);
    options.format = format_named("csv");
    let mut with = |choices: &str| {
        options.columns = ColumnChoices::parse(choices).expect("choices");
        match read(&source, &options) {
            Ok(imported) => imported.columns.expect("a table").text,
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(
        with(""),
        "benchmark=name, parameter=id, value=value, attribute=seconds"
    );
    assert_eq!(
        with("value=Seconds, parameter=value,attribute=#4"),
        "benchmark=name, parameter=value, value=seconds [s], attribute=id"
    );
    assert_eq!(
        with("value=second"),
        "made-up:1: there is no column `second`, only `name`, `value`, `seconds`, `id`"
    );
    let refused = ["values=seconds", "seconds", "unit=a,unit=b"].map(ColumnChoices::parse);
    insta::assert_snapshot!(refused.map(|it| it.expect_err("wrong")).join("\n"), @"
    `values` is not one of date, version, commit, branch, session, benchmark, parameter, metric, value, unit, statistic, count, host, variant, instance, iteration, burn_in, attribute, date_dmy, date_mdy, value_point, value_comma, factor
    `seconds` is not MEANING=COLUMN
    `unit` can only be one column
    ");
}

/// Returns the ids of the benchmarks of a table.
fn benchmarks(text: &str) -> BTreeSet<String> {
    let records = read_as("csv", text).records;
    let ids = records.into_iter().filter_map(|record| match record {
        Record::Instance(instance) => Some(instance.benchmark.id),
        _ => None,
    });
    ids.collect()
}

/// Returns a table of sixty nights, with these rows each night: benchmark, seconds and the rest.
fn nights(header: &str, rows: impl Fn(usize) -> Vec<String>) -> String {
    let mut text = format!("date,benchmark,seconds,{header}\n");
    for night in 0..60 {
        let date = format!("2026-{:02}-{:02}", 1 + night / 28, 1 + night % 28);
        for row in rows(night) {
            text.push_str(&format!("{date},{row}\n"));
        }
    }
    text
}

#[test]
fn what_differs_on_some_nights_only_is_no_parameter() {
    let names = |expected: &[&str]| expected.iter().map(|&it| it.to_owned()).collect();
    // A remark on some rows of some nights.
    let remarks = nights("note", |night| {
        let note = if night % 13 == 5 {
            "rebooted before"
        } else {
            ""
        };
        vec![
            "sort,1.5,".to_owned(),
            format!("sort,1.25,{note}"),
            "scan,2,".to_owned(),
        ]
    });
    assert_eq!(benchmarks(&remarks), names(&["sort", "scan"]));
    // Another pool for the second row of some nights, and another one for all of some nights.
    let pools = nights("pool", |night| {
        let (first, second) = (
            ["a", "b"][night % 2],
            ["a", "b"][usize::from(night % 7 == 3)],
        );
        vec![
            format!("sort,1.5,{first}"),
            format!("sort,1.25,{first}"),
            format!("scan,2,{second}"),
        ]
    });
    assert_eq!(benchmarks(&pools), names(&["sort", "scan"]));
    // Rows that are spread over machines by chance.
    let chance = nights("runner_image", |night| {
        let image = |row: usize| ["v1", "v2"][(night * 7 + row * 5 + night * row) % 11 % 2];
        (0..3)
            .map(|row| format!("sort,1.{row},{}", image(row)))
            .collect()
    });
    assert_eq!(benchmarks(&chance), names(&["sort"]));
    // Settings that come back together, one of them since night 40, one missing now and then.
    let engines = nights("engine", |night| {
        let mut rows = vec!["join,1.5,hash".to_owned(), "join,1.25,merge".to_owned()];
        if night % 20 == 7 {
            rows.pop();
        }
        if night >= 40 {
            rows.push("join,1,adaptive".to_owned());
        }
        rows.push("scan,2,".to_owned());
        rows
    });
    let joins = [
        "join[engine=hash]",
        "join[engine=merge]",
        "join[engine=adaptive]",
        "scan",
    ];
    assert_eq!(benchmarks(&engines), names(&joins));
    // Each row has a time of its own.
    let timed = nights("engine,at", |_| {
        vec!["join,1.5,hash,1".to_owned(), "join,1.25,merge,2".to_owned()]
    });
    let timed = timed
        .replace(",join,1.25", "T00:10:00Z,join,1.25")
        .replace(",join,1.5", "T00:05:00Z,join,1.5");
    let joins = ["join[engine=hash]", "join[engine=merge]"];
    assert_eq!(benchmarks(&timed), names(&joins));
    // Without runs, settings are spread evenly and remarks are not.
    let one_run = |notes: &[&str]| {
        let rows: String = notes
            .iter()
            .map(|note| format!("sort,1.5,{note}\n"))
            .collect();
        benchmarks(&format!("name,seconds,how\n{rows}"))
    };
    assert_eq!(one_run(&["a", "b", "a", "b", "a"]).len(), 2);
    assert_eq!(one_run(&["", "", "", "", "", "", "", "", "loud"]).len(), 1);
}

#[test]
fn a_number_that_can_be_read_in_two_ways_is_told() {
    let unclear = |text: &str| {
        let used = read_as("csv", text).columns.expect("a table");
        let unclear = used.unclear.iter();
        let told = unclear.map(|it| format!("{} as {} or {}", it.cell, it.taken, it.otherwise));
        (used.text, told.collect::<Vec<_>>().join(", "))
    };
    let (text, told) =
        unclear("date;test;ms\n2026-11-01;a;1.234\n2026-11-02;a;1.240\n2026-11-03;a;998\n");
    assert_eq!(text, "date=date, benchmark=test, value_comma=ms");
    assert_eq!(told, "1.234 as 1234 or value_point");
    let (_, told) = unclear("date;test;ms;load\n2026-11-01;a;1.234;0,5\n2026-11-02;a;998;0,25\n");
    assert_eq!(told, "");
    let source = Source::from_bytes("x", "test;ms\na;1.234\nb;998\n".into()).expect("bytes");
    let mut options = options(BadLines::Refuse);
    options.format = format_named("csv");
    for (choice, value) in [("value_point=ms", "0.001234"), ("value_comma=ms", "1.234")] {
        options.columns = ColumnChoices::parse(choice).expect("choices");
        let read = read(&source, &options).expect("a table");
        assert!(
            shown(&read).contains(&format!("\"wall_time\":{value}}}")),
            "{choice}"
        );
        assert!(read.columns.expect("a table").unclear.is_empty());
    }
}

#[test]
fn a_file_that_grows_adds_only_its_new_runs() {
    let sessions = |text: &str| read_text("csv", text).sessions;
    for header in ["date,commit,s", "build,commit,s"] {
        let rows = ["2026-11-01,a,1.5", "2026-11-01,b,1.25", "2026-11-02,c,1.5"];
        let first = sessions(&format!("{header}\n{}\n{}\n", rows[0], rows[1]));
        let grown = sessions(&format!("{header}\n{}\n", rows.join("\n")));
        assert!(first.is_subset(&grown), "{header}");
    }
}

#[test]
fn the_benchmark_of_a_nightly_file_is_its_name_without_the_date() {
    let named = [
        "load-2026-11-05",
        "20261105_load",
        "load_2026-11-05T03:00:00Z",
        "2026-11-05",
        "v2",
    ];
    assert_eq!(
        named.map(super::undated),
        ["load", "load", "load", "2026-11-05", "v2"]
    );
}

#[test]
fn what_cannot_be_used_is_named() {
    let broken = [
        refusal("csv/truncated.csv"),
        refusal("csv/wrong.csv"),
        refusal_of("csv", "2026-11-01,aaa0,1.5\n2026-11-02,aaa1,1.25\n"),
        refusal_of("csv", "date,commit\n2026-11-01,aaa0\n"),
        refusal_of("csv", "date,seconds\n2026-11-01,\n"),
        refusal_of("csv", "test,seconds\n"),
        refusal_of(
            "csv",
            "d,name,seconds\n05/11/2026,a,1.5\n06/11/2026,a,1.5\n",
        ),
        refusal_of("csv", "date,time (ms)\n2026-11-01,12 ms\n"),
        refusal_of("csv", "date,test,seconds\n05/11/26,a,1.5\n"),
        refusal_of("csv", "date,test,seconds\n\"Nov 5, 2026\",a,1.5\n"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @r#"
    truncated.csv:3: the row has 3 columns where the first line has 4
    wrong.csv:3: `seconds` is not a number: "fast"
    made-up:1: the first line has to name the columns, and `2026-11-01` is no name: put a line such as `date,commit,benchmark,seconds` before it
    made-up:1: no column has measured values: all of them are texts, dates or numbers of something
    made-up:1: no column has measured values: all of them are texts, dates or numbers of something
    made-up holds no results
    made-up:1: `05/11/2026` in column `d` may begin with the day or with the month: say `--columns date_dmy=d` or `--columns date_mdy=d`
    made-up:1: no column has measured values: `time (ms)` has texts such as "12 ms"
    made-up:1: `05/11/26` in column `date` is no date that can be read, such as 2026-11-05 or 5.11.2026
    made-up:1: `Nov 5, 2026` in column `date` is no date that can be read, such as 2026-11-05 or 5.11.2026
    "#);
    let source =
        std::fs::read(crate::shared::testing::fixture("csv/wrong.csv")).expect("a fixture");
    let source = Source::from_bytes("wrong.csv", source).expect("bytes");
    let kept = read(&source, &options(BadLines::Skip)).expect("some are good");
    insta::assert_snapshot!(shown(&kept), @r##"
    csv because its first line names columns, and the rows have numbers
    {"v":1,"kind":"session","id":"#0","suite":"csv","started":"2026-11-01T00:00:00Z","tool":"CSV","name":"wrong aaa0 2026-11-01 00:00:00","attributes":{"source":{"columns":"date=date, commit=commit, benchmark=test, value=seconds [s]","file":"wrong.csv","format":"csv","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","version":{"commit":"aaa0"},"metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"join"},"block":0,"position":0,"attempt":0,"started":"2026-11-01T00:00:00Z"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":1.5}}
    {"v":1,"kind":"session","id":"#3","suite":"csv","started":"2026-11-02T00:00:00Z","tool":"CSV","name":"wrong aaa1 2026-11-02 00:00:00","attributes":{"source":{"columns":"date=date, commit=commit, benchmark=test, value=seconds [s]","file":"wrong.csv","format":"csv","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#4","session":"#3","variant":"default","version":{"commit":"aaa1"},"metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#5","run":"#4","benchmark":{"id":"join"},"block":0,"position":0,"attempt":0,"started":"2026-11-02T00:00:00Z"}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":1.5}}
    left, as the row has no value: line 7
    bad line 3: `seconds` is not a number: "fast"
    bad line 4: `date` is not a time: "yesterday"
    bad line 6: the row has 5 columns where the first line has 4
    bad line 8: `wall_time` of `join` is negative: -1.5
    bad line 9: the benchmark has no name
    "##);
}

#[test]
fn a_unit_is_that_of_the_times_and_not_of_counts() {
    let text = "name,iterations,real_time,cpu_time,time_unit,allocations\n\
        a,1000,12.5,12.4,ns,3\n\
        b,10,22.5,22.4,us,4\n";
    insta::assert_snapshot!(brief(&read_as("csv", text)), @r#"
    a 
      Ok {"allocations": 3.0, "cpu_time": 1.24e-8, "wall_time": 1.25e-8}
    b 
      Ok {"allocations": 4.0, "cpu_time": 2.24e-5, "wall_time": 2.25e-5}
    kept in attributes of the instance: iterations
    "#);
    insta::assert_snapshot!(columns(text), @"benchmark=name, value=real_time, value=cpu_time, value=allocations, unit=time_unit, attribute=iterations");
    let text = "name,iterations,real_time,time_unit\na,1000,12.5,ns\nb,10,22.5,us\n";
    insta::assert_snapshot!(columns(text), @"benchmark=name, value=real_time, unit=time_unit, count=iterations");
}

#[test]
fn decimal_commas_are_those_of_a_column() {
    let text = "date;version;test;time (ms);rate\n2026-10-01;1.0;a;1.120,11;1.5\n2026-10-02;1.1;a;121,22;2\n";
    let read = shown(&read_text("csv", text));
    for value in [
        "\"rate\":1.5,\"wall_time\":1.12011",
        "\"rate\":2.0,\"wall_time\":0.12122",
    ] {
        assert!(read.contains(value), "{read}");
    }
}

#[test]
fn other_texts_are_no_tables() {
    for text in [
        "Hello, world\nthis is, text\n",
        "{\"a\": 1, \"b\": 2}\n",
        "name,colour\na,red\n",
        "1,2\n3,4\n",
        "foo,bar\nx,1\n",
    ] {
        assert_eq!(super::looks_like(text.as_bytes()), None, "{text}");
    }
    for table in [
        "date;value\n2026-11-01;1,5\n",
        "d,seconds\n05/11/2026,1.5\n",
        "d;version;seconds\n5.11.2026;1.0;1,5\n",
    ] {
        assert!(super::looks_like(table.as_bytes()).is_some(), "{table}");
    }
}

#[test]
fn tables_of_markdown_and_blanks_and_without_names_are_read() {
    let told = |text: &str| {
        let source = Source::from_bytes("made-up", text.into()).expect("bytes");
        let read = read(&source, &options(BadLines::Refuse));
        read.map(|it| {
            format!(
                "{}\n{}",
                it.columns.clone().expect("a table").text,
                brief(&it)
            )
        })
        .unwrap_or_else(|error| error.to_string())
    };
    let markdown = "| Command | Mean [ms] | Min [ms] | Relative |\n|:---|---:|---:|---:|\n\
        | `sleep 0.1` | 102.5 ± 0.4 | 101.9 | 1.00 |\n| `sleep 0.2` | 202.5 ± 0.4 | 201.9 | 1.98 ± 0.01 |\n";
    let aligned = "benchmark      time (ms)   peak memory (MiB)\n-----------  -----------  ------------------\n\
        sort small          12.5                 3.5\nsort large         112.5                13.5\n";
    let narrow = "test seconds\nsort 1.5\nscan 2.5\n";
    let no_names = "sort,1.5,ms\nscan,2.5,us\n";
    let no_units = "sort;1,5\nscan;2,5\n";
    let blanks = "sort 1.5 ms\nscan 2.5 us\n";
    let others = "NAME   RESTARTS\npod-1  3\npod-2  0\n";
    let counts = "total 48\nused 12\n";
    let texts = [
        markdown, aligned, narrow, no_names, no_units, blanks, others, counts,
    ];
    insta::assert_snapshot!(texts.map(told).join("\n\n"), @r#"
    benchmark=Command, value=Mean [ms], value=Relative, statistic=Min [ms]
    `sleep 0.1` 
      wall_time ~ 0.1025
      Relative ~ 1
    `sleep 0.2` 
      wall_time ~ 0.2025
      Relative ~ 1.98


    benchmark=benchmark, value=time (ms), value=peak memory (MiB)
    sort small 
      Ok {"peak memory": 3670016.0, "wall_time": 0.0125}
    sort large 
      Ok {"peak memory": 14155776.0, "wall_time": 0.1125}


    benchmark=test, value=seconds [s]
    sort 
      Ok {"wall_time": 1.5}
    scan 
      Ok {"wall_time": 2.5}


    benchmark=name, value=value, unit=unit
    sort 
      Ok {"wall_time": 0.0015}
    scan 
      Ok {"wall_time": 2.5e-6}


    benchmark=name, value=value
    sort 
      Ok {"value": 1.5}
    scan 
      Ok {"value": 2.5}


    benchmark=name, value=value, unit=unit
    sort 
      Ok {"wall_time": 0.0015}
    scan 
      Ok {"wall_time": 2.5e-6}


    made-up is in none of the formats that can be imported: it does not look like csv, but 2 results can be read as that

    made-up is in none of the formats that can be imported: it does not look like csv, but 2 results can be read as that
    "#);
}
