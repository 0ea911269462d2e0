//! Findings for people: a sentence, the table by cause, notes.

use std::collections::BTreeMap;

use lapwing_analyse::detect::{
    DetectOptions, DetectRule, FindingGroup, RECENT_RUNS, Suspicion, UnjudgedReason,
};
use lapwing_model::text::{counted, joined, joined_with_and};

use super::DetectAnswer;
use super::rows::UntestedRow;
use crate::answers::subject_title;
use crate::percent;
use crate::words::detected::{
    accept_step, bisect_step, few_runs_text, known_step, longest_history,
};
use crate::writing::Align::{Left, Right, Whole};
use crate::writing::{Curve, NextStep, Note, Picture, Table, TextAnswer, View};
use crate::{
    FIRST_METRIC, FindingGroupText, FindingText, MomentText, NAMED_ENVIRONMENT_CHANGES,
    detection_text, environment_text, explained_text, names_histories, reason_words, round_percent,
    surrounding_text, suspicion_text, tested_text,
};

/// Of a group with more findings only the largest are listed.
const OF_GROUP: usize = 5;
/// Of more groups only the largest are listed.
const GROUPS: usize = 20;
/// The histories of so many changes are drawn.
const DRAWN: usize = 5;

/// What a view lists of the changes.
pub struct ListedChanges<'a> {
    /// Changes, with the places of their findings.
    pub groups: Vec<(&'a FindingGroup, &'a [usize])>,
    pub suspicions: &'a [Suspicion],
    /// Number of further changes, besides those that are counted: what was accepted, and an untriaged past.
    pub more: usize,
}

impl<'a> ListedChanges<'a> {
    pub fn of(answer: &'a DetectAnswer, view: View) -> Self {
        let most = |all: usize, most: usize| if view.full { all } else { all.min(most) };
        let detection = &answer.detection;
        let past = detection.unreviewed_past(&answer.histories);
        let is_counted = |at: usize| {
            let is_past = past.as_ref().is_some_and(|it| !it.others.contains(&at));
            is_past || detection.is_accepted(&detection.groups[at])
        };
        let groups = detection.groups.iter().enumerate();
        let groups = groups.filter(|(at, _)| view.full || !is_counted(*at));
        let groups: Vec<(&FindingGroup, &[usize])> = groups
            .map(|(_, group)| {
                let findings = &group.findings;
                // Those that were accepted come last.
                let is_listed = |at: &usize| view.full || !detection.findings[*at].is_accepted();
                let listed = findings.partition_point(is_listed);
                (group, &findings[..most(listed, OF_GROUP)])
            })
            .collect();
        let listed = most(groups.len(), GROUPS);
        let suspicions = &detection.suspicions;
        Self {
            more: groups.len() - listed,
            groups: groups.into_iter().take(listed).collect(),
            suspicions: &suspicions[..most(suspicions.len(), GROUPS)],
        }
    }
}

/// Returns the sentence, the table and the notes.
pub fn text_answer(answer: &DetectAnswer, view: View) -> TextAnswer {
    let detection = &answer.detection;
    let listed = ListedChanges::of(answer, view);
    let mut notes = Vec::new();
    for (number, (group, findings)) in listed.groups.iter().enumerate() {
        let number = (listed.groups.len() > 1).then_some(number + 1);
        notes.extend(group_notes(answer, number, group, findings));
    }
    for suspicion in listed.suspicions {
        let text = suspicion_text(&answer.histories, suspicion);
        let text = format!("suspected, not confirmed until a third run agrees: {text}");
        let note = Note::marked("suspected", text).with("histories", suspicion.histories);
        notes.push(note.with("more_histories", suspicion.histories - 1));
    }
    if let more @ 1.. = detection.suspicions.len() - listed.suspicions.len() {
        let text = format!("suspected, not confirmed: {more} more (`--full` shows them)");
        notes.push(Note::marked("more_suspected", text).with("suspected", more));
    }
    if let more @ 1.. = listed.more {
        let changes = counted(more, "change");
        let text = format!("not shown: {changes} of smaller size (`--full` shows them)");
        notes.push(Note::marked("more_changes", text).with("changes", more));
    }
    if !view.full {
        notes.extend(past_note(answer));
        notes.extend(accepted_note(answer));
    }
    if let small @ 1.. = detection.small {
        let changes = counted(small, "change");
        let text = format!("not shown: {changes} below the smallest effect");
        notes.push(Note::marked("below_smallest_effect", text).with("changes", small));
    }
    if let Some(since) = &answer.changed_since
        && let earlier @ 1.. = detection.earlier
    {
        let text = format!("not shown: {} before {since}", counted(earlier, "change"));
        notes.push(Note::marked("earlier", text).with("changes", earlier));
    }
    notes.extend(surroundings(answer));
    notes.extend(few_runs(answer));
    notes.extend(untested_notes(answer));
    notes.extend(answer.notes.clone());
    TextAnswer {
        headline: headline(answer),
        table: table(answer, &listed),
        notes,
        next: next_steps(answer, &listed),
        pictures: pictures(answer, &listed),
        ..TextAnswer::default()
    }
}

