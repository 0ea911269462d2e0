//! The values and metadata of one side: of a cleaned sample, or of one half of it.

use std::collections::BTreeSet;

use lapwing_stats::as_f64;
use serde_json::Value;

use super::super::SampleSplit;
use super::super::compare::SideSample;
use super::super::duet::DuetPart;
use super::unit::InstanceOrigin;
use crate::clean::{
    CleanInstance, Cleaned, CleaningPolicy, PreferredCentres, SteadyFrom, centre_name,
    clean_with_summaries,
};
use crate::sample::{Sample, SideSetting, telling};
use lapwing_model::{Conversion, InstanceOutcome, Look, Metric, Outcome};
use lapwing_record::InstanceData;

impl SideSample {
    /// Returns one side of a benchmark and metric.
    pub fn of(sample: &Sample<'_>, metric: &str, policy: CleaningPolicy) -> Self {
        let centres = PreferredCentres::of(sample.instances.iter().copied(), metric);
        let cleaned = clean_with_summaries(&sample.instances, metric, policy, &centres);
        Self {
            duets: DuetPart::of(&sample.instances, metric, policy),
            never_steady: policy.burn_in == SteadyFrom::Never,
            earlier: sample.earlier_epoch,
            setting: SideSetting::of(sample),
            origins: origins(&cleaned, &sample.instances),
            ..Self::with(cleaned, &sample.instances, metric).with_summaries(
                &sample.instances,
                metric,
                &centres,
            )
        }
    }

    /// Converts the values to a unit, if their own unit can be converted.
    pub(in crate::judge) fn convert_to(&mut self, unit: &str) {
        let [own] = &self.units.iter().collect::<Vec<_>>()[..] else {
            return;
        };
        let Some(conversion) = Conversion::between(own, unit).filter(|_| *own != unit) else {
            return;
        };
        let values = self.cleaned.instances.iter_mut();
        for value in values.flat_map(|it| &mut it.values) {
            *value = conversion.of(*value);
        }
        for value in self.duets.iter_mut().flat_map(|it| it.values.values_mut()) {
            *value = conversion.of(*value);
        }
        self.units = BTreeSet::from([unit.to_owned()]);
    }

    /// Forgets blocks and sessions of the instances.
    pub(in crate::judge) fn forget_blocks(&mut self) {
        let Some(first) = self.origins.first().map(|it| it.session) else {
            return;
        };
        self.is_paired_by_host = true;
        for origin in &mut self.origins {
            (origin.session, origin.block) = (first, 0);
        }
    }

    fn with(cleaned: Cleaned, instances: &[&InstanceData], metric: &str) -> Self {
        let mut side = Self {
            cleaned,
            recorded_instances: instances.len(),
            is_exact: instances.iter().all(|it| it.run.is_exact(metric)),
            ..Self::default()
        };
        for instance in instances {
            let failures = failures(instance);
            side.failures += failures;
            let tried = instance.iterations.len().max(1);
            side.failure_rates.push(as_f64(failures) / as_f64(tried));
            let mut values = instance.iterations.values.get(metric).into_iter().flatten();
            side.has_values |= values.any(|value| value.is_finite());
            let mut summaries = instance.summaries.iter();
            side.has_summary |= summaries.any(|summary| summary.metric == metric);
            let look = Look::of(&instance.instance.attributes);
            *side.looks.entry(look).or_insert(0) += 1;
            note(&mut side.hosts, instance.instance.host.as_deref());
            note(&mut side.processors, processor(instance));
            let benchmark = &instance.instance.benchmark;
            note(&mut side.fingerprints, benchmark.fingerprint.as_deref());
            let params = telling(&benchmark.params);
            if !params.is_empty() {
                let known = side.params.entry(benchmark.id.clone()).or_default();
                known.extend(params);
            }
            if let Some(Metric { unit, better }) = instance.run.metrics.get(metric) {
                note(
                    &mut side.units,
                    Some(unit.as_str()).filter(|unit| !unit.is_empty()),
                );
                side.directions.extend(*better);
            }
            side.runs.insert(instance.run.id);
        }
        side
    }

