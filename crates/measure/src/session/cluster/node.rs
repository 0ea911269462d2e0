//! What a job does: it measures one task with the local executor on its node.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use lapwing_model::{Object, Outcome, Record};
use lapwing_record::write_line;

use super::collecting::pause;
use super::endings::number_or_text;
use super::folder::{BatchFile, SharedFolder, TaskPlace};
use super::packet::{PacketTool, RecordPrinter, TaskPacket};
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

/// The host and the id of a job, as its script passes them on.
#[derive(Debug, Clone, Default)]
pub struct JobPlace {
    /// The name of its host, as the client calls it; `None` for the machine's own.
    pub host: Option<String>,
    /// Its id, as far as `variable` does not say it.
    pub id: Option<String>,
}

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
    check_tool(&visit.tool, surroundings)?;
    let packet = TaskPacket::whole(visit, task.clone());
    let work = TaskWork {
        packet,
        scratch: folder.work(place),
        place: JobPlace {
            host: variable("SLURMD_NODENAME"),
            id: None,
        },
        variable,
    };
    let mut file = None;
    let mut write = |record: &Record| {
        let mut line = Vec::new();
        write_line(&mut line, record)?;
        let file = match &mut file {
            Some(file) => file,
            None => file.insert(folder.begin(place)?),
        };
        file.write_all(&line)
    };
    work.measure(&mut write, surroundings)
}

/// Measures the task of a packet, and prints its records to `output` as they happen.
///
/// # Errors
/// If the packet cannot be read, or nothing can be measured or printed.
pub fn measure_packet(
    packet: &[u8],
    place: JobPlace,
    output: &mut dyn Write,
    variable: fn(&str) -> Option<String>,
    surroundings: &SessionSurroundings<'_>,
) -> Result<RunEnd, SessionError> {
    let PacketTool { tool } = serde_json::from_slice(packet).map_err(SessionError::Packet)?;
    check_tool(&tool, surroundings)?;
    let packet: TaskPacket = serde_json::from_slice(packet).map_err(SessionError::Packet)?;
    let name = format!("lapwing-job-{}", (surroundings.new_id)());
    let work = TaskWork {
        packet,
        scratch: surroundings.places.temporary.join(name),
        place,
        variable,
    };
    let mut printer = RecordPrinter::new(output);
    work.measure(&mut |record| printer.print(record), surroundings)
}

/// Refuses the task of another version.
fn check_tool(tool: &str, surroundings: &SessionSurroundings<'_>) -> Result<(), SessionError> {
    if tool == surroundings.places.tool {
        return Ok(());
    }
    Err(SessionError::OtherTool {
        own: surroundings.places.tool.clone(),
        tool: tool.to_owned(),
    })
}

/// A task, wherever it came from.
struct TaskWork {
    packet: TaskPacket,
    /// A folder for files of the programs under test.
    scratch: PathBuf,
    place: JobPlace,
    variable: fn(&str) -> Option<String>,
}

impl TaskWork {
    fn measure(
        self,
        write: &mut dyn FnMut(&Record) -> io::Result<()>,
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<RunEnd, SessionError> {
        let plan = &self.packet.plan;
        let mut executor = surroundings.start_executor(plan)?;
        let mut second = surroundings.start_second_executor(plan)?;
        let executors = [Some(&executor), second.as_ref()];
        surroundings
            .interrupts
            .watch(executors.into_iter().flatten());
        let _scratch = ScratchFolder::create(&self.scratch)?;
        let mut records = NodeRecords::new(write, &self.place, self.variable, *surroundings);
        let instances = &self.packet.task.instances;
        let mut ids = instances.iter().map(|it| it.id);
        let mut around = RunnerSurroundings {
            executor: &mut executor,
            second_executor: second.as_mut().map(|it| it as &mut dyn Executor),
            clock: surroundings.clock,
            watch: &mut MachineWatcher::default(),
            new_id: &mut || ids.next().unwrap_or_else(surroundings.new_id),
            host: self.place.host.or_else(|| records.hostname.clone()),
            scratch: self.scratch,
            look: self.packet.look,
            profiler: None,
            sources: self.packet.sources,
        };
        let runs = SessionRuns {
            session: self.packet.session,
            runs: self.packet.runs,
        };
        let mut schedule = FixedSchedule::of(instances.iter().map(|it| it.plan));
        let consumers: &mut [&mut dyn Consumer] = &mut [&mut records];
        Ok(run(plan, &runs, &mut schedule, &mut around, consumers)?)
    }
}

/// Writes records as they happen, with the node and the job on each instance.
struct NodeRecords<'a> {
    surroundings: SessionSurroundings<'a>,
    write: &'a mut dyn FnMut(&Record) -> io::Result<()>,
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
        write: &'a mut dyn FnMut(&Record) -> io::Result<()>,
        place: &JobPlace,
        variable: fn(&str) -> Option<String>,
        surroundings: SessionSurroundings<'a>,
    ) -> Self {
        let machine = Environment::read(Path::new("/"));
        let hostname = machine.host.clone();
        let mut job = Object::new();
        if let Some(id) = &place.id {
            job.insert("batch_id".to_owned(), number_or_text(id));
        }
        for (name, key) in OF_JOB {
            if let Some(value) = variable(name) {
                job.insert(key.to_owned(), number_or_text(&value));
            }
        }
        Self {
            surroundings,
            write,
            hostname,
            machine: machine.into_object(),
            job,
            is_ending: false,
        }
    }

    fn keep(&mut self, record: &Record) -> io::Result<()> {
        if let Record::Iteration(it) = record
            && it.outcome != Outcome::Ok
        {
            pause(MOMENT, self.surroundings.interrupts);
            self.is_ending |= self.surroundings.interrupts.count() > 0;
        }
        if self.is_ending {
            return Ok(());
        }
        match record {
            Record::Instance(instance) => {
                let mut instance = instance.clone();
                let mut described = self.machine.clone();
                described.append(&mut instance.environment);
                instance.environment = described;
                instance.job.clone_from(&self.job);
                (self.write)(&Record::Instance(instance))
            }
            other => (self.write)(other),
        }
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
