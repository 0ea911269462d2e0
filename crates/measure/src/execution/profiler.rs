//! An execution of each benchmark under a profiler, whose file belongs to its first instance.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::schedule::InstancePlan;
use crate::suite::{Case, CommandLine, Variant, command_text};

/// Placeholder for the profile's path in the command of a profiler.
const ARTIFACT: &str = "{artifact}";

/// The key of the file among the artifacts of an instance.
pub(crate) const PROFILE: &str = "profile";

/// Executes each benchmark and variant once under a profiler, before its first instance. Nothing else is recorded of
/// that execution.
#[derive(Debug)]
pub struct Profiler {
    command: String,
    folder: PathBuf,
    done: BTreeSet<(usize, usize)>,
}

/// The command of a profiler does not say where the file is to be written.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` has no {{artifact}}, the file that the profiler writes")]
pub struct ProfilerError(String);

impl Profiler {
    /// Returns a profiler: the beginning of a shell command, such as `perf record -o {artifact} --`, that a command
    /// to be profiled is appended to. The files are written to `folder`, which must exist.
    ///
    /// # Errors
    /// When the command contains no `{artifact}`.
    pub fn new(command: &str, folder: PathBuf) -> Result<Self, ProfilerError> {
        if !command.contains(ARTIFACT) {
            return Err(ProfilerError(command.to_owned()));
        }
        Ok(Self {
            command: command.to_owned(),
            folder,
            done: BTreeSet::new(),
        })
    }

    /// Returns the file for a benchmark and variant that has none yet.
    pub(crate) fn file_of(
        &mut self,
        planned: InstancePlan,
        (case, variant): (&Case, &Variant),
    ) -> Option<PathBuf> {
        let is_new = self.done.insert((planned.case, planned.variant));
        let name = match &variant.name[..] {
            "" => case.benchmark.id.clone(),
            name => format!("{} {name}", case.benchmark.id),
        };
        let plain = |letter: char| match letter.is_alphanumeric() || "-_.=".contains(letter) {
            true => letter,
            false => '_',
        };
        // The numbers keep apart what is called alike without special characters.
        let name: String = name.chars().take(80).map(plain).collect();
        let name = format!("{}-{}-{name}", planned.case, planned.variant);
        is_new.then(|| self.folder.join(name))
    }

    /// Returns a command under the profiler.
    pub(crate) fn wrapped(&self, command: &CommandLine, file: &Path) -> CommandLine {
        let command = match command {
            CommandLine::Words(_) => command.clone(),
            CommandLine::Shell(text) => {
                CommandLine::Words(vec!["sh".to_owned(), "-c".to_owned(), text.clone()])
            }
        };
        let file = command_text(&CommandLine::Words(vec![file.display().to_string()]));
        let profiler = self.command.replace(ARTIFACT, &file);
        CommandLine::Shell(format!("{profiler} {}", command_text(&command)))
    }
}

/// Returns the file that a profiler wrote: some append an extension to its name.
pub(crate) fn written(file: &Path) -> Option<PathBuf> {
    if file.exists() {
        return Some(file.to_owned());
    }
    let name = file.file_name()?.to_str()?;
    let entries = std::fs::read_dir(file.parent()?).ok()?;
    let mut found: Vec<PathBuf> = (entries.flatten())
        .map(|entry| entry.path())
        .filter(|path| {
            let own = path.file_name().and_then(|it| it.to_str());
            own.and_then(|own| own.strip_prefix(name))
                .is_some_and(|rest| rest.starts_with('.'))
        })
        .collect();
    found.sort();
    found.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_appended_as_words_of_the_shell() {
        let profiler =
            Profiler::new("perf record -o {artifact} --", PathBuf::from("/a b")).unwrap();
        let file = Path::new("/a b/it's");
        let words = CommandLine::Words(vec!["./solve".to_owned(), "two words".to_owned()]);
        let CommandLine::Shell(text) = profiler.wrapped(&words, file) else {
            panic!("a shell command");
        };
        assert_eq!(
            text,
            r"perf record -o '/a b/it'\''s' -- ./solve 'two words'"
        );
        let shell = CommandLine::Shell("echo 'a' | wc".to_owned());
        let CommandLine::Shell(text) = profiler.wrapped(&shell, file) else {
            panic!("a shell command");
        };
        assert!(text.ends_with(r"-- sh -c 'echo '\''a'\'' | wc'"), "{text}");
        let error = Profiler::new("perf record", PathBuf::new()).unwrap_err();
        assert!(error.to_string().contains("{artifact}"), "{error}");
    }
}
