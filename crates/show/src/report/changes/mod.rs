//! Changes in the history of the benchmarks: on a page of their own, in the index, and on each benchmark's page.

mod answer;
mod benchmark;
mod causes;
mod history;
mod page;
mod self_test;
mod words;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use benchmark::{HistorySince, level_marks, section, write_charts};
pub(super) use history::unjudged_words;
pub(super) use page::{headline, run_notes, summary, write};

use super::slug::slug;
use crate::ChangeCounts;
use crate::CommitPages;
use crate::FIRST_METRIC;
use crate::writing::Note;
use causes::SHOWN_SUSPECTS;
use lapwing_analyse::detect::{
    ChangeKind, DetectOptions, Detection, Direction, FAILURES, Finding, FindingGroup, Histories,
    HistoryOrder, HistorySeries, Moment, NightNoise, NoNoiseReason, SelfTest, SelfTestOptions,
    UnjudgedReason, change_id, detect, measured,
};
use lapwing_analyse::sample::Subject;
use lapwing_model::text::shell_word;
use lapwing_model::{Id, JudgeSettings};
use lapwing_record::Remark;
pub(crate) use words::{FindingSentence, SizeWords};
use words::{cost, since_text};

/// Of more causes only so many have a section of their own; the table of findings has all.
const SHOWN_CAUSES: usize = 20;
/// Of more findings with one cause only the largest are in its section.
const SHOWN_FINDINGS: usize = 5;

/// A commit as people know it: its message and author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitWords {
    /// Its hash.
    pub commit: String,
    /// The first line of the message.
    pub subject: String,
    /// The author.
    pub author: String,
}

/// The changes in the history of the benchmarks of a report.
#[derive(Debug)]
pub struct ChangesView {
    histories: Histories,
    /// Its groups in the order of the page.
    detection: Detection,
    options: DetectOptions,
    /// The noise of each history from night to night.
    night_noises: Vec<Result<NightNoise, NoNoiseReason>>,
    /// The findings of each benchmark, newest first, by slug.
    of_benchmark: BTreeMap<String, Vec<usize>>,
    /// The measured histories of each benchmark, by slug.
    series_of: BTreeMap<String, Vec<usize>>,
    /// The index of the group of each finding.
    cause_of: Vec<usize>,
    /// The number of groups that are listed: the others, which come last, are the past.
    listed: usize,
    /// The settings of each benchmark that are not measured any more, by slug; one without a name is all of them.
    ended: BTreeMap<String, Vec<Option<String>>>,
    /// How the program is called on this store, in commands.
    program: String,
    /// The web pages of the commits of each suite, where its repository's address is known.
    commit_pages: BTreeMap<String, CommitPages>,
    /// The histories that the suite file mutes.
    muted: Vec<Subject>,
    /// What the detector does on replays of the histories, with what was planted, if it was asked for.
    self_test: Option<(SelfTest, SelfTestOptions)>,
    /// The newest suspected commits of each cause, where the repository has them.
    suspected: BTreeMap<usize, Vec<CommitWords>>,
    /// The day of each judgement of a person.
    said_on: BTreeMap<Id, String>,
    /// What `lapwing detect` notes on the order of the runs, and on those that are not judged.
    notes: Vec<String>,
}

impl ChangesView {
    /// Returns the histories.
    pub(super) fn histories(&self) -> &Histories {
        &self.histories
    }

    /// Returns what was found in them.
    pub(super) fn detection(&self) -> &Detection {
        &self.detection
    }

    /// Returns whether there are several runs, in an order.
    pub(super) fn is_history(&self) -> bool {
        let mut series = self.histories.series.iter();
        series.any(|it| it.tried.len() > 1)
    }

    /// Returns each measured history with its noise from night to night, or why that is not known.
    pub(super) fn night_noises(
        &self,
    ) -> impl Iterator<Item = (&HistorySeries, &Result<NightNoise, NoNoiseReason>)> {
        let series = self.histories.series.iter().zip(&self.night_noises);
        series.filter(|(series, _)| series.is_measured())
    }

