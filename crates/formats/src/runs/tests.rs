use crate::runs::levels;
use crate::shared::testing::{imported, options, read_text, refusal, refusal_of, shown};
use crate::{BadLines, Source, format_named, read};
use lapwing_model::{Level, Record};
use proptest::prelude::*;

#[test]
fn a_setting_is_a_run_and_a_row_is_an_instance() {
    insta::assert_snapshot!(shown(&imported("runs/parsl.csv")), @r##"
    runs because its first line has `unix_time`, and its last column a unit
    {"v":1,"kind":"session","id":"#0","suite":"runs","started":"2024-10-27T03:33:20Z","tool":"runs of a study (CSV)","name":"parsl","attributes":{"source":{"file":"parsl.csv","format":"runs","sha256":"…"},"study":{"factors":[{"name":"cfg_no_init_logging"},{"name":"cfg_prefetch_100"},{"name":"cfg_encrypted"}]}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","factors":{"cfg_encrypted":false,"cfg_no_init_logging":false,"cfg_prefetch_100":false},"metrics":{"time_per_task":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"parsl"},"block":0,"position":0,"attempt":0,"started":"2024-10-27T03:33:20Z"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"time_per_task":0.001182}}
    {"v":1,"kind":"run","id":"#3","session":"#0","variant":"default","factors":{"cfg_encrypted":false,"cfg_no_init_logging":true,"cfg_prefetch_100":false},"metrics":{"time_per_task":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#4","run":"#3","benchmark":{"id":"parsl"},"block":0,"position":1,"attempt":0,"started":"2024-10-27T03:34:20.5Z"}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"ok","metrics":{"time_per_task":0.0006049}}
    {"v":1,"kind":"run","id":"#5","session":"#0","variant":"default","factors":{"cfg_encrypted":false,"cfg_no_init_logging":false,"cfg_prefetch_100":true},"metrics":{"time_per_task":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#6","run":"#5","benchmark":{"id":"parsl"},"block":0,"position":2,"attempt":0,"started":"2024-10-27T03:35:21Z"}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"outcome":"ok","metrics":{"time_per_task":0.00106125}}
    {"v":1,"kind":"run","id":"#7","session":"#0","variant":"default","factors":{"cfg_encrypted":true,"cfg_no_init_logging":true,"cfg_prefetch_100":true},"metrics":{"time_per_task":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#8","run":"#7","benchmark":{"id":"parsl"},"block":0,"position":3,"attempt":0,"started":"2024-10-27T03:36:22Z"}
    {"v":1,"kind":"instance_end","instance":"#8","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#8","index":0,"burn_in":false,"outcome":"ok","metrics":{"time_per_task":0.000563}}
    {"v":1,"kind":"instance","id":"#9","run":"#3","benchmark":{"id":"parsl"},"block":0,"position":4,"attempt":0,"started":"2024-10-27T03:37:22.75Z"}
    {"v":1,"kind":"instance_end","instance":"#9","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#9","index":0,"burn_in":false,"outcome":"ok","metrics":{"time_per_task":0.00061}}
    "##);
}

#[test]
fn levels_bases_units_and_directions_are_kept() {
    insta::assert_snapshot!(shown(&imported("runs/levels.csv")), @r##"
    runs because its first line has `unix_time`, and its last column a unit
    {"v":1,"kind":"session","id":"#0","suite":"runs","started":"2024-10-27T03:33:20Z","tool":"runs of a study (CSV)","name":"levels","attributes":{"source":{"file":"levels.csv","format":"runs","sha256":"…"},"study":{"factors":[{"levels":[4],"name":"workers"},{"name":"python"},{"name":"affinity"}]}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","factors":{"affinity":false,"python":"3.14t","workers":2},"metrics":{"score":{"unit":"points","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"levels"},"block":0,"position":0,"attempt":0,"started":"2024-10-27T03:33:20Z"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"score":10.0}}
    {"v":1,"kind":"run","id":"#3","session":"#0","variant":"default","factors":{"affinity":false,"python":"3.13","workers":4},"metrics":{"score":{"unit":"points","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#4","run":"#3","benchmark":{"id":"levels"},"block":0,"position":1,"attempt":0,"started":"2024-10-27T03:34:20Z"}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"ok","metrics":{"score":17.5}}
    {"v":1,"kind":"run","id":"#5","session":"#0","variant":"default","factors":{"affinity":true,"python":"3.13","workers":8},"metrics":{"score":{"unit":"points","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#6","run":"#5","benchmark":{"id":"levels"},"block":0,"position":2,"attempt":0,"started":"2024-10-27T03:35:20Z"}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"outcome":"ok","metrics":{"score":21.0}}
    "##);
}

#[test]
fn a_broken_table_is_refused_with_line_and_column() {
    let broken = [
        refusal("runs/truncated.csv"),
        refusal("runs/wrong.csv"),
        refusal_of("runs", "a;unix_time;cost\n1;soon;3\n"),
        refusal_of("runs", "a;cost\n"),
        refusal_of("runs", "unix_time;cost\n1;2\n"),
        refusal_of("runs", "a;a;cost\n1;0;3\n"),
        refusal_of("runs", "a;;cost\n1;0;3\n"),
        refusal_of("runs", "a;usec\n1;-3\n"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @"
    truncated.csv:6: the row has 4 columns where the first line has 5
    wrong.csv:3: `usec_per_task` is the cost, because it is the last column beside the time, and `fast` is no number
    made-up:2: `unix_time` is neither a Unix time stamp nor a date with a time: `soon`
    made-up holds no results
    made-up:1: the first line needs a column per factor, and the cost as the last column beside the time
    made-up:1: there are two columns `a`
    made-up:1: column 2 has no name
    made-up:2: `time` of `made-up` is negative: -0.000003
    ");
}

#[test]
fn a_table_without_signs_has_to_be_named() {
    let texts = [
        "a,b,cost\n1,0,3\n",
        "a,unix_time,cost\n1,0,3\n",
        "a,timestamp,ms\n1,0,3\n",
    ];
    for text in texts {
        let source = Source::from_bytes("r.csv", text.into()).expect("bytes");
        let refused = read(&source, &options(BadLines::Refuse)).expect_err("not detected");
        assert!(
            refused.to_string().contains("none of the formats"),
            "{refused}"
        );
        assert_eq!(read_text("runs", text).sessions.len(), 1);
    }
}

#[test]
fn benchmark_and_variant_are_those_that_were_named() {
    let source = Source::from_bytes("r.csv", b"a;ms\n1;3\n".to_vec()).expect("bytes");
    let mut options = options(BadLines::Refuse);
    options.format = format_named("runs");
    options.trace.benchmark = Some("perf".to_owned());
    options.trace.variant = Some("laptop".to_owned());
    let imported = read(&source, &options).expect("good");
    let named = imported.records.iter().filter_map(|record| match record {
        Record::Run(run) => Some(run.variant.as_str()),
        Record::Instance(instance) => Some(instance.benchmark.id.as_str()),
        _other => None,
    });
    assert_eq!(named.collect::<Vec<&str>>(), ["laptop", "perf"]);
}

#[test]
fn columns_are_treatments_numbers_or_texts() {
    assert_eq!(
        levels(&["1", "", "true"]),
        [true, false, true].map(Level::Bool)
    );
    assert_eq!(
        levels(&["0", "10", "2.5"]),
        [Level::Integer(0), Level::Integer(10), Level::Number(2.5)]
    );
    assert_eq!(
        levels(&["3", "3.14t"]),
        ["3", "3.14t"].map(|it| Level::Text(it.to_owned()))
    );
}

proptest! {
    #[test]
    fn the_separator_makes_no_difference(rows in proptest::collection::vec((0..2_u8, 1..9_i32, -1e9..1e9_f64), 1..20)) {
        let values = |separator: &str| {
            let head = ["a", "workers", "unix_time", "price (EUR)"].join(separator);
            let rows = rows.iter().enumerate().map(|(at, (a, workers, cost))| {
                [a.to_string(), workers.to_string(), at.to_string(), cost.to_string()].join(separator)
            });
            let text: Vec<String> = std::iter::once(head).chain(rows).collect();
            let read = read_text("runs", &text.join("\n"));
            let costs = read.records.into_iter().filter_map(|record| match record {
                Record::Iteration(it) => it.metrics.get("price").copied(),
                _other => None,
            });
            costs.collect::<Vec<f64>>()
        };
        let costs: Vec<f64> = rows.iter().map(|(_, _, cost)| *cost).collect();
        for separator in [";", ",", "\t"] {
            prop_assert_eq!(values(separator), costs.clone());
        }
    }
}
