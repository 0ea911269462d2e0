//! `lapwing db rename`: a benchmark, or a metric, goes on under another name.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use lapwing_core::record::{Change, Filter, Store};

use super::said::{By, Said, benchmarks_named, is_exact};
use crate::error::{CliError, Exit};
use crate::options::Context;

/// Benchmarks, and what they or their metrics are called from now on
#[derive(Debug, Args)]
pub(super) struct Rename {
    /// The benchmark's id, or a pattern with *
    #[arg(value_name = "BENCHMARK")]
    benchmark: String,
    /// The id that it has from now on; a * in it stands for what the * of the pattern stands for
    #[arg(value_name = "NEW", value_parser = NonEmptyStringValueParser::new(), required_unless_present = "metric")]
    new: Option<String>,
    /// Rename a metric of it
    #[arg(long, value_name = "OLD=NEW", value_parser = old_and_new)]
    metric: Vec<(String, String)>,
    /// Only in this suite
    #[arg(long, value_name = "SUITE")]
    in_suite: Vec<String>,
    /// Why
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    reason: String,
    #[command(flatten)]
    by: By,
}

fn old_and_new(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() && old != new => {
            Ok((old.to_owned(), new.to_owned()))
        }
        Some(_) | None => Err("write it like OLD=NEW".to_owned()),
    }
}

impl Rename {
    pub(super) fn act(self, context: &Context) -> Result<Exit, CliError> {
        self.by.keep(context, |store| self.look(store))
    }

    /// Returns what is to be said of the benchmarks of the store as they are now.
    fn look(&self, store: &Store) -> Result<Said<'_>, CliError> {
        let found = benchmarks_named(store, &self.benchmark, &self.in_suite)?;
        let mut note = None;
        let mut changes = Vec::new();
        let mut what = Vec::new();
        if let Some(new) = &self.new {
            let renames = self.renames(store, &found, new)?;
            if let [Change::Rename { new, .. }] = &renames[..]
                && is_there(store, new)?
            {
                note = Some(format!("`{new}` was measured before: both are one series"));
            }
            what.push(format!("`{}` to `{new}`", self.benchmark));
            changes.extend(renames);
        }
        for (metric, new) in &self.metric {
            self.check_metric(store, &found, metric, new)?;
            what.push(format!(
                "metric `{metric}` of `{}` to `{new}`",
                self.benchmark
            ));
            let suites: Vec<Option<String>> = match &self.in_suite[..] {
                [] => vec![None],
                some => some.iter().cloned().map(Some).collect(),
            };
            changes.extend(suites.into_iter().map(|suite| Change::RenameMetric {
                suite,
                benchmark: self.benchmark.clone(),
                exactly: is_exact(&self.benchmark, &found),
                metric: metric.clone(),
                new: new.clone(),
            }));
        }
        Ok(Said {
            touched: store.touched(&changes)?,
            changes,
            not_before: None,
            note,
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
            let target = match is_exact(&self.benchmark, found) {
                true => new.to_owned(),
                false => self.target(id, new)?,
            };
            if *id == target {
                return Err(CliError::input(format!("`{id}` is called that already")));
            }
            let since = store.ids_since(suite, &target)?;
            if since.contains(id) {
                return Err(CliError::input(format!(
                    "`{id}` was called `{target}` before: renaming it would lead round in a circle"
                ))
                .hint(
                    "`lapwing db annotations` lists the rename; `lapwing db restore ID` undoes it",
                ));
            }
            if let [_, .., now] = &since[..] {
                return Err(
                    CliError::input(format!("`{target}` is called `{now}` by now"))
                        .hint("rename it to that, or undo the other rename first"),
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
                "{} benchmarks fit `{}`, and all of them would become one",
                found.len(),
                self.benchmark
            ))
            .hint("put a * into the new id as well, or rename one after the other"));
        }
        Ok(changes)
    }

    /// Returns the new id, with what the star of the pattern stands for.
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
            Some(_) | None => Err(CliError::input(format!(
                "it is not clear what * stands for in `{new}`"
            ))
            .hint("write one * in the pattern and one in the new id, as in 'old/*' 'new/*'")),
        }
    }

    fn check_metric(
        &self,
        store: &Store,
        found: &[(String, String)],
        metric: &str,
        new: &str,
    ) -> Result<(), CliError> {
        let filter = Filter {
            suites: self.in_suite.clone(),
            benchmarks: vec![self.benchmark.clone()],
            ..Filter::default()
        };
        let rows = store.metrics(&filter.with_retired())?;
        if !rows.iter().any(|row| row.metric == metric) {
            let names: Vec<String> = rows.iter().map(|row| format!("`{}`", row.metric)).collect();
            return Err(
                CliError::input(format!("`{}` has no metric `{metric}`", self.benchmark))
                    .hint(format!("it has {}", names.join(", "))),
            );
        }
        for (suite, id) in found {
            let names = store.metric_names_since(suite, id, new)?;
            if names.iter().any(|name| name == metric) {
                return Err(CliError::input(format!(
                    "`{metric}` was called `{new}` before: renaming it would lead round in a circle"
                ))
                .hint(
                    "`lapwing db annotations` lists the rename; `lapwing db restore ID` undoes it",
                ));
            }
        }
        Ok(())
    }
}

fn is_there(store: &Store, id: &str) -> Result<bool, CliError> {
    let rows = store.benchmarks(&Filter::default().with_retired())?;
    Ok(rows.iter().any(|row| row.benchmark == id))
}