    /// Returns whether something was judged or found.
    pub fn has_answer(&self) -> bool {
        let detection = &self.detection;
        let is_found = !detection.findings.is_empty() || !detection.suspicions.is_empty();
        is_found || detection.judged.judged > 0
    }

    /// Returns whether there are runs enough to judge a history.
    pub(super) fn has_enough_runs(&self) -> bool {
        self.is_history() && self.histories.moments.len() >= self.detection.fewest_runs
    }

    /// Returns a change in words: `slower by 14 % [10, 19] since a1b2c3, 2026-09-14`.
    pub(super) fn change_words(&self, finding: &Finding) -> String {
        format!("{} {}", finding.sentence(), since_text(self, finding))
    }

    /// Returns the number of changes by what is known of them.
    pub(super) fn counts(&self) -> ChangeCounts {
        ChangeCounts::of(&self.detection)
    }

    /// Finds the changes in these histories; annotations say which are known, and a suite file has limits of single
    /// benchmarks.
    pub fn of(
        mut histories: Histories,
        judge: &JudgeSettings,
        options: DetectOptions,
        remarks: &[Remark],
    ) -> Self {
        histories.sort(HistoryOrder::Version);
        let muted = histories.apply_limits(judge, options.smallest_effect);
        let mut detection = detect(&histories, &options);
        detection.triage(&histories, remarks);
        let cause_of = vec![0; detection.findings.len()];
        let night_noises = detection.night_noise(&histories, &options);
        let mut view = Self {
            histories,
            night_noises,
            detection,
            options,
            of_benchmark: BTreeMap::new(),
            series_of: BTreeMap::new(),
            cause_of,
            listed: 0,
            ended: BTreeMap::new(),
            program: "lapwing".to_owned(),
            commit_pages: BTreeMap::new(),
            muted,
            self_test: None,
            suspected: BTreeMap::new(),
            said_on: (remarks.iter())
                .map(|it| {
                    (
                        it.annotation.id,
                        it.annotation.at.strftime("%Y-%m-%d").to_string(),
                    )
                })
                .collect(),
            notes: Vec::new(),
        };
        view.sort_causes();
        for (at, finding) in view.detection.findings.iter().enumerate() {
            let subject = &finding.subject;
            let slug = slug(&subject.suite, &subject.benchmark);
            view.of_benchmark.entry(slug).or_default().push(at);
        }
        for (series, state) in measured(&view.histories, &view.detection.states) {
            if state.unjudged() == Some(UnjudgedReason::NotMeasured) {
                let subject = &series.subject;
                let slug = slug(&subject.suite, &subject.benchmark);
                let setting = subject.setting.variant_name();
                view.ended.entry(slug).or_default().push(setting);
            }
        }
        for (at, series) in view.histories.series.iter().enumerate() {
            if series.is_measured() {
                let subject = &series.subject;
                let slug = slug(&subject.suite, &subject.benchmark);
                view.series_of.entry(slug).or_default().push(at);
            }
        }
        let findings = &view.detection.findings;
        for of_benchmark in view.of_benchmark.values_mut() {
            of_benchmark.sort_by_key(|at| std::cmp::Reverse(findings[*at].first_after));
        }
        view
    }

    /// Sets the notes of `lapwing detect` on the runs that are judged and on their order.
    pub fn note_runs(&mut self, notes: &[Note]) {
        self.notes = notes.iter().map(|note| note.text.clone()).collect();
    }

    /// Sets how the program is called on this store: `lapwing --store nights.db`.
    pub fn call_program(&mut self, program: String) {
        self.program = program;
    }

    /// Returns whether a run counts in the history.
    pub fn has_run(&self, run: &Id) -> bool {
        self.histories.has_run(run)
    }

    /// Returns whether a setting of a benchmark is not measured any more.
    pub(super) fn is_ended(&self, slug: &str, variant: &str) -> bool {
        let ended = self.ended.get(slug).into_iter().flatten();
        let mut names = ended.map(Option::as_deref);
        names.any(|name| name.is_none_or(|name| name == variant))
    }