    /// Notes which values are summaries; `instances` are those that were cleaned.
    fn with_summaries(
        mut self,
        instances: &[&InstanceData],
        metric: &str,
        centres: &PreferredCentres,
    ) -> Self {
        for (place, instance) in self.cleaned.instances.iter().enumerate() {
            let data = instances.get(instance.position);
            let centre = match data.and_then(|it| centres.summary(it, metric)) {
                // What is stated of each of several measured processes is a value like any other.
                Some(summary) => {
                    if data.is_none_or(|it| it.iterations.is_empty()) {
                        self.summarised.insert(place);
                    }
                    centre_name(summary)
                }
                None => SAMPLED,
            };
            note(&mut self.centres, Some(centre).filter(|it| *it != UNKNOWN));
        }
        self
    }
}

/// The centre of an instance's samples.
const SAMPLED: &str = "mean";
/// The centre of which the source does not say what it is.
const UNKNOWN: &str = "value";

/// Cleans one sample and splits the remaining instances in two; excluded ones go with their neighbours.
pub(in crate::judge) fn halves(
    sample: &Sample<'_>,
    metric: &str,
    policy: CleaningPolicy,
    split: SampleSplit,
) -> Vec<SideSample> {
    let instances = &sample.instances;
    let centres = PreferredCentres::of(instances.iter().copied(), metric);
    let cleaned = clean_with_summaries(instances, metric, policy, &centres);
    let middle = cleaned.instances.len() / 2;
    let first_of_second = cleaned.instances.get(middle).map(|it| it.position);
    let side_of = |place: usize, position: usize| match split {
        SampleSplit::Halves => usize::from(first_of_second.is_some_and(|first| position >= first)),
        SampleSplit::Alternating => place % 2,
    };
    let mut sides = [Cleaned::default(), Cleaned::default()];
    for (place, instance) in cleaned.instances.into_iter().enumerate() {
        let side = side_of(place, instance.position);
        sides[side].instances.push(instance);
    }
    // One list of exclusions is enough for both.
    sides[0].left_out = cleaned.left_out;
    let mut parts = [Vec::new(), Vec::new()];
    for (position, instance) in instances.iter().enumerate() {
        parts[side_of(position, position)].push(*instance);
    }
    let with = sides.into_iter().zip(&parts);
    with.map(|(cleaned, half)| SideSample {
        never_steady: policy.burn_in == SteadyFrom::Never,
        setting: SideSetting::of(sample),
        ..SideSample::with(cleaned, half, metric).with_summaries(instances, metric, &centres)
    })
    .collect()
}

/// Returns the origin of each analysed instance.
fn origins(cleaned: &Cleaned, instances: &[&InstanceData]) -> Vec<InstanceOrigin> {
    let of_instance = |instance: &CleanInstance| {
        let data = instances.get(instance.position)?;
        Some(InstanceOrigin {
            session: data.session.id,
            block: data.instance.block,
            position: data.instance.position,
            host: data.instance.host.clone(),
        })
    };
    let found = cleaned.instances.iter().filter_map(of_instance);
    found.collect()
}

/// Returns the number of iterations that failed or timed out; 1 for a failed instance without iterations.
pub(crate) fn failures(it: &InstanceData) -> usize {
    if it.iterations.is_empty() {
        let outcome = it.end.as_ref().map(|end| end.outcome);
        return usize::from(matches!(
            outcome,
            Some(InstanceOutcome::Failed | InstanceOutcome::TimedOut)
        ));
    }
    let failed = |outcome: &&Outcome| matches!(outcome, Outcome::Failed | Outcome::TimedOut);
    it.iterations.outcome.iter().filter(failed).count()
}

fn processor(it: &InstanceData) -> Option<&str> {
    const KEY: &str = "cpu_model";
    let of_instance = it.instance.environment.get(KEY);
    let model = of_instance.or_else(|| it.run.environment.get(KEY));
    model.and_then(Value::as_str)
}

fn note(names: &mut BTreeSet<String>, name: Option<&str>) {
    if let Some(name) = name
        && !names.contains(name)
    {
        names.insert(name.to_owned());
    }
}
