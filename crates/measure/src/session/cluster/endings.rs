//! Ends of tasks whose jobs recorded none: the report of the scheduler becomes the end of their instances.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::pytest::left_over;
use crate::suite::Plan;
use jiff::Timestamp;
use lapwing_model::{InstanceEnd, InstanceOutcome, Object, Record, Run, Session};
use serde_json::json;

use super::folder::{SharedFolder, TaskInstance, TaskPlace, TaskRecords};
use super::packet::JobOutput;
use super::scheduler::{JobReport, JobState};

/// The length of the quoted end of a job's output, in bytes.
const QUOTED: u16 = 600;

/// The end of a job that recorded none.
pub struct JobEnding<'a> {
    /// Its id.
    pub job: &'a str,
    /// The report of the scheduler; `None` if the job is unknown to it.
    pub report: Option<&'a JobReport>,
    /// The end of what it printed.
    pub printed: Option<String>,
}

/// The line that Slurm prints into a job's output when it ends the job for its memory. Where accounting enforces the
/// limit, and not control groups, the job's state is just FAILED.
const OF_MEMORY: [&str; 3] = [
    "exceeded memory limit",
    "Exceeded job memory limit",
    "oom-kill event",
];

impl JobEnding<'_> {
    /// Returns the state and its word.
    fn state(&self) -> Option<(JobState, &str)> {
        let report = self.report?;
        let printed = self.printed.as_deref().unwrap_or_default();
        let is_of_memory = OF_MEMORY.iter().any(|it| printed.contains(it));
        Some(match report.state {
            JobState::Failed if is_of_memory => (JobState::OutOfMemory, "OUT_OF_MEMORY"),
            state => (state, report.word.as_str()),
        })
    }

    /// Returns the outcome of its instances. Time and memory are limits that the benchmark hit, and it would again;
    /// the rest is not its doing.
    pub fn outcome(&self) -> InstanceOutcome {
        match self.state().map(|it| it.0) {
            Some(JobState::TimedOut) => InstanceOutcome::TimedOut,
            Some(JobState::OutOfMemory) => InstanceOutcome::Failed,
            Some(
                JobState::Cancelled
                | JobState::Lost
                | JobState::Failed
                | JobState::Completed
                | JobState::Queued
                | JobState::Running,
            )
            | None => InstanceOutcome::Lost,
        }
    }

    /// Returns whether another attempt may go better. Whoever cancelled a job meant it, and a program that the shell
    /// cannot start is missing everywhere.
    pub fn may_be_repeated(&self) -> bool {
        let exit = self.report.and_then(|it| it.exit.as_deref());
        let is_missing = matches!(exit, Some("exit code 126" | "exit code 127"));
        self.outcome() == InstanceOutcome::Lost
            && !is_missing
            && self.state().is_none_or(|it| it.0 != JobState::Cancelled)
    }

    /// Returns how it ended, for people.
    fn message(&self) -> String {
        let (Some(report), Some((state, word))) = (self.report, self.state()) else {
            return format!(
                "the scheduler has forgotten job {}, which left no result",
                self.job
            );
        };
        let what = match state {
            JobState::TimedOut => "the job was ended at its time limit",
            JobState::OutOfMemory => "the job was ended because it used too much memory",
            JobState::Cancelled => "the job was cancelled",
            JobState::Lost => "the node or the scheduler failed, or another job took the place",
            JobState::Failed => "the job was ended before the instance was",
            JobState::Completed | JobState::Queued | JobState::Running => {
                "the job ended without a result"
            }
        };
        let mut message = format!("{word}: {what} (job {}", self.job);
        if let Some(node) = &report.node {
            message.push_str(&format!(" on {node}"));
        }
        if let Some(exit) = &report.exit {
            message.push_str(&format!(", {exit}"));
        }
        message.push(')');
        if let Some(printed) = &self.printed {
            message.push_str(&format!("; it printed:\n{printed}"));
        }
        message
    }

    fn observed(&self, interrupted: Option<&InstanceEnd>) -> Object {
        let mut observed = interrupted.map_or_else(Object::new, |it| it.observed.clone());
        if let (Some(report), Some((_, word))) = (self.report, self.state()) {
            observed.insert("job_state".to_owned(), json!(word));
            if let Some(exit) = &report.exit {
                observed.insert("job_exit".to_owned(), json!(exit));
            }
        }
        observed
    }

    /// Returns the records that a task lacks: of each of its instances the end, and the beginning if there is none.
    pub fn records(
        &self,
        instances: &[TaskInstance],
        recorded: &TaskRecords,
        work: &Path,
        (plan, runs): (&Plan, &[Run]),
        now: Timestamp,
    ) -> Vec<Record> {
        let left = left_over(work);
        let mut records = Vec::new();
        for planned in instances {
            let own = |record: &&Record| record.instance() == Some(planned.id);
            let is_end = |record: &&Record| matches!(record, Record::InstanceEnd(_));
            let mut known = recorded.records.iter().filter(own).peekable();
            let is_unknown = known.peek().is_none();
            if known.any(|record| is_end(&record)) {
                continue;
            }
            if is_unknown {
                let of_test = left.iter().filter(own).filter(|record| !is_end(record));
                let before = records.len();
                records.extend(of_test.cloned().map(|record| self.described(record)));
                if records.len() == before {
                    let instance = planned.plan.record(planned.id, plan, runs);
                    records.push(self.described(Record::Instance(instance)));
                }
            }
            let mut ends = recorded.interrupted.iter();
            let interrupted = ends.find(|end| end.instance == planned.id);
            let ended = interrupted.and_then(|end| end.ended).or(Some(now));
            records.push(Record::InstanceEnd(InstanceEnd {
                message: Some(self.message()),
                observed: self.observed(interrupted),
                ..InstanceEnd::new(planned.id, ended, self.outcome())
            }));
        }
        // The runs of tests declare their metrics.
        let runs = left.into_iter().filter(|it| matches!(it, Record::Run(_)));
        runs.chain(records).collect()
    }

    /// Adds what is known of the job to an instance that was not recorded on its node.
    fn described(&self, record: Record) -> Record {
        let Record::Instance(mut instance) = record else {
            return record;
        };
        let (batch, index) = self.job.split_once('_').unwrap_or((self.job, ""));
        let job = &mut instance.job;
        job.insert("batch_id".to_owned(), number_or_text(batch));
        if !index.is_empty() {
            job.insert("array_index".to_owned(), number_or_text(index));
        }
        let node = self.report.and_then(|it| it.node.clone());
        instance.host = node.or(instance.host);
        Record::Instance(instance)
    }
}

/// Returns a number as one, and anything else as a text.
pub fn number_or_text(text: &str) -> serde_json::Value {
    text.parse::<u64>().map_or(json!(text), |it| json!(it))
}

/// Returns the end of what the job of a task printed, if it printed anything.
pub fn printed_by(folder: &SharedFolder, place: TaskPlace) -> Option<String> {
    let of_output = || {
        let rest = JobOutput::parse(&fs::read(folder.output(place)).ok()?).rest;
        let text = String::from_utf8_lossy(&rest).trim().to_owned();
        let start = text.len().saturating_sub(usize::from(QUOTED));
        let start = (start..text.len()).find(|at| text.is_char_boundary(*at));
        start.map(|start| text[start..].to_owned())
    };
    end_of_log(&folder.log(place)).or_else(of_output)
}

fn end_of_log(log: &Path) -> Option<String> {
    let mut file = fs::File::open(log).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(u64::from(QUOTED))))
        .ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Returns a session without its attributes: the plan among them is large, and stands elsewhere.
pub fn bare(session: &Session) -> Session {
    Session {
        attributes: Object::new(),
        ..session.clone()
    }
}
