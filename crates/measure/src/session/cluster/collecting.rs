//! Collects the records of jobs and the ends of those that recorded none; cancels or leaves jobs on Ctrl-C.

use std::thread;
use std::time::{Duration, Instant};

use crate::{Event, FinishedInstance, JobCounts, RunEnd, RunError};
use lapwing_model::{InstanceOutcome, Record};

use super::endings::{JobEnding, instance_of, printed_by};
use super::folder::{ClusterTask, TaskPlace, TaskRecords};
use super::measurement::{ClusterMeasurement, ClusterVisit, broken};
use super::scheduler::JobState;
use crate::Consumer;
use crate::session::{Interrupts, SessionRemark, SessionSurroundings};

/// How long to wait for the records of a job that has ended: a network file system may delay them.
const GRACE: Duration = Duration::from_secs(3);
/// A job that ended well has written its records, and a forgotten one may have: they get more time.
const LONG_GRACE: Duration = Duration::from_secs(60);
/// A scheduler may be unable to answer for so long.
pub const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// The longest wait for the end of cancelled jobs.
const LEAVE_TAKING: Duration = Duration::from_secs(90);
/// The time between two looks at cancelled jobs.
const LEAVE_POLL: Duration = Duration::from_millis(500);

/// Passes on collected records.
pub struct ClusterOutlet<'a, 'v, 'c> {
    pub visit: &'a ClusterVisit<'v>,
    pub consumers: &'a mut [&'c mut dyn Consumer],
    pub surroundings: &'a SessionSurroundings<'v>,
}

impl ClusterOutlet<'_, '_, '_> {
    pub fn send(&mut self, event: &Event<'_>) -> Result<(), RunError> {
        for consumer in &mut *self.consumers {
            consumer
                .take(event)
                .map_err(|source| RunError::Consumer { source })?;
        }
        Ok(())
    }

    /// Hands on the records of a task, one instance after another.
    fn deliver(
        &mut self,
        task: &ClusterTask,
        records: &[Record],
    ) -> Result<Vec<FinishedInstance>, RunError> {
        let of_runs = records.iter().filter(|it| instance_of(it).is_none());
        for record in of_runs {
            self.send(&Event::Record(record))?;
        }
        let mut finished = Vec::new();
        for instance in &task.instances {
            let at = instance.plan;
            let visit = self.visit;
            let own = records
                .iter()
                .filter(|it| instance_of(it) == Some(instance.id));
            for record in own {
                self.send(&Event::Record(record))?;
                match record {
                    Record::Instance(_) => self.send(&Event::InstanceStarted {
                        planned: at,
                        case: &visit.plan.cases[at.case],
                        variant: &visit.plan.variants[at.variant],
                    })?,
                    Record::InstanceEnd(end) => finished.push(FinishedInstance {
                        plan: at,
                        outcome: end.outcome,
                    }),
                    _ => {}
                }
            }
        }
        Ok(finished)
    }
}

/// Waits, but not when interrupted.
pub fn pause(time: Duration, interrupts: &Interrupts) {
    let start = Instant::now();
    let interrupted = interrupts.count();
    while start.elapsed() < time && interrupts.count() == interrupted {
        thread::sleep(Duration::from_millis(50).min(time));
    }
}

impl ClusterMeasurement {
    /// Returns the numbers of instances by state.
    pub(super) fn counts(&self) -> JobCounts {
        let mut counts = self.counts.clone();
        for task in self.open.values() {
            let instances = task.task.instances.len();
            match &task.report {
                Some(report) if report.state != JobState::Queued => {
                    counts.running += instances;
                    counts.nodes.extend(report.node.clone());
                }
                Some(_) | None => counts.queued += instances,
            }
        }
        let waiting = self.waiting.iter().map(|it| it.1.instances.len());
        counts.queued += waiting.sum::<usize>();
        counts
    }

    /// Asks for the states of all jobs, and collects the tasks that are over.
    pub(super) fn collect(
        &mut self,
        outlet: &mut ClusterOutlet<'_, '_, '_>,
        finished: &mut Vec<FinishedInstance>,
    ) -> Result<(), RunError> {
        if !self.ask(outlet)? {
            return Ok(());
        }
        let places: Vec<TaskPlace> = self.open.keys().copied().collect();
        for place in places {
            self.collect_task(place, outlet, finished)?;
        }
        Ok(())
    }

    /// Asks for the states of all jobs; `false` if the scheduler cannot tell now.
    fn ask(&mut self, outlet: &mut ClusterOutlet<'_, '_, '_>) -> Result<bool, RunError> {
        let jobs: Vec<&str> = self.open.values().map(|it| it.job.as_str()).collect();
        if jobs.is_empty() {
            return Ok(true);
        }
        let mut states = match self.scheduler.states(&jobs) {
            Ok(states) => states,
            Err(error) => {
                let is_new = self.silent_since.is_none();
                let since = *self.silent_since.get_or_insert_with(Instant::now);
                if since.elapsed() > PATIENCE {
                    return Err(broken(error));
                }
                if is_new {
                    outlet.send(&Event::Note(format!(
                        "the scheduler does not answer ({error}); the jobs continue"
                    )))?;
                }
                return Ok(false);
            }
        };
        self.silent_since = None;
        for task in self.open.values_mut() {
            let report = states.remove(&task.job);
            let is_gone = report.as_ref().is_none_or(|it| it.state.is_over());
            // The last report of a job stays valid when the scheduler forgets the job.
            task.report = report.or_else(|| task.report.take());
            if is_gone {
                _ = task.over_since.get_or_insert_with(Instant::now)
            } else {
                task.over_since = None
            }
        }
        Ok(true)
    }

