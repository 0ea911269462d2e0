//! What was found in all histories together, and what was judged, in words: for the terminal and the page alike.

use std::collections::BTreeSet;

use lapwing_analyse::detect::{
    ChangeKind, DetectOptions, DetectRule, Detection, Direction, EnoughRuns, FAILURES, Finding,
    FindingGroup, Histories, JudgedCount, PastAcceptance, RECENT_RUNS, UnjudgedReason,
    UnreviewedPast,
};
use lapwing_model::text::{counted, grouped, joined, joined_with_and, shell_word};
use schemars::JsonSchema;
use serde::Serialize;

use super::finding::surrounding_name;
use crate::writing::NextStep;

/// Returns what was judged: `1,351 of 1,379 histories, 40 runs`.
pub fn tested_text(histories: &Histories, detection: &Detection) -> String {
    let JudgedCount {
        histories: all,
        judged,
        ..
    } = detection.judged;
    let text = counted(all, "history");
    let text = if judged == all {
        text
    } else {
        format!("{} of {text}", grouped(judged))
    };
    let runs = counted(histories.moments.len(), "run");
    format!("{text}, {runs}")
}

/// Returns the largest number of runs of a history.
pub(crate) fn longest_history(histories: &Histories) -> usize {
    let series = histories.series.iter();
    series
        .map(|series| series.points.len())
        .max()
        .unwrap_or_default()
}

/// Returns which changes cannot be found in so few runs, where nothing was found; `None` if there are enough.
pub(crate) fn few_runs_text(
    histories: &Histories,
    detection: &Detection,
    options: &DetectOptions,
) -> Option<String> {
    /// In shorter histories the newest runs are not tested by themselves, and the test of all places has little power.
    const FEW_RUNS: usize = 13;
    let longest = longest_history(histories);
    let is_tested = options.rule == DetectRule::ChangePoint;
    if !is_tested || longest == 0 || !has_nothing(detection) || detection.small > 0 {
        return None;
    }
    let EnoughRuns {
        runs: enough,
        histories,
    } = detection.enough_runs;
    let runs = counted(longest, "run");
    if longest < enough {
        let of_one = match histories {
            0 | 1 => String::new(),
            all => format!(" of one history among {}", grouped(all)),
        };
        return Some(format!(
            "the longest history has {runs}; in fewer than {enough}, a change{of_one} can be missed, however large it is"
        ));
    }
    (longest < FEW_RUNS)
        .then(|| format!("the longest history has {runs}, in which only large changes are found"))
}

/// Returns what was not judged, and why: `2 not judged: too few runs`, or with several reasons `5 not judged: 2 not
/// measured any more, 3 with too few runs`; `None` if all was.
pub fn unjudged_text(judged: &JudgedCount) -> Option<String> {
    let number = grouped(judged.histories - judged.judged);
    (!judged.is_complete()).then(|| format!("{number} not judged: {}", reasons_text(judged)))
}

/// Returns why histories were not judged, with their numbers if there are several reasons.
fn reasons_text(judged: &JudgedCount) -> String {
    let reasons: Vec<(&UnjudgedReason, &usize)> = judged.unjudged.iter().collect();
    if let [(reason, _)] = reasons[..] {
        return reason_words(*reason).to_owned();
    }
    let reasons = reasons.into_iter().map(|(reason, number)| {
        let with = match reason {
            UnjudgedReason::TooFew | UnjudgedReason::NothingUsable | UnjudgedReason::NoOrder => {
                "with "
            }
            UnjudgedReason::Wanders | UnjudgedReason::NotMeasured | UnjudgedReason::NeverUsable => {
                ""
            }
        };
        format!("{} {with}{}", grouped(*number), reason_words(*reason))
    });
    joined(reasons)
}

