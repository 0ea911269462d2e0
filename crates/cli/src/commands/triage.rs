//! `lapwing triage`: what people say about changes that were found.

use std::collections::{BTreeMap, BTreeSet};

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::detect::{Histories, change_id};
use lapwing_analyse::judge::MetricChoice;
use lapwing_analyse::sample::each_benchmark;
use lapwing_model::text::joined;
use lapwing_record::{Change, Filter, Store, StoreError, Triage, TriageState};

use super::db::said::{AnnotationAuthor, AnnotationDraft, benchmarks_named, is_exact};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Say what is known of changes that `lapwing detect` found, so that they raise no alarm again
///
/// Findings that were triaged stay listed, with who said what. `lapwing db restore` undoes a
/// triage, and `lapwing db push` shares it.
#[derive(Debug, Args)]
pub struct TriageCommand {
    #[command(subcommand)]
    action: TriageAction,
}

#[derive(Debug, Subcommand)]
enum TriageAction {
    /// Mark changes as known
    Acknowledge(FoundChanges),
    /// Mark changes as explained and accepted
    Explain(FoundChanges),
    /// Announce that a version will change a benchmark
    Expect(ExpectedChange),
    /// Ignore all changes of a benchmark
    Mute(MutedBenchmark),
}

/// Changes that were found.
#[derive(Debug, Args)]
struct FoundChanges {
    /// Ids of changes, as listed by `lapwing detect`
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Mark the same change of all benchmarks of the suite: for one that a whole suite shares, such as
    /// another host
    #[arg(long)]
    all_benchmarks: bool,
    /// Reason, stored with the annotation
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    reason: Option<String>,
    #[command(flatten)]
    by: AnnotationAuthor,
}

#[derive(Debug, Args)]
struct ExpectedChange {
    /// Id of the benchmark, or a pattern with *
    #[arg(value_name = "BENCHMARK")]
    benchmark: String,
    /// Version that changes it (name or commit)
    #[arg(long, value_name = "VERSION", value_parser = NonEmptyStringValueParser::new())]
    version_under_test: String,
    /// Only this metric
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    metric: Option<String>,
    /// Reason, stored with the annotation
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    reason: Option<String>,
    #[command(flatten)]
    by: AnnotationAuthor,
}

#[derive(Debug, Args)]
struct MutedBenchmark {
    /// Id of the benchmark, or a pattern with *
    #[arg(value_name = "BENCHMARK")]
    benchmark: String,
    /// Only this metric
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    metric: Option<String>,
    /// Reason, stored with the annotation
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    reason: Option<String>,
    #[command(flatten)]
    by: AnnotationAuthor,
}

impl TriageCommand {
    /// Adds the annotations.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match &self.action {
            TriageAction::Acknowledge(found) => found.keep(TriageState::Acknowledged, context),
            TriageAction::Explain(found) => found.keep(TriageState::Explained, context),
            TriageAction::Expect(expected) => {
                expected.by.keep(context, |store| expected.look(store))
            }
            TriageAction::Mute(muted) => muted.by.keep(context, |store| muted.look(store)),
        }
    }
}

impl FoundChanges {
    fn keep(&self, state: TriageState, context: &Context) -> Result<ExitStatus, CliError> {
        self.by.keep(context, |store| self.look(store, state))
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
        let mut found: Vec<Vec<Triage>> = vec![Vec::new(); self.ids.len()];
        for series in &histories.series {
            for moment in &series.tried {
                let moment = &histories.moments[*moment];
                let id = change_id(&series.subject, moment);
                let Some(at) = self.ids.iter().position(|wanted| *wanted == id) else {
                    continue;
                };
                found[at].push(moment.triage_of(&series.subject, state));
            }
        }
        let unknown = found.iter().position(Vec::is_empty);
        if let Some(at) = unknown {
            let id = &self.ids[at];
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
}

impl ExpectedChange {
    fn look(&self, store: &Store) -> Result<AnnotationDraft<'_>, CliError> {
        let found = benchmarks_named(store, &self.benchmark, &[])?;
        let triage = Triage {
            suite: None,
            benchmark: self.benchmark.clone(),
            exactly: is_exact(&self.benchmark, &found),
            metric: self.metric.clone(),
            state: TriageState::Expected,
            session: None,
            version: Some(self.version_under_test.clone()),
        };
        let what = format!(
            "change of `{}` at {}",
            self.benchmark, self.version_under_test
        );
        Ok(draft(vec![triage], self.reason.as_deref(), &what))
    }
}

impl MutedBenchmark {
    fn look(&self, store: &Store) -> Result<AnnotationDraft<'_>, CliError> {
        let found = benchmarks_named(store, &self.benchmark, &[])?;
        let triage = Triage {
            suite: None,
            benchmark: self.benchmark.clone(),
            exactly: is_exact(&self.benchmark, &found),
            metric: self.metric.clone(),
            state: TriageState::Muted,
            session: None,
            version: None,
        };
        let what = format!("changes of `{}`", self.benchmark);
        Ok(draft(vec![triage], self.reason.as_deref(), &what))
    }
}

fn draft<'r>(changes: Vec<Triage>, reason: Option<&'r str>, what: &str) -> AnnotationDraft<'r> {
    let state = changes.first().map_or("", |triage| triage.state.name());
    AnnotationDraft {
        changes: changes.into_iter().map(Change::Triage).collect(),
        touched: None,
        notes: Vec::new(),
        reason,
        done: format!("{state}: {what}"),
        would: format!("would be {state}: {what}"),
    }
}
