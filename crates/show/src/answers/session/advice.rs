//! Advice as sentences: each kind once, with its benchmarks.

use std::mem::discriminant;

use lapwing_analyse::explain::{Advice, SessionComparison, SessionResult, SessionResults};
use lapwing_analyse::judge::INSTANCES_FOR_A_VERDICT;
use lapwing_model::text::{counted, first_names, plural};
use lapwing_stats::Interval;

use crate::quantity::ratio;
use crate::writing::{Note, NoteWeight};
use crate::{cv_text, percent, quantity};

/// Number of instances that usually suffices.
const RECOMMENDED_INSTANCES: usize = 10;

/// Maximum number of failing benchmarks listed.
const MOST_FAILURES: usize = 8;

/// Smaller differences are none by default: nothing is missed if they are not seen.
const SMALL: f64 = 0.03;

/// Returns the size of differences that may not be seen because of the noise, as a share: the half width of the median
/// interval of the comparisons, or of a comparison of two results as precise as those that there are. A true difference
/// of this size is found in about one of two cases.
pub fn unseen(results: &SessionResults, compared: &[SessionComparison<'_>]) -> Option<f64> {
    let half_width = |interval: Interval| (interval.upper / interval.lower).ln() / 2.0;
    let is_ratio = |it: &Interval| it.lower > 0.0 && it.upper.is_finite();
    let ratios = compared
        .iter()
        .filter_map(|it| it.comparison.ratio?.interval);
    let mut widths: Vec<f64> = ratios.filter(is_ratio).map(half_width).collect();
    if widths.is_empty() {
        let estimates = results.rows.iter().filter_map(|row| row.compared?.interval);
        let of_one = estimates.filter(is_ratio).map(half_width);
        widths = of_one
            .map(|width| width * std::f64::consts::SQRT_2)
            .collect();
    }
    let share = lapwing_stats::median(&widths)?.exp_m1();
    (share > SMALL).then_some(share)
}

/// Returns a sentence for each kind of advice, in the order of first appearance. The first one on a disturbed machine
/// says what it means: which differences may not be seen.
pub fn notes(
    rows: &[SessionResult],
    unseen: Option<f64>,
    label: impl Fn(&SessionResult) -> String,
) -> Vec<Note> {
    let mut kinds: Vec<Vec<(String, &Advice)>> = Vec::new();
    for row in rows {
        for advice in &row.advice {
            let labelled = (label(row), advice);
            let mut known = kinds.iter_mut();
            match known.find(|kind| discriminant(kind[0].1) == discriminant(advice)) {
                Some(kind) => kind.push(labelled),
                None => kinds.push(vec![labelled]),
            }
        }
    }
    let sentence = |kind: &[(String, &Advice)]| {
        let mut note = note(kind[0].1);
        if rows.len() > 1 {
            let names = kind.iter().map(|(name, _)| name);
            note.text = format!("{}: {}", first_names(names, 1), note.text);
        }
        note.with("benchmarks", kind.len())
    };
    let sentences = kinds.iter().flat_map(|kind| match kind[0].1 {
        // Every failure has its own reason.
        Advice::Failures { .. } => {
            let failures = kind.chunks(1).take(MOST_FAILURES);
            failures.map(sentence).collect()
        }
        Advice::FewInstances { .. }
        | Advice::SlowStart { .. }
        | Advice::Spread { .. }
        | Advice::Steadier { .. }
        | Advice::Busy { .. }
        | Advice::Stolen { .. }
        | Advice::Teardown { .. }
        | Advice::Brief { .. } => vec![sentence(kind)],
    });
    let mut sentences: Vec<Note> = sentences.collect();
    // What failed is read first.
    sentences.sort_by_key(|note| note.weight() != NoteWeight::Vital);
    let is_disturbed =
        |note: &&mut Note| ["busy_machine", "stolen_time", "spread"].contains(&note.code);
    let difference = match unseen {
        Some(share) if share < 1.0 => percent(share),
        share => ratio(1.0 + share.unwrap_or_default()),
    };
    if let Some(share) = unseen
        && let Some(note) = sentences.iter_mut().find(is_disturbed)
    {
        note.text = format!(
            "{}, so differences below about {} may not be seen",
            note.text, difference
        );
        note.values.insert("unseen_difference", share.into());
    }
    sentences
}

/// Returns a piece of advice with its numbers.
fn note(advice: &Advice) -> Note {
    let note = |code: &'static str| Note::marked(code, text(advice));
    match advice {
        Advice::FewInstances { instances } => note("few_instances")
            .with("instances", *instances)
            .with("required_instances", INSTANCES_FOR_A_VERDICT)
            .with("recommended_instances", RECOMMENDED_INSTANCES),
        Advice::SlowStart {
            ratio,
            instances,
            burn_in,
        } => note("slow_start")
            .with("ratio", *ratio)
            .with("instances", instances.0)
            .with("of_instances", instances.1)
            .with("burn_in", burn_in + 1),
        Advice::Spread { cv } => note("spread").with("cv", *cv),
        Advice::Steadier { metric, instances } => note("steadier_metric")
            .with("metric", *metric)
            .with("wall_time_instances", instances[0])
            .with("instances", instances[1]),
        Advice::Busy {
            instances,
            load,
            ratio,
        } => note("busy_machine")
            .with("cpus", *load)
            .with("ratio", *ratio)
            .with("instances", instances.0)
            .with("of_instances", instances.1),
        Advice::Stolen { instances, share } => note("stolen_time")
            .with("share", *share)
            .with("instances", instances.0)
            .with("of_instances", instances.1),
        Advice::Failures { iterations, .. } => note("failures")
            .weighing(NoteWeight::Vital)
            .with("iterations", iterations.0)
            .with("of_iterations", iterations.1),
        Advice::Teardown { instances, .. } => note("teardown_failed")
            .weighing(NoteWeight::Vital)
            .with("instances", instances.0)
            .with("of_instances", instances.1),
        Advice::Brief { seconds, .. } => note("brief").with("seconds", *seconds),
    }
}

/// Returns a message whose further lines, which the program printed, are below its sentence.
fn indented(message: &str) -> String {
    message.replace('\n', "\n    ").replace('\t', "    ")
}

fn text(advice: &Advice) -> String {
    match advice {
        Advice::FewInstances { instances } => format!(
            "{} {} too few for a verdict: need {INSTANCES_FOR_A_VERDICT}, {RECOMMENDED_INSTANCES} recommended (`--instances`)",
            counted(*instances, "instance"),
            plural(*instances, "is", "are")
        ),
        Advice::SlowStart {
            ratio,
            instances,
            burn_in,
        } => format!(
            "the first counted iteration is {} slower than the later ones in {} of {} instances; \
             --burn-in {} would exclude it",
            percent(ratio - 1.0),
            instances.0,
            instances.1,
            burn_in + 1
        ),
        Advice::Spread { cv } => format!(
            "the instances differ much ({}; `lapwing doctor` shows what disturbs this machine)",
            cv_text(*cv)
        ),
        Advice::Steadier { metric, instances } => format!(
            "a change of 5 % needs about {} per side by wall time, and about {} by `--metric {metric}`, \
             which does not see waiting",
            counted(instances[0], "instance"),
            instances[1]
        ),
        Advice::Busy {
            instances,
            load,
            ratio,
        } => {
            let effect = ratio.map_or_else(String::new, |ratio| {
                let word = if ratio < 1.0 { "lower" } else { "higher" };
                format!("; their means are {} {word}", percent((ratio - 1.0).abs()))
            });
            format!(
                "other programs kept more than {load} CPUs busy during {} of {} instances{effect}",
                instances.0, instances.1
            )
        }
        Advice::Stolen { instances, share } => format!(
            "the host took up to {} of the CPU time away during {} of {} instances",
            percent(*share),
            instances.0,
            instances.1
        ),
        Advice::Failures {
            iterations,
            message,
        } => {
            let reason = message.as_ref().map(|it| format!(": {}", indented(it)));
            let reason = reason.unwrap_or_default();
            match iterations {
                (0, _) => format!("nothing could be measured{reason}"),
                (failed, all) => format!("{failed} of {all} iterations failed{reason}"),
            }
        }
        Advice::Teardown { instances, message } => format!(
            "in {} of {} instances, whose measurements count: {}",
            instances.0,
            instances.1,
            indented(message)
        ),
        Advice::Brief { seconds, in_shell } => format!(
            "{} is mostly the start of a process; make each execution do more work{}",
            quantity(*seconds, "s"),
            if *in_shell {
                ", and run it without a shell"
            } else {
                ""
            }
        ),
    }
}