/// Returns why histories are not judged: `too few runs`.
pub fn reason_words(reason: UnjudgedReason) -> &'static str {
    match reason {
        UnjudgedReason::Wanders => "wandering",
        UnjudgedReason::NotMeasured => "not measured any more",
        UnjudgedReason::NothingUsable => "no usable value any more",
        UnjudgedReason::NeverUsable => "failed from the first run on",
        UnjudgedReason::TooFew => "too few runs",
        UnjudgedReason::NoOrder => "no known order of the runs",
    }
}

/// Number of changes by what is known of them.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct ChangeCounts {
    new_regressions: usize,
    /// Number of their histories.
    #[serde(skip)]
    regressed: usize,
    new_improvements: usize,
    /// New changes of metrics without direction.
    new_changes: usize,
    /// New changes that a whole suite shares.
    new_shared: usize,
    /// Changes that were triaged, without those that were accepted.
    known: usize,
    /// Changes of the past that was accepted as a whole.
    accepted: usize,
    undone_later: usize,
    /// Changes that recorded surroundings explain, such as those of the host.
    explained: usize,
    /// Histories that wander: they have no level that could change.
    wandering: usize,
    /// Possible changes that another run has to confirm.
    suspected: usize,
    /// New regressions, with those that a whole suite shares as one: the number of the badge.
    regressions: usize,
    /// Histories with a new regression: those that fail in JUnit XML.
    regressed_histories: usize,
    /// New improvements, with those that a whole suite shares as one.
    #[serde(skip)]
    improvements: usize,
}

impl ChangeCounts {
    /// Counts changes.
    pub fn of(detection: &Detection) -> Self {
        Self::among(detection, &detection.groups.iter().collect::<Vec<_>>())
    }

    /// Counts the changes of these groups.
    pub(crate) fn among(detection: &Detection, groups: &[&FindingGroup]) -> Self {
        let finding = |at: &usize| &detection.findings[*at];
        let is_open = |at: &usize| finding(at).is_open();
        let is_accepted = |at: &usize| finding(at).is_accepted();
        let is_known = |at: &usize| finding(at).triage.is_some() && !is_accepted(at);
        let is_undone = |at: &&usize| {
            let it = finding(at);
            it.went_away.is_some() && it.triage.is_none() && it.explained.is_none()
        };
        let (shared, own): (Vec<&FindingGroup>, Vec<&FindingGroup>) =
            groups.iter().partition(|group| group.is_shared);
        let of_own = || own.iter().flat_map(|group| &group.findings);
        let is_new =
            |at: &&usize, direction: Direction| finding(at).direction == direction && is_open(at);
        let open = |direction: Direction| of_own().filter(|at| is_new(at, direction)).count();
        let regressed = |groups: &[&FindingGroup]| {
            let findings = groups.iter().flat_map(|group| &group.findings);
            let open = findings.filter(|at| is_new(at, Direction::Regression));
            let histories: BTreeSet<usize> = open.map(|at| finding(at).series).collect();
            histories.len()
        };
        // What a suite shares is one change, and a regression if any of it is.
        let shared_as = |direction: Direction| {
            let worst = shared.iter().map(|group| {
                let open = group.findings.iter().filter(|at| is_open(at));
                open.map(|at| finding(at).direction).min()
            });
            worst.filter(|it| *it == Some(direction)).count()
        };
        let shared = |counts: &dyn Fn(&usize) -> bool| {
            let groups = shared.iter();
            groups.filter(|it| it.findings.iter().any(counts)).count()
        };
        let all = |counts: &dyn Fn(&usize) -> bool| {
            of_own().filter(|at| counts(at)).count() + shared(counts)
        };
        let of_groups = groups.iter().flat_map(|group| &group.findings);
        Self {
            new_regressions: open(Direction::Regression),
            regressed: regressed(&own),
            new_improvements: open(Direction::Improvement),
            new_changes: open(Direction::Neither),
            new_shared: shared(&is_open),
            known: all(&is_known),
            accepted: all(&is_accepted),
            undone_later: of_groups.filter(is_undone).count(),
            explained: (groups.iter())
                .filter(|it| finding(&it.findings[0]).explained.is_some())
                .count(),
            wandering: detection.judged.unjudged_for(UnjudgedReason::Wanders),
            suspected: detection.suspicions.len(),
            regressions: open(Direction::Regression) + shared_as(Direction::Regression),
            improvements: open(Direction::Improvement) + shared_as(Direction::Improvement),
            regressed_histories: regressed(groups),
        }
    }

