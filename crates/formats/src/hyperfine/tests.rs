use crate::shared::testing::{fate_of_a_key, imported, read_text, refusal, refusal_of, shown};
use lapwing_model::RecordKind;

#[test]
fn two_commands_are_two_instances() {
    insta::assert_snapshot!(shown(&imported("hyperfine-1.15/two-commands.json")), @r##"
        hyperfine because it has `results` with a `command`
        {"v":1,"kind":"session","id":"#0","suite":"hyperfine","started":"2026-01-01T00:00:00Z","tool":"hyperfine","name":"two-commands","attributes":{"source":{"each_run":"iteration","file":"two-commands.json","format":"hyperfine","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"system_time":{"unit":"s","better":"lower"},"user_time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"gzip --version"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"user_time","n":5,"centre":0.0007412,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#2","metric":"system_time","n":5,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.001438496}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.000794705}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.015972623000000002}}
        {"v":1,"kind":"iteration","instance":"#2","index":3,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.020199794}}
        {"v":1,"kind":"iteration","instance":"#2","index":4,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.029444996}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sleep 0.01"},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#3","metric":"user_time","n":5,"centre":0.0007643999999999999,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#3","metric":"system_time","n":5,"centre":0.00018899999999999999,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.011047838}}
        {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.053284874}}
        {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.01210863}}
        {"v":1,"kind":"iteration","instance":"#3","index":3,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.026687114}}
        {"v":1,"kind":"iteration","instance":"#3","index":4,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.041928031000000004}}
        left, as they follow from the samples: max, mean, median, min, stddev
        "##);
}

