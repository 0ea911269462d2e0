//! `lapwing triage`: what people say about changes that were found.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use jiff::Timestamp;
use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::detect::{Histories, HistoryOrder, change_id};
use lapwing_analyse::judge::MetricChoice;
use lapwing_analyse::sample::{MainChoice, SampleFilter, each_benchmark};
use lapwing_model::text::joined;
use lapwing_record::{Change, Filter, Store, StoreError, Triage, TriageState};

use super::db::said::{AnnotationAuthor, AnnotationDraft, benchmarks_named, is_exact};
use super::detect::check_dates;
use crate::cleaning::CleaningOptions;
use crate::error::{CliError, ExitStatus};
use crate::main_runs::MainOption;
use crate::options::{Context, NamedValue, one_of, parse_date};

/// Say what is known of changes that `lapwing detect` found, so that they raise no alarm again
///
/// Findings that were triaged stay listed, with who said what; those of an accepted past are only
/// counted. `lapwing db restore` undoes a triage, and `lapwing db push` shares it.
#[derive(Debug, Args)]
pub struct TriageCommand {
    /// What is known of the changes
    #[arg(value_name = "STATE", value_parser = one_of(&STATES))]
    state: TriageState,
    /// Ids of changes, as listed by `lapwing detect`; to expect, mute or accept, ids of benchmarks, or
    /// patterns with * [accept; default: all benchmarks]
    #[arg(value_name = "CHANGE|BENCHMARK", required_unless_present = "until")]
    what: Vec<String>,
    /// Mark the same change of all benchmarks of the suite: for one that a whole suite shares, such as
    /// another host [acknowledge, explain]
    #[arg(long)]
    all_benchmarks: bool,
    /// Version that changes the benchmark (name or commit) [expect]
    #[arg(long, value_name = "VERSION", required_if_eq("state", "expect"), value_parser = NonEmptyStringValueParser::new())]
    at_version: Option<String>,
    /// Last version (name or commit) or run, as `lapwing detect` calls it, whose changes are accepted with
    /// all before, or the date before which they are [accept]
    #[arg(long, value_name = "VERSION|RUN|DATE", required_if_eq("state", "accept"), value_parser = NonEmptyStringValueParser::new())]
    until: Option<String>,
    /// Only this metric
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    metric: Option<String>,
    /// Reason, stored with the annotation
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    reason: Option<String>,
    #[command(flatten)]
    by: AnnotationAuthor,
}

const STATES: [NamedValue<TriageState>; 5] = [
    (
        "acknowledge",
        "Mark changes as known",
        TriageState::Acknowledged,
    ),
    (
        "explain",
        "Mark changes as explained and accepted",
        TriageState::Explained,
    ),
    (
        "expect",
        "Announce that a version will change a benchmark",
        TriageState::Expected,
    ),
    (
        "mute",
        "Ignore all changes of a benchmark",
        TriageState::Muted,
    ),
    (
        "accept",
        "Accept all changes until a version, run or date: the past of a history that was taken over",
        TriageState::Accepted,
    ),
];

impl TriageCommand {
    /// Adds the annotations.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let is_found = matches!(
            self.state,
            TriageState::Acknowledged | TriageState::Explained
        );
        let other = [
            ("--all-benchmarks", self.all_benchmarks && !is_found),
            ("--metric", self.metric.is_some() && is_found),
            (
                "--at-version",
                self.at_version.is_some() && self.state != TriageState::Expected,
            ),
            (
                "--until",
                self.until.is_some() && self.state != TriageState::Accepted,
            ),
        ];
        if let Some((option, _)) = other.into_iter().find(|it| it.1) {
            return Err(CliError::input(format!("{option} does not apply here"))
                .hint("`lapwing triage --help` says to what it applies"));
        }
        self.by
            .keep(context, |store| match (&self.until, is_found) {
                (Some(until), _) => self.accept(store, until),
                (None, true) => self.look(store, self.state),
                (None, false) => self.announce(store),
            })
    }

    fn look(&self, store: &Store, state: TriageState) -> Result<AnnotationDraft<'_>, CliError> {
        let changes = self.changes(store, state)?;
        let names: Vec<String> = changes
            .iter()
            .map(|triage| {
                let metric = triage.metric.as_deref().unwrap_or_default();
                if self.all_benchmarks {
                    format!("{metric} of all benchmarks")
                } else {
                    format!("{metric} of `{}`", triage.benchmark)
                }
            })
            .collect();
        Ok(draft(changes, self.reason.as_deref(), &joined(names)))
    }

    /// Returns what is to be said about the changes of these ids.
    ///
    /// An id names a benchmark, a metric and a run: whether there is a change now does not matter.
    fn changes(&self, store: &Store, state: TriageState) -> Result<Vec<Triage>, CliError> {
        let histories = histories(store)?;
        let mut found: Vec<Vec<Triage>> = vec![Vec::new(); self.what.len()];
        for series in &histories.series {
            for moment in &series.tried {
                let moment = &histories.moments[*moment];
                let id = change_id(&series.subject, moment);
                let Some(at) = self.what.iter().position(|wanted| *wanted == id) else {
                    continue;
                };
                found[at].push(moment.triage_of(&series.subject, state));
            }
        }
        let unknown = found.iter().position(Vec::is_empty);
        if let Some(at) = unknown {
            let id = &self.what[at];
            return Err(CliError::input(format!("no change has the id `{id}`"))
                .hint("`lapwing detect` lists changes with their ids"));
        }
        let mut found: Vec<Triage> = found.into_iter().flatten().collect();
        if self.all_benchmarks {
            for triage in &mut found {
                "*".clone_into(&mut triage.benchmark);
                triage.exactly = false;
            }
        }
        Ok(found)
    }

    /// Returns what is to be said about the past of all benchmarks, or of these: one annotation for each pattern.
    fn accept(&self, store: &Store, until: &str) -> Result<AnnotationDraft<'_>, CliError> {
        let judged = judged(store)?;
        let (acceptance, end) = match accepted_end(&judged, until) {
            Some(found) => found,
            // Such as a version of a topic branch.
            None => accepted_end(&histories(store)?, until)
                .map_or_else(|| accepted_before(&judged, until), Ok)?,
        };
        let everything = vec!["*".to_owned()];
        let what = match self.what.is_empty() {
            true => &everything,
            false => &self.what,
        };
        let mut triages = Vec::new();
        for benchmark in what {
            let found = benchmarks_named(store, benchmark, &[])?;
            triages.push(Triage {
                benchmark: benchmark.clone(),
                exactly: is_exact(benchmark, &found),
                metric: self.metric.clone(),
                ..acceptance.clone()
            });
        }
        let names = match self.what.is_empty() {
            true => "all benchmarks".to_owned(),
            false => joined(what.iter().map(|name| format!("`{name}`"))),
        };
        let what = format!("changes of {names} {end}");
        Ok(draft(triages, self.reason.as_deref(), &what))
    }

    /// Returns what is to be said about all changes of benchmarks, or about those of a version.
    fn announce(&self, store: &Store) -> Result<AnnotationDraft<'_>, CliError> {
        let mut triages = Vec::new();
        for benchmark in &self.what {
            let found = benchmarks_named(store, benchmark, &[])?;
            triages.push(Triage {
                suite: None,
                benchmark: benchmark.clone(),
                exactly: is_exact(benchmark, &found),
                metric: self.metric.clone(),
                state: self.state,
                session: None,
                version: self.at_version.clone(),
                before: None,
            });
        }
        let names = joined(self.what.iter().map(|name| format!("`{name}`")));
        let what = match &self.at_version {
            Some(version) => format!("change of {names} at {version}"),
            None => format!("changes of {names}"),
        };
        Ok(draft(triages, self.reason.as_deref(), &what))
    }
}