    /// Tests the detector on replays of the histories, for a section of the page.
    pub fn test_itself(&mut self, wanted: SelfTestOptions) {
        let test = lapwing_analyse::detect::self_test(&self.histories, &self.options, &wanted);
        self.self_test = Some((test, wanted));
    }

    /// Sets the number of commits of each range, which `count` returns for the commits before it and at its end.
    pub fn count_commits(&mut self, count: impl Fn(&str, &str) -> Option<usize>) {
        self.detection.count_commits(&self.histories, count);
    }

    /// Links versions to the web pages of their commits. The address of a suite's repository is the one that was
    /// recorded last, else the one that `address` returns for its last commit.
    pub fn link_commits(&mut self, address: impl Fn(&str) -> Option<String>) {
        let moments = &self.histories.moments;
        let suites: BTreeSet<&String> = moments.iter().map(|it| &it.session.suite).collect();
        for suite in suites {
            let newest_first = || moments.iter().rev().filter(|it| it.session.suite == *suite);
            let recorded = newest_first().find_map(|moment| {
                let attributes = &moment.session.attributes;
                CommitPages::of(attributes.get("repository")?.as_str()?)
            });
            let of_commit = || {
                let commit = newest_first().find_map(|it| it.version().commit.as_deref())?;
                CommitPages::of(&address(commit)?)
            };
            if let Some(pages) = recorded.or_else(of_commit) {
                self.commit_pages.insert(suite.clone(), pages);
            }
        }
    }

    /// Tells the suspects of the causes with their messages and authors: `commits` returns the newest commits after one
    /// up to another, at most so many, of the repository under test.
    pub fn describe_commits(&mut self, commits: impl Fn(&str, &str, usize) -> Vec<CommitWords>) {
        let causes = self.listed_causes().iter().take(SHOWN_CAUSES).enumerate();
        let described = causes.filter_map(|(number, group)| {
            let [good, last] = self.ends(group)?;
            Some((number, commits(good, last, SHOWN_SUSPECTS)))
        });
        self.suspected = described.collect();
    }

    /// Returns the commits of the last moment before a cause and of the last that may be its first, if these are known.
    fn ends(&self, group: &FindingGroup) -> Option<[&str; 2]> {
        let commit = |at: usize| self.histories.moments.get(at)?.version().commit.as_deref();
        Some([commit(group.good)?, commit(*group.range.end())?])
    }

    /// Returns the newest suspected commits of the cause of a group, as far as the repository has them.
    fn suspected(&self, group: &FindingGroup) -> &[CommitWords] {
        let cause = self.cause_of[group.lead()];
        self.suspected.get(&cause).map_or(&[], Vec::as_slice)
    }

    /// Returns the day on which a person judged a finding.
    fn said_on(&self, finding: &Finding) -> Option<&str> {
        let triage = finding.triage.as_ref()?;
        self.said_on.get(&triage.annotation).map(String::as_str)
    }

    /// Returns the command that searches the commit of a cause, where the repository under test has both ends and
    /// commits between them, and the benchmark was measured by this program.
    fn bisect_command(&self, group: &FindingGroup) -> Option<String> {
        let lead = self.lead(group);
        let [good, bad] = self.ends(group)?;
        let last = *group.range.end();
        let is_measured_here = self.histories.moments[last]
            .session
            .tool
            .starts_with("lapwing");
        let has_many = group.commits.is_some_and(|number| number > 1);
        let is_step = lead.kind == ChangeKind::Step && lead.subject.metric != FAILURES;
        let is_known = !self.suspected(group).is_empty();
        if !is_known || group.is_shared || !is_measured_here || !has_many || !is_step {
            return None;
        }
        let metric = match lead.subject.metric.as_str() {
            FIRST_METRIC => String::new(),
            metric => format!(" --metric {}", shell_word(metric)),
        };
        let benchmark = shell_word(&lead.subject.benchmark);
        let program = &self.program;
        Some(format!(
            "{program} bisect {good} {bad} --benchmark {benchmark}{metric}"
        ))
    }