/// Returns the histories of the first changes.
fn pictures(answer: &DetectAnswer, listed: &ListedChanges<'_>) -> Vec<Picture> {
    let histories = &answer.histories;
    let findings = listed.groups.iter().flat_map(|(_, findings)| *findings);
    let findings = findings.map(|at| &answer.detection.findings[*at]);
    let suspicions = listed.suspicions.iter().map(|it| &it.finding);
    let drawn = findings.chain(suspicions).take(DRAWN).map(|finding| {
        let points = &histories.series[finding.series].points;
        let since = finding.since();
        let change = points.partition_point(|point| point.moment < since);
        Picture::Curve(Curve {
            name: subject_title(&finding.subject),
            values: points.iter().map(|point| point.value).collect(),
            change: Some((change, histories.moments[since].label())),
        })
    });
    drawn.collect()
}

/// Returns the note on the changes of an untriaged past, which are not listed.
fn past_note(answer: &DetectAnswer) -> Option<Note> {
    let past = answer.detection.unreviewed_past(&answer.histories)?;
    let changes = counted(past.changes, "change");
    let text = format!(
        "not listed: {changes} before the newest {RECENT_RUNS} runs (`--full` shows them); new regressions among them \
         count for `--fail-on` until they are accepted"
    );
    Some(Note::marked("past", text).with("changes", past.changes))
}

/// Returns what is not listed of the accepted past.
fn accepted_note(answer: &DetectAnswer) -> Option<Note> {
    let detection = &answer.detection;
    let until = answer.histories.moments[detection.accepted_until?].label();
    let text = format!(
        "not listed: the accepted past, up to the change at {until} (`--full` shows it, `{} db annotations` who accepted it)",
        answer.program
    );
    Some(Note::marked("accepted", text).with("until", until))
}

/// Returns which effects of surroundings were taken out before changes were looked for, by surrounding.
fn surroundings(answer: &DetectAnswer) -> impl Iterator<Item = Note> {
    let mut taken: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    let series = answer.histories.series.iter();
    for (series, effects) in series.zip(&answer.detection.surroundings) {
        for effect in effects {
            let known = taken.entry(&effect.key).or_insert_with(|| {
                let text = surrounding_text(effect, &series.metric.unit, series.is_ratio());
                (0, format!("{}: {text}", subject_title(&series.subject)))
            });
            known.0 += 1;
        }
    }
    taken.into_iter().map(|(key, (histories, example))| {
        let text = format!(
            "the effect of `{key}` was taken out of {} ({example})",
            counted(histories, "history")
        );
        let note = Note::marked("surroundings", text).with("surrounding", key);
        note.with("histories", histories)
    })
}

/// Returns a note on histories that are too short for some changes.
fn few_runs(answer: &DetectAnswer) -> Option<Note> {
    let detection = &answer.detection;
    let mut text = few_runs_text(&answer.histories, detection, &answer.options)?;
    let moments = &answer.histories.moments;
    let longest = longest_history(&answer.histories);
    if longest > 1 && !answer.are_files && moments.iter().all(|it| it.date().is_some()) {
        text.push_str(
            "; `lapwing compare 'until DATE' 'since DATE'` compares two parts of a history",
        );
    }
    let note = Note::marked("few_runs", text).with("runs", longest);
    Some(note.with("enough_runs", detection.enough_runs.runs))
}

/// Returns what was not tested, and why.
fn untested_notes(answer: &DetectAnswer) -> impl Iterator<Item = Note> {
    let rows = UntestedRow::all(answer).into_iter();
    rows.map(|row| {
        let needed = answer.detection.fewest_runs;
        let why = match row.reason {
            UnjudgedReason::Wanders => "not judged, as the level wanders".to_owned(),
            UnjudgedReason::TooFew => format!("too few runs to test ({needed} are needed)"),
            UnjudgedReason::NotMeasured if answer.options.rule == DetectRule::ChangePoint => {
                "not measured any more, and searched until then".to_owned()
            }
            UnjudgedReason::NotMeasured
            | UnjudgedReason::NothingUsable
            | UnjudgedReason::NeverUsable
            | UnjudgedReason::NoOrder => reason_words(row.reason).to_owned(),
        };
        let note = |what: String| {
            let note = Note::marked(row.state, format!("{why}: {what}"));
            note.with("benchmarks", row.benchmarks)
        };
        if row.benchmarks == row.first_benchmarks.len() {
            note(joined_with_and(&row.first_benchmarks))
        } else {
            note(counted(row.histories, "history")).with("histories", row.histories)
        }
    })
}

