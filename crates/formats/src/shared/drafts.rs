//! What readers say of sessions, runs and instances, before these have ids.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::shared::spans::SpanDraft;
use crate::shared::units::Unit;
use lapwing_model::{Benchmark, Id, InstanceOutcome, Level, Metric, MetricName, Object, Version};
use lapwing_record::IterationColumns;

/// A session before it has an id.
#[derive(Debug, Default)]
pub(crate) struct SessionDraft {
    /// Distinguishes it from the other sessions of its source; empty where it is the only one.
    pub(crate) key: String,
    /// The origin of its ids, where that is not the source's own digest.
    pub(crate) identity: Option<[u8; 32]>,
    /// The suite that its benchmarks belong to, where the source says so.
    pub(crate) suite: Option<String>,
    /// Its start; a date in the file's name, or else the file's time, where the source does not say.
    pub(crate) started: Option<Timestamp>,
    /// The time of the files that it is from, where the source is a folder.
    pub(crate) file_time: Option<Timestamp>,
    /// The program that measured, with its version.
    pub(crate) tool: String,
    /// A name for people; the file's where there is none.
    pub(crate) name: Option<String>,
    /// Whatever else is known of it.
    pub(crate) attributes: Object,
    /// The options that change what is made of the same content: name and value.
    pub(crate) read_with: Vec<(&'static str, String)>,
}

impl SessionDraft {
    /// Returns a session of that program.
    pub(crate) fn of(tool: &str) -> Self {
        Self {
            tool: tool.to_owned(),
            ..Self::default()
        }
    }
}

/// A run before it has an id.
#[derive(Debug, Default)]
pub(crate) struct RunDraft {
    /// Distinguishes it from the other runs of its session; empty where it is the only one.
    pub(crate) key: String,
    /// The named setting; `None` where nothing was varied.
    pub(crate) variant: Option<String>,
    /// The factors that were deliberately varied.
    pub(crate) factors: BTreeMap<String, Level>,
    /// The state of the software under test.
    pub(crate) version: Version,
    /// Observations that were not chosen.
    pub(crate) environment: Object,
    /// Whatever else is known of it.
    pub(crate) attributes: Object,
}

impl RunDraft {
    /// Names the variant after the levels of the factors, if there are any.
    pub(crate) fn named_by_factors(mut self) -> Self {
        let levels = self.factors.iter();
        let levels: Vec<String> = levels
            .map(|(factor, level)| format!("{factor}={level}"))
            .collect();
        self.variant = (!levels.is_empty()).then(|| levels.join(","));
        self
    }
}

/// An instance, with everything measured in it, before it has an id.
#[derive(Debug, Default)]
pub(crate) struct InstanceDraft {
    /// Its id where that is not to come from its place in the source.
    pub(crate) id: Option<Id>,
    /// The benchmark that was measured.
    pub(crate) benchmark: Benchmark,
    /// The block that it belongs to.
    pub(crate) block: u32,
    /// Its place in the order of the session, where that is not its place in the source.
    pub(crate) position: Option<u32>,
    /// The machine that it ran on.
    pub(crate) host: Option<String>,
    /// Its start.
    pub(crate) started: Option<Timestamp>,
    /// Its end.
    pub(crate) ended: Option<Timestamp>,
    /// Observations that were not chosen.
    pub(crate) environment: Object,
    /// The scheduler's names for it.
    pub(crate) job: Object,
    /// Whatever else is known of it.
    pub(crate) attributes: Object,
    /// Files that belong to it: name to path or URL.
    pub(crate) artifacts: Object,
    /// The units and directions of its iterations' and summaries' metrics.
    pub(crate) metrics: BTreeMap<MetricName, Metric>,
    /// Its iterations.
    pub(crate) iterations: IterationColumns,
    /// Summaries of metrics whose samples the source did not keep.
    pub(crate) summaries: Vec<SummaryDraft>,
    /// The timed pieces of its task graph.
    pub(crate) spans: Vec<SpanDraft>,
    /// Its outcome.
    pub(crate) outcome: InstanceOutcome,
    /// The reason, where it did not end well.
    pub(crate) message: Option<String>,
    /// The machine's state around it.
    pub(crate) observed: Object,
}

impl InstanceDraft {
    /// Returns an instance of the benchmark of that name, with nothing measured yet.
    pub(crate) fn of(benchmark: impl Into<String>) -> Self {
        Self {
            benchmark: Benchmark {
                id: benchmark.into(),
                ..Benchmark::default()
            },
            ..Self::default()
        }
    }

    /// Adds a summary of a metric, whose figures are in the base unit of `unit` already.
    pub(crate) fn summarise(&mut self, unit: &Unit, summary: SummaryDraft) {
        self.metrics
            .insert(summary.metric.clone(), unit.metric.clone());
        self.summaries.push(summary);
    }
}

/// A summary before it has an instance.
#[derive(Debug, Default, Clone)]
pub(crate) struct SummaryDraft {
    /// The metric that it speaks of.
    pub(crate) metric: MetricName,
    /// The number of samples it was made from, where the source says so.
    pub(crate) n: Option<u64>,
    /// The centre.
    pub(crate) centre: f64,
    /// The spread, where the source says so.
    pub(crate) spread: Option<f64>,
    /// The names of centre and spread, such as `median/iqr`.
    pub(crate) statistic: String,
    /// Further figures of the same metric, in its unit.
    pub(crate) extra: Object,
}

impl SummaryDraft {
    /// Returns the summary of a metric by a statistic such as `mean`.
    pub(crate) fn of(metric: &str, centre: f64, statistic: &str) -> Self {
        Self {
            metric: metric.to_owned(),
            centre,
            statistic: statistic.to_owned(),
            ..Self::default()
        }
    }

    /// Adds the spread, where it is known, with its name such as `sd`.
    pub(crate) fn with_spread(mut self, spread: Option<f64>, name: &str) -> Self {
        if spread.is_some() {
            self.statistic = format!("{}/{name}", self.statistic);
        }
        self.spread = spread;
        self
    }
}

/// Returns iterations of which only the values of one metric are known.
pub(crate) fn iterations_of(metric: &str, values: Vec<f64>) -> IterationColumns {
    IterationColumns {
        count: values.len(),
        values: BTreeMap::from([(metric.to_owned(), values)]),
        ..IterationColumns::default()
    }
}