/// Returns an acceptance until the version or run of this name, and its end in words.
fn accepted_end(histories: &Histories, until: &str) -> Option<(Triage, String)> {
    let last = &histories.moments[histories.last_called(until)?];
    let acceptance = histories.acceptance_until(until)?;
    Some((acceptance, format!("until {}", last.label())))
}

/// Returns an acceptance of what happened before a date, and its end in words.
///
/// # Errors
/// If the text is no date, or one in the future; if no run has its place by a time.
fn accepted_before(histories: &Histories, until: &str) -> Result<(Triage, String), CliError> {
    let before = parse_date(until).map_err(|_no_date| {
        CliError::input(format!("`{until}` is neither a version, a run nor a date"))
            .hint("`lapwing list runs` shows the versions and the names of the runs")
    })?;
    if before > Timestamp::now() {
        return Err(CliError::input(format!(
            "{until} is in the future: what happens until then cannot be accepted yet"
        ))
        .hint("name the newest version, or a date that has passed"));
    }
    check_dates(histories)?;
    let acceptance = Triage {
        suite: None,
        benchmark: "*".to_owned(),
        exactly: false,
        metric: None,
        state: TriageState::Accepted,
        session: None,
        version: None,
        before: Some(before),
    };
    Ok((acceptance, format!("before {before}")))
}

/// Returns the histories of the judged runs, in their order.
pub(super) fn judged(store: &Store) -> Result<Histories, CliError> {
    let asked = SampleFilter::default();
    let filter = asked.resolve(store)?;
    let judging = CleaningOptions::default().judging()?;
    let usual = MainChoice::DefaultBranch;
    let judged = MainOption::default().judged(store, &filter, &asked, &judging, usual)?;
    let mut histories = Histories::in_order(judged.history);
    add_all(&mut histories, store, &judged.filter)?;
    histories.sort(HistoryOrder::Version);
    Ok(histories)
}

/// Returns the histories of all metrics.
pub(super) fn histories(store: &Store) -> Result<Histories, CliError> {
    let mut histories = Histories::default();
    add_all(&mut histories, store, &Filter::default())?;
    histories.sort(HistoryOrder::Version);
    Ok(histories)
}

fn add_all(histories: &mut Histories, store: &Store, filter: &Filter) -> Result<(), CliError> {
    let rules = CleaningRules::default();
    each_benchmark(store, filter, |data| {
        let values = data.instances.iter().map(|it| &it.iterations.values);
        let mut metrics: BTreeSet<&String> = values.flat_map(BTreeMap::keys).collect();
        let summaries = data.instances.iter().flat_map(|it| &it.summaries);
        metrics.extend(summaries.map(|it| &it.metric));
        let metrics = metrics.into_iter().cloned().collect();
        histories.add(&data, &rules, &MetricChoice::Named(metrics));
        Ok::<(), StoreError>(())
    })?;
    Ok(())
}

fn draft<'r>(changes: Vec<Triage>, reason: Option<&'r str>, what: &str) -> AnnotationDraft<'r> {
    let state = changes.first().map_or("", |triage| triage.state.name());
    AnnotationDraft {
        changes: changes.into_iter().map(Change::Triage).collect(),
        touched: None,
        notes: Vec::new(),
        undone: Vec::new(),
        reason,
        done: format!("{state}: {what}"),
        would: format!("would be {state}: {what}"),
    }
}
