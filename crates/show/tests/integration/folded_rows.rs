//! The rows that a comparison lists in a terminal, those that it folds, and the candidates that it puts in columns.

use crate::compared::compared;
use crate::synthetic::{Recipe, Sessions, measure};
use lapwing_analyse::clean::Audit;
use lapwing_analyse::judge::{CompareOptions, Comparison, Verdict};
use lapwing_show::answers::audit::AuditDetail;
use lapwing_show::answers::compare::CompareAnswer;
use lapwing_show::writing::{
    Answer, AnswerFormat, AnswerRequest, Extent, Note, PictureStyle, write_answer,
};

/// Returns comparisons of so many benchmarks by two metrics, of every verdict.
fn comparisons(benchmarks: u32) -> Vec<Comparison> {
    let mut sessions = Sessions::default();
    let data: Vec<_> = (0..benchmarks)
        .map(|number| {
            let recipe = Recipe {
                id: format!("it {number}"),
                sessions: 2,
                noise: (0.004, 0.004),
                ..Recipe::default()
            };
            measure(&recipe, &mut sessions)
        })
        .collect();
    compared(&data, &CompareOptions::default())
}

fn answer(names: &[&str], comparisons: Vec<Comparison>) -> CompareAnswer {
    CompareAnswer {
        names: names.iter().map(|it| (*it).to_owned()).collect(),
        each_baseline: false,
        comparisons,
        suites: Vec::new(),
        options: CompareOptions::default(),
        notes: Vec::new(),
        next: Vec::new(),
        control: None,
        audit: Audit::default(),
        detail: AuditDetail::Line,
    }
}

