//! In which order instances are measured.

use std::collections::{BTreeMap, VecDeque};
use std::iter;

use lapwing_stats::Seed;
use rand::Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::suite::{Plan, PlannedCommit};
use lapwing_model::{Id, Instance, InstanceOutcome, Object, Run};

/// One instance that is to be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InstancePlan {
    /// Position of its case in the plan.
    pub case: usize,
    /// Position of its variant in the plan.
    pub variant: usize,
    /// The block that it belongs to: in a block every benchmark and variant has its
    /// turn at most once, so the pair (case, variant, block) names an instance.
    pub block: u32,
    /// Its place in the order of the whole session.
    pub position: u32,
    /// How often it had been tried and lost before.
    pub attempt: u32,
}

impl InstancePlan {
    /// Returns whether two instances are the halves of one duet.
    pub(crate) fn is_partner_of(&self, other: &Self, plan: &Plan) -> bool {
        self.block == other.block
            && plan.duet_partner((self.case, self.variant)) == Some((other.case, other.variant))
    }

    /// Returns the record of the instance, without anything that is known when it begins.
    pub(crate) fn record(&self, id: Id, plan: &Plan, runs: &[Run]) -> Instance {
        Instance {
            id,
            run: runs[self.variant].id,
            benchmark: plan.cases[self.case].benchmark.clone(),
            block: self.block,
            position: self.position,
            attempt: self.attempt,
            host: None,
            started: None,
            environment: Object::new(),
            job: Object::new(),
            attributes: Object::new(),
            artifacts: Object::new(),
            extra: Object::new(),
        }
    }
}

/// An instance that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinishedInstance {
    /// What was planned.
    pub plan: InstancePlan,
    /// How it ended.
    pub outcome: InstanceOutcome,
}

/// Says what is to be measured next; `measure` pulls.
pub trait Schedule {
    /// Returns the next instance, given everything that was measured so far in this
    /// invocation; `None` if there is nothing left to do.
    fn next(&mut self, finished: &[FinishedInstance]) -> Option<InstancePlan>;

    /// Returns how many instances are left, as far as that is known.
    fn remaining(&self) -> usize;
}

/// More instances than a plan has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoreInstances {
    /// How many of each variant, by the positions of the cases.
    pub by_case: BTreeMap<usize, usize>,
    /// The number of the first block.
    pub block: u32,
    /// The position of the first instance.
    pub position: u32,
    /// How often there were more before: another number, another order.
    pub number: u32,
}

impl MoreInstances {
    /// The attribute of the instances that were added.
    pub(crate) const KEY: &'static str = "added";
}

/// The look at the results that follows instances, where there are several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextLook {
    /// Its number.
    pub number: u32,
    /// The instances that are added before it, if they were planned after an earlier one.
    pub added: Option<MoreInstances>,
}

/// A schedule that ends early, between two blocks.
pub(crate) struct EndingSchedule<'a> {
    pub(crate) inner: FixedSchedule,
    /// Returns whether nothing more is measured.
    pub(crate) is_over: &'a dyn Fn() -> bool,
    /// The block that is being measured.
    pub(crate) block: Option<u32>,
}

impl Schedule for EndingSchedule<'_> {
    fn next(&mut self, finished: &[FinishedInstance]) -> Option<InstancePlan> {
        let next = self.inner.next(finished)?;
        if self.block.is_some_and(|it| it != next.block) && (self.is_over)() {
            self.inner.left.clear();
            return None;
        }
        self.block = Some(next.block);
        Some(next)
    }

    fn remaining(&self) -> usize {
        self.inner.remaining()
    }
}

/// Every instance of a plan, once, in random order.
///
/// Block by block, so that a drift of the machine hits all sides; within a block the
/// benchmarks are shuffled, and the variants of one benchmark come right after each
/// other, again shuffled, so that they share the machine's weather.
#[derive(Debug, Clone)]
pub struct FixedSchedule {
    left: VecDeque<InstancePlan>,
}

impl FixedSchedule {
    /// Returns the schedule of a plan: the same for the same plan and seed.
    pub fn new(plan: &Plan) -> Self {
        Self::resumed(plan, &[])
    }

    /// Returns a schedule of these instances.
    pub fn of(instances: impl IntoIterator<Item = InstancePlan>) -> Self {
        Self {
            left: instances.into_iter().collect(),
        }
    }

    /// Returns a schedule of more instances than a plan has, in blocks after its own.
    pub fn more(plan: &Plan, more: &MoreInstances) -> Self {
        let mut random = Seed(plan.seed)
            .split(&format!("more {}", more.number))
            .stream("order");
        let blocks = more.by_case.values().copied().max().unwrap_or(0);
        let mut left = Vec::new();
        for (block, round) in (more.block..).zip(0..blocks) {
            let due = more.by_case.iter().filter(|(_, count)| round < **count);
            let cases = due.map(|(case, _)| *case).collect();
            add_block(&mut left, block, shuffled(cases, plan, &mut random));
        }
        for planned in &mut left {
            planned.position = planned.position.saturating_add(more.position);
        }
        Self { left: left.into() }
    }

