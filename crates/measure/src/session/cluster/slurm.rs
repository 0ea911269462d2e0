//! Slurm: `sbatch` arrays, one `squeue` for all, `sacct` where there is accounting, `scancel`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

use crate::suite::SlurmSettings;

use super::programs::SchedulerPrograms;
use super::scheduler::{JobBatch, JobError, JobReport, JobScheduler, MOST_TASKS};
use super::slurm_text::{
    SACCT_FIELDS, SQUEUE_FIELDS, largest_array, parse_sacct, parse_squeue, usable_nodes,
};

/// Slurm, by its programs.
pub struct SlurmScheduler {
    settings: SlurmSettings,
    programs: SchedulerPrograms,
    has_accounting: bool,
}

impl SlurmScheduler {
    pub fn new(settings: SlurmSettings, programs: SchedulerPrograms) -> Self {
        Self {
            settings,
            programs,
            has_accounting: true,
        }
    }

    /// Returns the arguments of `sbatch`.
    fn arguments(&self, batch: &JobBatch) -> Vec<String> {
        let of = &self.settings;
        let in_flight = batch
            .in_flight
            .map_or_else(String::new, |it| format!("%{it}"));
        let array = format!("0-{}{in_flight}", batch.tasks.saturating_sub(1));
        // A percent sign begins a pattern.
        let logs = batch.logs.display().to_string().replace('%', "%%");
        let log = format!("{logs}/{}-%a.txt", batch.log_prefix);
        let mut arguments = vec![
            "--parsable".to_owned(),
            format!("--job-name={}", batch.name),
            format!("--array={array}"),
            format!("--output={log}"),
            format!("--chdir={}", batch.directory.display()),
            // A lost instance becomes a new attempt, which we submit ourselves.
            "--no-requeue".to_owned(),
            "--nodes=1".to_owned(),
            "--ntasks=1".to_owned(),
        ];
        let given = [
            ("partition", of.partition.clone()),
            ("account", of.account.clone()),
            ("time", of.time.map(slurm_time)),
            ("mem", of.memory.clone()),
            ("cpus-per-task", of.cpus.map(|it| it.to_string())),
            ("constraint", of.constraint.clone()),
            ("nodelist", batch.node.clone()),
        ];
        let given = given.into_iter().filter_map(|(name, it)| Some((name, it?)));
        arguments.extend(given.map(|(name, value)| format!("--{name}={value}")));
        if of.exclusive {
            arguments.push("--exclusive".to_owned());
        }
        arguments.extend(of.options.iter().cloned());
        arguments.push(batch.script.display().to_string());
        arguments
    }
}

/// Returns a time as Slurm writes it, in whole seconds and at least one.
fn slurm_time(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
}

/// Returns the ids of the jobs of an array.
fn jobs_of(array: &str, batch: &JobBatch) -> Vec<String> {
    let tasks = 0..batch.tasks;
    tasks.map(|task| format!("{array}_{task}")).collect()
}

/// Returns the arrays that jobs belong to.
fn arrays_of<'a>(jobs: &[&'a str]) -> Vec<&'a str> {
    let arrays = jobs.iter().map(|job| job.split('_').next().unwrap_or(job));
    arrays.collect::<BTreeSet<&str>>().into_iter().collect()
}

impl JobScheduler for SlurmScheduler {
    fn submission(&self, batch: &JobBatch) -> Command {
        let mut command = Command::new("sbatch");
        command.args(self.arguments(batch));
        command
    }

    fn submit(&mut self, batch: &JobBatch) -> Result<Vec<String>, JobError> {
        let printed = self.programs.submit(&mut self.submission(batch))?;
        // `ID`, or `ID;CLUSTER`.
        let id = printed.trim().split(';').next().unwrap_or_default();
        if id.is_empty() || !id.bytes().all(|it| it.is_ascii_digit()) {
            return Err(JobError::Unreadable {
                program: "sbatch".to_owned(),
                text: printed,
                expected: "the id of a job",
            });
        }
        Ok(jobs_of(id, batch))
    }

