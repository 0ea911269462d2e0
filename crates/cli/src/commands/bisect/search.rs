//! The search: both ends first, then the commits between them, and at last the commit and its parent.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use lapwing_core::measure::{FixedSchedule, InstancePlan, RunEnd, RunError};
use lapwing_core::show::{percent, ratio};
use lapwing_core::suite::Plan;
use lapwing_core::text::counted;
use lapwing_stats::{
    Bisection, Confidence, Difference, Replicates, Spending, Suspects, sequential_levels,
};

use super::watch::SharedInstances;
use crate::commands::run::OpenMeasurement;
use crate::options::Context;

/// The fewest instances per side with which a comparison can pass.
const FEWEST: usize = 5;
/// Factor by which the number of instances grows from one look at a comparison to the next.
const LOOK_STEP: f64 = 1.4;

/// Limits of a search.
#[derive(Debug, Clone, Copy)]
pub struct BisectLimits {
    /// The most instances of each side in a comparison.
    pub instances: usize,
    /// The most instances between the comparisons.
    pub budget: usize,
    /// The probability at which a commit is named.
    pub confidence: Confidence,
}

/// How far the search came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStage {
    /// The ends were compared, and do not differ enough.
    Ends,
    /// An end cannot be measured.
    BrokenEnd(usize),
    /// The budget ended before a commit was found.
    Between,
    /// A commit was found.
    Found,
}

/// A comparison of two commits; its interval is corrected for repeated looks, too.
#[derive(Debug, Clone, Copy)]
pub struct CommitComparison {
    /// The positions of both commits.
    pub commits: [usize; 2],
    /// The instances per side.
    pub instances: usize,
    /// The difference of the logarithms.
    pub difference: Difference,
    /// Whether they differ significantly, corrected for repeated looks.
    pub is_certain: bool,
}

/// A search for the commit that changed a benchmark.
pub struct CommitSearch<'a> {
    plan: &'a Plan,
    context: &'a Context,
    limits: BisectLimits,
    measured: SharedInstances,
    search: Bisection,
    position: u32,
    block: u32,
    /// Why commits cannot be measured, by their positions.
    pub broken: BTreeMap<usize, String>,
    /// How far it came.
    pub stage: SearchStage,
    /// The comparison of the ends.
    pub ends: Option<CommitComparison>,
    /// The comparison of the commit that was found with its parent.
    pub parent: Option<CommitComparison>,
    /// The commits that were built.
    prepared: BTreeMap<usize, f64>,
    measuring: f64,
}

impl<'a> CommitSearch<'a> {
    pub fn new(
        plan: &'a Plan,
        limits: BisectLimits,
        measured: SharedInstances,
        context: &'a Context,
    ) -> Self {
        Self {
            plan,
            context,
            limits,
            measured,
            search: Bisection::new(plan.variants.len()),
            position: 0,
            block: 0,
            broken: BTreeMap::new(),
            stage: SearchStage::Ends,
            ends: None,
            parent: None,
            prepared: BTreeMap::new(),
            measuring: 0.0,
        }
    }

    /// Returns the most likely commit, with those that cannot be told apart from it.
    pub fn suspects(&self) -> Suspects {
        self.search.suspects()
    }

    /// Returns the probability of each commit.
    pub fn posterior(&self) -> Vec<f64> {
        self.search.posterior()
    }

    /// Returns the number of commits that were built.
    pub fn builds(&self) -> usize {
        self.prepared.len()
    }

    /// Returns the logarithms of the instance means of a commit that the search used.
    pub fn logs(&self, commit: usize) -> &[f64] {
        self.search.logs(commit)
    }

    /// Returns the number of instances that were measured.
    pub fn instances(&self) -> usize {
        self.measured.borrow().len()
    }