/// Returns the acceptance of an untriaged past, triage of the first new change, and the page with all of
/// them.
fn next_steps(answer: &DetectAnswer, listed: &ListedChanges<'_>) -> Vec<NextStep> {
    let (detection, program) = (&answer.detection, &answer.program);
    let mut steps = Vec::new();
    let past = detection.unreviewed_past(&answer.histories);
    let acceptance = past.and_then(|past| detection.acceptance(&answer.histories, &past));
    if let Some(acceptance) = acceptance {
        steps.push(accept_step(program, &acceptance));
    }
    let new = listed
        .groups
        .iter()
        .enumerate()
        .flat_map(|(at, (group, _))| {
            let findings = group.findings.iter().map(|at| &detection.findings[*at]);
            let open = findings.filter(|finding| finding.is_open());
            open.map(move |finding| (at, group, finding))
        });
    // What is worse is looked at first, and what has no direction last.
    let first = new.min_by_key(|(_, _, finding)| finding.direction);
    if let Some((at, group, finding)) = first {
        let id = answer.id(finding);
        let what = if listed.groups.len() > 1 {
            format!("change {}", at + 1)
        } else {
            "it".to_owned()
        };
        let histories = &answer.histories;
        steps.extend(bisect_step(program, histories, group, finding, &id));
        steps.push(known_step(program, &id, group.is_shared, &what));
    }
    if !(detection.findings.is_empty() && detection.suspicions.is_empty()) {
        let command = format!("{program} report");
        steps.push(NextStep::new(command, "writes pages with the histories"));
    }
    steps
}

fn headline(answer: &DetectAnswer) -> String {
    let DetectAnswer {
        histories,
        detection,
        ..
    } = answer;
    let tested = if names_histories(detection) {
        counted(histories.moments.len(), "run")
    } else {
        tested_text(histories, detection)
    };
    format!(
        "{}   ({tested}, {})",
        detection_text(histories, detection),
        rule_text(&answer.options),
    )
}

/// Returns what the rule accepts: `FDR 5 %`.
pub fn rule_text(options: &DetectOptions) -> String {
    match options.rule {
        DetectRule::ChangePoint => {
            let smallest = options
                .smallest_effect
                .map(|it| format!(", smallest effect {}", percent(it)));
            let rate = round_percent(options.false_discovery_rate);
            format!("FDR {rate}{}", smallest.unwrap_or_default())
        }
        DetectRule::Threshold(rule) => format!(
            "latest {} against mean + {} sd of {} before",
            rule.last, rule.deviations, rule.window
        ),
    }
}

fn table(answer: &DetectAnswer, changes: &ListedChanges<'_>) -> Table {
    let listed = || {
        let groups = changes.groups.iter().enumerate();
        groups.flat_map(|(number, (_, findings))| {
            let findings = findings.iter();
            findings.map(move |at| (number + 1, &answer.detection.findings[*at]))
        })
    };
    let metrics = listed().any(|(_, finding)| finding.subject.metric != FIRST_METRIC);
    let mut table = Table::of_shown(&[
        (changes.groups.len() > 1, "", Right),
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
            answer.histories.moments[finding.since()].night_text(),
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
    number: Option<usize>,
    group: &FindingGroup,
    listed: &[usize],
) -> Vec<Note> {
    let histories = &answer.histories;
    let first = &answer.detection.findings[group.findings[0]];
    let label = number.map_or_else(String::new, |number| format!("change {number}: "));
    let note = |code: &'static str, text: String| {
        Note::marked(code, format!("{label}{text}")).with("change", number.unwrap_or(1))
    };
    let since = &histories.moments[first.since()];
    let date = since.date_text();
    let suspects = group.suspects_text(&answer.detection, histories);
    let mut text = match first.rate_text() {
        Some(rate) => {
            let since = date.unwrap_or_else(|| since.label());
            format!("{rate}, since {since}, in {suspects}")
        }
        None => {
            // That of a night is in the range, and the names of versions may be dates.
            let date = date.filter(|date| {
                !group.is_within_version(histories) && !suspects.contains(date.as_str())
            });
            joined([suspects].into_iter().chain(date))
        }
    };
    let more = group.findings.len() - listed.len();
    if group.is_shared {
        text.push_str(&format!(
            ", shared by {} of the suite: look for a change of the machine first",
            counted(group.findings.len(), "history"),
        ));
    }
    if more > 0 {
        text.push_str(&format!(", and {more} more there (`--full` shows them)"));
    }
    let place = note("place", text).with("histories", group.findings.len());
    let mut notes = vec![place.with("not_listed", more)];
    if let Some(explained) = &first.explained {
        let note = note("explained", explained_text(explained));
        notes.push(note.with("surrounding", explained.key.as_str()));
    }
    for finding in listed.iter().map(|at| &answer.detection.findings[*at]) {
        let exceeded = finding.threshold_text();
        notes.extend(exceeded.map(|text| {
            let title = subject_title(&finding.subject);
            note("threshold", format!("{title}: {text}"))
        }));
    }
    let environment = &first.environment;
    notes.extend(environment_text(environment).map(|text| {
        let more = environment.len().saturating_sub(NAMED_ENVIRONMENT_CHANGES);
        let note = note("environment", text).with("differences", environment.len());
        note.with("not_named", more)
    }));
    notes
}
