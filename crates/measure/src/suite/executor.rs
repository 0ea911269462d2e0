//! Reads `[executor.slurm]`, `[executor.ssh]` and `[executor.command]`: where and how instances are jobs.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::case::command;
use super::node::{Located, Node, Table};
use super::numbers::settings::duration;
use super::plan::CommandLine;

/// The default number of further attempts of an instance whose job was lost.
const RETRIES: u32 = 2;

/// The executors of a suite.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExecutorTables {
    /// `[executor.slurm]`.
    pub slurm: Option<ClusterSettings>,
    /// `[executor.ssh]`.
    pub ssh: Option<ClusterSettings>,
    /// `[executor.command]`.
    pub command: Option<ClusterSettings>,
}

/// Measures instances as jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusterSettings {
    /// The scheduler.
    pub scheduler: SchedulerSettings,
    /// Lines of shell that come before the measurement in each job, such as `module load gcc`.
    #[serde(default)]
    pub set_up: Vec<String>,
    /// The shell of job scripts, with at most one argument; `None` for `/bin/sh`.
    #[serde(default)]
    pub shell: Option<String>,
    /// A folder that all nodes share; `None` for one beside the store.
    pub shared_folder: Option<String>,
    /// The working directory of jobs that share no folder with the client; `None` if it is the same as here.
    #[serde(default)]
    pub directory: Option<String>,
    /// The path of `lapwing` on the nodes; `None` if it is the same as here.
    pub program: Option<String>,
    /// The largest number of jobs that run at the same time; `None` for no limit.
    pub in_flight: Option<u32>,
    /// The number of further attempts of an instance whose job was lost.
    pub retries: u32,
}

/// The scheduler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchedulerSettings {
    /// Slurm.
    Slurm(SlurmSettings),
    /// Hosts that are reached by ssh.
    Ssh(SshSettings),
    /// Commands of the user.
    Command(JobCommands),
}

/// The options of `sbatch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlurmSettings {
    /// `--partition`.
    pub partition: Option<String>,
    /// `--account`.
    pub account: Option<String>,
    /// `--time`: the longest that one instance may take.
    pub time: Option<Duration>,
    /// `--mem`, such as `4G`.
    pub memory: Option<String>,
    /// `--cpus-per-task`.
    pub cpus: Option<u32>,
    /// `--constraint`.
    pub constraint: Option<String>,
    /// Whether an instance has its node to itself.
    pub exclusive: bool,
    /// Whether the instances of each benchmark and variant are dealt evenly to the nodes.
    #[serde(default)]
    pub spread: bool,
    /// Further options.
    #[serde(default)]
    pub options: Vec<String>,
}

/// The hosts of `[executor.ssh]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SshSettings {
    /// The hosts, as `ssh` is told them: at least one.
    pub hosts: Vec<String>,
    /// Whether the instances of each benchmark and variant are dealt evenly to the hosts.
    #[serde(default)]
    pub spread: bool,
    /// Further options of `ssh`.
    #[serde(default)]
    pub options: Vec<String>,
}

/// The commands of a scheduler that Lapwing does not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobCommands {
    /// Starts a job and prints its id.
    pub submit: CommandLine,
    /// Prints the states of jobs.
    pub state: CommandLine,
    /// Cancels jobs.
    pub cancel: Option<CommandLine>,
    /// Prints what a job has printed, with its records; `None` if jobs write them to a shared folder.
    #[serde(default)]
    pub output: Option<CommandLine>,
}

impl Default for SlurmSettings {
    fn default() -> Self {
        Self {
            partition: None,
            account: None,
            time: None,
            memory: None,
            cpus: None,
            constraint: None,
            exclusive: true,
            spread: false,
            options: Vec::new(),
        }
    }
}

impl ClusterSettings {
    /// Returns the settings of a scheduler about which nothing else is said.
    pub fn of(scheduler: SchedulerSettings) -> Self {
        Self {
            scheduler,
            set_up: Vec::new(),
            shell: None,
            shared_folder: None,
            directory: None,
            program: None,
            in_flight: None,
            retries: RETRIES,
        }
    }

    /// Returns whether client and jobs share a folder. Otherwise a job gets its task in its script, and its records come
    /// back in what it prints.
    pub fn shares_folder(&self) -> bool {
        match &self.scheduler {
            SchedulerSettings::Slurm(_) => true,
            SchedulerSettings::Ssh(_) => false,
            SchedulerSettings::Command(commands) => commands.output.is_none(),
        }
    }
}