    /// Searches until a commit is found or the limits are reached.
    pub fn search(
        &mut self,
        measurement: &mut OpenMeasurement<'_, 'a, '_>,
    ) -> Result<RunEnd, RunError> {
        let last = self.plan.variants.len() - 1;
        self.say(&format!(
            "comparing {} with {}, {} later",
            self.label(0),
            self.label(last),
            counted(last, "commit")
        ));
        let Some(ends) = self.compare(measurement, [0, last])? else {
            return Ok(RunEnd::Interrupted);
        };
        self.ends = ends;
        if let Some(broken) = [0, last]
            .into_iter()
            .find(|it| self.broken.contains_key(it))
        {
            self.stage = SearchStage::BrokenEnd(broken);
            return Ok(RunEnd::Complete);
        }
        if !self.ends.is_some_and(|ends| ends.is_certain) {
            return Ok(RunEnd::Complete);
        }
        self.stage = SearchStage::Between;
        if self.between(measurement)? == RunEnd::Interrupted {
            return Ok(RunEnd::Interrupted);
        }
        if self.stage != SearchStage::Found {
            return Ok(RunEnd::Complete);
        }
        let found = self.suspects();
        let parent = found.first - 1;
        self.say(&format!(
            "comparing {} with {}",
            self.label(parent),
            self.label(found.last)
        ));
        // The search chose them by its own measurements, so only fresh ones count.
        match self.compare(measurement, [parent, found.last])? {
            None => Ok(RunEnd::Interrupted),
            Some(comparison) => {
                self.parent = comparison;
                Ok(RunEnd::Complete)
            }
        }
    }

    fn between(
        &mut self,
        measurement: &mut OpenMeasurement<'_, 'a, '_>,
    ) -> Result<RunEnd, RunError> {
        let begin = self.instances();
        loop {
            let suspects = self.suspects();
            if suspects.probability >= self.limits.confidence.level() {
                self.stage = SearchStage::Found;
                return Ok(RunEnd::Complete);
            }
            if self.instances() - begin >= self.limits.budget {
                return Ok(RunEnd::Complete);
            }
            let next = self.search.next_visit(self.build_cost());
            let is_new = !self.prepared.contains_key(&next.commit);
            let seen = self.instances();
            let visit = vec![next.commit; next.instances];
            if self.measure(measurement, &visit)? == RunEnd::Interrupted {
                return Ok(RunEnd::Interrupted);
            }
            let new: Vec<f64> = self.logs_since(seen, next.commit);
            // An instance can fail by chance where others did not.
            if new.is_empty() && self.search.logs(next.commit).is_empty() {
                self.set_broken(next.commit);
            }
            for log in new {
                self.search.add(next.commit, log);
            }
            if !is_new && !self.context.verbose {
                continue;
            }
            let suspects = self.suspects();
            self.say(&format!(
                "{}: {}; most likely {} ({})",
                self.label(next.commit),
                match self.broken.get(&next.commit) {
                    Some(_) => "cannot be measured".to_owned(),
                    None => counted(next.instances, "instance"),
                },
                self.label(suspects.last),
                percent(suspects.probability)
            ));
        }
    }

    /// Compares two commits, interleaved, until they differ for certain or the limit is reached; `None` if interrupted, and
    /// no comparison if one of them cannot be measured.
    fn compare(
        &mut self,
        measurement: &mut OpenMeasurement<'_, 'a, '_>,
        commits: [usize; 2],
    ) -> Result<Option<Option<CommitComparison>>, RunError> {
        let looks = looks(self.limits.instances);
        let shares: Vec<f64> = looks
            .iter()
            .map(|it| lapwing_stats::as_f64(*it) / lapwing_stats::as_f64(self.limits.instances))
            .collect();
        let alpha = 1.0 - self.limits.confidence.level();
        let levels = sequential_levels(&shares, alpha, Spending::Even);
        let begin = self.instances();
        let mut found = None;
        let mut done = 0;
        for (instances, level) in looks.into_iter().zip(levels) {
            let mut visit = Vec::new();
            for pair in done..instances {
                // One, other, other, one: a steady drift of the machine does not count.
                let [one, other] = commits;
                visit.extend(match pair % 2 {
                    0 => [one, other],
                    _ => [other, one],
                });
            }
            done = instances;
            if self.measure(measurement, &visit)? == RunEnd::Interrupted {
                return Ok(None);
            }
            let sides = commits.map(|commit| self.logs_since(begin, commit));
            for (commit, side) in commits.into_iter().zip(&sides) {
                if side.len() < 2 {
                    self.set_broken(commit);
                }
            }
            let confidence = Confidence::new(1.0 - level).unwrap_or(self.limits.confidence);
            let Some(difference) = Replicates::Sides(sides.clone()).difference(confidence) else {
                return Ok(Some(None));
            };
            let comparison = CommitComparison {
                commits,
                instances: sides[0].len().min(sides[1].len()),
                difference,
                is_certain: difference.p_value <= level,
            };
            found = Some(comparison);
            self.say(&format!(
                "{} each: {}",
                counted(comparison.instances, "instance"),
                comparison.text()
            ));
            if comparison.is_certain {
                break;
            }
        }
        if self.ends.is_none() {
            for commit in commits {
                for log in self.logs_since(begin, commit) {
                    self.search.add(commit, log);
                }
            }
        }
        Ok(Some(found))
    }

