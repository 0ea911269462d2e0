//! Jobs without a shared folder: the task is a packet in the script of the job, and its records are lines of what the
//! job prints.
//!
//! Login shells and set-ups print as well, logs of containers have both streams in one, and old lines of a log may be
//! gone. So a record stands in a line of its own, with its number and its length:
//!
//! ```text
//! lapwing-record 0 412 {"v":1,"kind":"instance",…}
//! ```

use std::io::{self, Write};
use std::path::Path;

use lapwing_model::text::shell_word;
use lapwing_model::{Record, Run, Session};
use lapwing_record::write_line;
use serde::{Deserialize, Serialize};

use super::folder::{ClusterTask, VisitFile};
use super::script::set_up_lines;
use crate::suite::{CaseInput, ClusterSettings, Plan};
use crate::{InstancePlan, NextLook, VariantSources};

/// Begins the line of a record.
const MARK: &str = "lapwing-record";
/// Ends the packet in a script: no line of JSON is like it.
const END: &str = "LAPWING_PACKET";
/// How long a job may take to end when its client is gone, in seconds.
const LAST_SECONDS: u32 = 10;

/// The task of a job that shares no folder with the client.
#[derive(Debug, Serialize, Deserialize)]
pub struct TaskPacket {
    /// The program that wrote it, with its version.
    pub tool: String,
    pub session: Session,
    pub runs: Vec<Run>,
    pub plan: Plan,
    pub sources: VariantSources,
    pub look: Option<NextLook>,
    pub task: ClusterTask,
}

/// The part of a packet that every version can read.
#[derive(Debug, Deserialize)]
pub struct PacketTool {
    /// The program that wrote it, with its version.
    pub tool: String,
}

impl TaskPacket {
    /// Returns the packet of a task with all of its visit.
    pub fn whole(visit: VisitFile, task: ClusterTask) -> Self {
        Self {
            tool: visit.tool,
            session: visit.session,
            runs: visit.runs,
            plan: visit.plan,
            sources: visit.sources,
            look: visit.look,
            task,
        }
    }

    /// Returns the packet of a task. Paths below the working directory of the client are paths below `directory`.
    pub fn new(
        visit: &VisitFile,
        task: &ClusterTask,
        (here, directory): (&Path, Option<&Path>),
    ) -> Self {
        let mut packet = Self::whole(visit.clone(), task.clone());
        packet.keep_needed();
        if let Some(directory) = directory {
            packet.move_paths(here, directory);
        }
        packet
    }

    /// Leaves out other benchmarks and variants: a suite of hundreds would not fit into what some schedulers take. In a
    /// duet, the cores depend on all.
    fn keep_needed(&mut self) {
        let Some(InstancePlan { case, variant, .. }) =
            self.task.instances.first().map(|it| it.plan)
        else {
            return;
        };
        if self.plan.duet.is_some() || self.task.instances.len() > 1 {
            return;
        }
        self.plan.cases = vec![self.plan.cases.swap_remove(case)];
        self.plan.variants = vec![self.plan.variants.swap_remove(variant)];
        self.runs = vec![self.runs.swap_remove(variant)];
        for instance in &mut self.task.instances {
            instance.plan.case = 0;
            instance.plan.variant = 0;
        }
    }

    fn move_paths(&mut self, here: &Path, there: &Path) {
        let moved = |path: &mut String| {
            if let Ok(inner) = Path::new(path.as_str()).strip_prefix(here) {
                *path = there.join(inner).display().to_string();
            }
        };
        for case in &mut self.plan.cases {
            case.directory.as_mut().map(moved);
            match &mut case.stdin {
                CaseInput::File(path) => moved(path),
                CaseInput::Null => {}
            }
        }
    }
}

/// The end of a job without a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobLifetime {
    /// It runs to its end.
    OfItsOwn,
    /// It ends when its standard input is closed, with all of its process group.
    OfItsInput,
}