    /// Returns `181 regressions in 140 histories`, with those that a suite shares as one, and without the histories if each
    /// has one; `None` if there is none.
    pub(crate) fn regressions_text(&self, noun: &str) -> Option<String> {
        regressions_text(self.regressions, noun, self.regressed_histories)
    }

    /// Returns the number of new regressions, with those that a suite shares as one.
    pub(crate) fn regressions(&self) -> usize {
        self.regressions
    }

    /// Returns the number of new improvements, with those that a suite shares as one.
    pub(crate) fn improvements(&self) -> usize {
        self.improvements
    }

    /// Returns `2 new regressions, 1 new improvement and 3 known changes`; empty if there is none.
    fn text(&self, detection: &Detection) -> String {
        let explanations = detection
            .findings
            .iter()
            .filter_map(|it| it.explained.as_ref());
        let explanations: BTreeSet<&str> = explanations.map(|it| it.key.as_str()).collect();
        let explained = match explanations.first() {
            Some(key) if explanations.len() == 1 => {
                format!(" explained by {}", surrounding_name(key))
            }
            _ => " explained by the surroundings".to_owned(),
        };
        let shared = [
            self.regressions - self.new_regressions,
            self.improvements - self.new_improvements,
        ];
        let by_suite = " shared by a whole suite";
        let parts = [
            (shared[0], NEW_REGRESSION, by_suite),
            (self.new_improvements, "new improvement", ""),
            (self.new_changes, "new change", ""),
            (shared[1], "new improvement", by_suite),
            (
                self.new_shared - shared[0] - shared[1],
                "new change",
                by_suite,
            ),
            (self.known, "known change", ""),
            (self.undone_later, "change", " undone later"),
            (self.explained, "change", explained.as_str()),
        ];
        let parts = parts.iter().filter(|(number, ..)| *number > 0);
        let own = regressions_text(self.new_regressions, NEW_REGRESSION, self.regressed);
        let parts = parts.map(|(number, noun, more)| format!("{}{more}", counted(*number, noun)));
        let parts: Vec<String> = own.into_iter().chain(parts).collect();
        joined_with_and(&parts)
    }
}

/// Returns the command that accepts an old history.
pub(crate) fn accept_step(program: &str, acceptance: &PastAcceptance) -> NextStep {
    let until = shell_word(&acceptance.until);
    let changes = counted(acceptance.changes, "change");
    NextStep::new(
        format!("{program} triage accept --until {until}"),
        format!("accepts the {changes} until then"),
    )
}

/// Returns the command that marks the change with this id as known; `what` stands for it in the words after the
/// command.
pub(crate) fn known_step(program: &str, id: &str, is_shared: bool, what: &str) -> NextStep {
    if is_shared {
        NextStep::new(
            format!("{program} triage explain {id} --all-benchmarks"),
            format!("accepts {what} for the whole suite"),
        )
    } else {
        NextStep::new(
            format!("{program} triage acknowledge {id}"),
            format!("marks {what} as known"),
        )
    }
}

