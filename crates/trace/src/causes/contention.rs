//! Tasks that are slower side by side, and tasks that are off the CPU.

use super::{Candidate, Cause, Model};
use crate::contention::{Contention, contention as fit};
use crate::durations::{TaskDuration, float, whole};
use crate::names::Name;
use crate::off_cpu::off_cpu;
use crate::replay::Changes;

/// A class is slower side by side if its slope is so many standard errors above 0.
const CERTAIN: f64 = 4.0;
/// The largest slope, as a share of the time alone.
const MOST_SLOPE: f64 = 3.0;
/// The least share by which each further task makes a task slower.
const LEAST_SLOPE: f64 = 0.03;

/// Returns candidates of contention, each for a class and a machine, and of classes that are off the CPU.
pub(super) fn contention(model: &Model<'_>) -> Vec<Candidate> {
    let trace = model.trace;
    let fits = fit(trace).into_iter().filter(|it| {
        let error = (it.slope_interval[1] - it.slope) / 1.96;
        // Tasks that share one core take once as long more with each further one, those that share a lock somewhat more;
        // much more has another reason.
        let is_possible = it.slope_interval[0] <= MOST_SLOPE * it.alone;
        let is_long = it.alone > 0.0 && it.slope >= LEAST_SLOPE * it.alone;
        is_long && is_possible && it.slope >= CERTAIN * error
    });
    let fits: Vec<_> = fits.collect();
    let mut candidates: Vec<Candidate> = Vec::new();
    for it in off_cpu(trace) {
        let of_class = fits.iter().filter(|other| other.class == it.class);
        if of_class.map(|other| other.lost).sum::<f64>() >= float(it.sum) / 2.0 {
            continue;
        }
        let tasks = trace.tasks.iter().enumerate();
        let work = tasks.filter(|(_, task)| task.class == it.class);
        let work = work.filter_map(|(index, task)| {
            let off = TaskDuration::OffCpu.of(task)?;
            Some((index, (model.replay.tasks[index].work - off).max(0)))
        });
        let changes = Changes {
            work: work.collect(),
            ..Changes::default()
        };
        candidates.push(Candidate::new(9, Cause::OffCpu(it), changes).at_least(0.1));
    }
    // The classes of a machine together; hosts can be names on one machine, for which all have the empty name.
    let (on_all, on_hosts): (Vec<Contention>, Vec<Contention>) =
        fits.into_iter().partition(|it| it.host == Name::EMPTY);
    for fits in [on_hosts, on_all].into_iter().filter(|it| !it.is_empty()) {
        let tasks = fits.iter().flat_map(|it| {
            let tasks = it.of_tasks.iter();
            tasks.map(|(index, further)| (*index, it.slope * further.max(0.0)))
        });
        let work = tasks.map(|(index, lost)| {
            let left = model.replay.tasks[index].work - whole(lost);
            (index, left.max(0))
        });
        let changes = Changes {
            work: work.collect(),
            ..Changes::default()
        };
        candidates.push(Candidate::new(5, Cause::Contention(fits), changes));
    }
    candidates
}
