//! `lapwing cluster-task`: what a job does. It measures one task of a batch with the local executor on its node.

use std::env;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use lapwing_measure::local::LocalExecutor;
use lapwing_measure::{
    Consumer, Environment, Event, Executor, FixedSchedule, RunEnd, RunnerSurroundings, SessionRuns,
    run as measure,
};
use lapwing_model::{Object, Outcome, Record};
use lapwing_record::write_line;
use serde_json::json;

use super::super::{
    interrupts, new_id, start_executor, start_second_executor, stop_on_signals, system,
};
use super::TOOL;
use super::collecting::pause;
use super::folder::{BatchFile, SharedFolder, TaskPlace};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Measure one task of a batch, as a job of a cluster
#[derive(Debug, Args)]
#[command(hide = true)]
pub struct ClusterTaskCommand {
    /// The folder that the nodes share
    folder: PathBuf,
    /// The number of the batch
    batch: u32,
    /// The number of the task in it
    index: usize,
}

/// The variables of Slurm that say what a job is, and their keys in the record.
const OF_JOB: [(&str, &str); 4] = [
    ("SLURM_ARRAY_JOB_ID", "batch_id"),
    ("SLURM_JOB_ID", "job_id"),
    ("SLURM_ARRAY_TASK_ID", "array_index"),
    ("SLURM_JOB_PARTITION", "partition"),
];

impl ClusterTaskCommand {
    /// Measures.
    pub fn act(self, _context: &Context) -> Result<ExitStatus, CliError> {
        let folder = SharedFolder::open(&self.folder);
        let place = TaskPlace {
            batch: self.batch,
            index: self.index,
        };
        let batch: BatchFile = folder.batch(self.batch)?;
        let task = batch.tasks.get(self.index).ok_or_else(|| {
            CliError::input(format!("batch {} has no task {}", self.batch, self.index))
        })?;
        if folder.is_ended(place) {
            // The client has given it up, and another one takes its place.
            return Ok(ExitStatus::Fine);
        }
        let visit = folder.visit(batch.visit)?;
        if visit.tool != TOOL {
            return Err(CliError::input(format!(
                "this program is {TOOL}, and the session is measured by {}",
                visit.tool
            ))
            .hint("name the same program with `program` under [executor.slurm]"));
        }
        let plan = &visit.plan;
        let mut executor = start_executor(plan)?;
        let mut second = start_second_executor(plan)?;
        let executors = [Some(&executor), second.as_ref()].into_iter().flatten();
        stop_on_signals(executors.map(LocalExecutor::interrupter).collect())?;
        let scratch = folder.work(place);
        let _scratch = system::ScratchFolder::create(&scratch)?;
        let mut file = NodeRecords::new(folder.begin(place)?);
        let mut ids = task.instances.iter().map(|it| it.id);
        let mut around = RunnerSurroundings {
            executor: &mut executor,
            second_executor: second.as_mut().map(|it| it as &mut dyn Executor),
            clock: &system::SystemClock::new(),
            watch: &mut system::MachineWatcher::default(),
            new_id: &mut || ids.next().unwrap_or_else(new_id),
            host: env::var("SLURMD_NODENAME")
                .ok()
                .or_else(|| file.hostname.clone()),
            scratch,
            look: visit.look,
            profiler: None,
            sources: visit.sources,
        };
        let runs = SessionRuns {
            session: visit.session,
            runs: visit.runs,
        };
        let mut schedule = FixedSchedule::of(task.instances.iter().map(|it| it.plan));
        let mut consumers: [&mut dyn Consumer; 1] = [&mut file];
        let end = measure(plan, &runs, &mut schedule, &mut around, &mut consumers);
        match end.map_err(CliError::input)? {
            RunEnd::Complete => Ok(ExitStatus::Fine),
            RunEnd::Interrupted => Ok(ExitStatus::Interrupted),
        }
    }
}

/// Writes records to the shared folder as they happen, with the node and the job on each instance.
struct NodeRecords {
    file: File,
    hostname: Option<String>,
    machine: Object,
    job: Object,
    /// Whether the job is being ended: what its processes do then is no result.
    is_ending: bool,
}

/// A job that is ended loses its processes one by one. Whether a failed iteration is the benchmark's own is known after so
/// long.
const MOMENT: Duration = Duration::from_millis(300);

impl NodeRecords {
    fn new(file: File) -> Self {
        let machine = Environment::read(Path::new("/"));
        let hostname = machine.host.clone();
        let mut job = Object::new();
        for (variable, key) in OF_JOB {
            if let Ok(value) = env::var(variable) {
                // Numbers stay numbers.
                let value = value.parse::<u64>().map_or(json!(value), |it| json!(it));
                job.insert(key.to_owned(), value);
            }
        }
        Self {
            file,
            hostname,
            machine: machine.into_object(),
            job,
            is_ending: false,
        }
    }

    fn keep(&mut self, record: &Record) -> std::io::Result<()> {
        if let Record::Iteration(it) = record
            && it.outcome != Outcome::Ok
        {
            pause(MOMENT);
            self.is_ending |= interrupts() > 0;
        }
        if self.is_ending {
            return Ok(());
        }
        let mut line = Vec::new();
        match record {
            Record::Instance(instance) => {
                let mut instance = instance.clone();
                let mut described = self.machine.clone();
                described.append(&mut instance.environment);
                instance.environment = described;
                instance.job.clone_from(&self.job);
                write_line(&mut line, &Record::Instance(instance))?;
            }
            other => write_line(&mut line, other)?,
        }
        self.file.write_all(&line)
    }
}

impl Consumer for NodeRecords {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        match event {
            Event::Record(record) => self.keep(record)?,
            Event::Note(text) => crate::terminal::Terminal::new(false).note(text),
            Event::Started { .. }
            | Event::InstanceStarted { .. }
            | Event::Jobs(_)
            | Event::Ended => {}
        }
        Ok(())
    }
}
