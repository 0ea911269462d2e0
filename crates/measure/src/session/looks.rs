//! Looks at the results while a session is measured: benchmarks with an answer are not measured further.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_model::{InstanceOutcome, Look};
use lapwing_record::SessionState;
use lapwing_stats::look_sizes;

use super::{OpenMeasurement, place_in};
use crate::EndingSchedule;
use crate::suite::Plan;
use crate::{FixedSchedule, InstancePlan, NextLook, RunEnd, RunError};

/// The instances of a session that was measured between looks.
#[derive(Debug, Clone, Copy)]
pub struct LookedMeasurement {
    /// The end of measuring.
    pub end: RunEnd,
    /// Number of measured instances.
    pub measured: usize,
    /// Number of planned instances.
    pub planned: usize,
}

/// Measures all benchmarks between looks at the results, and only the open ones after each. `look` returns the
/// benchmarks that are complete, by their positions in the plan. `is_over` is asked between blocks, and ends it all.
///
/// # Errors
/// If measuring fails.
pub fn measure_between_looks(
    measurement: &mut OpenMeasurement<'_, '_, '_>,
    plan: &Plan,
    schedule: &FixedSchedule,
    mut look: impl FnMut() -> BTreeSet<usize>,
    is_over: &dyn Fn() -> bool,
) -> Result<LookedMeasurement, RunError> {
    let mut left: Vec<InstancePlan> = schedule.left().copied().collect();
    let mut result = LookedMeasurement {
        end: RunEnd::Interrupted,
        measured: 0,
        planned: left.len(),
    };
    for commit in &measurement.checkouts().wanted(schedule) {
        if !measurement.prepare(commit)? {
            return Ok(result);
        }
    }
    let ordinals = ordinals(plan);
    let cases = plan.cases.iter();
    let sizes: Vec<Vec<usize>> = cases
        .map(|case| look_sizes(case.instances as usize))
        .collect();
    let looks = sizes.iter().map(Vec::len).max().unwrap_or(0);
    let mut closed = BTreeSet::new();
    for number in 0..looks {
        let is_due = |instance: &mut InstancePlan| {
            let sizes = &sizes[instance.case];
            let size = sizes[number.min(sizes.len() - 1)];
            let ordinal = ordinals.get(&(instance.case, instance.block));
            ordinal.is_some_and(|ordinal| *ordinal < size)
        };
        let due: Vec<InstancePlan> = left.extract_if(.., is_due).collect();
        let due = due.into_iter();
        let due = FixedSchedule::of(due.filter(|instance| !closed.contains(&instance.case)));
        let count = due.left().count();
        let mut due = EndingSchedule {
            inner: due,
            is_over,
            block: None,
        };
        if count > 0 {
            result.measured += count;
            measurement.set_look(Some(NextLook {
                number: u32::try_from(number + 1).unwrap_or(u32::MAX),
                added: None,
            }));
            if measurement.visit(&mut due)? == RunEnd::Interrupted {
                return Ok(result);
            }
        }
        closed = look();
        if closed.len() == plan.cases.len() || is_over() {
            break;
        }
    }
    result.end = RunEnd::Complete;
    Ok(result)
}

/// Returns the number of each block among those of its benchmark.
fn ordinals(plan: &Plan) -> BTreeMap<(usize, u32), usize> {
    let all = FixedSchedule::new(plan);
    let blocks: BTreeSet<(usize, u32)> = all.left().map(|it| (it.case, it.block)).collect();
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let numbered = blocks.into_iter().map(|(case, block)| {
        let count = counts.entry(case).or_insert(0);
        *count += 1;
        ((case, block), *count - 1)
    });
    numbered.collect()
}

/// The measured instances of a session.
#[derive(Debug)]
pub struct InstanceCounts {
    /// Instances per variant by benchmark, of the variant with the fewest.
    pub by_case: BTreeMap<usize, usize>,
    /// The number of its last look.
    pub look: u32,
    /// The next free block.
    pub next_block: u32,
    /// The next free position, after those of lost instances too.
    pub next_position: u32,
}

impl InstanceCounts {
    /// Counts the instances of a stored session.
    pub fn new(plan: &Plan, state: &SessionState) -> Self {
        let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let (mut look, mut next_block, mut next_position) = (1, 0, 0);
        for stored in &state.instances {
            let instance = &stored.instance;
            look = look.max(Look::of(&instance.attributes).number);
            next_block = next_block.max(instance.block.saturating_add(1));
            next_position = next_position.max(instance.position.saturating_add(1));
            let outcome = stored.end.as_ref().map(|end| end.outcome);
            let run = state.runs.iter().find(|run| run.id == instance.run);
            let place = run.and_then(|run| place_in(plan, &instance.benchmark.id, run));
            if let (Some(place), Some(InstanceOutcome::Ok)) = (place, outcome) {
                *counts.entry(place).or_insert(0) += 1;
            }
        }
        let mut by_case: BTreeMap<usize, usize> = BTreeMap::new();
        for ((case, _), count) in counts {
            let fewest = by_case.entry(case).or_insert(count);
            *fewest = count.min(*fewest);
        }
        Self {
            by_case,
            look,
            next_block,
            next_position,
        }
    }
}
