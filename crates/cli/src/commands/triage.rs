//! `lapwing triage`: what people say about changes that were found.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::detect::{Histories, change_id};
use lapwing_analyse::judge::MetricChoice;
use lapwing_analyse::sample::each_benchmark;
use lapwing_model::text::joined;
use lapwing_record::{Change, Filter, Store, StoreError, Triage, TriageState};

use super::db::said::{AnnotationAuthor, AnnotationDraft, benchmarks_named, is_exact};
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, NamedValue, one_of};

/// Say what is known of changes that `lapwing detect` found, so that they raise no alarm again
///
/// Findings that were triaged stay listed, with who said what. `lapwing db restore` undoes a
/// triage, and `lapwing db push` shares it.
#[derive(Debug, Args)]
pub struct TriageCommand {
    /// What is known of the changes
    #[arg(value_name = "STATE", value_parser = one_of(&STATES))]
    state: TriageState,
    /// Ids of changes, as listed by `lapwing detect`; to expect or mute, ids of benchmarks, or
    /// patterns with *
    #[arg(value_name = "CHANGE|BENCHMARK", required = true)]
    what: Vec<String>,
    /// Mark the same change of all benchmarks of the suite: for one that a whole suite shares, such as
    /// another host [acknowledge, explain]
    #[arg(long)]
    all_benchmarks: bool,
    /// Version that changes the benchmark (name or commit) [expect]
    #[arg(long, value_name = "VERSION", required_if_eq("state", "expect"), value_parser = NonEmptyStringValueParser::new())]
    at_version: Option<String>,
    /// Only this metric
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    metric: Option<String>,
    /// Reason, stored with the annotation
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    reason: Option<String>,
    #[command(flatten)]
    by: AnnotationAuthor,
}

const STATES: [NamedValue<TriageState>; 4] = [
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
        ];
        if let Some((option, _)) = other.into_iter().find(|it| it.1) {
            return Err(CliError::input(format!("{option} does not apply here"))
                .hint("`lapwing triage --help` says to what it applies"));
        }
        self.by.keep(context, |store| match is_found {
            true => self.look(store, self.state),
            false => self.announce(store),
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
        let mut histories = Histories::default();
        let rules = CleaningRules::default();
        each_benchmark(store, &Filter::default(), |data| {
            let values = data.instances.iter().map(|it| &it.iterations.values);
            let metrics: BTreeSet<&String> = values.flat_map(BTreeMap::keys).collect();
            let metrics = metrics.into_iter().cloned().collect();
            histories.add(&data, &rules, &MetricChoice::Named(metrics));
            Ok::<(), StoreError>(())
        })?;
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
