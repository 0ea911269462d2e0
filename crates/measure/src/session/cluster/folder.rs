//! The folder that client and nodes share: what is to be measured, what was measured, and what became of each task. Where
//! they share none, the client has it for itself, and writes the records that come back in what jobs print.
//!
//! ```text
//! visit-1.json        plan, runs and folders of some measurements
//! batch-1.json        the instances of each task of an array
//! batch-1.sh          the script of its jobs; batch-1-0.sh of each where no folder is shared
//! batch-1.jobs        the ids of its jobs, once it is submitted
//! records/1-0.jsonl   the records of task 0, written by its job as it measures
//! ends/1-0.jsonl      how task 0 ended, written by the client when its job can no longer do that
//! work/1-0/           files of the programs under test
//! logs/1-0.txt        what the job printed
//! heartbeat           the client's sign of life, where its jobs are of no use without it
//! outputs/1-0.txt     what it printed with its records, where no folder is shared
//! ```
//!
//! Each file has one writer. A task with an end is over: what its job may write later does not count.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::packet::JobOutput;
use crate::suite::Plan;
use crate::{InstancePlan, NextLook, VariantSources};
use lapwing_model::{Id, InstanceEnd, InstanceOutcome, Record, Run, Session};
use lapwing_record::{parse_line, write_line};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Permissions of a folder that is the user's own.
const OWN_FOLDER: u32 = 0o700;
/// Permissions of a file that is the user's own.
const OWN_FILE: u32 = 0o600;

/// A folder that client and nodes share.
#[derive(Debug, Clone)]
pub struct SharedFolder {
    path: PathBuf,
}

/// The plan and the runs of some batches.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VisitFile {
    /// The program that wrote it, with its version.
    pub tool: String,
    pub session: Session,
    pub runs: Vec<Run>,
    pub plan: Plan,
    pub sources: VariantSources,
    pub look: Option<NextLook>,
}

/// The tasks of an array.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BatchFile {
    /// The number of the visit that they belong to.
    pub visit: u32,
    pub tasks: Vec<ClusterTask>,
}

/// The work of one job: an instance, or the two of a duet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusterTask {
    pub instances: Vec<TaskInstance>,
}

/// An instance, which has its id before it begins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TaskInstance {
    pub id: Id,
    pub plan: InstancePlan,
}

/// Identifies a task within a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskPlace {
    /// The number of the batch.
    pub batch: u32,
    /// Its index in the batch.
    pub index: usize,
}

/// The records of a task.
#[derive(Debug, Default)]
pub struct TaskRecords {
    pub records: Vec<Record>,
    /// Its length in the file of the job, in bytes.
    pub length: u64,
    /// Ends that the job recorded when it was told to stop: the scheduler knows why, and its word becomes the end.
    pub interrupted: Vec<InstanceEnd>,
}

impl TaskRecords {
    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.interrupted.is_empty()
    }

    /// Returns whether every instance of a task has ended.
    pub fn are_complete(&self, task: &ClusterTask) -> bool {
        let has_end = |instance: &TaskInstance| {
            let is_its =
                |it: &Record| matches!(it, Record::InstanceEnd(end) if end.instance == instance.id);
            self.records.iter().any(is_its)
        };
        task.instances.iter().all(has_end)
    }
}

impl TaskPlace {
    fn name(self) -> String {
        format!("{}-{}", self.batch, self.index)
    }
}

