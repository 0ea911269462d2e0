//! `lapwing db rename`: renames a benchmark or a metric.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use lapwing_analyse::sample::{RunKey, SampleFilter, check_joined, each_benchmark};
use lapwing_record::{Change, Filter, Retired, Store};
use lapwing_show::writing::Note;

use super::said::{
    AnnotatedResults, AnnotationAuthor, AnnotationDraft, benchmarks_named, each, is_exact,
};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Rename benchmarks or their metrics
#[derive(Debug, Args)]
pub(super) struct RenameCommand {
    /// Id of the benchmark, or a pattern with *
    #[arg(value_name = "BENCHMARK")]
    benchmark: String,
    /// New id; a * in it stands for the text matched by the * of the pattern
    #[arg(value_name = "NEW", value_parser = NonEmptyStringValueParser::new(), required_unless_present = "metric")]
    new: Option<String>,
    /// Rename a metric of the benchmark
    #[arg(long, value_name = "OLD=NEW", value_parser = old_and_new)]
    metric: Vec<(String, String)>,
    #[command(flatten)]
    results: AnnotatedResults,
    /// Reason, stored with the annotation
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    reason: String,
    #[command(flatten)]
    by: AnnotationAuthor,
}

fn old_and_new(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() && old != new => {
            Ok((old.to_owned(), new.to_owned()))
        }
        Some(_) | None => Err("write it like OLD=NEW".to_owned()),
    }
}

