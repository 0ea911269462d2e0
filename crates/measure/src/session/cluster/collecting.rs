//! Collects the records of jobs and the ends of those that recorded none; cancels or leaves jobs on Ctrl-C.

use std::fs::File;
use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Event, FinishedInstance, JobCounts, RunEnd, RunError};
use lapwing_model::{InstanceOutcome, Record};

use super::endings::{JobEnding, printed_by};
use super::folder::{ClusterTask, SharedFolder, TaskInstance, TaskPlace, TaskRecords};
use super::measurement::{ClusterMeasurement, ClusterVisit, broken};
use super::scheduler::{JobError, JobReport, JobScheduler, JobState};
use crate::execution::runner::EventOutlet;
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
    pub events: EventOutlet<'a, 'c>,
    pub surroundings: &'a SessionSurroundings<'v>,
}

impl ClusterOutlet<'_, '_, '_> {
    /// Hands on the records of a task, one instance after another.
    fn deliver(
        &mut self,
        task: &ClusterTask,
        records: &[Record],
    ) -> Result<Vec<FinishedInstance>, RunError> {
        for record in records.iter().filter(|it| it.instance().is_none()) {
            self.events.keep(record)?;
        }
        let mut finished = Vec::new();
        for TaskInstance { id, plan: planned } in &task.instances {
            let plan = self.visit.plan;
            for record in records.iter().filter(|it| it.instance() == Some(*id)) {
                self.events.keep(record)?;
                if let Record::Instance(_) = record {
                    self.events.send(&Event::InstanceStarted {
                        planned: *planned,
                        case: &plan.cases[planned.case],
                        variant: &plan.variants[planned.variant],
                    })?;
                }
                if let Record::InstanceEnd(end) = record {
                    finished.push(FinishedInstance {
                        plan: *planned,
                        outcome: end.outcome,
                    });
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

/// Fetches what a job has printed. If the scheduler has it no more, its log says why.
fn fetch(
    scheduler: &mut dyn JobScheduler,
    job: &str,
    folder: &SharedFolder,
    place: TaskPlace,
) -> io::Result<()> {
    if let Err(error) = scheduler.fetch(job, &folder.output(place)) {
        let log = File::options()
            .append(true)
            .create(true)
            .open(folder.log(place));
        writeln!(log?, "lapwing: its output cannot be fetched: {error}")?;
    }
    Ok(())
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
        let states = self.scheduler.states(&jobs);
        for note in self.scheduler.take_notes() {
            outlet.events.send(&Event::Note(note))?;
        }
        let mut states = match states {
            Ok(states) => states,
            Err(error @ JobError::NoHosts { .. }) => return Err(broken(error)),
            Err(error) => {
                let is_new = self.silent_since.is_none();
                let since = *self.silent_since.get_or_insert_with(Instant::now);
                if since.elapsed() > PATIENCE {
                    return Err(broken(error));
                }
                if is_new {
                    outlet.events.send(&Event::Note(format!(
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
            let since = task.over_since.take().filter(|_| is_gone);
            task.over_since = since.or_else(|| is_gone.then(Instant::now));
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
        let state = open.report.as_ref().map(|report| report.state);
        // One that the scheduler has forgotten is over, whatever it was last.
        if state == Some(JobState::Queued) && open.over_since.is_none() {
            return Ok(());
        }
        if open.over_since.is_some() {
            fetch(self.scheduler.as_mut(), &open.job, &self.folder, place).map_err(broken)?;
        }
        let size = self.folder.size(place);
        if size == open.size && open.over_since.is_none() {
            return Ok(());
        }
        open.size = size;
        self.folder.take_output(place).map_err(broken)?;
        let recorded = self.folder.recorded(place).map_err(broken)?;
        if recorded.are_complete(&open.task) {
            return self.take(place, &recorded.records, false, outlet, finished);
        }
        let Some(since) = open.over_since else {
            return Ok(());
        };
        let grace = match state.filter(|state| state.is_over()) {
            // What an attached job has printed is in its file.
            _ if !self.scheduler.jobs_outlive_client() => Duration::ZERO,
            None if self.is_cancelling => GRACE,
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
        let known = open.report.as_ref();
        // Some schedulers have forgotten a job as soon as it is cancelled.
        let cancelled = JobReport {
            state: JobState::Cancelled,
            word: "CANCELLED".to_owned(),
            exit: None,
            node: known.and_then(|report| report.node.clone()),
        };
        let report = known.filter(|report| report.state.is_over());
        let ending = JobEnding {
            job: &open.job,
            report: report.or_else(|| self.is_cancelling.then_some(&cancelled)),
            printed: printed_by(&self.folder, place),
        };
        let work = self.folder.work(place);
        let of_runs = (outlet.visit.plan, outlet.visit.runs.runs.as_slice());
        let now = outlet.surroundings.now();
        let added = ending.records(&open.task.instances, recorded, &work, of_runs, now);
        let may_be_repeated = ending.may_be_repeated();
        let ended = self.folder.set_end(place, recorded.length, &added);
        ended.map_err(broken)?;
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
        self.scheduler.release(&open.job);
        let ended = outlet.deliver(&open.task, records)?;
        let attempt = open.task.instances.iter().map(|it| it.plan.attempt).max();
        let tries = attempt.unwrap_or(0) < self.settings.retries;
        let instances = open.task.instances.len();
        if may_be_repeated && tries && !self.is_cancelling {
            self.counts.resubmitted += instances;
            let again = open.task.again(outlet.surroundings.new_id);
            self.waiting.push_back((None, again));
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
        self.fetch_running().map_err(broken)?;
        let cancelled = match jobs.as_slice() {
            [] => Ok(()),
            jobs => self.scheduler.cancel(jobs),
        };
        if let Err(error @ JobError::Silent { .. }) = cancelled {
            surroundings.remark(SessionRemark::JobsUnknown {
                jobs: jobs.len(),
                error: error.to_string(),
            });
            return Ok(RunEnd::Interrupted);
        }
        cancelled.map_err(broken)?;
        surroundings.remark(SessionRemark::JobsCancelled { jobs: jobs.len() });
        let start = Instant::now();
        let mut finished = Vec::new();
        while !self.open.is_empty() && start.elapsed() < LEAVE_TAKING {
            thread::sleep(LEAVE_POLL);
            self.collect(outlet, &mut finished)?;
            if self.silent_since.is_some() {
                // What they recorded is collected by the next client.
                break;
            }
        }
        Ok(RunEnd::Interrupted)
    }

    /// Fetches what jobs have printed until now: with a job, a scheduler may delete that, too.
    fn fetch_running(&mut self) -> io::Result<()> {
        for (place, open) in &self.open {
            let state = open.report.as_ref().map(|report| report.state);
            if state == Some(JobState::Running) {
                fetch(self.scheduler.as_mut(), &open.job, &self.folder, *place)?;
                self.folder.take_output(*place)?;
            }
        }
        Ok(())
    }
}