    fn collect_task(
        &mut self,
        place: TaskPlace,
        outlet: &mut ClusterOutlet<'_, '_, '_>,
        finished: &mut Vec<FinishedInstance>,
    ) -> Result<(), RunError> {
        let Some(open) = self.open.get_mut(&place) else {
            return Ok(());
        };
        let is_queued = open
            .report
            .as_ref()
            .is_some_and(|it| it.state == JobState::Queued);
        if is_queued {
            return Ok(());
        }
        let size = self.folder.size(place);
        if size == open.size && open.over_since.is_none() {
            return Ok(());
        }
        open.size = size;
        let recorded = self.folder.recorded(place).map_err(broken)?;
        if recorded.are_complete(&open.task) {
            return self.take(place, &recorded.records, false, outlet, finished);
        }
        let Some(since) = open.over_since else {
            return Ok(());
        };
        let state = open.report.as_ref().map(|it| it.state);
        let grace = match state.filter(|it| it.is_over()) {
            None | Some(JobState::Completed) => LONG_GRACE,
            Some(_) => GRACE,
        };
        if since.elapsed() < grace {
            return Ok(());
        }
        self.end_task(place, &recorded, outlet, finished)
    }

    /// Ends a task whose job can no longer do so.
    fn end_task(
        &mut self,
        place: TaskPlace,
        recorded: &TaskRecords,
        outlet: &mut ClusterOutlet<'_, '_, '_>,
        finished: &mut Vec<FinishedInstance>,
    ) -> Result<(), RunError> {
        let Some(open) = self.open.get(&place) else {
            return Ok(());
        };
        if self.is_cancelling && recorded.records.is_empty() {
            // It never began.
            self.folder.set_end(place, 0, &[]).map_err(broken)?;
            self.open.remove(&place);
            return Ok(());
        }
        let ending = JobEnding {
            job: &open.job,
            report: open.report.as_ref().filter(|it| it.state.is_over()),
            printed: printed_by(&self.folder, place),
        };
        let work = self.folder.work(place);
        let of_runs = (outlet.visit.plan, outlet.visit.runs.runs.as_slice());
        let added = ending.records(
            &open.task.instances,
            recorded,
            &work,
            of_runs,
            outlet.surroundings.now(),
        );
        let may_be_repeated = ending.may_be_repeated();
        self.folder
            .set_end(place, recorded.length, &added)
            .map_err(broken)?;
        let mut records = recorded.records.clone();
        records.extend(added);
        self.take(place, &records, may_be_repeated, outlet, finished)
    }

    /// Hands on the records of a task that is over, and plans the next attempt if it was lost.
    fn take(
        &mut self,
        place: TaskPlace,
        records: &[Record],
        may_be_repeated: bool,
        outlet: &mut ClusterOutlet<'_, '_, '_>,
        finished: &mut Vec<FinishedInstance>,
    ) -> Result<(), RunError> {
        let Some(open) = self.open.remove(&place) else {
            return Ok(());
        };
        let ended = outlet.deliver(&open.task, records)?;
        let attempt = open.task.instances.iter().map(|it| it.plan.attempt).max();
        let tries = attempt.unwrap_or(0) < self.settings.retries;
        let instances = open.task.instances.len();
        if may_be_repeated && tries && !self.is_cancelling {
            self.counts.resubmitted += instances;
            self.waiting
                .push_back((None, open.task.again(outlet.surroundings.new_id)));
            return Ok(());
        }
        let is_lost = |it: &&FinishedInstance| it.outcome == InstanceOutcome::Lost;
        let lost = ended.iter().filter(is_lost).count();
        self.counts.lost += lost;
        self.counts.done += ended.len() - lost;
        finished.extend(ended);
        Ok(())
    }

    /// Leaves the jobs in the queue, or cancels them and collects what they recorded.
    pub(super) fn leave(
        &mut self,
        outlet: &mut ClusterOutlet<'_, '_, '_>,
    ) -> Result<RunEnd, RunError> {
        let surroundings = outlet.surroundings;
        let jobs: Vec<String> = self.open.values().map(|it| it.job.clone()).collect();
        let cancels = || self.always_cancels || surroundings.watch.cancels_jobs(jobs.len());
        if self.leave_jobs || !self.scheduler.can_cancel() || !cancels() {
            surroundings.remark(SessionRemark::JobsLeft {
                jobs: jobs.len(),
                can_cancel: self.scheduler.can_cancel(),
            });
            return Ok(RunEnd::Interrupted);
        }
        let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
        self.is_cancelling = true;
        self.waiting.clear();
        if !jobs.is_empty() {
            self.scheduler.cancel(&jobs).map_err(broken)?;
        }
        surroundings.remark(SessionRemark::JobsCancelled { jobs: jobs.len() });
        let start = Instant::now();
        let mut finished = Vec::new();
        while !self.open.is_empty() && start.elapsed() < LEAVE_TAKING {
            thread::sleep(LEAVE_POLL);
            self.collect(outlet, &mut finished)?;
        }
        Ok(RunEnd::Interrupted)
    }
}
