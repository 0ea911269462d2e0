//! Measurements in the formats of other programs.
//!
//! Those formats hold one run, and know neither instances nor burn-in nor failures: what
//! counts of all instances of a benchmark stands there together. Record v1, CSV and JSON,
//! which lose nothing, are exported by `record::export`.

mod bmf;
mod github_action;
mod hyperfine;
mod nothing;
mod pyperf;
mod pytest_benchmark;
mod rounds;

pub use self::hyperfine::HyperfineResults;

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::Value;

use lapwing_analyse::clean::{CleaningPolicy, IterationState, clean};
use lapwing_analyse::judge::{Estimate, estimate};
use lapwing_analyse::sample::{BenchmarkData, each_benchmark};
use lapwing_model::{Better, InstanceOutcome, Metric, MetricName, Outcome, Run, Session, Summary};
use lapwing_record::{Filter, InstanceData, Store, StoreError};

/// A format of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeFormat {
    /// pytest-benchmark's JSON.
    PytestBenchmark,
    /// hyperfine's JSON.
    Hyperfine,
    /// pyperf's JSON.
    Pyperf,
    /// Bencher Metric Format.
    Bmf,
    /// github-action-benchmark's custom JSON.
    GithubAction,
}

/// The numbers of what was written, and what the format had no place for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExchangeSummary {
    /// Entries of the file.
    pub entries: u64,
    /// Entries whose values come from several instances.
    pub joined: u64,
    /// Excluded iterations: burn-in, failures.
    pub not_counted: u64,
    /// Benchmarks that have nothing to write.
    pub empty: Vec<String>,
    /// Metrics that do not go with the others: the format has one direction a file.
    pub other_direction: Vec<MetricName>,
}

/// The reason why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The output cannot be written to.
    #[error("cannot write the export")]
    Output(#[from] io::Error),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of such a format holds one run.
    #[error("this format holds one run, but {} match the filters", runs.len())]
    SeveralRuns {
        /// Each run: id, then session, version and variant.
        runs: Vec<(String, String)>,
    },
    /// Nothing fits.
    #[error("nothing to export: no measurement fits")]
    Nothing,
    /// There are only summaries, and the format holds samples, or other summaries.
    #[error(
        "nothing to export: of `{metric}` there are only summaries, for which the format has no place"
    )]
    OnlySummaries {
        /// The metric.
        metric: MetricName,
    },
    /// No benchmark has the time that is exported.
    #[error("nothing to export: no benchmark has `{metric}`")]
    WithoutTime {
        /// The metric.
        metric: MetricName,
        /// The times that there are instead.
        others: Vec<MetricName>,
    },
    /// All of it is burn-in, or failed.
    #[error("nothing to export: no measurement counts, as all are burn-in, failed or skipped")]
    NothingCounts,
    /// All analysed values have the other direction.
    #[error(
        "nothing to export: only what is better upwards counts, and it needs a file of its own"
    )]
    OtherDirection {
        /// The metrics that are better upwards.
        metrics: Vec<MetricName>,
    },
    /// pytest-benchmark and hyperfine know times only.
    #[error("`{metric}` is not a time, and the format holds times only")]
    NoTime {
        /// The metric.
        metric: MetricName,
    },
}

/// One benchmark of the run.
struct ExchangeEntry<'d> {
    data: &'d BenchmarkData,
    session: Arc<Session>,
    run: Arc<Run>,
}

/// The values of one metric after cleaning.
struct CountedValues {
    /// The values of all instances, in order.
    values: Vec<f64>,
    /// How many of them each instance has.
    per_instance: Vec<usize>,
    estimate: Estimate,
    left_out: u64,
}

/// The centre of a metric, with its sample size.
struct MetricCentre {
    value: f64,
    /// A 95 % interval, or whatever bounds the source gave.
    bounds: Option<(f64, f64)>,
    /// Half an interval, or whatever spread the source gave.
    spread: Option<f64>,
    rests_on: String,
    /// The samples, where there are any.
    counted: Option<CountedValues>,
}