pub(super) fn read_executors(
    node: &Node,
    key: &str,
    folder: &Path,
) -> Result<ExecutorTables, Located> {
    let mut keys = node.table("[executor]", key)?;
    let tables = ExecutorTables {
        slurm: keys.read("slurm", |it, key| read_slurm(it, key, folder))?,
        ssh: keys.read("ssh", |it, key| read_ssh(it, key, folder))?,
        command: keys.read("command", |it, key| read_command(it, key, folder))?,
    };
    keys.finish()?;
    Ok(tables)
}

fn read_slurm(node: &Node, key: &str, folder: &Path) -> Result<ClusterSettings, Located> {
    let mut keys = node.table("[executor.slurm]", key)?;
    let default = SlurmSettings::default();
    let slurm = SlurmSettings {
        partition: keys.read("partition", Node::text)?,
        account: keys.read("account", Node::text)?,
        time: keys.read("time", duration)?,
        memory: keys.read("memory", Node::text)?,
        cpus: keys.read("cpus", |it, key| it.whole(key, 1..=u32::MAX))?,
        constraint: keys.read("constraint", Node::text)?,
        exclusive: keys
            .read("exclusive", Node::bool)?
            .unwrap_or(default.exclusive),
        spread: keys.read("spread", Node::bool)?.unwrap_or_default(),
        options: keys.read("options", Node::texts)?.unwrap_or_default(),
    };
    read_common(keys, SchedulerSettings::Slurm(slurm), folder)
}

fn read_command(node: &Node, key: &str, folder: &Path) -> Result<ClusterSettings, Located> {
    let mut keys = node.table("[executor.command]", key)?;
    let needed = |it: Option<CommandLine>, of: &str| {
        it.ok_or_else(|| node.senseless(key, format!("needs `{of}`")))
    };
    let commands = JobCommands {
        submit: needed(keys.read("submit", command)?, "submit")?,
        state: needed(keys.read("state", command)?, "state")?,
        cancel: keys.read("cancel", command)?,
        output: keys.read("output", command)?,
    };
    read_common(keys, SchedulerSettings::Command(commands), folder)
}

fn read_ssh(node: &Node, key: &str, folder: &Path) -> Result<ClusterSettings, Located> {
    let mut keys = node.table("[executor.ssh]", key)?;
    let hosts = keys.read("hosts", hosts)?;
    let ssh = SshSettings {
        hosts: hosts.ok_or_else(|| node.senseless(key, "needs `hosts`, such as [\"n1\"]"))?,
        spread: keys.read("spread", Node::bool)?.unwrap_or_default(),
        options: keys.read("options", Node::texts)?.unwrap_or_default(),
    };
    read_common(keys, SchedulerSettings::Ssh(ssh), folder)
}

fn hosts(node: &Node, key: &str) -> Result<Vec<String>, Located> {
    let hosts = node.texts(key)?;
    if hosts.is_empty() {
        return Err(node.senseless(key, "must name at least one host"));
    }
    let is_wrong = |host: &&String| {
        let is_odd = |it: char| it.is_whitespace() || it.is_control();
        host.is_empty() || host.starts_with('-') || host.contains(is_odd)
    };
    if let Some(wrong) = hosts.iter().find(is_wrong) {
        return Err(node.senseless(key, format!("has `{wrong}`, which is no name of a host")));
    }
    let mut names = BTreeSet::new();
    match hosts.iter().find(|host| !names.insert(*host)) {
        // It measures one instance at a time.
        Some(twice) => Err(node.senseless(key, format!("has `{twice}` twice"))),
        None => Ok(hosts),
    }
}

fn shell(node: &Node, key: &str) -> Result<String, Located> {
    let text = node.text(key)?;
    if !text.starts_with('/') || text.contains(char::is_control) {
        let reason = "must be the path of a shell, such as /bin/bash";
        return Err(node.senseless(key, reason));
    }
    Ok(text)
}

fn directory(node: &Node, key: &str, is_shared: bool) -> Result<String, Located> {
    let text = node.text(key)?;
    if is_shared {
        let reason = "is for jobs that share no folder with the client: those with `output`";
        return Err(node.senseless(key, reason));
    }
    if !text.starts_with('/') {
        return Err(node.senseless(key, "must be an absolute path on the hosts"));
    }
    Ok(text)
}

