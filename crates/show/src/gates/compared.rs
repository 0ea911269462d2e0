//! Comparisons as tests.

use lapwing_analyse::judge::{Comparison, Verdict};

use super::{GateFailure, GateTest, GateTests};
use crate::answers::judgement::JudgeAnswer;
use crate::answers::subject_title;
use crate::writing::{Answer, View};
use crate::{ComparisonText, VerdictText};

impl GateTests {
    /// Returns a test per comparison, which fails where it meets a condition of a gate, and else is skipped where it is
    /// undecided or a side was not measured.
    pub fn compared(comparisons: &[Comparison], failing: &[bool]) -> Self {
        let mut tests = Self::named("lapwing compare");
        let mut candidates = comparisons.iter().map(|it| (&it.baseline, &it.candidate));
        let first = candidates.next();
        let is_one_pair = candidates.all(|it| Some(it) == first);
        let each = comparisons.iter().zip(failing);
        tests.suites = each
            .map(|(it, fails)| test(it, *fails, is_one_pair))
            .collect();
        tests
    }

    /// Returns a test of what `lapwing judge` was asked. It fails if the answer is not the expected one, and is skipped
    /// without an answer.
    pub fn judged(answer: &JudgeAnswer) -> Self {
        let mut tests = Self::named("lapwing judge");
        let headline = answer.for_people(View::default()).headline;
        let is_met = answer.as_expected();
        let failure = GateFailure {
            kind: answer.verdict().unwrap_or_default(),
            message: headline.clone(),
            text: String::new(),
        };
        tests.suites.push(GateTest {
            suite: "lapwing judge".to_owned(),
            benchmark: answer.benchmark.clone(),
            name: format!("{} {}", answer.benchmark, answer.metric),
            failures: match is_met {
                Some(false) => vec![failure],
                Some(true) | None => Vec::new(),
            },
            skipped: is_met.is_none().then_some(headline),
        });
        tests
    }
}

fn test(comparison: &Comparison, fails: bool, is_one_pair: bool) -> GateTest {
    let subject = &comparison.subject;
    let mut name = format!("{} {}", subject_title(subject), subject.metric);
    if !is_one_pair {
        name = format!(
            "{name} ({} against {})",
            comparison.candidate, comparison.baseline
        );
    }
    let [ratio, interval] = comparison.change_texts();
    let verdict = comparison.verdict_text();
    let failure = GateFailure {
        kind: comparison.verdict.name(),
        message: match ratio.is_empty() {
            true => format!("{} {verdict}", comparison.verdict.symbol()),
            false => format!(
                "{} {verdict}: {ratio} {interval}",
                comparison.verdict.symbol()
            ),
        },
        text: format!("{} against {}", comparison.candidate, comparison.baseline),
    };
    let is_open = matches!(
        comparison.verdict,
        Verdict::Inconclusive | Verdict::NotMeasured
    );
    GateTest {
        suite: subject.suite.clone(),
        benchmark: subject.benchmark.clone(),
        name,
        failures: if fails { vec![failure] } else { Vec::new() },
        skipped: (is_open && !fails).then_some(verdict),
    }
}
