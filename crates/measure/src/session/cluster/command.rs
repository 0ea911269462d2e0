//! Any scheduler, by commands of the user: one that starts a job, one that tells states, one that cancels.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::suite::{CommandLine, JobCommands};

use super::programs::SchedulerPrograms;
use super::scheduler::{JobBatch, JobError, JobReport, JobScheduler, JobState};
use lapwing_model::text::shell_word;

/// Jobs that are started before their ids are written down, and before Ctrl-C is heeded: each takes a command.
const MOST_AT_ONCE: usize = 16;

/// Jobs that one command is asked about: more would not fit into its arguments.
const MOST_ASKED: usize = 500;

/// A scheduler whose commands the suite names.
pub struct CommandScheduler {
    commands: JobCommands,
    programs: SchedulerPrograms,
}

impl CommandScheduler {
    pub fn new(commands: JobCommands, programs: SchedulerPrograms) -> Self {
        Self { commands, programs }
    }

    fn submission_of(&self, batch: &JobBatch, task: usize) -> Command {
        let values = [
            (
                "{script}",
                vec![batch.script_of(task).display().to_string()],
            ),
            ("{index}", vec![task.to_string()]),
            ("{name}", vec![batch.name.clone()]),
            ("{log}", vec![batch.log_of(task).display().to_string()]),
        ];
        filled(&self.commands.submit, &values)
    }
}

/// Returns the command with its placeholders filled in: as words of the shell in a shell command, as they are in a
/// list, where a placeholder that is a word of its own may become several.
fn filled(command: &CommandLine, values: &[(&str, Vec<String>)]) -> Command {
    match command {
        CommandLine::Shell(text) => {
            let mut text = text.clone();
            for (name, values) in values {
                let words: Vec<String> = values.iter().map(|it| shell_word(it)).collect();
                text = text.replace(name, &words.join(" "));
            }
            CommandLine::Shell(text).process("sh")
        }
        CommandLine::Words(words) => {
            let mut all = Vec::new();
            for word in words {
                match values.iter().find(|(name, _)| name == word) {
                    Some((_, values)) => all.extend(values.iter().cloned()),
                    None => {
                        let fill = |text: String, (name, values): &(&str, Vec<String>)| {
                            text.replace(name, &values.join(" "))
                        };
                        all.push(values.iter().fold(word.clone(), fill));
                    }
                }
            }
            CommandLine::Words(all).process("sh")
        }
    }
}

fn jobs_value(jobs: &[&str]) -> [(&'static str, Vec<String>); 1] {
    let jobs = jobs.iter().map(|it| (*it).to_owned());
    [("{jobs}", jobs.collect())]
}

impl JobScheduler for CommandScheduler {
    fn submission(&self, batch: &JobBatch) -> Command {
        self.submission_of(batch, 0)
    }

    fn submit(&mut self, batch: &JobBatch) -> Result<Vec<String>, JobError> {
        let submit = |task: usize| {
            let mut command = self.submission_of(batch, task);
            let printed = self
                .programs
                .submit(command.current_dir(&batch.directory))?;
            let id = printed.split_ascii_whitespace().last().map(str::to_owned);
            id.ok_or_else(|| JobError::Unreadable {
                program: "submit".to_owned(),
                text: printed,
                expected: "the id of a job",
            })
        };
        let mut jobs = Vec::with_capacity(batch.tasks);
        for task in 0..batch.tasks {
            match submit(task) {
                Ok(job) => jobs.push(job),
                Err(error) => {
                    // Nothing of a batch that failed stays behind.
                    let submitted: Vec<&str> = jobs.iter().map(String::as_str).collect();
                    let _best_effort = self.cancel(&submitted);
                    return Err(error);
                }
            }
        }
        Ok(jobs)
    }

    fn states(&mut self, jobs: &[&str]) -> Result<BTreeMap<String, JobReport>, JobError> {
        let mut found = BTreeMap::new();
        for some in jobs.chunks(MOST_ASKED) {
            let mut state = filled(&self.commands.state, &jobs_value(some));
            found.extend(parse_states(&self.programs.ask(&mut state)?));
        }
        Ok(found)
    }

    fn cancel(&mut self, jobs: &[&str]) -> Result<(), JobError> {
        for some in jobs.chunks(MOST_ASKED) {
            if let Some(cancel) = &self.commands.cancel {
                self.programs.ask(&mut filled(cancel, &jobs_value(some)))?;
            }
        }
        Ok(())
    }

    fn can_cancel(&self) -> bool {
        self.commands.cancel.is_some()
    }

    fn fetch(&mut self, job: &str, output: &Path) -> Result<(), JobError> {
        if let Some(command) = &self.commands.output {
            let mut command = filled(command, &[("{job}", vec![job.to_owned()])]);
            fs::write(output, self.programs.ask(&mut command)?)?;
        }
        Ok(())
    }

    fn holds_back(&self) -> bool {
        false
    }

    fn largest_batch(&mut self) -> usize {
        MOST_AT_ONCE
    }

    fn find(&mut self, _batch: &JobBatch) -> Result<Option<Vec<String>>, JobError> {
        // Its jobs, if there are any, end by themselves: their batch is withdrawn.
        Ok(None)
    }
}

/// Reads lines `JOB STATE [NODE]`.
fn parse_states(text: &str) -> BTreeMap<String, JobReport> {
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let (job, word) = (words.next()?, words.next()?);
        let report = JobReport {
            state: JobState::of_word(word)?,
            word: word.to_owned(),
            exit: None,
            node: words.next().map(str::to_owned),
        };
        Some((job.to_owned(), report))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(command: &Command) -> Vec<String> {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words.map(|it| it.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn placeholders_are_words_of_the_shell_or_words_of_the_list() {
        let values = [
            ("{script}", vec!["/a b/it's.sh".to_owned()]),
            ("{jobs}", vec!["1".to_owned(), "2".to_owned()]),
        ];
        let shell = CommandLine::Shell("run {script} {jobs}".to_owned());
        let words = ["run", "--file={script}", "{jobs}"].map(str::to_owned);
        let words = CommandLine::Words(words.to_vec());
        assert_eq!(
            shown(&filled(&shell, &values)),
            ["sh", "-c", r"run '/a b/it'\''s.sh' 1 2"]
        );
        assert_eq!(
            shown(&filled(&words, &values)),
            ["run", "--file=/a b/it's.sh", "1", "2"]
        );
    }

    #[test]
    fn states_are_lines_of_a_job_and_a_word() {
        let found = parse_states("7 running n1\n8 oom\nnonsense\n9 unheard-of\n");
        let states: Vec<(&str, JobState)> = found
            .iter()
            .map(|(job, it)| (job.as_str(), it.state))
            .collect();
        let expected = [("7", JobState::Running), ("8", JobState::OutOfMemory)];
        assert_eq!(states, expected);
        assert_eq!(found["7"].node.as_deref(), Some("n1"));
    }
}
