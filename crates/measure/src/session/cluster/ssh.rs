//! Hosts that are reached by ssh: one job at a time on each, as a child process that ends with this one.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::process::Command;
use std::time::Duration;

use lapwing_model::text::shell_word;

use super::attached::AttachedJob;
use super::hosts::{HostJob, MOST_FAILURES, RemoteHost, host_report};
use super::scheduler::{JobBatch, JobError, JobReport, JobScheduler, JobState};
use crate::suite::SshSettings;

/// Options that come after those of the suite, and are weaker: `ssh` asks nothing, and notices that a host is gone.
const OPTIONS: [&str; 8] = [
    "-T",
    "-oBatchMode=yes",
    "-oLogLevel=ERROR",
    "-oConnectTimeout=20",
    "-oServerAliveInterval=15",
    "-oServerAliveCountMax=4",
    "-oControlMaster=no",
    "--",
];
/// Questions cost nothing here.
const POLL: Duration = Duration::from_millis(500);

/// The hosts of `[executor.ssh]`, and their jobs.
pub struct SshScheduler {
    options: Vec<String>,
    shell: String,
    hosts: Vec<RemoteHost>,
    waiting: VecDeque<HostJob>,
    reports: BTreeMap<String, JobReport>,
    notes: Vec<String>,
    in_flight: usize,
}

impl SshScheduler {
    pub fn new(settings: &SshSettings, shell: Option<&str>) -> Self {
        let hosts = settings.hosts.iter().map(|name| RemoteHost::new(name));
        Self {
            options: settings.options.clone(),
            shell: shell.unwrap_or("/bin/sh").to_owned(),
            hosts: hosts.collect(),
            waiting: VecDeque::new(),
            reports: BTreeMap::new(),
            notes: Vec::new(),
            in_flight: usize::MAX,
        }
    }

    fn command(&self, host: &str) -> Command {
        let mut command = Command::new("ssh");
        command.args(&self.options).args(OPTIONS);
        command.arg(host).arg(format!("exec {}", self.shell));
        command
    }

    /// Notes the jobs that have ended.
    fn look(&mut self) -> Result<(), JobError> {
        for host in &mut self.hosts {
            let Some((job, mut attached)) = host.running.take() else {
                continue;
            };
            let Some(status) = attached.ended()? else {
                host.running = Some((job, attached));
                continue;
            };
            let was_usable = host.is_usable();
            let report = host.end(&job, (!attached.is_closed()).then_some(status));
            self.reports.insert(job.id, report);
            if let (true, false, Some((_, reason))) = (was_usable, host.is_usable(), &host.failed) {
                self.notes.push(format!(
                    "{} is left out, because {MOST_FAILURES} jobs in a row failed there, the last with: {reason}",
                    host.name
                ));
            }
        }
        Ok(())
    }

    /// Returns the host for a job, if one is free: the wanted one, or the one that failed least.
    fn host_for(&self, job: &HostJob) -> Option<usize> {
        let usable = || self.hosts.iter().enumerate().filter(|it| it.1.is_usable());
        let wanted = job.host.as_ref();
        let wanted = wanted.filter(|name| usable().any(|(_, host)| host.name == **name));
        let are_others_fine = usable().any(|(_, host)| host.failures == 0);
        let is_free = |host: &RemoteHost| {
            let is_fit = !are_others_fine || !host.is_resting();
            host.running.is_none() && is_fit && wanted.is_none_or(|name| *name == host.name)
        };
        let free = usable().filter(|(_, host)| is_free(host));
        free.min_by_key(|(at, host)| (host.failures, *at))
            .map(|it| it.0)
    }

    /// Returns the host on which a job runs.
    fn host_of(&mut self, job: &str) -> Option<&mut RemoteHost> {
        let runs = |host: &&mut RemoteHost| host.running.as_ref().is_some_and(|it| it.0.id == job);
        self.hosts.iter_mut().find(runs)
    }