impl SharedFolder {
    /// Creates the folder, for this user only, or opens the one that there is.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(OWN_FOLDER);
        for name in ["", "records", "ends", "work", "logs", "outputs"] {
            builder.create(path.join(name))?;
        }
        Ok(Self::open(path))
    }

    /// Returns the folder at a path, which exists.
    pub fn open(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folder: everything in it is kept elsewhere.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.path)
    }

    /// Writes a visit and returns its number.
    pub fn add_visit(&self, visit: &VisitFile) -> io::Result<u32> {
        let number = self
            .numbers("visit-", ".json")?
            .last()
            .map_or(1, |it| it + 1);
        self.write_json(&format!("visit-{number}.json"), visit)?;
        Ok(number)
    }

    /// Reads a visit.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub fn visit(&self, number: u32) -> io::Result<VisitFile> {
        self.read_json(&format!("visit-{number}.json"))
    }

    /// Writes a batch and returns its number, which no other one ever had.
    pub fn add_batch(&self, batch: &impl Serialize) -> io::Result<u32> {
        let known = [".json", ".withdrawn"].map(|end| self.numbers("batch-", end));
        let mut last = 0;
        for numbers in known {
            last = last.max(numbers?.last().copied().unwrap_or(0));
        }
        self.write_json(&format!("batch-{}.json", last + 1), batch)?;
        Ok(last + 1)
    }

    /// Reads a batch.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub fn batch<T: DeserializeOwned>(&self, number: u32) -> io::Result<T> {
        self.read_json(&format!("batch-{number}.json"))
    }

    /// Returns the numbers of all batches.
    pub fn batches(&self) -> io::Result<Vec<u32>> {
        self.numbers("batch-", ".json")
    }

    /// Takes a batch back that was not submitted: a job of it would find nothing to do.
    pub fn withdraw(&self, batch: u32) -> io::Result<()> {
        let path = |end: &str| self.path.join(format!("batch-{batch}.{end}"));
        fs::rename(path("json"), path("withdrawn"))
    }

    /// Writes down the ids of the jobs of a batch.
    pub fn set_jobs(&self, batch: u32, jobs: &[String]) -> io::Result<()> {
        self.write_json(&format!("batch-{batch}.jobs"), &jobs)
    }

    /// Returns the ids of the jobs of a batch; `None` if they were not written down.
    pub fn jobs(&self, batch: u32) -> io::Result<Option<Vec<String>>> {
        absent(self.read_json(&format!("batch-{batch}.jobs")))
    }

    /// Returns the path of the script of a batch.
    pub fn script(&self, batch: u32) -> PathBuf {
        self.path.join(format!("batch-{batch}.sh"))
    }

    /// Writes the script of a batch.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_script(&self, batch: u32, text: &str) -> io::Result<()> {
        self.write_executable(&format!("batch-{batch}.sh"), text)
    }

    /// Writes the script of a task, which has its packet.
    pub fn write_task_script(&self, place: TaskPlace, text: &str) -> io::Result<()> {
        self.write_executable(&format!("batch-{}.sh", place.name()), text)
    }

    fn write_executable(&self, name: &str, text: &str) -> io::Result<()> {
        self.write(name, text.as_bytes())?;
        let is_own = Permissions::from_mode(0o700);
        fs::set_permissions(self.path.join(name), is_own)
    }

    /// Returns the folder of what jobs print with their records.
    pub fn outputs(&self) -> PathBuf {
        self.path.join("outputs")
    }

    /// Returns the file of what a task prints with its records.
    pub fn output(&self, place: TaskPlace) -> PathBuf {
        self.outputs().join(format!("{}.txt", place.name()))
    }

    /// Takes the records of a task from what its job has printed until now. An output that has become shorter, as that
    /// of a log which is gone, takes none away.
    pub fn take_output(&self, place: TaskPlace) -> io::Result<()> {
        let printed = absent(fs::read(self.output(place)))?.unwrap_or_default();
        let records = JobOutput::parse(&printed).records;
        let known = fs::metadata(self.records(place)).map_or(0, |it| it.len());
        if u64::try_from(records.len()).unwrap_or(u64::MAX) <= known {
            return Ok(());
        }
        self.write(&format!("records/{}.jsonl", place.name()), &records)
    }

    /// Returns the folder of what jobs print.
    pub fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// Returns the file of what a task prints.
    pub fn log(&self, place: TaskPlace) -> PathBuf {
        self.logs().join(format!("{}.txt", place.name()))
    }

    /// Returns the folder for files of the programs under test.
    pub fn work(&self, place: TaskPlace) -> PathBuf {
        self.path.join("work").join(place.name())
    }

    /// Returns the file of the records of a task.
    pub fn records(&self, place: TaskPlace) -> PathBuf {
        self.path
            .join("records")
            .join(format!("{}.jsonl", place.name()))
    }

    fn end(&self, place: TaskPlace) -> String {
        format!("ends/{}.jsonl", place.name())
    }

    /// Creates the file of a task's records; a task begins once.
    pub fn begin(&self, place: TaskPlace) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.append(true).create_new(true).mode(OWN_FILE);
        options.open(self.records(place))
    }

    /// Returns the size of the files in which the records of a task arrive, 0 if there is none.
    pub fn size(&self, place: TaskPlace) -> u64 {
        let size = |path: PathBuf| fs::metadata(path).map_or(0, |it| it.len());
        size(self.records(place)) + size(self.output(place))
    }

    /// Returns whether the client has ended a task.
    pub fn is_ended(&self, place: TaskPlace) -> bool {
        self.path.join(self.end(place)).exists()
    }

    /// Ends a task: what its job recorded up to `length` bytes counts, and these records.
    pub fn set_end(&self, place: TaskPlace, length: u64, records: &[Record]) -> io::Result<()> {
        let mut text = format!("{length}\n").into_bytes();
        for record in records {
            write_line(&mut text, record)?;
        }
        self.write(&self.end(place), &text)
    }

    /// Returns what was recorded of a task until now, in whole lines.
    pub fn recorded(&self, place: TaskPlace) -> io::Result<TaskRecords> {
        let end = absent(fs::read(self.path.join(self.end(place))))?;
        let mut own = absent(fs::read(self.records(place)))?.unwrap_or_default();
        let whole = own
            .iter()
            .rposition(|it| *it == b'\n')
            .map_or(0, |it| it + 1);
        own.truncate(whole);
        let mut recorded = TaskRecords::default();
        let mut added: &[u8] = &[];
        if let Some(end) = &end {
            let line = end.iter().position(|it| *it == b'\n').unwrap_or(0);
            let length = String::from_utf8_lossy(&end[..line]).parse();
            own.truncate(length.unwrap_or(0));
            added = &end[line..];
        }
        recorded.length = u64::try_from(own.len()).unwrap_or(u64::MAX);
        for text in lines(&own) {
            match parse_line(text).map_err(io::Error::other)? {
                Record::InstanceEnd(end) if end.outcome == InstanceOutcome::Lost => {
                    recorded.interrupted.push(end);
                }
                record => recorded.records.push(record),
            }
        }
        for text in lines(added) {
            let record = parse_line(text).map_err(io::Error::other)?;
            recorded.records.push(record);
        }
        Ok(recorded)
    }

    /// Returns the numbers in the names of files, in order.
    fn numbers(&self, start: &str, end: &str) -> io::Result<Vec<u32>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            let name = name.to_string_lossy();
            let number = name.strip_prefix(start).and_then(|it| it.strip_suffix(end));
            numbers.extend(number.and_then(|it| it.parse::<u32>().ok()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> io::Result<()> {
        self.write(name, &serde_json::to_vec(value)?)
    }

    fn read_json<T: DeserializeOwned>(&self, name: &str) -> io::Result<T> {
        Ok(serde_json::from_slice(&fs::read(self.path.join(name))?)?)
    }

    /// Writes a file as a whole, or not at all.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        let unborn = self.path.join(format!("{name}.new"));
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(OWN_FILE);
        let mut file = options.open(&unborn)?;
        file.write_all(bytes)?;
        fs::rename(unborn, path)
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|it| *it == b'\n').filter(|it| !it.is_empty())
}

fn absent<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