/// Returns the command that searches the commit of the change with this id, where there are several commits that it may
/// be, and the benchmark was measured by this program.
pub(crate) fn bisect_step(
    program: &str,
    histories: &Histories,
    group: &FindingGroup,
    lead: &Finding,
    id: &str,
) -> Option<NextStep> {
    let tool = &histories.moments[*group.range.end()].session.tool;
    let is_step = lead.kind == ChangeKind::Step && lead.subject.metric != FAILURES;
    let commits = group.commits.filter(|number| *number > 1)?;
    let can = is_step && !group.is_shared && tool.starts_with("lapwing");
    can.then(|| {
        NextStep::new(
            format!("{program} bisect --finding {id}"),
            format!("finds which of {commits} commits it was"),
        )
    })
}

const NEW_REGRESSION: &str = "new regression";

/// Returns `181 regressions in 140 histories`, without the histories if that is the same number.
fn regressions_text(number: usize, noun: &str, histories: usize) -> Option<String> {
    let regressions = counted(number, noun);
    match (number, histories) {
        (0, _) => None,
        _ if number == histories => Some(regressions),
        _ => Some(format!(
            "{regressions} in {}",
            counted(histories, "history")
        )),
    }
}

/// Returns whether the sentence about a detection names the number of histories: where nothing was found in those that
/// were judged, and not all were.
pub fn names_histories(detection: &Detection) -> bool {
    !detection.judged.is_complete() && has_nothing(detection)
}

fn has_nothing(detection: &Detection) -> bool {
    let mut findings = detection.findings.iter();
    findings.all(|it| it.is_accepted()) && detection.suspicions.is_empty()
}

/// Returns `2 new regressions, 1 new improvement and 3 known changes, 1 suspected`, or `no change found`: what was not
/// triaged, then what is known. Of histories that were not judged it says no such thing: `no change in 3
/// of 5 histories; 2 not judged: too few runs`. An untriaged past is one number, with all new regressions beside it.
pub fn detection_text(histories: &Histories, detection: &Detection) -> String {
    let counts = ChangeCounts::of(detection);
    let past = detection.unreviewed_past(histories);
    let mut text = match &past {
        Some(past) => recent_text(detection, past),
        None => counts.text(detection),
    };
    if text.is_empty() && counts.suspected > 0 {
        "no confirmed change".clone_into(&mut text);
    } else if text.is_empty() {
        text = nothing_found(detection);
    }
    if counts.accepted > 0 {
        text.push_str(&format!(
            ", {} in the accepted past",
            counted(counts.accepted, "change")
        ));
    }
    if counts.suspected > 0 {
        text.push_str(&format!(", {} suspected", counts.suspected));
    }
    text
}

/// Returns what there is besides an untriaged past: `1 new regression, 212 changes before the newest 30
/// runs`.
fn recent_text(detection: &Detection, past: &UnreviewedPast) -> String {
    let others = past.others.iter().map(|at| &detection.groups[*at]);
    let others = ChangeCounts::among(detection, &others.collect::<Vec<_>>());
    let all = ChangeCounts::of(detection);
    let in_all = match all.regressions_text(NEW_REGRESSION) {
        Some(text) if all.regressions != others.regressions => format!("; in all {text}"),
        Some(_) | None => String::new(),
    };
    let others = match others.text(detection) {
        text if text.is_empty() => "no recent change".to_owned(),
        text => text,
    };
    let before = counted(past.changes, "change");
    format!("{others}, {before} before the newest {RECENT_RUNS} runs{in_all}")
}

fn nothing_found(detection: &Detection) -> String {
    let judged = &detection.judged;
    let what = match (detection.accepted_until, detection.small) {
        (Some(_), _) => "new change",
        (None, 0) => "change",
        (None, _) => "change as large as the smallest effect",
    };
    match unjudged_text(judged) {
        None if judged.histories == 0 => "nothing judged".to_owned(),
        None if what == "change" => "no change found".to_owned(),
        None => format!("no {what}"),
        Some(_) if judged.judged == 0 => format!("nothing judged: {}", reasons_text(judged)),
        Some(unjudged) => format!(
            "no {what} in {} of {}; {unjudged}",
            grouped(judged.judged),
            counted(judged.histories, "history")
        ),
    }
}