    fn start_waiting(&mut self) -> Result<(), JobError> {
        if !self.waiting.is_empty() && !self.hosts.iter().any(RemoteHost::is_usable) {
            let reason =
                |host: &RemoteHost| Some(format!("{}: {}", host.name, host.failed.as_ref()?.1));
            let reasons: Vec<String> = self.hosts.iter().filter_map(reason).collect();
            return Err(JobError::NoHosts {
                reason: reasons.join("; "),
            });
        }
        for job in std::mem::take(&mut self.waiting) {
            let running = self.hosts.iter().filter(|it| it.running.is_some()).count();
            match self.host_for(&job) {
                Some(host) if running < self.in_flight => self.start(job, host)?,
                Some(_) | None => self.waiting.push_back(job),
            }
        }
        Ok(())
    }

    fn start(&mut self, job: HostJob, host: usize) -> Result<(), JobError> {
        let name = self.hosts[host].name.clone();
        let [known_as, id] = [&name, &job.id].map(|it| shell_word(it));
        let variables = format!("LAPWING_HOST={known_as} LAPWING_JOB={id}\n");
        let script = [variables.into_bytes(), fs::read(&job.script)?].concat();
        let attached = AttachedJob::start(&mut self.command(&name), script, &job.output, &job.log);
        let attached = attached.map_err(|source| JobError::NotStarted {
            program: "ssh".to_owned(),
            source,
        })?;
        let report = JobReport {
            node: Some(name),
            ..host_report(JobState::Running)
        };
        self.reports.insert(job.id.clone(), report);
        self.hosts[host].running = Some((job, attached));
        Ok(())
    }
}

impl JobScheduler for SshScheduler {
    fn submission(&self, batch: &JobBatch) -> Command {
        let first = self.hosts.first().map(|host| &host.name);
        self.command(batch.node.as_ref().or(first).map_or("", String::as_str))
    }

    fn submit(&mut self, batch: &JobBatch) -> Result<Vec<String>, JobError> {
        self.in_flight = batch.in_flight.map_or(usize::MAX, |it| it as usize);
        let jobs = (0..batch.tasks).map(|task| HostJob {
            id: format!("{}-{task}", batch.name),
            script: batch.script_of(task),
            output: batch.output_of(task).unwrap_or_default(),
            log: batch.log_of(task),
            host: batch.node.clone(),
        });
        let jobs: Vec<HostJob> = jobs.collect();
        let ids: Vec<String> = jobs.iter().map(|job| job.id.clone()).collect();
        let queued = ids
            .iter()
            .map(|id| (id.clone(), host_report(JobState::Queued)));
        self.reports.extend(queued);
        self.waiting.extend(jobs);
        Ok(ids)
    }

    fn states(&mut self, jobs: &[&str]) -> Result<BTreeMap<String, JobReport>, JobError> {
        self.look()?;
        self.start_waiting()?;
        let of_another = || JobReport {
            exit: Some("its client ended before it".to_owned()),
            ..host_report(JobState::Lost)
        };
        let report_of = |id: &str| self.reports.get(id).cloned().unwrap_or_else(of_another);
        Ok(jobs
            .iter()
            .map(|id| ((*id).to_owned(), report_of(id)))
            .collect())
    }

    fn cancel(&mut self, jobs: &[&str]) -> Result<(), JobError> {
        for job in std::mem::take(&mut self.waiting) {
            if jobs.contains(&job.id.as_str()) {
                self.reports
                    .insert(job.id, host_report(JobState::Cancelled));
            } else {
                self.waiting.push_back(job);
            }
        }
        for job in jobs {
            self.host_of(job).map(RemoteHost::close);
        }
        Ok(())
    }

    fn release(&mut self, job: &str) {
        if let Some(host) = self.host_of(job) {
            host.failures = 0;
            host.close();
        }
    }

    fn jobs_outlive_client(&self) -> bool {
        false
    }

    fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn longest_poll(&self) -> Duration {
        POLL
    }

    fn find(&mut self, _batch: &JobBatch) -> Result<Option<Vec<String>>, JobError> {
        Ok(None)
    }

    fn nodes(&mut self) -> Result<Vec<String>, JobError> {
        let usable = self.hosts.iter().filter(|host| host.is_usable());
        Ok(usable.map(|host| host.name.clone()).collect())
    }
}