fn read_common(
    mut keys: Table<'_>,
    scheduler: SchedulerSettings,
    folder: &Path,
) -> Result<ClusterSettings, Located> {
    let mut settings = ClusterSettings::of(scheduler);
    settings.set_up = keys.read("set_up", Node::texts)?.unwrap_or_default();
    settings.shell = keys.read("shell", shell)?;
    if !matches!(settings.scheduler, SchedulerSettings::Ssh(_)) {
        let shared = keys.read("shared_folder", Node::text)?;
        settings.shared_folder = shared.map(|it| folder.join(it).display().to_string());
    }
    if !matches!(settings.scheduler, SchedulerSettings::Slurm(_)) {
        let is_shared = settings.shares_folder();
        settings.directory = keys.read("directory", |it, key| directory(it, key, is_shared))?;
    }
    let program = keys.read("program", Node::text)?;
    // Without a shared folder there is no file of this machine on the others, and a name is looked up there.
    let at = if settings.shares_folder() {
        folder
    } else {
        Path::new("")
    };
    settings.program = program.map(|it| at.join(it).display().to_string());
    settings.in_flight = keys.read("in_flight", |it, key| it.whole(key, 1..=u32::MAX))?;
    let retries = keys.read("retries", |it, key| it.whole(key, 0..=100))?;
    settings.retries = retries.unwrap_or(settings.retries);
    keys.finish()?;
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::Suite;

    fn executors(text: &str) -> Result<ExecutorTables, String> {
        let text = format!("[benchmark.x]\ncommand = 'true'\n{text}");
        let suite = Suite::parse(Path::new("x"), &text, Path::new("/suite"));
        suite.map(|it| it.executors).map_err(|it| it.to_string())
    }

    #[test]
    fn every_key_of_slurm_is_read() {
        let text = r#"
[executor.slurm]
partition = "long"
account = "physics"
time = "90m"
memory = "4G"
cpus = 8
constraint = "zen4"
exclusive = false
spread = true
options = ["--qos=low"]
set_up = ["module load gcc"]
shell = "/bin/bash -l"
shared_folder = "scratch"
program = "/opt/lapwing"
in_flight = 20
retries = 0
"#;
        let slurm = SlurmSettings {
            partition: Some("long".to_owned()),
            account: Some("physics".to_owned()),
            time: Some(Duration::from_secs(5400)),
            memory: Some("4G".to_owned()),
            cpus: Some(8),
            constraint: Some("zen4".to_owned()),
            exclusive: false,
            spread: true,
            options: vec!["--qos=low".to_owned()],
        };
        let expected = ClusterSettings {
            scheduler: SchedulerSettings::Slurm(slurm),
            set_up: vec!["module load gcc".to_owned()],
            shell: Some("/bin/bash -l".to_owned()),
            shared_folder: Some("/suite/scratch".to_owned()),
            directory: None,
            program: Some("/opt/lapwing".to_owned()),
            in_flight: Some(20),
            retries: 0,
        };
        assert_eq!(executors(text).expect("read").slurm, Some(expected));
    }

    #[test]
    fn an_instance_has_its_node_to_itself_unless_told() {
        let read = executors("[executor.slurm]\n").expect("read").slurm;
        let default = SchedulerSettings::Slurm(SlurmSettings::default());
        assert_eq!(read, Some(ClusterSettings::of(default)));
    }

    #[test]
    fn hosts_of_ssh_share_no_folder() {
        let text = "[executor.ssh]\nhosts = ['n1', 'me@n2']\noptions = ['-F', 'x']\nspread = true\n\
                    directory = '/work'\nprogram = '/opt/lapwing'\n";
        let read = executors(text).expect("read").ssh.expect("there");
        let ssh = SshSettings {
            hosts: ["n1", "me@n2"].map(str::to_owned).to_vec(),
            spread: true,
            options: ["-F", "x"].map(str::to_owned).to_vec(),
        };
        let expected = ClusterSettings {
            directory: Some("/work".to_owned()),
            program: Some("/opt/lapwing".to_owned()),
            ..ClusterSettings::of(SchedulerSettings::Ssh(ssh))
        };
        assert_eq!(read, expected);
        assert!(!read.shares_folder());
        for (line, reason) in [
            ("spread = true", "needs `hosts`"),
            ("hosts = []", "at least one host"),
            ("hosts = ['-oProxyCommand=x']", "no name of a host"),
            ("hosts = ['n1', 'n1']", "`n1` twice"),
            ("hosts = ['n1']\ndirectory = 'work'", "absolute path"),
            ("hosts = ['n1']\nshared_folder = 'x'", "unknown key"),
        ] {
            let wrong = executors(&format!("[executor.ssh]\n{line}\n")).expect_err(line);
            assert!(wrong.contains(reason), "{wrong}");
        }
    }

    #[test]
    fn unknown_schedulers_and_missing_commands_are_refused() {
        let wrong = ["[executor.pbs]\n", "[executor.command]\nsubmit = 'x'\n"];
        let messages = wrong.map(|text| executors(text).expect_err("wrong"));
        assert!(messages[0].contains("pbs"), "{}", messages[0]);
        assert!(messages[1].contains("needs `state`"), "{}", messages[1]);
    }
}
