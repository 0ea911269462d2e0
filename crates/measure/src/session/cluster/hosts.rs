//! Hosts that measure one job at a time, each a child process, and those that fail again and again.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use super::attached::AttachedJob;
use super::packet::JobOutput;
use super::programs::exit_text;
use super::scheduler::{JobReport, JobState};

/// The exit code of `ssh` itself.
const NO_CONNECTION: i32 = 255;
/// Jobs in a row that fail on a host before it is left out.
pub const MOST_FAILURES: u32 = 3;
/// How long a host has no job after a failure, while others are fine.
const REST: Duration = Duration::from_secs(20);

/// A host that measures.
pub struct RemoteHost {
    pub name: String,
    pub running: Option<(HostJob, AttachedJob)>,
    /// How many jobs in a row failed because of it.
    pub failures: u32,
    /// The last of them, and the reason.
    pub failed: Option<(Instant, String)>,
}

/// A job, and its files.
pub struct HostJob {
    pub id: String,
    pub script: PathBuf,
    pub output: PathBuf,
    pub log: PathBuf,
    /// The host that it is dealt to.
    pub host: Option<String>,
}

impl RemoteHost {
    /// Returns a host that has not failed.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            running: None,
            failures: 0,
            failed: None,
        }
    }

    /// Returns whether it gets jobs.
    pub fn is_usable(&self) -> bool {
        self.failures < MOST_FAILURES
    }

    /// Returns whether it failed a moment ago.
    pub fn is_resting(&self) -> bool {
        let failed = self.failed.as_ref().filter(|_| self.failures > 0);
        failed.is_some_and(|(when, _)| when.elapsed() < REST)
    }

    /// Tells the job that runs here to end.
    pub fn close(&mut self) {
        if let Some((_, attached)) = &mut self.running {
            attached.close();
        }
    }

    /// Returns how the job ended that ran here, and counts failures of the host in a row: jobs without any record. `None`
    /// is a job that was told to end.
    ///
    /// One that was lost later may have been ended by what it measured, and not with its host: that alone never adds up.
    pub fn end(&mut self, job: &HostJob, status: Option<ExitStatus>) -> JobReport {
        let node = Some(self.name.clone());
        let Some(status) = status else {
            return JobReport {
                node,
                ..host_report(JobState::Cancelled)
            };
        };
        let printed = fs::read(&job.output).unwrap_or_default();
        let is_empty = JobOutput::parse(&printed).records.is_empty();
        let is_lost = status.code() == Some(NO_CONNECTION) || status.signal().is_some();
        if is_lost || is_empty {
            let said = fs::read(&job.log).unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            let last = said.lines().rev().find(|line| !line.trim().is_empty());
            self.failures = match is_empty {
                true => self.failures + 1,
                false => self.failures.max(1),
            };
            self.failed = Some((
                Instant::now(),
                last.map_or_else(|| exit_text(status), str::to_owned),
            ));
        } else {
            self.failures = 0;
        }
        let exit = (!status.success()).then(|| exit_text(status));
        let state = match exit {
            _ if is_lost => JobState::Lost,
            None if !is_empty => JobState::Completed,
            None | Some(_) => JobState::Failed,
        };
        JobReport {
            node,
            exit,
            ..host_report(state)
        }
    }
}

/// Returns a report in the words of Slurm.
pub fn host_report(state: JobState) -> JobReport {
    let word = match state {
        JobState::Queued => "PENDING",
        JobState::Running => "RUNNING",
        JobState::Completed => "COMPLETED",
        JobState::Cancelled => "CANCELLED",
        JobState::Failed | JobState::TimedOut | JobState::OutOfMemory => "FAILED",
        JobState::Lost => "LOST",
    };
    JobReport {
        state,
        word: word.to_owned(),
        exit: None,
        node: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the states of jobs that end with these statuses of `wait` and print that.
    fn ended(host: &mut RemoteHost, ends: &[(i32, &str)]) -> Vec<JobState> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let job = HostJob {
            id: "1".to_owned(),
            script: path("script"),
            output: path("output"),
            log: path("log"),
            host: None,
        };
        fs::write(&job.log, "first\nthe reason\n\n").expect("written");
        let one = |(status, printed): &(i32, &str)| {
            fs::write(&job.output, printed).expect("written");
            let status = ExitStatus::from_raw(*status);
            host.end(&job, Some(status)).state
        };
        ends.iter().map(one).collect()
    }

    const RECORD: &str = "lapwing-record 0 2 {}\n";
    const NO_CONNECTION_STATUS: i32 = NO_CONNECTION << 8;

    #[test]
    fn a_host_is_left_out_after_failures_in_a_row_that_are_its_own() {
        let mut host = RemoteHost::new("n1");
        // A job that has begun to record and then failed says nothing about the host.
        let own = [
            (NO_CONNECTION_STATUS, ""),
            (0, "no record"),
            (1 << 8, RECORD),
            (9, RECORD),
        ];
        let states = ended(&mut host, &own);
        let expected = [
            JobState::Lost,
            JobState::Failed,
            JobState::Failed,
            JobState::Lost,
        ];
        assert_eq!(states, expected);
        assert_eq!((host.failures, host.is_usable()), (1, true));
        assert_eq!(ended(&mut host, &[(0, RECORD)]), [JobState::Completed]);
        assert!(!host.is_resting());
        ended(&mut host, &[(NO_CONNECTION_STATUS, RECORD); 4]);
        assert!(host.is_usable() && host.is_resting());
        ended(
            &mut host,
            &[(NO_CONNECTION_STATUS, RECORD), (127 << 8, ""), (2 << 8, "")],
        );
        assert!(!host.is_usable() && host.is_resting());
        let reason = host.failed.map(|it| it.1);
        assert_eq!(reason.as_deref(), Some("the reason"));
    }
}
