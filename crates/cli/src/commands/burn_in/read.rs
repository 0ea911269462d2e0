//! The burn-in of every benchmark of a store.

use std::collections::BTreeMap;

use lapwing_analyse::clean::{BenchmarkAudit, BurnInSource, CleaningPolicy, burn_in_metric};
use lapwing_analyse::explain::{BenchmarkBurnIn, NoTimeError, SteadyStartSearch, burn_in_of};
use lapwing_analyse::sample::{BenchmarkData, Sample, each_benchmark};
use lapwing_record::{Filter, Store};
use lapwing_show::FIRST_METRIC;
use lapwing_show::answers::earlier_note;
use lapwing_show::answers::not_judged::NotJudged;
use rayon::prelude::*;

use crate::error::CliError;
use crate::options::Context;
use crate::progress::bar_of_many;

/// Number of benchmarks per batch: enough for all processors.
const BATCH: usize = 64;

/// Returns the burn-in of each benchmark that has a value, by suite and id, and the others with their reasons.
pub fn read(
    store: &Store,
    filter: &Filter,
    search: &SteadyStartSearch,
    starts: &BTreeMap<String, u32>,
    context: &Context,
) -> Result<(Vec<BenchmarkBurnIn>, Vec<NotJudged>), CliError> {
    let total = store.catalogue().benchmarks(filter)?.len();
    let bar = bar_of_many("looking", total, context);
    let (mut rows, mut others) = (Vec::new(), Vec::new());
    let mut batch: Vec<BenchmarkData> = Vec::new();
    let mut earlier = 0;
    let mut analyse = |batch: &mut Vec<BenchmarkData>| -> Result<(), CliError> {
        let samples: Vec<Sample<'_>> = batch.iter().map(Sample::of_newest_epoch).collect();
        let found = samples
            .par_iter()
            .map(|sample| burn_in_of(sample, search, starts));
        let found: Result<Vec<_>, NoTimeError> = found.collect();
        let found = found.map_err(|error| {
            CliError::input(error).hint("give it as a number of iterations, `--max-cost '5 iterations'`, or choose a time with --metric")
        })?;
        bar.inc(samples.len() as u64);
        for (sample, found) in samples.iter().zip(found) {
            earlier += sample.earlier_epoch;
            match found {
                Some(row) => rows.push(row),
                None => others.push(without_value(sample)),
            }
        }
        batch.clear();
        Ok(())
    };
    each_benchmark(store, filter, |data| {
        batch.push(data);
        if batch.len() < BATCH {
            return Ok(());
        }
        analyse(&mut batch)
    })?;
    analyse(&mut batch)?;
    bar.finish_and_clear();
    context.terminal.notes(earlier_note(earlier));
    Ok((rows, others))
}

/// Returns why a benchmark has no values.
fn without_value(sample: &Sample<'_>) -> NotJudged {
    let metric = burn_in_metric(sample).unwrap_or_else(|| FIRST_METRIC.to_owned());
    let audit = BenchmarkAudit::of(
        sample,
        &metric,
        CleaningPolicy::default(),
        BurnInSource::Recorded,
    );
    let nothing = || "no successful iteration has a value".to_owned();
    NotJudged {
        suite: sample.suite.to_owned(),
        benchmark: sample.benchmark.id.clone(),
        setting: None,
        metric,
        reason: audit.reason().unwrap_or_else(nothing),
    }
}