    fn states(&mut self, jobs: &[&str]) -> Result<BTreeMap<String, JobReport>, JobError> {
        let arrays = arrays_of(jobs).join(",");
        let mut squeue = Command::new("squeue");
        squeue.args(["--noheader", "--states=all"]);
        squeue.args([
            format!("--jobs={arrays}"),
            format!("--Format={SQUEUE_FIELDS}"),
        ]);
        let mut found = match self.programs.ask(&mut squeue) {
            Ok(text) => parse_squeue(&text),
            // All are forgotten: with several, those are left out silently.
            Err(JobError::Refused { message, .. }) if message.contains("Invalid job id") => {
                BTreeMap::new()
            }
            Err(error) => return Err(error),
        };
        let is_missing = |it: &&&str| !found.contains_key(**it);
        if self.has_accounting && jobs.iter().any(|it| is_missing(&it)) {
            let mut sacct = Command::new("sacct");
            sacct.args(["--noheader", "--parsable2", "--allocations"]);
            sacct.args([
                format!("--jobs={arrays}"),
                format!("--format={SACCT_FIELDS}"),
            ]);
            match self.programs.ask(&mut sacct) {
                Ok(text) => {
                    for (job, report) in parse_sacct(&text) {
                        found.entry(job).or_insert(report);
                    }
                }
                Err(JobError::Silent { .. }) => {}
                // "Slurm accounting storage is disabled", or there is no such program.
                Err(_none) => self.has_accounting = false,
            }
        }
        Ok(found)
    }

    fn cancel(&mut self, jobs: &[&str]) -> Result<(), JobError> {
        match self
            .programs
            .ask(Command::new("scancel").args(arrays_of(jobs)))
        {
            Err(JobError::Refused { message, .. }) if message.contains("Invalid job id") => Ok(()),
            cancelled => cancelled.map(drop),
        }
    }

    fn find(&mut self, batch: &JobBatch) -> Result<Option<Vec<String>>, JobError> {
        let mut squeue = Command::new("squeue");
        squeue.args(["--noheader", "--states=all", "--Format=ArrayJobID"]);
        let text = self
            .programs
            .ask(squeue.arg(format!("--name={}", batch.name)))?;
        let id = text.split_ascii_whitespace().next();
        Ok(id.map(|id| jobs_of(id, batch)))
    }

    fn largest_batch(&mut self) -> usize {
        let config = self
            .programs
            .ask(Command::new("scontrol").args(["show", "config"]));
        let largest = config.ok().and_then(|config| largest_array(&config));
        largest.unwrap_or(MOST_TASKS).min(MOST_TASKS)
    }

    fn nodes(&mut self) -> Result<Vec<String>, JobError> {
        let mut command = Command::new("sinfo");
        command.args(["--noheader", "--Node", "--Format=NodeList:|,StateLong:|"]);
        if let Some(partition) = &self.settings.partition {
            command.arg(format!("--partition={partition}"));
        }
        Ok(usable_nodes(&self.programs.ask(&mut command)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_slurm_and_never_shorter() {
        let texts = [500, 61_000, 90 * 60_000, 50 * 3_600_000]
            .map(|it| slurm_time(Duration::from_millis(it)));
        assert_eq!(texts, ["00:00:01", "00:01:01", "01:30:00", "50:00:00"]);
    }

    #[test]
    fn what_the_suite_says_becomes_options_and_the_script_is_last() {
        let settings = SlurmSettings {
            partition: Some("long; rm -rf /".to_owned()),
            time: Some(Duration::from_secs(60)),
            options: vec!["--qos=low".to_owned()],
            ..SlurmSettings::default()
        };
        let scheduler = SlurmScheduler::new(settings, SchedulerPrograms::default());
        let batch = JobBatch {
            name: "lapwing-1".to_owned(),
            script: "/s/a b.sh".into(),
            outputs: None,
            tasks: 40,
            logs: "/s/50%".into(),
            log_prefix: "1".to_owned(),
            directory: "/here".into(),
            in_flight: Some(8),
            node: None,
        };
        let expected = [
            "--parsable",
            "--job-name=lapwing-1",
            "--array=0-39%8",
            "--output=/s/50%%/1-%a.txt",
            "--chdir=/here",
            "--no-requeue",
            "--nodes=1",
            "--ntasks=1",
            "--partition=long; rm -rf /",
            "--time=00:01:00",
            "--exclusive",
            "--qos=low",
            "/s/a b.sh",
        ];
        assert_eq!(scheduler.arguments(&batch), expected);
    }
}