    /// Returns the web pages of the commits of a suite, if they are known.
    pub(super) fn commit_pages(&self, suite: &str) -> Option<&CommitPages> {
        self.commit_pages.get(suite)
    }

    /// Returns the address of the commit of a moment, if it has one.
    fn commit_link(&self, moment: &Moment) -> Option<String> {
        self.commit_pages(&moment.session.suite)?
            .commit(moment.version())
    }

    /// Returns the address of the difference between the versions of two moments, if they have commits.
    fn difference_link(&self, from: usize, to: usize) -> Option<String> {
        let [from, to] = [from, to].map(|at| &self.histories.moments[at]);
        self.commit_pages(&to.session.suite)?
            .difference(from.version(), to.version())
    }

    /// Puts the causes in the order of their importance: what is new before what is known or was undone, regressions
    /// before improvements, and then those first that change most wall time per run of their benchmarks. The past comes
    /// last: what was accepted, or what nobody has looked at.
    fn sort_causes(&mut self) {
        let past = self.detection.unreviewed_past(&self.histories);
        let groups = std::mem::take(&mut self.detection.groups);
        let mut groups: Vec<(bool, FindingGroup)> = (groups.into_iter().enumerate())
            .map(|(at, group)| {
                let is_past = past.as_ref().is_some_and(|it| !it.others.contains(&at));
                (is_past || self.detection.is_accepted(&group), group)
            })
            .collect();
        // They come with those first that change most, relatively; a stable order keeps that among equals.
        groups.sort_by(|(one_is_past, one), (other_is_past, other)| {
            let rank = |group: &FindingGroup| {
                let is_closed = !group.findings.iter().any(|at| self.finding(*at).is_open());
                let direction = self.lead(group).direction;
                (is_closed, direction != Direction::Regression)
            };
            let seconds = |group: &FindingGroup| cost(self, group).map_or(-1.0, f64::abs);
            let by_age = one_is_past.cmp(other_is_past);
            let by_rank = by_age.then_with(|| rank(one).cmp(&rank(other)));
            by_rank.then_with(|| seconds(other).total_cmp(&seconds(one)))
        });
        self.listed = groups.iter().filter(|(is_past, _)| !is_past).count();
        let groups: Vec<FindingGroup> = groups.into_iter().map(|(_, group)| group).collect();
        for (number, group) in groups.iter().enumerate() {
            for at in &group.findings {
                self.cause_of[*at] = number;
            }
        }
        self.detection.groups = groups;
    }

    /// Returns the causes that are listed: the past is only in the table.
    fn listed_causes(&self) -> &[FindingGroup] {
        &self.detection.groups[..self.listed]
    }

    /// Returns the number of causes that have a section of their own.
    fn sections(&self) -> usize {
        self.listed_causes().len().min(SHOWN_CAUSES)
    }

    fn finding(&self, at: usize) -> &Finding {
        &self.detection.findings[at]
    }

    /// Returns the finding that stands for a cause: the largest, or the middle one if a suite shares the change.
    fn lead(&self, group: &FindingGroup) -> &Finding {
        self.finding(group.lead())
    }

    /// Returns the indices of the findings of a benchmark, newest first.
    fn of_benchmark(&self, slug: &str) -> &[usize] {
        self.of_benchmark.get(slug).map_or(&[], Vec::as_slice)
    }

    /// Returns the short name of a finding, which later reports keep.
    fn id(&self, finding: &Finding) -> String {
        change_id(&finding.subject, &self.histories.moments[finding.since()])
    }

    /// Returns whether a finding is in the section of its cause.
    fn has_section(&self, finding: usize) -> bool {
        let number = self.cause_of[finding];
        let group = &self.detection.groups[number];
        number < self.sections()
            && group
                .findings
                .iter()
                .take(SHOWN_FINDINGS)
                .any(|it| *it == finding)
    }

    /// Returns the address of a finding, as seen from the index.
    fn link(&self, finding: usize) -> String {
        let id = self.id(self.finding(finding));
        if self.has_section(finding) {
            format!("changes.html#{id}")
        } else {
            format!("changes.html#q={id}")
        }
    }
}
