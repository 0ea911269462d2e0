//! `lapwing db retire`: excludes past results from analysis.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use jiff::Timestamp;
use lapwing_analyse::sample::RunKey;
use lapwing_record::{Change, Retirement, Store};
use lapwing_show::writing::Note;

use super::said::{
    AnnotatedResults, AnnotationAuthor, AnnotationDraft, benchmarks_named, each, is_exact,
};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Retire past results of benchmarks
#[derive(Debug, Args)]
pub(super) struct RetireCommand {
    /// Id of the benchmark, or a pattern with *
    #[arg(value_name = "BENCHMARK")]
    benchmark: String,
    /// Only this metric
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    metric: Vec<String>,
    #[command(flatten)]
    results: AnnotatedResults,
    /// Reason, stored with the annotation
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    reason: String,
    #[command(flatten)]
    by: AnnotationAuthor,
}

impl RetireCommand {
    pub(super) fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        self.by.keep(context, |store| self.look(store))
    }

    /// Returns the annotations for the benchmarks currently in the store.
    fn look(&self, store: &Store) -> Result<AnnotationDraft<'_>, CliError> {
        let which = self.results.selector(&[RunKey::Suite, RunKey::Version])?;
        let suites = which.alternatives(RunKey::Suite);
        let found = benchmarks_named(store, &self.benchmark, suites)?;
        let now = Timestamp::now();
        let before = which.until().unwrap_or(now);
        let mut changes = Vec::new();
        for suite in each(suites) {
            for metric in each(&self.metric) {
                for version in each(which.alternatives(RunKey::Version)) {
                    changes.push(Change::Retire(Retirement {
                        suite: suite.clone(),
                        benchmark: self.benchmark.clone(),
                        exactly: is_exact(&self.benchmark, &found),
                        metric: metric.clone(),
                        version,
                        before,
                    }));
                }
            }
        }
        let touched = store.annotations().touched(&changes)?;
        if touched.instances == 0 {
            return Err(CliError::input(format!(
                "nothing to retire: no result of `{}` matches",
                self.benchmark
            ))
            .hint("`lapwing list runs --benchmark NAME` shows when and for which versions it was measured"));
        }
        let what = match &self.metric[..] {
            [] => format!("`{}`", self.benchmark),
            metrics => format!("`{}` of `{}`", metrics.join("`, `"), self.benchmark),
        };
        Ok(AnnotationDraft {
            changes,
            touched: Some(touched),
            notes: still_to_come(before, now).into_iter().collect(),
            undone: Vec::new(),
            reason: Some(&self.reason),
            done: format!("retired {what}"),
            would: format!("would retire {what}"),
        })
    }
}

/// Returns a note if the retirement includes future results.
fn still_to_come(before: Timestamp, now: Timestamp) -> Option<Note> {
    (before > now).then(|| {
        let text = format!(
            "{} is in the future: results measured until then are excluded as well",
            before.strftime("%Y-%m-%d %H:%M:%S UTC")
        );
        Note::marked("future", text).with("until", before.to_string())
    })
}
