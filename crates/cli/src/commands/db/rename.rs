//! `lapwing db rename`: a benchmark, or a metric, goes on under another name.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use lapwing_core::model::{Better, Conversion, Metric};
use lapwing_core::record::{BenchmarkData, Change, Filter, InstanceData, Retired, Store};
use lapwing_core::text::grouped;

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
        let mut notes = Vec::new();
        let mut changes = Vec::new();
        let mut what = Vec::new();
        if let Some(new) = &self.new {
            let renames = self.renames(store, &found, new)?;
            if let [Change::Rename { new, .. }] = &renames[..]
                && is_there(store, new)?
            {
                notes.push(format!("`{new}` was measured before: both are one series"));
                let of_new = Filter {
                    suites: found.iter().map(|it| it.0.clone()).collect(),
                    benchmarks: vec![new.clone()],
                    ..Filter::default()
                };
                if store.left_out(&of_new)?.instances > 0 {
                    notes.push(stays_retired(&self.benchmark, new));
                }
            }
            what.push(format!("`{}` to `{new}`", self.benchmark));
            changes.extend(renames);
        }
        let filter = Filter {
            suites: self.in_suite.clone(),
            benchmarks: vec![self.benchmark.clone()],
            ..Filter::default()
        }
        .with_retired();
        for (metric, new) in &self.metric {
            self.check_metric(store, &filter, &found, metric, new)?;
            self.check_quantity(store, metric, new)?;
            let counting = Filter {
                retired: Retired::LeaveOut,
                ..filter.clone()
            };
            if store.left_out(&counting)?.metrics.contains_key(new) {
                notes.push(stays_retired(metric, new));
            }
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
            notes,
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
        filter: &Filter,
        found: &[(String, String)],
        metric: &str,
        new: &str,
    ) -> Result<(), CliError> {
        let rows = store.metrics(filter)?;
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

    /// What is joined has to be the same quantity; what is retired is not joined.
    fn check_quantity(&self, store: &Store, metric: &str, new: &str) -> Result<(), CliError> {
        let names = [metric, new];
        let filter = Filter {
            suites: self.in_suite.clone(),
            benchmarks: vec![self.benchmark.clone()],
            ..Filter::default()
        };
        let rows = store.metrics(&filter)?;
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
        store.each_benchmark(&filter, |data| {
            match Both::of(&data, names).obstacle(&data, names) {
                None => Ok(()),
                Some(why) => Err(CliError::input(format!("{}: {why}", data.benchmark.id))
                    .hint(format!("`lapwing db retire BENCHMARK --metric {metric}` leaves what was measured of it out"))),
            }
        })
    }
}

/// Returns what to say of a new name of which something is retired.
fn stays_retired(old: &str, new: &str) -> String {
    format!(
        "what is retired of `{new}` stays so; what was measured as `{old}` counts, since a \
         retirement is of what was called so when it was said"
    )
}

/// What a benchmark has under the old and the new name of a metric.
#[derive(Default)]
struct Both {
    old: Option<Metric>,
    new: Option<Metric>,
}

impl Both {
    /// Returns what is said of both names wherever anything was measured under them.
    fn of(data: &BenchmarkData, [old, new]: [&str; 2]) -> Self {
        let latest = |name: &str| {
            let measured = data.instances.iter().rev().filter(|it| {
                it.iterations.values.contains_key(name)
                    || it.summaries.iter().any(|summary| summary.metric == name)
            });
            measured
                .filter_map(|it| it.run.metrics.get(name))
                .next()
                .cloned()
        };
        Self {
            old: latest(old),
            new: latest(new),
        }
    }

    /// Returns why the two cannot be one metric, if they cannot.
    fn obstacle(&self, data: &BenchmarkData, names: [&str; 2]) -> Option<String> {
        let [old, new] = names;
        let units = [&self.old, &self.new].map(|it| it.as_ref().map_or("", |it| it.unit.as_str()));
        let conversion = match units {
            ["", _] | [_, ""] => Some(Conversion::NONE),
            [from, to] => Conversion::between(from, to),
        };
        let Some(conversion) = conversion else {
            return Some(format!(
                "`{old}` is counted in {} and `{new}` in {}, and one cannot be converted into the other",
                units[0], units[1]
            ));
        };
        let better = [&self.old, &self.new].map(|it| it.as_ref().and_then(|it| it.better));
        if let [Some(of_old), Some(of_new)] = better
            && of_old != of_new
        {
            let word = |better| match better {
                Better::Lower => "less",
                Better::Higher => "more",
            };
            return Some(format!(
                "of `{old}` {} is better, of `{new}` {}",
                word(of_old),
                word(of_new)
            ));
        }
        let differ = |it: &InstanceData| {
            let columns = names.map(|name| it.iterations.values.get(name));
            let [Some(old), Some(new)] = columns else {
                return false;
            };
            let pairs = old.iter().zip(new);
            { pairs }.any(|(old, new)| differ(conversion.of(*old), *new))
        };
        let instances = data.instances.iter().filter(|it| differ(it)).count();
        (instances > 0).then(|| {
            format!(
                "{} both `{old}` and `{new}`, with other values: they are two metrics",
                match instances {
                    1 => "1 instance has".to_owned(),
                    several => format!("{} instances have", grouped(several)),
                }
            )
        })
    }
}

/// Two numbers that were written from the same one may differ in the last digits.
fn differ(old: f64, new: f64) -> bool {
    (old - new).abs() > 1e-6 * old.abs().max(new.abs())
}

fn is_there(store: &Store, id: &str) -> Result<bool, CliError> {
    let rows = store.benchmarks(&Filter::default().with_retired())?;
    Ok(rows.iter().any(|row| row.benchmark == id))
}
