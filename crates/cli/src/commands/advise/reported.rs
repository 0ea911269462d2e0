//! The stacks of a report: the advice by the metrics that benchmarks report, and the stacks that failed.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::judge::{MetricChoice, metric};
use lapwing_analyse::sample::{BenchmarkData, Sample, each_benchmark};
use lapwing_measure::stack::{PYTHON, RefusedStack, refused_stacks, unresolved_stacks};
use lapwing_model::text::{counted, joined_with_and, shell_word};
use lapwing_model::{Better, Levels, MetricName};
use lapwing_record::{Filter, InstanceData, Store, StoreError};
use lapwing_show::answers::advise::{AdviceAnswer, model_notes};
use lapwing_show::report::{GoalAdvice, StackFailure, StacksView};
use lapwing_stats::Seed;
use lapwing_study::{
    Advice, AdviceKind, AdviceRules, GoalTerm, PackagePin, PackageRequirement, StackData,
    StackModel, instance_failed, is_stack,
};

use crate::commands::stack::pins;
use crate::error::CliError;

/// More metrics are not asked about.
const MOST_METRICS: usize = 5;

/// The stacks of a store: those of the packages that were measured last.
pub struct StoredStacks {
    benchmarks: Vec<BenchmarkData>,
    packages: Vec<PackageRequirement>,
    refused: Vec<RefusedStack>,
    unresolved: Vec<Vec<PackagePin>>,
}

impl StoredStacks {
    /// Reads them; `None` if no run is of a stack.
    pub fn read(store: &Store, filter: &Filter) -> Result<Option<Self>, CliError> {
        // All metrics are read, because burn-in is detected from the wall time.
        let filter = Filter {
            metrics: Vec::new(),
            ..filter.clone()
        };
        let mut benchmarks: Vec<BenchmarkData> = Vec::new();
        each_benchmark(store, &filter, |data| {
            if data.instances.iter().any(|it| !it.run.factors.is_empty()) {
                benchmarks.push(data);
            }
            Ok::<(), StoreError>(())
        })?;
        let instances = benchmarks.iter().flat_map(|data| &data.instances);
        let stacks = instances.filter(|it| is_stack(&it.run));
        let Some(latest) = stacks.max_by_key(|it| it.session.started) else {
            return Ok(None);
        };
        let mut names: Vec<&String> = latest.run.factors.keys().collect();
        // Nearly all stacks have Python in common: it tells packages apart only if there is nothing else.
        if names.len() > 1 {
            names.retain(|it| *it != PYTHON);
        }
        let packages = names
            .iter()
            .filter_map(|it| PackageRequirement::parse(it).ok());
        let packages: Vec<PackageRequirement> = packages.collect();
        if packages.is_empty() {
            return Ok(None);
        }
        let mut stored = Self {
            benchmarks,
            packages,
            refused: Vec::new(),
            unresolved: Vec::new(),
        };
        for head in store.catalogue().session_heads()? {
            let session = store.catalogue().session(&head.id.to_string())?;
            let unresolved = unresolved_stacks(&session.attributes).into_iter();
            stored.unresolved.extend(unresolved.map(pins));
            stored.refused.extend(refused_stacks(&session.attributes));
        }
        Ok(Some(stored))
    }

