//! Findings for people: a sentence, the table by cause, notes.

use lapwing_analyse::detect::{DetectOptions, DetectRule, Finding, FindingGroup};
use lapwing_model::text::counted;

use super::DetectAnswer;
use crate::answers::subject_title;
use crate::writing::Align::{Left, Right, Whole};
use crate::writing::{Table, TextAnswer, View, uncoded};
use crate::{
    FIRST_METRIC, FindingGroupText, FindingText, MomentText, detection_text, environment_text,
    round_percent, suspicion_text, untested_texts,
};

/// In shorter histories the newest runs are not tested by themselves, and those of all places have little power.
const FEW_RUNS: usize = 13;

/// Of a group with more findings only the largest are listed.
const OF_GROUP: usize = 5;
/// Of more groups only the largest are listed.
const GROUPS: usize = 20;

/// Returns the sentence, the table and the notes.
pub fn text_answer(answer: &DetectAnswer, view: View) -> TextAnswer {
    let groups = &answer.detection.groups;
    let suspicions = &answer.detection.suspicions;
    let [shown, shown_suspicions] =
        [groups.len(), suspicions.len()].map(|all| if view.full { all } else { all.min(GROUPS) });
    let mut notes = Vec::new();
    for (number, group) in groups[..shown].iter().enumerate() {
        notes.extend(group_notes(answer, number + 1, group, view));
    }
    for suspicion in suspicions.iter().take(shown_suspicions) {
        let text = suspicion_text(&answer.histories, suspicion);
        notes.push(format!(
            "suspected, not confirmed until a third run agrees: {text}"
        ));
    }
    if suspicions.len() > shown_suspicions {
        notes.push(format!(
            "suspected, not confirmed: {} more (`--full` shows them)",
            suspicions.len() - shown_suspicions
        ));
    }
    if shown < groups.len() {
        notes.push(format!(
            "not shown: {} of smaller size (`--full` shows them)",
            counted(groups.len() - shown, "change")
        ));
    }
    if answer.detection.small > 0 {
        notes.push(format!(
            "not shown: {} below the smallest effect",
            counted(answer.detection.small, "change")
        ));
    }
    if let Some(since) = &answer.changed_since
        && answer.detection.earlier > 0
    {
        notes.push(format!(
            "not shown: {} before {since}",
            counted(answer.detection.earlier, "change")
        ));
    }
    if answer.detection.findings.iter().any(Finding::is_open) {
        notes.push(
            "`lapwing triage acknowledge ID` marks a change as known; `explain`, `expect` and `mute` are the others"
                .to_owned(),
        );
    }
    let series = answer.histories.series.iter();
    let longest = series.map(|series| series.points.len()).max().unwrap_or(0);
    let is_tested = answer.options.rule == DetectRule::ChangePoint;
    let has_none = answer.detection.findings.is_empty()
        && suspicions.is_empty()
        && answer.detection.small == 0;
    if is_tested && has_none && longest > 0 && longest < FEW_RUNS {
        notes.push(format!(
            "no history has more than {}: with fewer than {FEW_RUNS}, even a clear change can hardly be told from chance; `lapwing compare 'until DATE' 'since DATE'` \
             compares two parts of a history",
            counted(longest, "run")
        ));
    }
    notes.extend(untested_texts(&answer.histories, &answer.detection));
    notes.extend(answer.notes.clone());
    TextAnswer {
        headline: headline(answer),
        table: table(answer, &groups[..shown], view),
        notes: uncoded(notes.iter().map(|note| format!("note: {note}"))),
        next: Vec::new(),
        has_table_first: false,
    }
}

fn headline(answer: &DetectAnswer) -> String {
    format!(
        "{}   ({}, {}, {})",
        detection_text(&answer.detection),
        counted(answer.histories.series.len(), "history"),
        counted(answer.histories.moments.len(), "run"),
        rule_text(&answer.options),
    )
}

/// Returns what the rule accepts: `FDR 5 %`.
fn rule_text(options: &DetectOptions) -> String {
    match options.rule {
        DetectRule::ChangePoint => {
            format!("FDR {}", round_percent(options.false_discovery_rate))
        }
        DetectRule::Threshold(rule) => format!(
            "latest {} against mean + {} sd of {} before",
            rule.last, rule.deviations, rule.window
        ),
    }
}

/// Returns the listed findings of a group.
fn listed<'a>(
    answer: &'a DetectAnswer,
    group: &'a FindingGroup,
    view: View,
) -> impl Iterator<Item = &'a Finding> {
    let most = if view.full { usize::MAX } else { OF_GROUP };
    let findings = group.findings.iter().take(most);
    findings.map(|at| &answer.detection.findings[*at])
}

fn table(answer: &DetectAnswer, groups: &[FindingGroup], view: View) -> Table {
    let listed = || {
        let groups = groups.iter().enumerate();
        groups.flat_map(|(number, group)| {
            listed(answer, group, view).map(move |finding| (number + 1, finding))
        })
    };
    let metrics = listed().any(|(_, finding)| finding.subject.metric != FIRST_METRIC);
    let mut table = Table::of_shown(&[
        (groups.len() > 1, "", Right),
        (true, "benchmark", Left),
        (metrics, "metric", Left),
        (true, "before", Right),
        (true, "after", Right),
        (true, "change", Whole),
        (true, "since", Whole),
        (true, "verdict", Left),
        (true, "id", Whole),
    ])
    .dispensable(&["before", "after", "metric"]);
    for (number, finding) in listed() {
        let [before, after] = finding.level_texts();
        table.row(vec![
            number.to_string(),
            subject_title(&finding.subject),
            finding.subject.metric.clone(),
            before,
            after,
            finding.change_text(),
            answer.histories.moments[finding.first_after].label(),
            format!(
                "{} {}",
                finding.symbol(),
                finding.kind_text(&answer.histories)
            ),
            answer.id(finding),
        ]);
    }
    table
}

/// Returns what is known of a change: its place, who shares it, and what else changed there.
fn group_notes(
    answer: &DetectAnswer,
    number: usize,
    group: &FindingGroup,
    view: View,
) -> Vec<String> {
    let histories = &answer.histories;
    let first = &answer.detection.findings[group.findings[0]];
    let label = if answer.detection.groups.len() > 1 {
        format!("change {number}: ")
    } else {
        String::new()
    };
    let date = histories.moments[first.first_after].date_text();
    let suspects = group.suspects_text(&answer.detection, histories);
    let mut text = format!("{label}{suspects}, {date}");
    if group.is_shared {
        text.push_str(&format!(
            ", shared by {} of the suite: look for a change of the machine first; `lapwing triage explain {} --all-benchmarks` accepts it",
            counted(group.findings.len(), "history"),
            answer.id(first)
        ));
    } else if let more @ 1.. = group.findings.len() - listed(answer, group, view).count() {
        text.push_str(&format!(", and {more} more there"));
    }
    let mut notes = vec![text];
    for finding in listed(answer, group, view) {
        let exceeded = finding.threshold_text();
        notes.extend(
            exceeded.map(|text| format!("{label}{}: {text}", subject_title(&finding.subject))),
        );
    }
    notes.extend(environment_text(&first.environment).map(|text| format!("{label}{text}")));
    notes
}