fn written(
    answer: &CompareAnswer,
    format: AnswerFormat,
    room: Option<usize>,
    full: bool,
) -> String {
    let extent = Extent {
        full,
        ..Extent::default()
    };
    let request = AnswerRequest {
        format,
        room,
        extent: &extent,
        command: &[],
        quiet: false,
        is_shown: false,
        pictures: PictureStyle::Never,
    };
    let mut text = Vec::new();
    write_answer(answer, request, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn text(answer: &CompareAnswer, room: usize) -> String {
    written(answer, AnswerFormat::Text, Some(room), false)
}

#[test]
fn what_is_unchanged_is_one_line_with_its_bound() {
    let answer = answer(&["before", "after"], comparisons(6));
    insta::assert_snapshot!(text(&answer, 200), @"
    after against before: 4 regressions, 2 improvements, 6 unchanged within 0.91 % (12 comparisons, FDR 5 %, no change: within 3 %)

     benchmark  metric        ratio  interval        verdict         baseline  candidate  instances
     it 1       wall_time    1.144×  [1.139, 1.148]  ✗ regression     1.022 s    1.169 s      5 / 5
     it 1       peak_memory  1.144×  [1.139, 1.148]  ✗ regression   29.24 MiB  33.44 MiB      5 / 5
     it 4       wall_time    1.047×  [1.037, 1.056]  ✗ regression      1.02 s    1.071 s      5 / 5
     it 4       peak_memory  1.047×  [1.037, 1.056]  ✗ regression    29.3 MiB   30.7 MiB      5 / 5
     it 3       wall_time    0.858×  [0.853, 0.863]  ✓ improvement    1.025 s    0.880 s      5 / 5
     it 3       peak_memory  0.858×  [0.853, 0.863]  ✓ improvement  29.32 MiB   25.2 MiB      5 / 5
     not shown: 6 unchanged within 0.91 % (`--full` shows them)

    note: it 1: the instances fall into groups, and with fewer than 10 per side the
    interval may be too narrow
    ");
    insta::assert_snapshot!(text(&answer, 80), @"
    after against before: 4 regressions, 2 improvements, 6 unchanged within 0.91 %
    (12 comparisons, FDR 5 %, no change: within 3 %)

     benchmark           ratio  interval        verdict         baseline  candidate
     it 1, wall_time    1.144×  [1.139, 1.148]  ✗ regression     1.022 s    1.169 s
     it 1, peak_memory  1.144×  [1.139, 1.148]  ✗ regression   29.24 MiB  33.44 MiB
     it 4, wall_time    1.047×  [1.037, 1.056]  ✗ regression      1.02 s    1.071 s
     it 4, peak_memory  1.047×  [1.037, 1.056]  ✗ regression    29.3 MiB   30.7 MiB
     it 3, wall_time    0.858×  [0.853, 0.863]  ✓ improvement    1.025 s    0.880 s
     it 3, peak_memory  0.858×  [0.853, 0.863]  ✓ improvement  29.32 MiB   25.2 MiB

    columns that do not fit: instances; `--format csv` has all
     not shown: 6 unchanged within 0.91 % (`--full` shows them)

    note: it 1: the instances fall into groups, and with fewer than 10 per side the
    interval may be too narrow
    ");
}

#[test]
fn no_format_for_programs_and_no_full_list_loses_a_folded_row() {
    let answer = answer(&["before", "after"], comparisons(6));
    let all = answer.comparisons.len();
    let full = written(&answer, AnswerFormat::Text, Some(200), true);
    assert!(!full.contains("not shown"), "{full}");
    let unchanged = full.lines().filter(|line| line.contains("= ")).count();
    assert!(unchanged > 3, "{full}");
    let json = written(&answer, AnswerFormat::Json, None, false);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["comparisons"].as_array().unwrap().len(), all);
    assert_eq!(json["omitted_rows"], 0);
    assert!(!json["notes"].to_string().contains("not_shown"), "{json}");
    let csv = written(&answer, AnswerFormat::Csv, None, false);
    assert_eq!(csv.lines().count(), 1 + all);
}

#[test]
fn a_row_or_two_without_a_change_are_not_folded() {
    let mut few = comparisons(3);
    few.retain(|it| it.subject.metric == "wall_time");
    let verdicts: Vec<Verdict> = few.iter().map(|it| it.verdict).collect();
    use Verdict::{Equivalent, Regression};
    assert_eq!(verdicts, [Equivalent, Regression, Equivalent]);
    let answer = answer(&["before", "after"], few);
    insta::assert_snapshot!(text(&answer, 200), @"
    after against before: 1 regression, 2 unchanged within 0.95 % (3 comparisons, FDR 5 %, no change: within 3 %)

     benchmark   ratio  interval        verdict                      baseline  candidate  instances
     it 1       1.144×  [1.140, 1.147]  ✗ regression                  1.022 s    1.169 s      5 / 5
     it 0       1.002×  [0.994, 1.009]  = no change, at most 0.95 %   1.026 s    1.027 s      5 / 5
     it 2       1.000×  [0.995, 1.005]  = no change, at most 0.5 %    1.026 s    1.027 s      5 / 5

    note: it 1: the instances fall into groups, and with fewer than 10 per side the
    interval may be too narrow
    ");
}

#[test]
fn an_undecided_metric_has_a_row_where_its_benchmark_has_no_other_news() {
    let of = |benchmark: &str, all: &[Comparison]| -> Vec<Comparison> {
        let mut own = all.to_vec();
        own.retain(|it| it.subject.benchmark == benchmark);
        own
    };
    let all = comparisons(6);
    let mut undecided = all[0].clone();
    undecided.verdict = Verdict::Inconclusive;
    // Three metrics without news, beside one that changed or not.
    let rows = |first: Verdict| {
        let mut rows = of(&undecided.subject.benchmark, &all);
        rows.truncate(1);
        for metric in ["system_time", "user_time", "waiting_time"] {
            let mut other = undecided.clone();
            other.subject.metric = metric.to_owned();
            rows.push(other);
        }
        rows[0].verdict = first;
        let text = text(&answer(&["before", "after"], rows), 200);
        let metrics = ["wall_time", "system_time", "user_time", "waiting_time"];
        metrics.map(|metric| text.contains(metric))
    };
    assert_eq!(rows(Verdict::Regression), [true, false, false, false]);
    let undecided = rows(Verdict::Inconclusive);
    assert_eq!(undecided.iter().filter(|is_shown| **is_shown).count(), 1);
}

#[test]
fn several_candidates_are_columns_where_they_fit() {
    let mut of_two = comparisons(6);
    of_two.retain(|it| it.subject.metric == "wall_time");
    let mut rows = Vec::new();
    for (place, candidate) in ["arrow", "threads", "both"].into_iter().enumerate() {
        let mut own = of_two.clone();
        // Each has the regression, but at another benchmark.
        let names: Vec<String> = own.iter().map(|it| it.subject.benchmark.clone()).collect();
        for (at, it) in own.iter_mut().enumerate() {
            it.candidate = candidate.to_owned();
            it.subject.benchmark = names[(at + place) % names.len()].clone();
        }
        rows.extend(own);
    }
    let answer = answer(&["before", "arrow", "threads", "both"], rows);
    insta::assert_snapshot!(text(&answer, 200), @"
    arrow, threads, both against before: 6 regressions, 3 improvements, 9 unchanged within 0.91 % (18 comparisons, FDR 5 %, no change: within 3 %)

     benchmark   before  arrow                    threads                  both                         instances
     it 1       1.022 s  ✗ 1.144× [1.139, 1.148]  = 1.002× [0.994, 1.009]  = 1.000× [0.996, 1.004]  5 / 5 / 5 / 5
     it 2       1.026 s  = 1.000× [0.995, 1.005]  ✗ 1.144× [1.139, 1.148]  = 1.002× [0.994, 1.009]  5 / 5 / 5 / 5
     it 3       1.025 s  ✓ 0.858× [0.853, 0.863]  = 1.000× [0.995, 1.005]  ✗ 1.144× [1.139, 1.148]  5 / 5 / 5 / 5
     it 4        1.02 s  ✗ 1.047× [1.037, 1.056]  ✓ 0.858× [0.853, 0.863]  = 1.000× [0.995, 1.005]  5 / 5 / 5 / 5
     it 5       1.024 s  = 1.000× [0.996, 1.004]  ✗ 1.047× [1.037, 1.056]  ✓ 0.858× [0.853, 0.863]  5 / 5 / 5 / 5
     it 0       1.026 s  = 1.002× [0.994, 1.009]  = 1.000× [0.996, 1.004]  ✗ 1.047× [1.037, 1.056]  5 / 5 / 5 / 5

    note: it 1, it 2, it 3: the instances fall into groups, and with fewer than 10
    per side the interval may be too narrow
    ");
    insta::assert_snapshot!(text(&answer, 80), @"
    arrow, threads, both against before: 6 regressions, 3 improvements, 9 unchanged
    within 0.91 % (18 comparisons, FDR 5 %, no change: within 3 %)

     benchmark  candidate of   ratio  interval        verdict        baseline
     it 1       arrow         1.144×  [1.139, 1.148]  ✗ regression    1.022 s
     it 2       threads       1.144×  [1.139, 1.148]  ✗ regression    1.022 s
     it 3       both          1.144×  [1.139, 1.148]  ✗ regression    1.022 s
     it 4       arrow         1.047×  [1.037, 1.056]  ✗ regression     1.02 s
     it 5       threads       1.047×  [1.037, 1.056]  ✗ regression     1.02 s
     it 0       both          1.047×  [1.037, 1.056]  ✗ regression     1.02 s
     it 3       arrow         0.858×  [0.853, 0.863]  ✓ improvement   1.025 s
     it 4       threads       0.858×  [0.853, 0.863]  ✓ improvement   1.025 s
     it 5       both          0.858×  [0.853, 0.863]  ✓ improvement   1.025 s

    columns that do not fit: candidate, instances; `--format csv` has all
     not shown: 9 unchanged within 0.91 % (`--full` shows them)

    note: it 1, it 2, it 3: the instances fall into groups, and with fewer than 10
    per side the interval may be too narrow
    ");
}

#[test]
fn doubts_stand_before_exclusions_and_the_fourth_note_is_a_number() {
    let mut answer = answer(&["before", "after"], comparisons(2));
    answer
        .comparisons
        .retain(|it| it.subject.metric == "wall_time");
    let note = |code: &'static str| Note::marked(code, code);
    answer.notes = vec![note("not_used"), note("control")];
    let before = text(&answer, 200);
    let notes = |text: &str| -> Vec<String> {
        let notes = text.lines().filter_map(|line| line.strip_prefix("note: "));
        notes.map(str::to_owned).collect()
    };
    assert_eq!(notes(&before).last().unwrap(), "not_used", "{before}");
    assert_eq!(notes(&before)[0], "control", "{before}");
    let added = 4 - notes(&before).len();
    let doubts = ["few_hosts", "other_environment", "session_noise"];
    answer
        .notes
        .extend(doubts[..added].iter().map(|it| note(it)));
    let four = text(&answer, 200);
    assert_eq!(notes(&four).len(), 4, "{four}");
    assert_eq!(notes(&four)[3], "1 more note (`--full` shows all)");
    assert!(!four.contains("not_used"), "{four}");
    let full = written(&answer, AnswerFormat::Text, Some(200), true);
    assert_eq!(notes(&full).len(), 4, "{full}");
    assert!(full.contains("not_used"), "{full}");
    let json = answer.for_people(lapwing_show::writing::View::default());
    assert_eq!(json.notes.len(), 4);
}