    /// Returns what is left of a schedule after these instances were measured.
    ///
    /// Lost ones are measured anew as the next attempt; both halves of a duet if one is lost.
    pub fn resumed(plan: &Plan, finished: &[FinishedInstance]) -> Self {
        let left = Self {
            left: order(plan).into(),
        };
        left.without(plan, finished)
    }

    /// Returns what is left after these instances were measured.
    #[must_use]
    pub fn without(self, plan: &Plan, finished: &[FinishedInstance]) -> Self {
        let left = self
            .left
            .into_iter()
            .filter_map(|mut planned| {
                let own = (planned.case, planned.variant);
                let mut are_measured = true;
                for (case, variant) in iter::once(own).chain(plan.duet_partner(own)) {
                    let mut is_measured = false;
                    for tried in finished {
                        let place = (tried.plan.case, tried.plan.variant, tried.plan.block);
                        if place == (case, variant, planned.block) {
                            is_measured |= tried.outcome != InstanceOutcome::Lost;
                            planned.attempt = planned.attempt.max(tried.plan.attempt + 1);
                        }
                    }
                    are_measured &= is_measured;
                }
                (!are_measured).then_some(planned)
            })
            .collect();
        Self { left }
    }

    /// Returns what is left of one commit, where commits are measured one after another.
    pub fn of_commit(&self, plan: &Plan, commit: &PlannedCommit) -> Self {
        let is_its = |planned: &&InstancePlan| {
            plan.variants[planned.variant].commit.as_ref() == Some(commit)
        };
        Self {
            left: self.left.iter().filter(is_its).copied().collect(),
        }
    }

    /// Returns the instances that are left, in order.
    pub fn left(&self) -> impl Iterator<Item = &InstancePlan> {
        self.left.iter()
    }
}

impl Schedule for FixedSchedule {
    fn next(&mut self, _finished: &[FinishedInstance]) -> Option<InstancePlan> {
        self.left.pop_front()
    }

    fn remaining(&self) -> usize {
        self.left.len()
    }
}

fn order(plan: &Plan) -> Vec<InstancePlan> {
    let mut random = Seed(plan.seed).stream("order");
    let blocks = plan.cases.iter().map(|case| case.instances).max();
    let blocks = blocks.unwrap_or(0);
    let mut order = Vec::new();
    for block in 0..blocks {
        let cases = 0..plan.cases.len();
        let cases = cases.filter(|case| takes_part(block, blocks, plan.cases[*case].instances));
        let cases = cases.collect();
        add_block(&mut order, block, shuffled(cases, plan, &mut random));
    }
    if !plan.interleave {
        one_commit_after_another(plan, &mut order);
    }
    order
}

/// Appends the instances of a block.
fn add_block(order: &mut Vec<InstancePlan>, block: u32, instances: Vec<(usize, usize)>) {
    for (case, variant) in instances {
        order.push(InstancePlan {
            case,
            variant,
            block,
            position: place(order.len()),
            attempt: 0,
        });
    }
}