    /// Measures commits in this order, and builds those that are not.
    fn measure(
        &mut self,
        measurement: &mut OpenMeasurement<'_, 'a, '_>,
        visit: &[usize],
    ) -> Result<RunEnd, RunError> {
        let plan = self.plan;
        for commit in visit {
            if self.prepared.contains_key(commit) {
                continue;
            }
            let begin = Instant::now();
            if let Some(planned) = &plan.variants[*commit].commit
                && !measurement.prepare(planned)?
            {
                return Ok(RunEnd::Interrupted);
            }
            self.prepared.insert(*commit, begin.elapsed().as_secs_f64());
        }
        let mut instances = Vec::with_capacity(visit.len());
        let mut in_block = BTreeSet::new();
        self.block += 1;
        for commit in visit {
            // Each block has a commit at most once: two that are compared stand in it together.
            if !in_block.insert(*commit) {
                in_block = BTreeSet::from([*commit]);
                self.block += 1;
            }
            instances.push(InstancePlan {
                case: 0,
                variant: *commit,
                block: self.block - 1,
                position: self.position,
                attempt: 0,
            });
            self.position += 1;
        }
        let begin = Instant::now();
        let end = measurement.visit(&mut FixedSchedule::of(instances))?;
        self.measuring += begin.elapsed().as_secs_f64();
        Ok(end)
    }

    /// Returns the cost of checking out and building a commit, in instances.
    fn build_cost(&self) -> f64 {
        let builds = lapwing_stats::as_f64(self.prepared.len().max(1));
        let build = self.prepared.values().sum::<f64>() / builds;
        let instance = self.measuring / lapwing_stats::as_f64(self.instances().max(1));
        build / instance.max(1e-6)
    }

    fn logs_since(&self, begin: usize, commit: usize) -> Vec<f64> {
        let measured = self.measured.borrow();
        let of_commit = measured[begin..].iter().filter(|it| it.variant == commit);
        of_commit
            .filter_map(|it| it.mean.filter(|mean| *mean > 0.0))
            .map(f64::ln)
            .collect()
    }

    fn set_broken(&mut self, commit: usize) {
        let measured = self.measured.borrow();
        let reason = measured.iter().rev().find(|it| it.variant == commit);
        let reason = reason.and_then(|it| it.message.clone());
        self.broken.insert(
            commit,
            reason.unwrap_or_else(|| "it gave no value above 0".to_owned()),
        );
        self.search.set_broken(commit);
    }

    fn say(&self, text: &str) {
        if !self.context.quiet {
            self.context.terminal.say(text);
        }
    }

    /// Returns the name or the short hash of a commit.
    pub fn label(&self, commit: usize) -> String {
        let planned = self.plan.variants[commit].commit.as_ref();
        planned.map_or_else(String::new, |it| {
            let hash: String = it.hash().chars().take(10).collect();
            match &it.version.name {
                Some(name) => format!("{hash} ({name})"),
                None => hash,
            }
        })
    }
}

impl CommitComparison {
    /// Returns `1.10× [1.07, 1.13]`.
    pub fn text(&self) -> String {
        let interval = &self.difference.interval;
        format!(
            "{} [{}, {}]",
            ratio(self.difference.value.exp()),
            ratio(interval.lower.exp()).trim_end_matches('×'),
            ratio(interval.upper.exp()).trim_end_matches('×')
        )
    }
}

/// Returns the numbers of instances at which a comparison is looked at.
fn looks(most: usize) -> Vec<usize> {
    let mut looks = vec![FEWEST.min(most)];
    while let Some(last) = looks.last().copied().filter(|last| *last < most) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small number"
        )]
        let next = (lapwing_stats::as_f64(last) * LOOK_STEP).ceil() as usize;
        looks.push(next.min(most));
    }
    looks
}

#[cfg(test)]
mod tests {
    use super::looks;

    #[test]
    fn looks_rise_to_the_most_instances() {
        assert_eq!(looks(30), [5, 7, 10, 14, 20, 28, 30]);
        assert_eq!(looks(5), [5]);
    }
}
