//! What a job does: it measures one task of a batch with the local executor on its node.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use lapwing_model::{Object, Outcome, Record};
use lapwing_record::write_line;

use super::collecting::pause;
use super::endings::number_or_text;
use super::folder::{BatchFile, SharedFolder, TaskPlace};
use crate::session::{
    MachineWatcher, ScratchFolder, SessionError, SessionRemark, SessionSurroundings,
};
use crate::{
    Consumer, Environment, Event, Executor, FixedSchedule, RunEnd, RunnerSurroundings, SessionRuns,
    run,
};

/// The variables of Slurm that say what a job is, and their keys in the record.
const OF_JOB: [(&str, &str); 4] = [
    ("SLURM_ARRAY_JOB_ID", "batch_id"),
    ("SLURM_JOB_ID", "job_id"),
    ("SLURM_ARRAY_TASK_ID", "array_index"),
    ("SLURM_JOB_PARTITION", "partition"),
];

/// Measures the task of a number in a batch. `variable` returns the environment variable of a name.
///
/// # Errors
/// If there is no such task, or nothing can be measured or recorded.
pub fn measure_task(
    folder: &Path,
    batch: u32,
    index: usize,
    variable: fn(&str) -> Option<String>,
    surroundings: &SessionSurroundings<'_>,
) -> Result<RunEnd, SessionError> {
    let folder = SharedFolder::open(folder);
    let place = TaskPlace { batch, index };
    let file: BatchFile = folder.batch(batch)?;
    let task = file.tasks.get(index);
    let task = task.ok_or(SessionError::NoTask { batch, index })?;
    if folder.is_ended(place) {
        // The client has given it up, and another one takes its place.
        return Ok(RunEnd::Complete);
    }
    let visit = folder.visit(file.visit)?;
    if visit.tool != surroundings.places.tool {
        return Err(SessionError::OtherTool {
            own: surroundings.places.tool.clone(),
            tool: visit.tool,
        });
    }
    let plan = &visit.plan;
    let mut executor = surroundings.start_executor(plan)?;
    let mut second = surroundings.start_second_executor(plan)?;
    let executors = [Some(&executor), second.as_ref()];
    surroundings
        .interrupts
        .watch(executors.into_iter().flatten());
    let scratch = folder.work(place);
    let _scratch = ScratchFolder::create(&scratch)?;
    let mut records = NodeRecords::new(folder.begin(place)?, variable, *surroundings);
    let mut ids = task.instances.iter().map(|it| it.id);
    let mut around = RunnerSurroundings {
        executor: &mut executor,
        second_executor: second.as_mut().map(|it| it as &mut dyn Executor),
        clock: surroundings.clock,
        watch: &mut MachineWatcher::default(),
        new_id: &mut || ids.next().unwrap_or_else(surroundings.new_id),
        host: variable("SLURMD_NODENAME").or_else(|| records.hostname.clone()),
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
    let consumers: &mut [&mut dyn Consumer] = &mut [&mut records];
    Ok(run(plan, &runs, &mut schedule, &mut around, consumers)?)
}

/// Writes records to the shared folder as they happen, with the node and the job on each instance.
struct NodeRecords<'a> {
    surroundings: SessionSurroundings<'a>,
    file: File,
    hostname: Option<String>,
    machine: Object,
    job: Object,
    /// Whether the job is being ended: what its processes do then is no result.
    is_ending: bool,
}

/// A job that is ended loses its processes one by one. Whether a failed iteration is the benchmark's own is known
/// after so long.
const MOMENT: Duration = Duration::from_millis(300);

impl<'a> NodeRecords<'a> {
    fn new(
        file: File,
        variable: fn(&str) -> Option<String>,
        surroundings: SessionSurroundings<'a>,
    ) -> Self {
        let machine = Environment::read(Path::new("/"));
        let hostname = machine.host.clone();
        let mut job = Object::new();
        for (name, key) in OF_JOB {
            if let Some(value) = variable(name) {
                job.insert(key.to_owned(), number_or_text(&value));
            }
        }
        Self {
            surroundings,
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
            pause(MOMENT, self.surroundings.interrupts);
            self.is_ending |= self.surroundings.interrupts.count() > 0;
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

impl Consumer for NodeRecords<'_> {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        match event {
            Event::Record(record) => self.keep(record)?,
            Event::Note(text) => self.surroundings.remark(SessionRemark::Note(text.clone())),
            Event::Started { .. }
            | Event::InstanceStarted { .. }
            | Event::Jobs(_)
            | Event::Ended => {}
        }
        Ok(())
    }
}