fn place(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// Returns the benchmarks of a block in random order, each with all variants, again in random order.
fn shuffled(mut cases: Vec<usize>, plan: &Plan, random: &mut impl Rng) -> Vec<(usize, usize)> {
    cases.shuffle(random);
    let mut order = Vec::with_capacity(cases.len() * plan.variants.len());
    for case in cases {
        let mut variants: Vec<usize> = (0..plan.variants.len()).collect();
        variants.shuffle(random);
        order.extend(variants.into_iter().map(|variant| (case, variant)));
    }
    order
}

/// Puts the commits into their order; what is of one commit stays shuffled.
fn one_commit_after_another(plan: &Plan, order: &mut [InstancePlan]) {
    order.sort_by_key(|planned| {
        let commit = &plan.variants[planned.variant].commit;
        plan.variants
            .iter()
            .position(|variant| variant.commit == *commit)
    });
    for (position, planned) in order.iter_mut().enumerate() {
        planned.position = place(position);
    }
}

/// Spreads a benchmark's instances evenly over the blocks of the session, so that one
/// with few instances is not measured in the first minutes only.
fn takes_part(block: u32, blocks: u32, instances: u32) -> bool {
    let (block, blocks, instances) = (u64::from(block), u64::from(blocks), u64::from(instances));
    (block + 1) * instances / blocks > block * instances / blocks
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::suite::{Settings, Suite};

    fn plan(instances: &[u32], variants: usize, seed: u64) -> Plan {
        let mut text = String::new();
        for (number, count) in instances.iter().enumerate() {
            text.push_str(&format!(
                "[benchmark.b{number}]\ncommand = 'true'\ninstances = {count}\n"
            ));
        }
        for number in 0..variants {
            text.push_str(&format!("[variant.v{number}]\n"));
        }
        Suite::parse(Path::new("x"), &text, Path::new("/"))
            .expect("a suite")
            .plan(&Settings::default(), seed)
    }

    fn drain(mut schedule: FixedSchedule) -> Vec<InstancePlan> {
        std::iter::from_fn(|| schedule.next(&[])).collect()
    }

    proptest! {
        #[test]
        fn every_instance_comes_once_and_variants_stay_together(
            instances in prop::collection::vec(1..9_u32, 1..6),
            variants in 1..4_usize,
            seed in any::<u64>(),
        ) {
            let order = drain(FixedSchedule::new(&plan(&instances, variants, seed)));
            let distinct: BTreeSet<_> =
                order.iter().map(|it| (it.case, it.variant, it.block)).collect();
            prop_assert_eq!(distinct.len(), order.len());
            for (case, count) in instances.iter().enumerate() {
                let found = order.iter().filter(|it| it.case == case).count();
                prop_assert_eq!(found, *count as usize * variants);
            }
            for together in order.chunks(variants) {
                let of_one = together
                    .iter()
                    .all(|it| (it.case, it.block) == (together[0].case, together[0].block));
                prop_assert!(of_one);
            }
            prop_assert!(order.windows(2).all(|pair| pair[0].block <= pair[1].block));
        }
    }

    #[test]
    fn the_order_depends_on_the_seed_alone() {
        let order = |seed| drain(FixedSchedule::new(&plan(&[5, 5, 5], 2, seed)));
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
    }

    #[test]
    fn few_instances_are_spread_over_the_session() {
        let order = drain(FixedSchedule::new(&plan(&[10, 2], 1, 1)));
        let blocks: Vec<u32> = order
            .iter()
            .filter(|it| it.case == 1)
            .map(|it| it.block)
            .collect();
        assert_eq!(blocks, [4, 9]);
    }

    #[test]
    fn more_instances_come_in_later_blocks_with_all_variants() {
        let plan = plan(&[3, 3], 2, 7);
        let more = MoreInstances {
            by_case: [(1, 2)].into(),
            block: 3,
            position: 12,
            number: 1,
        };
        let order = drain(FixedSchedule::more(&plan, &more));
        let mut found: Vec<(usize, usize, u32, u32)> = order
            .iter()
            .map(|it| (it.case, it.variant, it.block, it.position))
            .collect();
        assert!(found.is_sorted_by_key(|it| it.3));
        found.sort_by_key(|it| (it.2, it.1));
        let without_position: Vec<(usize, usize, u32)> =
            found.iter().map(|it| (it.0, it.1, it.2)).collect();
        assert_eq!(
            without_position,
            [(1, 0, 3), (1, 1, 3), (1, 0, 4), (1, 1, 4)]
        );
        assert_eq!(
            order.iter().map(|it| it.position).collect::<Vec<_>>(),
            [12, 13, 14, 15]
        );
    }

    #[test]
    fn resuming_measures_lost_instances_anew_and_nothing_twice() {
        let plan = plan(&[3], 1, 1);
        let all = drain(FixedSchedule::new(&plan));
        let finished = [
            FinishedInstance {
                plan: all[0],
                outcome: InstanceOutcome::Failed,
            },
            FinishedInstance {
                plan: all[1],
                outcome: InstanceOutcome::Lost,
            },
        ];
        let left = drain(FixedSchedule::resumed(&plan, &finished));
        let again = InstancePlan {
            attempt: 1,
            ..all[1]
        };
        assert_eq!(left, [again, all[2]]);
    }

    #[test]
    fn commits_that_share_an_environment_come_one_after_another() {
        let mut plan = plan(&[3, 2], 2, 7);
        plan.interleave = false;
        let commit = |hash: &str| PlannedCommit {
            version: lapwing_model::Version {
                commit: Some(hash.to_owned()),
                ..lapwing_model::Version::default()
            },
            repository: "/".to_owned(),
            patches: Vec::new(),
        };
        plan.variants[0].commit = Some(commit("b"));
        plan.variants[1].commit = Some(commit("a"));
        let schedule = FixedSchedule::new(&plan);
        let first = drain(schedule.of_commit(&plan, &commit("b")));
        let second = drain(schedule.of_commit(&plan, &commit("a")));
        assert_eq!((first.len(), second.len()), (5, 5));
        assert_eq!([first, second].concat(), drain(schedule));
    }
}
