//! The findings for people: a sentence, the table by cause, notes.

use std::io::Write;

use lapwing_analyse::detect::{DetectRule, Finding, FindingGroup};
use lapwing_model::text::counted;
use lapwing_show::writing::Align::{Left, Right, Whole};
use lapwing_show::writing::{Table, TextAnswer};
use lapwing_show::{
    FIRST_METRIC, FindingGroupText, FindingText, MomentText, detection_text, environment_text,
    suspicion_text, untested_texts,
};

use super::{DetectAnswer, rule};
use crate::error::CliError;

/// In shorter histories the newest runs are not tested by themselves, and those of all places have little power.
const FEW_RUNS: usize = 13;

/// Of a group with more findings only the largest are listed.
const OF_GROUP: usize = 5;
/// Of more groups only the largest are listed.
const GROUPS: usize = 20;

/// Writes the answer for a terminal of this width.
pub(super) fn text(
    answer: &DetectAnswer,
    all: bool,
    width: Option<usize>,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let text = text_answer(answer, all).wrapped(width);
    if answer.detection.groups.is_empty() {
        writeln!(out, "{}", text.headline)?;
        for note in &text.notes {
            writeln!(out, "{note}")?;
        }
        return Ok(());
    }
    Ok(text.text(width, out)?)
}

/// Writes the answer for a pull request or a job summary.
pub(super) fn markdown(
    answer: &DetectAnswer,
    all: bool,
    out: &mut impl Write,
) -> Result<(), CliError> {
    Ok(text_answer(answer, all).markdown(out)?)
}

fn text_answer(answer: &DetectAnswer, all: bool) -> TextAnswer {
    let groups = &answer.detection.groups;
    let shown = if all {
        groups.len()
    } else {
        groups.len().min(GROUPS)
    };
    let mut notes = Vec::new();
    for (number, group) in groups[..shown].iter().enumerate() {
        notes.extend(group_notes(answer, number + 1, group, all));
    }
    let suspicions = &answer.detection.suspicions;
    let shown_suspicions = if all { suspicions.len() } else { GROUPS };
    for suspicion in suspicions.iter().take(shown_suspicions) {
        let text = suspicion_text(&answer.histories, suspicion);
        notes.push(format!(
            "suspected, not confirmed until a third run agrees: {text}"
        ));
    }
    if suspicions.len() > shown_suspicions {
        notes.push(format!(
            "suspected, not confirmed: {} more (`--all` shows them)",
            suspicions.len() - shown_suspicions
        ));
    }
    if shown < groups.len() {
        notes.push(format!(
            "not shown: {} of smaller size (`--all` shows them)",
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
    let longest = series.map(|it| it.points.len()).max().unwrap_or(0);
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
        table: table(answer, &groups[..shown], all),
        notes: notes.iter().map(|note| format!("note: {note}")).collect(),
    }
}

fn headline(answer: &DetectAnswer) -> String {
    format!(
        "{}   ({}, {}, {})",
        detection_text(&answer.detection),
        counted(answer.histories.series.len(), "history"),
        counted(answer.histories.moments.len(), "run"),
        rule::text(&answer.options),
    )
}

fn table(answer: &DetectAnswer, groups: &[FindingGroup], all: bool) -> Table {
    let listed = || {
        groups.iter().enumerate().flat_map(|(number, group)| {
            let members = if all { group.findings.len() } else { OF_GROUP };
            let findings = group.findings.iter().take(members);
            findings.map(move |at| (number + 1, &answer.detection.findings[*at]))
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
            name(finding),
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

fn name(finding: &Finding) -> String {
    let subject = &finding.subject;
    match subject.setting.text() {
        Some(setting) => format!("{} ({setting})", subject.benchmark),
        None => subject.benchmark.clone(),
    }
}

/// Returns what is known of a change: its place, who shares it, and what else changed there.
fn group_notes(
    answer: &DetectAnswer,
    number: usize,
    group: &FindingGroup,
    all: bool,
) -> Vec<String> {
    let histories = &answer.histories;
    let first = &answer.detection.findings[group.findings[0]];
    let which = if answer.detection.groups.len() > 1 {
        format!("change {number}: ")
    } else {
        String::new()
    };
    let date = histories.moments[first.first_after].date_text();
    let mut text = format!(
        "{which}{}, {date}",
        group.suspects_text(&answer.detection, histories)
    );
    if group.is_shared {
        text.push_str(&format!(
            ", shared by {} of the suite: look for a change of the machine first; `lapwing triage explain {} --all-benchmarks` accepts it",
            counted(group.findings.len(), "history"),
            answer.id(first)
        ));
    } else if !all && group.findings.len() > OF_GROUP {
        text.push_str(&format!(
            ", and {} more there",
            group.findings.len() - OF_GROUP
        ));
    }
    let mut notes = vec![text];
    for finding in group
        .findings
        .iter()
        .take(if all { usize::MAX } else { OF_GROUP })
    {
        let finding = &answer.detection.findings[*finding];
        let exceeded = finding.threshold_text();
        notes.extend(exceeded.map(|text| format!("{which}{}: {text}", name(finding))));
    }
    notes.extend(environment_text(&first.environment).map(|text| format!("{which}{text}")));
    notes
}