#[test]
fn one_name_for_several_parameters_gets_them_in_brackets() {
    insta::assert_snapshot!(shown(&imported("hyperfine-1.15/parameters.json")), @r##"
        hyperfine because it has `results` with a `command`
        {"v":1,"kind":"session","id":"#0","suite":"hyperfine","started":"2026-01-01T00:00:00Z","tool":"hyperfine","name":"parameters","attributes":{"source":{"each_run":"iteration","file":"parameters.json","format":"hyperfine","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"system_time":{"unit":"s","better":"lower"},"user_time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"compress[level=1]","params":{"level":"1"}},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"user_time","n":3,"centre":0.001064,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#2","metric":"system_time","n":3,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.018290906000000003}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.003143283}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.001034924}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"compress[level=2]","params":{"level":"2"}},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#3","metric":"user_time","n":3,"centre":0.0009873333333333333,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#3","metric":"system_time","n":3,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.001014633}}
        {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.001452476}}
        {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.001095334}}
        left, as they follow from the samples: max, mean, median, min, stddev
        "##);
}

#[test]
fn an_exit_code_is_a_failure() {
    insta::assert_snapshot!(shown(&imported("hyperfine-1.15/failures.json")), @r##"
        hyperfine because it has `results` with a `command`
        {"v":1,"kind":"session","id":"#0","suite":"hyperfine","started":"2026-01-01T00:00:00Z","tool":"hyperfine","name":"failures","attributes":{"source":{"each_run":"iteration","file":"failures.json","format":"hyperfine","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"system_time":{"unit":"s","better":"lower"},"user_time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"false"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"user_time","n":4,"centre":0.0006742499999999999,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#2","metric":"system_time","n":4,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"failed","message":"exit code 1","metrics":{"wall_time":0.0017514470000000002},"attributes":{"exit_code":1}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"failed","message":"exit code 1","metrics":{"wall_time":0.0022030360000000002},"attributes":{"exit_code":1}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"failed","message":"exit code 1","metrics":{"wall_time":0.009224559},"attributes":{"exit_code":1}}
        {"v":1,"kind":"iteration","instance":"#2","index":3,"burn_in":false,"outcome":"failed","message":"exit code 1","metrics":{"wall_time":0.0022099660000000003},"attributes":{"exit_code":1}}
        left, as they follow from the samples: max, mean, median, min, stddev
        "##);
}

#[test]
fn an_unknown_key_is_kept() {
    let fate = |pointer: &str| fate_of_a_key("hyperfine-1.15/parameters.json", pointer);
    assert_eq!(fate(""), "kept in attributes of the session");
    assert_eq!(fate("/results/0"), "kept in attributes of the instance");
}

#[test]
fn times_that_are_no_numbers_are_missing_and_said_so() {
    let notes = read_text(
        "hyperfine",
        r#"{"results": [{"command": "a", "times": [1.0, NaN], "memory_usage_byte": [8, 9]},
{"command": "b", "times": [2.0], "memory_usage_byte": [Infinity]}]}"#,
    )
    .notes;
    let [note] = notes.as_slice() else {
        unreachable!("one note: {notes:?}");
    };
    assert_eq!(note.what, ["times", "memory_usage_byte"]);
    assert_eq!(note.why, "some of their values are NaN or infinite");
}

#[test]
fn as_many_exit_codes_and_peaks_as_times_or_none() {
    let with = |beside: &str| {
        let text = format!(r#"{{"results": [{{"command": "a", "times": [1, 2], {beside}}}]}}"#);
        refusal_of("hyperfine", &text)
    };
    insta::assert_snapshot!(with(r#""exit_codes": [0, 0, 1]"#), @"made-up:1: `exit_codes` of `a` has another length (3) than `times` (2)");
    insta::assert_snapshot!(with(r#""memory_usage_byte": [8]"#), @"made-up:1: `memory_usage_byte` of `a` has another length (1) than `times` (2)");
    let none = read_text(
        "hyperfine",
        r#"{"results": [{"command": "a", "times": [1], "exit_codes": [], "memory_usage_byte": []}]}"#,
    );
    assert_eq!(none.appended.of(RecordKind::Iteration).new, 1);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("hyperfine-1.15/truncated.json"), @"truncated.json:28: the JSON is cut off");
    insta::assert_snapshot!(refusal("hyperfine-1.15/wrong.json"), @r#"wrong.json:39: `times[2]`: invalid type: string "0.012 s", expected a number"#);
    insta::assert_snapshot!(refusal("hyperfine-1.15/negative.json"), @"negative.json:27: `times` of `sleep 0.01` is negative: -0.01210863");
}

#[test]
fn newer_versions_know_the_memory_of_each_run() {
    insta::assert_snapshot!(shown(&imported("hyperfine-1.20/two-commands.json")), @r##"
        hyperfine because it has `results` with a `command`
        {"v":1,"kind":"session","id":"#0","suite":"hyperfine","started":"2026-01-01T00:00:00Z","tool":"hyperfine","name":"two-commands","attributes":{"source":{"each_run":"iteration","file":"two-commands.json","format":"hyperfine","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"peak_memory":{"unit":"B","better":"lower"},"system_time":{"unit":"s","better":"lower"},"user_time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"gzip --version"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"user_time","n":4,"centre":0.0006344999999999999,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#2","metric":"system_time","n":4,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.01561001}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.00068062}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.000600212}}
        {"v":1,"kind":"iteration","instance":"#2","index":3,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.0005822420000000001}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sleep 0.01"},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#3","metric":"user_time","n":4,"centre":0.0010707499999999999,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#3","metric":"system_time","n":4,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.011158768000000001}}
        {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.011133102}}
        {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.03247537}}
        {"v":1,"kind":"iteration","instance":"#3","index":3,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.021094710000000003}}
        left, as they follow from the samples: max, mean, median, min, stddev
        "##);
    insta::assert_snapshot!(shown(&imported("hyperfine-1.20/parameters.json")), @r##"
        hyperfine because it has `results` with a `command`
        {"v":1,"kind":"session","id":"#0","suite":"hyperfine","started":"2026-01-01T00:00:00Z","tool":"hyperfine","name":"parameters","attributes":{"source":{"each_run":"iteration","file":"parameters.json","format":"hyperfine","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"peak_memory":{"unit":"B","better":"lower"},"system_time":{"unit":"s","better":"lower"},"user_time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"compress[level=1]","params":{"level":"1"}},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"user_time","n":3,"centre":0.0013353333333333331,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#2","metric":"system_time","n":3,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3100672.0,"wall_time":0.003051583}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3100672.0,"wall_time":0.008688133}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3100672.0,"wall_time":0.007874738000000001}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"compress[level=2]","params":{"level":"2"}},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#3","metric":"user_time","n":3,"centre":0.0011383333333333334,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#3","metric":"system_time","n":3,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3231744.0,"wall_time":0.001149244}}
        {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3231744.0,"wall_time":0.006633898}}
        {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3231744.0,"wall_time":0.001131948}}
        left, as they follow from the samples: max, mean, median, min, stddev
        "##);
    insta::assert_snapshot!(shown(&imported("hyperfine-1.20/failures.json")), @r##"
        hyperfine because it has `results` with a `command`
        {"v":1,"kind":"session","id":"#0","suite":"hyperfine","started":"2026-01-01T00:00:00Z","tool":"hyperfine","name":"failures","attributes":{"source":{"each_run":"iteration","file":"failures.json","format":"hyperfine","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"peak_memory":{"unit":"B","better":"lower"},"system_time":{"unit":"s","better":"lower"},"user_time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"false"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"user_time","n":3,"centre":0.0008023333333333333,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#2","metric":"system_time","n":3,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"failed","message":"exit code 1","metrics":{"peak_memory":3080192.0,"wall_time":0.0025985500000000003},"attributes":{"exit_code":1}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"failed","message":"exit code 1","metrics":{"peak_memory":3080192.0,"wall_time":0.005699099},"attributes":{"exit_code":1}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"failed","message":"exit code 1","metrics":{"peak_memory":3080192.0,"wall_time":0.007845518000000001},"attributes":{"exit_code":1}}
        left, as they follow from the samples: max, mean, median, min, stddev
        "##);
    insta::assert_snapshot!(refusal("hyperfine-1.20/truncated.json"), @"truncated.json:37: the JSON is cut off");
    insta::assert_snapshot!(refusal("hyperfine-1.20/wrong.json"), @r#"wrong.json:22: `memory_usage_byte[3]`: invalid type: string "2.9 MB", expected a number"#);
}