impl ExchangeEntry<'_> {
    fn id(&self) -> &str {
        &self.data.benchmark.id
    }

    fn metric(&self, name: &str) -> Metric {
        self.run.metrics.get(name).cloned().unwrap_or_default()
    }

    /// Returns the values of a metric after cleaning, if there are any.
    fn counted(&self, metric: &str) -> Option<CountedValues> {
        let cleaned = clean(&self.data.instances, metric, CleaningPolicy::default());
        let estimate = estimate(&cleaned)?;
        let instances = || cleaned.instances.iter();
        Some(CountedValues {
            values: instances()
                .flat_map(|it| it.values.iter().copied())
                .collect(),
            per_instance: instances().map(|it| it.values.len()).collect(),
            estimate,
            left_out: u64::try_from(cleaned.left_out.total()).unwrap_or(u64::MAX),
        })
    }

    /// Returns the summary of a metric by a source without samples, if there is one.
    ///
    /// An instance whose every iteration failed, or that failed itself, says nothing.
    fn summary(&self, metric: &str) -> Option<&Summary> {
        let good = |it: &&InstanceData| {
            let outcomes = &it.iterations.outcome;
            let has_ended_well = it.end.as_ref().is_none_or(|end| {
                matches!(end.outcome, InstanceOutcome::Ok | InstanceOutcome::Skipped)
            });
            has_ended_well && (outcomes.is_empty() || outcomes.contains(&Outcome::Ok))
        };
        let instances = self.data.instances.iter().filter(good);
        let mut summaries = instances.flat_map(|it| &it.summaries);
        summaries.find(|summary| summary.metric == metric)
    }

    /// Returns how many executions each value that counts is the mean of, where that is
    /// the same for all.
    fn loops(&self, metric: &str) -> Option<u64> {
        let mut all = self.data.instances.iter().flat_map(|instance| {
            let states = IterationState::of_instance(instance, metric, CleaningPolicy::default());
            let loops = instance.iterations.loops.iter().zip(states);
            loops.filter_map(|(loops, state)| (state == IterationState::Steady).then_some(*loops))
        });
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }

    /// Returns an attribute that the latest instance has.
    fn attribute(&self, name: &str) -> Option<&Value> {
        self.data.instances.last()?.instance.attributes.get(name)
    }

    /// Returns the centre of a metric from samples or, where there are none, from a summary.
    fn centre(&self, metric: &str) -> Option<MetricCentre> {
        if let Some(counted) = self.counted(metric) {
            return Some(MetricCentre {
                value: counted.estimate.value,
                bounds: counted.estimate.interval.map(|it| (it.lower, it.upper)),
                spread: counted
                    .estimate
                    .interval
                    .map(|it| (it.upper - it.lower) / 2.0)
                    // An interval on logarithms may be too wide for one of the same distance to both sides.
                    .filter(|spread| *spread < counted.estimate.value.abs()),
                rests_on: match counted.estimate.interval {
                    Some(_) => format!("{}, 95 % confidence", counted.estimate.size.text()),
                    None => counted.estimate.size.text(),
                },
                counted: Some(counted),
            });
        }
        let summary = self.summary(metric)?;
        let bound = |key: &str| summary.extra.get(key).and_then(Value::as_f64);
        Some(MetricCentre {
            value: summary.centre,
            bounds: bound("lower").zip(bound("upper")),
            spread: summary.spread,
            rests_on: match summary.n {
                Some(n) => format!("{} of {n}", summary.statistic),
                None => summary.statistic.clone(),
            },
            counted: None,
        })
    }

    /// Returns the time that was asked for, or else the wall time, or else the only time
    /// that there is.
    fn time_metric(&self, filter: &Filter) -> MetricName {
        let wanted = time_asked_for(filter);
        let names = self.metrics();
        if !filter.metrics.is_empty() || names.iter().any(|name| name == wanted) {
            return wanted.to_owned();
        }
        let mut times = names
            .into_iter()
            .filter(|name| self.metric(name).unit == "s");
        match (times.next(), times.next()) {
            (Some(only), None) => only,
            (Some(_), Some(_)) | (None, _) => wanted.to_owned(),
        }
    }

    /// Returns the names of the metrics that instances have.
    fn metrics(&self) -> Vec<MetricName> {
        let mut names: Vec<MetricName> = self
            .data
            .instances
            .iter()
            .flat_map(|instance| {
                let sampled = instance.iterations.values.keys();
                sampled.chain(instance.summaries.iter().map(|summary| &summary.metric))
            })
            .cloned()
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Writes the one run that passes the filter.
///
/// # Errors
/// When more than one run passes, or none, or nothing of it has a place in the format (then
/// nothing is written); when the store cannot be read or `out` not be written to.
pub fn exchange(
    store: &Store,
    filter: &Filter,
    format: ExchangeFormat,
    out: &mut impl Write,
) -> Result<ExchangeSummary, ExchangeError> {
    let runs = store.catalogue().runs(filter)?;
    match runs.len() {
        0 => return Err(ExchangeError::Nothing),
        1 => {}
        _ => {
            let runs = runs.into_iter().map(described).collect();
            return Err(ExchangeError::SeveralRuns { runs });
        }
    }
    match format {
        ExchangeFormat::PytestBenchmark | ExchangeFormat::Hyperfine | ExchangeFormat::Pyperf => {
            refuse_other_than_time(store, filter)?;
        }
        ExchangeFormat::Bmf | ExchangeFormat::GithubAction => {}
    }
    let mut exchanged = match format {
        ExchangeFormat::PytestBenchmark => pytest_benchmark::write(store, filter, out)?,
        ExchangeFormat::Hyperfine => hyperfine::write(store, filter, out)?,
        ExchangeFormat::Pyperf => pyperf::write(store, filter, out)?,
        ExchangeFormat::Bmf => bmf::write(store, filter, out)?,
        ExchangeFormat::GithubAction => github_action::write(store, filter, out)?,
    };
    exchanged.other_direction.sort();
    exchanged.other_direction.dedup();
    if exchanged.entries == 0 {
        return Err(nothing::why(
            store,
            filter,
            format,
            exchanged.other_direction,
        )?);
    }
    out.flush()?;
    Ok(exchanged)
}

fn described(run: lapwing_record::RunRow) -> (String, String) {
    let run = run.head;
    let version = run.version.or(run.commit);
    let words = [run.session_name, version, Some(run.variant)];
    let words: Vec<String> = words.into_iter().flatten().collect();
    (run.id.to_string(), words.join(", "))
}

/// Calls `visit` with each benchmark.
fn each_entry(
    store: &Store,
    filter: &Filter,
    mut visit: impl FnMut(&ExchangeEntry<'_>) -> Result<(), ExchangeError>,
) -> Result<(), ExchangeError> {
    each_benchmark(store, filter, |data| {
        let Some(first) = data.instances.first() else {
            return Ok(());
        };
        let entry = ExchangeEntry {
            session: Arc::clone(&first.session),
            run: Arc::clone(&first.run),
            data: &data,
        };
        visit(&entry)
    })
}

/// The time that was asked for, or else the wall time.
fn time_asked_for(filter: &Filter) -> &str {
    match &filter.metrics[..] {
        [only] => only,
        [] | [..] => "wall_time",
    }
}

/// Refuses what formats for times cannot hold, before anything is written.
fn refuse_other_than_time(store: &Store, filter: &Filter) -> Result<(), ExchangeError> {
    let metric = time_asked_for(filter);
    let rows = store.catalogue().metrics(filter)?;
    let asked_for = rows.iter().filter(|row| row.metric == metric);
    if asked_for.flat_map(|row| &row.units).all(|unit| unit == "s") {
        Ok(())
    } else {
        Err(ExchangeError::NoTime {
            metric: metric.to_owned(),
        })
    }
}

impl ExchangeSummary {
    fn note(&mut self, counted: Option<&CountedValues>) {
        self.entries += 1;
        let Some(counted) = counted else { return };
        self.joined += u64::from(counted.estimate.size.instances > 1);
        self.not_counted += counted.left_out;
    }
}

/// Writes elements of a JSON list, one after another, and what stands around them. Without
/// elements it writes nothing, so that an export of nothing leaves no document behind.
struct JsonList {
    opening: String,
    empty: bool,
}

impl JsonList {
    fn new(opening: impl Into<String>) -> Self {
        Self {
            opening: opening.into(),
            empty: true,
        }
    }

    fn push(&mut self, out: &mut impl Write, value: &Value) -> io::Result<()> {
        self.next(out)?;
        serde_json::to_writer(out, value).map_err(io::Error::from)
    }

    /// Writes the text before an element.
    fn next(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.empty {
            self.empty = false;
            return writeln!(out, "{}", self.opening);
        }
        out.write_all(b",\n")
    }

    fn end(self, out: &mut impl Write, closing: &str) -> io::Result<()> {
        if self.empty {
            return Ok(());
        }
        write!(out, "\n{closing}\n")
    }
}

fn is_higher_better(metric: &Metric) -> bool {
    metric.better == Some(Better::Higher)
}