impl RenameCommand {
    pub(super) fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        self.by.keep(context, |store| self.look(store))
    }

    fn suites(&self) -> Result<Vec<String>, CliError> {
        let selector = self.results.selector(&[RunKey::Suite])?;
        Ok(selector.alternatives(RunKey::Suite).to_vec())
    }

    /// Returns the annotations for the benchmarks currently in the store.
    fn look(&self, store: &Store) -> Result<AnnotationDraft<'_>, CliError> {
        let found = benchmarks_named(store, &self.benchmark, &self.suites()?)?;
        let mut notes = Vec::new();
        let mut changes = Vec::new();
        let mut what = Vec::new();
        if let Some(new) = &self.new {
            let renames = self.renames(store, &found, new)?;
            if let [Change::Rename { new, .. }] = &renames[..]
                && has_results(store, new)?
            {
                let text =
                    format!("`{new}` already has results: the two are joined into one series");
                notes.push(Note::marked("joined", text).with("benchmark", new.clone()));
                let suites: Vec<String> = found.iter().map(|it| it.0.clone()).collect();
                let of_new = Filter {
                    benchmarks: vec![new.clone()],
                    ..SampleFilter::of_suites(&suites).resolve(store)?
                };
                if store.catalogue().left_out(&of_new)?.instances > 0 {
                    notes.push(stays_retired(&self.benchmark, new));
                }
            }
            what.push(format!("`{}` to `{new}`", self.benchmark));
            changes.extend(renames);
        }
        for (metric, new) in &self.metric {
            notes.extend(self.rename_metric(store, &found, metric, new, &mut changes)?);
            what.push(format!(
                "metric `{metric}` of `{}` to `{new}`",
                self.benchmark
            ));
        }
        Ok(AnnotationDraft {
            touched: Some(store.annotations().touched(&changes)?),
            changes,
            notes,
            undone: Vec::new(),
            reason: Some(&self.reason),
            done: format!("renamed {}", what.join(" and ")),
            would: format!("would rename {}", what.join(" and ")),
        })
    }

    /// Returns a rename for each benchmark found.
    fn renames(
        &self,
        store: &Store,
        found: &[(String, String)],
        new: &str,
    ) -> Result<Vec<Change>, CliError> {
        let mut changes = Vec::new();
        for (suite, id) in found {
            let target = if is_exact(&self.benchmark, found) {
                new.to_owned()
            } else {
                self.target(id, new)?
            };
            if *id == target {
                return Err(CliError::input(format!("`{id}` already has this name")));
            }
            let since = store.annotations().names_since(suite, &target, None)?;
            if since.contains(id) {
                return Err(circular(id, &target));
            }
            if let [_, .., now] = &since[..] {
                return Err(
                    CliError::input(format!("`{target}` was renamed to `{now}`"))
                        .hint("use that name, or undo the other rename first"),
                );
            }
            changes.push(Change::Rename {
                suite: Some(suite.clone()),
                benchmark: id.clone(),
                new: target,
            });
        }
        let of_suite = |suite: &String| found.iter().filter(|it| it.0 == *suite).count();
        if !new.contains('*') && found.iter().any(|(suite, _)| of_suite(suite) > 1) {
            return Err(CliError::input(format!(
                "{} benchmarks match `{}`, and all would get the same id",
                found.len(),
                self.benchmark
            ))
            .hint("put a * into the new id as well, or rename them one by one"));
        }
        Ok(changes)
    }

    /// Returns the new id, with its * replaced by the text that the pattern's * matched.
    fn target(&self, id: &str, new: &str) -> Result<String, CliError> {
        if !new.contains('*') {
            return Ok(new.to_owned());
        }
        let one_star = |text: &str| text.matches('*').count() == 1 && !text.contains('?');
        let parts = self.benchmark.split_once('*');
        match parts {
            Some((before, after)) if one_star(&self.benchmark) && one_star(new) => {
                let middle = id
                    .strip_prefix(before)
                    .and_then(|rest| rest.strip_suffix(after))
                    .unwrap_or(id);
                Ok(new.replace('*', middle))
            }
            Some(_) | None => Err(CliError::input(format!("the * in `{new}` is ambiguous"))
                .hint("use one * in the pattern and one in the new id, as in 'old/*' 'new/*'")),
        }
    }

    /// Adds the renames of a metric, and returns a note on retired results.
    fn rename_metric(
        &self,
        store: &Store,
        found: &[(String, String)],
        metric: &str,
        new: &str,
        changes: &mut Vec<Change>,
    ) -> Result<Option<Note>, CliError> {
        let filter = Filter {
            benchmarks: vec![self.benchmark.clone()],
            ..SampleFilter::of_suites(&self.suites()?).resolve(store)?
        }
        .with_retired();
        self.check_metric(store, &filter, found, metric, new)?;
        self.check_quantity(store, metric, new)?;
        let suites = each(&self.suites()?).into_iter();
        changes.extend(suites.map(|suite| Change::RenameMetric {
            suite,
            benchmark: self.benchmark.clone(),
            exactly: is_exact(&self.benchmark, found),
            metric: metric.to_owned(),
            new: new.to_owned(),
        }));
        let counting = Filter {
            retired: Retired::LeaveOut,
            ..filter
        };
        let retired = store.catalogue().left_out(&counting)?.metrics;
        let is_retired = retired.contains_key(new);
        Ok(is_retired.then(|| stays_retired(metric, new)))
    }

    fn check_metric(
        &self,
        store: &Store,
        filter: &Filter,
        found: &[(String, String)],
        metric: &str,
        new: &str,
    ) -> Result<(), CliError> {
        let rows = store.catalogue().metrics(filter)?;
        if !rows.iter().any(|row| row.metric == metric) {
            let names: Vec<String> = rows.iter().map(|row| format!("`{}`", row.metric)).collect();
            return Err(
                CliError::input(format!("`{}` has no metric `{metric}`", self.benchmark))
                    .hint(format!("it has {}", names.join(", "))),
            );
        }
        for (suite, id) in found {
            let names = store.annotations().names_since(suite, id, Some(new))?;
            if names.iter().any(|name| name == metric) {
                return Err(circular(metric, new));
            }
        }
        Ok(())
    }

    /// Refuses to join metrics that are different quantities; retired results are not joined.
    fn check_quantity(&self, store: &Store, metric: &str, new: &str) -> Result<(), CliError> {
        let names = [metric, new];
        let filter = Filter {
            benchmarks: vec![self.benchmark.clone()],
            ..SampleFilter::of_suites(&self.suites()?).resolve(store)?
        };
        let rows = store.catalogue().metrics(&filter)?;
        if !names
            .iter()
            .all(|name| rows.iter().any(|row| row.metric == *name))
        {
            return Ok(());
        }
        let filter = Filter {
            metrics: names.map(str::to_owned).to_vec(),
            ..filter
        };
        each_benchmark(store, &filter, |data| {
            check_joined(&data, names).map_err(|error| {
                CliError::input(format!("{}: {error}", data.benchmark.id)).hint(format!(
                    "`lapwing db retire BENCHMARK --metric {metric}` excludes its past results"
                ))
            })
        })
    }
}

fn circular(old: &str, new: &str) -> CliError {
    CliError::input(format!(
        "`{old}` was called `{new}` before: the rename would be circular"
    ))
    .hint("`lapwing db annotations` lists the rename; `lapwing db restore ID` undoes it")
}

/// Returns a note if results under the new name are retired.
fn stays_retired(old: &str, new: &str) -> Note {
    let text = format!(
        "retired results of `{new}` stay retired; results of `{old}` are included: a retirement \
         applies to whatever had that name at the time"
    );
    Note::marked("stays_retired", text).with("name", new)
}

fn has_results(store: &Store, id: &str) -> Result<bool, CliError> {
    let rows = store
        .catalogue()
        .benchmarks(&Filter::default().with_retired())?;
    Ok(rows.iter().any(|row| row.benchmark == id))
}