    /// Shows them by the first metric that they report, with the answers by the others beside it.
    pub fn show<R>(
        &self,
        rules: &CleaningRules,
        program: &str,
        show: impl FnOnce(&StacksView<'_>) -> R,
    ) -> R {
        let metrics = self.metrics();
        let (first, others) = match metrics.split_first() {
            Some((first, others)) => (first.as_str(), others),
            None => ("wall_time", &[][..]),
        };
        let others: Vec<GoalAdvice> = others
            .iter()
            .filter_map(|metric| {
                let command = self.command(program, metric);
                self.advise(metric, rules, |advice| {
                    Some(advice.ok()?.by_goal(metric.clone(), command))
                })
            })
            .collect();
        let command = self.command(program, first);
        self.advise(first, rules, |advice| {
            show(&StacksView {
                about: self.about(first),
                next: advice.as_ref().ok().map(|it| it.next_step(&command)),
                advice,
                others,
                failures: self.failures(),
                command,
            })
        })
    }

    /// Gives the answer of `lapwing advise` with these packages and this goal, or the reason why there is none.
    fn advise<R>(
        &self,
        metric: &str,
        rules: &CleaningRules,
        then: impl FnOnce(Result<AdviceAnswer<'_>, String>) -> R,
    ) -> R {
        let goal = [GoalTerm {
            benchmark: None,
            metric: metric.to_owned(),
            weight: 1.0,
        }];
        let data = StackData::of(&self.benchmarks, &goal, &self.packages, &[], rules);
        let mut data = match data {
            Ok(data) => data,
            Err(error) => return then(Err(error.to_string())),
        };
        data.add_failed(&self.unresolved);
        let (no_rules, seed) = (AdviceRules::default(), Seed(super::SEED));
        let model = StackModel::new(&data, &self.packages, &no_rules, None, None, seed);
        let model = match model {
            Ok(model) => model,
            Err(error) => return then(Err(error.to_string())),
        };
        match Advice::new(&model, AdviceKind::Performance, None) {
            Err(error) => then(Err(error.to_string())),
            Ok(advice) => then(Ok(AdviceAnswer {
                model: &model,
                advice,
                notes: model_notes(&model),
            })),
        }
    }

    /// Returns the metrics with a direction, those of the most benchmarks first: of the benchmarks' own the times first, then wall
    /// time and memory.
    fn metrics(&self) -> Vec<MetricName> {
        let mut found: BTreeMap<MetricName, (usize, bool)> = BTreeMap::new();
        for data in self.own_benchmarks() {
            let sample = Sample::of_all(data);
            for name in MetricChoice::Directed.of(&sample) {
                let stated = metric(&sample, &name);
                let is_time = stated.unit == "s" && stated.better == Some(Better::Lower);
                let entry = found.entry(name).or_insert((0, is_time));
                entry.0 += 1;
            }
        }
        let usual = ["wall_time", "peak_memory"];
        let place = |name: &str| usual.iter().position(|it| *it == name).map(|it| it + 1);
        let mut metrics: Vec<(MetricName, (usize, bool))> = found.into_iter().collect();
        metrics.sort_by_key(|(name, (benchmarks, is_time))| {
            let last = place(name).unwrap_or(0);
            (usize::MAX - benchmarks, last, !is_time)
        });
        // What the benchmarks report themselves may be much, and memory is always worth a line.
        let mut metrics: Vec<MetricName> = metrics.into_iter().map(|(name, _)| name).collect();
        while metrics.len() > MOST_METRICS {
            let own = metrics.iter().rposition(|it| place(it).is_none());
            metrics.remove(own.unwrap_or(metrics.len() - 1));
        }
        metrics
    }

    fn own_benchmarks(&self) -> impl Iterator<Item = &BenchmarkData> {
        let is_own = |data: &&BenchmarkData| data.instances.iter().any(|it| self.is_own(it));
        self.benchmarks.iter().filter(is_own)
    }

    fn is_own(&self, instance: &InstanceData) -> bool {
        self.has_packages(instance.run.factors.keys())
    }

    fn has_packages<'n>(&self, names: impl Iterator<Item = &'n String>) -> bool {
        let names: BTreeSet<String> = names
            .filter_map(|it| Some(PackageRequirement::parse(it).ok()?.package))
            .collect();
        self.packages.iter().all(|it| names.contains(&it.package))
    }

    fn command(&self, program: &str, metric: &str) -> String {
        let packages = self.packages.iter().map(|it| shell_word(&it.package));
        let packages: Vec<String> = packages.collect();
        let (packages, metric) = (packages.join(" "), shell_word(metric));
        format!("{program} advise {packages} --goal {metric}")
    }

    /// Returns the packages and what they are judged by: `numpy and scipy, by elapsed of 4 benchmarks`.
    fn about(&self, metric: &str) -> String {
        let names = self.packages.iter().map(|it| it.package.as_str());
        let names: Vec<&str> = names.collect();
        let benchmarks = counted(self.own_benchmarks().count(), "benchmark");
        let metric = metric.replace('_', " ");
        format!("{}, by {metric} of {benchmarks}", joined_with_and(&names))
    }

    /// Returns the stacks that were refused, with the output that says why, and those of which instances failed.
    fn failures(&self) -> Vec<StackFailure> {
        let mut failures: BTreeMap<Levels, StackFailure> = BTreeMap::new();
        let own = self.refused.iter();
        for refused in own.filter(|it| self.has_packages(it.factors.keys())) {
            let failure = StackFailure {
                factors: refused.factors.clone(),
                state: refused.state.text().to_owned(),
                log: refused.log.clone(),
            };
            failures.insert(refused.factors.clone(), failure);
        }
        let mut measured: BTreeMap<Levels, (usize, usize, String)> = BTreeMap::new();
        let instances = self.benchmarks.iter().flat_map(|data| &data.instances);
        for instance in instances.filter(|it| self.is_own(it)) {
            let levels = instance.run.levels();
            let (attempts, failed, message) = measured.entry(levels).or_default();
            *attempts += 1;
            if let Some(text) = failure_message(instance) {
                *failed += 1;
                if message.is_empty() {
                    *message = text;
                }
            }
        }
        for (factors, (attempts, failed, log)) in measured {
            if failed > 0 && !failures.contains_key(&factors) {
                let state = format!("{failed} of {} failed", counted(attempts, "instance"));
                let failure = StackFailure {
                    factors: factors.clone(),
                    state,
                    log,
                };
                failures.insert(factors, failure);
            }
        }
        failures.into_values().collect()
    }
}

/// Returns the message of an instance that failed, which may be empty.
fn failure_message(instance: &InstanceData) -> Option<String> {
    if instance_failed(instance) != Some(true) {
        return None;
    }
    let of_iterations = instance.iterations.messages.values();
    let of_end = instance.end.as_ref().and_then(|end| end.message.as_ref());
    let mut messages = of_iterations.chain(of_end);
    Some(
        messages
            .find(|it| !it.is_empty())
            .cloned()
            .unwrap_or_default(),
    )
}