/// Returns the script of a job that shares no folder with the client, by the path of this program and the working
/// directory of the client.
///
/// The shell reads all of it before it does anything, because on a host of ssh it comes from the standard input that
/// is watched afterwards. Nothing but records gets into the standard output.
pub fn packet_script(
    (program, here): (&Path, &Path),
    packet: &TaskPacket,
    lifetime: JobLifetime,
    settings: &ClusterSettings,
) -> serde_json::Result<String> {
    let packet = serde_json::to_string(packet)?;
    let shell = settings.shell.as_deref().unwrap_or("/bin/sh");
    let directory = settings.directory.as_deref().map_or(here, Path::new);
    let [program, directory] =
        [program, directory].map(|path| shell_word(&path.display().to_string()));
    let watch = match lifetime {
        JobLifetime::OfItsOwn => "exec < /dev/null\n".to_owned(),
        JobLifetime::OfItsInput => format!(
            "exec 4<&0 < /dev/null\n(trap '' HUP TERM; cat; kill -TERM 0; sleep {LAST_SECONDS}; kill -KILL 0) \
             <&4 4<&- 3>&- > /dev/null 2>&1 &\nexec 4<&-\n"
        ),
    };
    let set_up = set_up_lines(settings);
    Ok(format!(
        "#!{shell}\n# Written by lapwing: does one task and prints its records.\n{{\numask 077\nexec 3>&1 1>&2\n{watch}\
         cd -- {directory} || {{ echo 'lapwing: name a directory of this host with `directory` under [executor.…]'; exit 2; }}\n\
         {set_up}exec {program} cluster-packet ${{LAPWING_HOST:+\"--host=$LAPWING_HOST\"}} \
         ${{LAPWING_JOB:+\"--job=$LAPWING_JOB\"}} 1>&3 3>&- << '{END}'\n{packet}\n{END}\n}}\n"
    ))
}

/// Writes records as lines of what a job prints.
pub struct RecordPrinter<'a> {
    output: &'a mut dyn Write,
    number: usize,
}

impl<'a> RecordPrinter<'a> {
    pub fn new(output: &'a mut dyn Write) -> Self {
        Self { output, number: 0 }
    }
}

impl RecordPrinter<'_> {
    /// Prints a record, so that it is not lost with this process.
    pub fn print(&mut self, record: &Record) -> io::Result<()> {
        let mut json = Vec::new();
        write_line(&mut json, record)?;
        // An unfinished line of something else may come before the first one.
        let start = if self.number == 0 { "\n" } else { "" };
        let mut line = format!("{start}{MARK} {} {} ", self.number, json.len() - 1).into_bytes();
        line.append(&mut json);
        self.number += 1;
        self.output.write_all(&line)?;
        self.output.flush()
    }
}

/// The output of a job.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct JobOutput {
    /// The lines of its records, up to the first that is torn or lost.
    pub records: Vec<u8>,
    /// Everything else.
    pub rest: Vec<u8>,
}

impl JobOutput {
    /// Divides what a job printed.
    pub fn parse(printed: &[u8]) -> Self {
        let mut output = Self::default();
        let mut number = 0;
        for line in printed.split_inclusive(|it| *it == b'\n') {
            match record_of(line) {
                Some((at, json)) if at == number => {
                    output.records.extend_from_slice(json);
                    output.records.push(b'\n');
                    number += 1;
                }
                Some(_) => {}
                None if line.starts_with(MARK.as_bytes()) => {}
                None => output.rest.extend_from_slice(line),
            }
        }
        output
    }
}

/// Returns the number and the JSON of a line, if it is that of a record, and whole.
fn record_of(line: &[u8]) -> Option<(usize, &[u8])> {
    let line = line.strip_suffix(b"\n")?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut parts = line.splitn(4, |it| *it == b' ');
    let mark = parts.next()?;
    let mut whole = || str::from_utf8(parts.next()?).ok()?.parse::<usize>().ok();
    let (number, length) = (whole()?, whole()?);
    let json = parts.next()?;
    (mark == MARK.as_bytes() && json.len() == length).then_some((number, json))
}

#[cfg(test)]
mod tests;
