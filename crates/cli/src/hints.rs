//! Hints for errors of the library: next steps.

mod program;
mod study;

use std::error::Error;
use std::path::Path;

use lapwing_analyse::sample::{KEYS, KnownSides, SideError};
use lapwing_formats::{Foreign, FormatGuess, ImportError};
use lapwing_measure::CommitsError;
use lapwing_measure::indicator::IndicatorError;
use lapwing_measure::local::CoresError;
use lapwing_measure::pytest::CollectError;
use lapwing_measure::session::SessionError;
use lapwing_measure::session::cluster::JobError;
use lapwing_measure::stack::StackError;
use lapwing_measure::suite::burn_in_file::BurnInFileError;
use lapwing_measure::suite::{AbEnvironmentsError, SuiteProblem};
use lapwing_model::RecordKind;
use lapwing_model::text::{first_names, grouped, shell_word};
use lapwing_record::export::ExportError;
use lapwing_record::sharing::SharingError;
use lapwing_record::{Store, StoreError};
use lapwing_show::exchange::ExchangeError;

use crate::commands::{bisection_hint, indicator_hint, stack_hint};
use crate::error::{CliError, ExitStatus};

/// Adds the hint and the consequence that belong to the kind of an error.
pub fn with_hint(error: CliError) -> CliError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error.cause.as_ref());
    let (mut hint, mut consequence) = (None, None);
    let mut candidates = error.candidates.clone();
    let mut exit = error.exit;
    while let Some(current) = cause {
        hint = hint.or_else(|| hint_of(current));
        if candidates.is_empty() {
            candidates = candidates_of(current);
        }
        if let Some((exit_of_kind, advice)) = study::advice(current) {
            hint = hint.or_else(|| advice.map(str::to_owned));
            exit = exit_of_kind;
        }
        if current.is::<ImportError>() {
            consequence = Some("nothing was imported from this file".to_owned());
        }
        if let Some(session) = current.downcast_ref() {
            consequence = consequence.or(session_consequence(session));
        }
        if exit == ExitStatus::Input {
            exit = exit_of(current);
        }
        cause = current.source();
    }
    CliError {
        hint: error.hint.or(hint),
        consequence: error.consequence.or(consequence),
        exit,
        candidates,
        ..error
    }
}

/// Returns the names that exist, where one was unknown.
fn candidates_of(error: &(dyn Error + 'static)) -> Vec<String> {
    if let Some(
        SideError::Nothing { known, .. }
        | SideError::NoRun { known, .. }
        | SideError::TooShort { known, .. }
        | SideError::NothingPasses { known, .. },
    ) = error.downcast_ref()
    {
        return known.names().to_vec();
    }
    match error.downcast_ref() {
        Some(SessionError::Unknown { nearest, known, .. }) => {
            let nearest = nearest.iter().cloned();
            let others = known
                .iter()
                .filter(|it| Some(*it) != nearest.clone().next().as_ref());
            nearest.clone().chain(others.cloned()).collect()
        }
        Some(_) | None => match error.downcast_ref() {
            Some(StoreError::NoMatch { suggestions, .. }) => suggestions.clone(),
            Some(StoreError::NoBranch { recorded, .. }) => recorded.clone(),
            Some(_) | None => Vec::new(),
        },
    }
}

fn environments_hint(error: &AbEnvironmentsError) -> Option<String> {
    match error {
        AbEnvironmentsError::Empty { .. } => {
            Some("name the folder AB_environments of Coiled's benchmarks".to_owned())
        }
        AbEnvironmentsError::Unreadable { .. } => None,
    }
}

/// Returns the exit code of errors that are not about the input.
fn exit_of(error: &(dyn Error + 'static)) -> ExitStatus {
    match (
        error.downcast_ref(),
        error.downcast_ref(),
        error.downcast_ref(),
    ) {
        (Some(SessionError::Interrupted), _, _) | (_, Some(IndicatorError::Interrupted), _) => {
            ExitStatus::Interrupted
        }
        (_, Some(IndicatorError::Breach { .. }), _) => ExitStatus::Failed,
        (_, _, Some(StackError::Panicked)) => ExitStatus::Bug,
        (_, _, _) => match error.downcast_ref() {
            Some(SharingError::Store(StoreError::Conflict { .. })) => ExitStatus::Conflict,
            Some(_) | None => ExitStatus::Input,
        },
    }
}

fn hint_of(error: &(dyn Error + 'static)) -> Option<String> {
    let kinds: [fn(&(dyn Error + 'static)) -> Option<String>; 14] = [
        |error| store_hint(error.downcast_ref()?),
        |error| side_hint(error.downcast_ref()?),
        |error| import_hint(error.downcast_ref()?),
        |error| export_hint(error.downcast_ref()?),
        |error| exchange_hint(error.downcast_ref()?),
        |error| sharing_hint(error.downcast_ref()?),
        |error| session_hint(error.downcast_ref()?),
        |error| commits_hint(error.downcast_ref()?),
        |error| tests_hint(error.downcast_ref()?),
        |error| {
            match error.downcast_ref()? {
            BurnInFileError::Read { .. } => None,
            BurnInFileError::Content { .. }
            | BurnInFileError::Twice { .. }
            | BurnInFileError::Empty { .. } => Some(
                "write one line for each benchmark, `test_join: 5`, or as JSON {\"test_join\": 5}; `lapwing burn-in -o FILE` writes one"
                    .to_owned(),
            ),
        }
        },
        |error| environments_hint(error.downcast_ref()?),
        |error| bisection_hint(error.downcast_ref()?),
        |error| indicator_hint(error.downcast_ref()?),
        |error| stack_hint(error.downcast_ref()?),
    ];
    kinds.into_iter().find_map(|hint| hint(error))
}

fn session_hint(error: &SessionError) -> Option<String> {
    let hint = match error {
        SessionError::Unknown {
            nearest: Some(name),
            ..
        } => return Some(format!("did you mean `{name}`?")),
        SessionError::Unknown { kind, known, .. } if *kind == "benchmark" || known.is_empty() => {
            match *kind {
                "benchmark" => "`lapwing run --dry-run` lists what it has",
                _ => "no benchmark has a tag",
            }
        }
        SessionError::Unknown { known, .. } => {
            return Some(format!("available: {}", first_names(known, 8)));
        }
        SessionError::ControlExists { .. } => "rename it: --aa adds one of that name",
        SessionError::Contradiction {
            problem: SuiteProblem::Duplicate { .. },
            ..
        } => {
            "name a folder of tests in one table; settings that differ, such as variables or options, are variants: `[variant.NAME]`"
        }
        SessionError::MissingInput { .. } => "check the path, or create it with `setup`",
        SessionError::CommitsOfVariants => {
            "choose variants without them (--variant), or omit --commits"
        }
        SessionError::NotTwoSides {
            of_commands: true, ..
        } => "give two: `lapwing run --duet --command 'A' --command 'B'`",
        SessionError::NotTwoSides {
            has_control: true, ..
        } => "measure the control by itself: `lapwing run --duet --aa --variant NAME`",
        SessionError::NotTwoSides { .. } => {
            "choose two variants: `lapwing run --duet --variant A --variant B`"
        }
        SessionError::DuetOfTests { .. } => {
            "select commands with --benchmark, or measure without --duet: variants are interleaved"
        }
        SessionError::DuetOneAfterAnother => "remove `interleave = false` under [version]",
        SessionError::Cores(CoresError::TooFew { .. } | CoresError::Unknown { .. }) => {
            "measure without --duet: the sides are interleaved"
        }
        SessionError::Profiler(_) => "write, for example, --profile 'perf record -o {artifact} --'",
        SessionError::Store(error) => return store_hint(error),
        SessionError::Commits(error) => return commits_hint(error),
        SessionError::Tests(error) => return tests_hint(error),
        SessionError::Ended { .. } => {
            "when the cause is gone, `lapwing run --resume` measures the rest, with the settings that the session began \
             with; changed ones need a new session"
        }
        SessionError::NothingSubmitted { .. } => {
            "the same command with --dry-run shows how jobs are submitted"
        }
        SessionError::NotStored { file, .. } => {
            let file = shell_word(&file.display().to_string());
            return Some(format!(
                "when the store works again, any command takes it in; or `lapwing import {file}`"
            ));
        }
        SessionError::NoRecordFile { .. } => "give another place with --store, or free some space",
        SessionError::NoCommitFolder { .. } => {
            "name one outside of the repository: `XDG_CACHE_HOME=DIR lapwing run …`"
        }
        SessionError::NoEnvironmentFolder { .. } => {
            "name another cache folder: `XDG_CACHE_HOME=DIR lapwing run …`"
        }
        SessionError::NoRepository => "say `repository = \"…\"` under [version]",
        SessionError::UnbuiltEnvironment => "without `--dry-run` they are built",
        SessionError::NoEnvironment => "the notes above say why",
        SessionError::SharedFolder { .. } => {
            "name a folder that all nodes share with `shared_folder` under [executor.slurm]"
        }
        SessionError::NothingToResume => "start one with `lapwing run`",
        SessionError::NotOpenedHere(_) => {
            "sessions that were imported, pulled or merged, or begun by an older version or before the \
             key in ~/.local/state/lapwing was deleted, are only read: measure anew with `lapwing run`"
        }
        SessionError::OpenedElsewhere { .. } => {
            "continue it there, or measure anew with `lapwing run`"
        }
        SessionError::UnderWay { .. } => "wait until it is done, or end that process first",
        SessionError::EndedEarly { .. } => "start it anew with `lapwing run`",
        SessionError::HiddenPlan { .. } => {
            "start it anew with `lapwing run`, with secrets in the environment and not in commands or the suite"
        }
        SessionError::OtherTool { .. } => {
            "name a program of the same version with `program` under [executor.slurm], or whichever executor it is"
        }
        SessionError::NoSharedFolder => {
            "simulate here, with --executor slurm, or with an [executor.command] without `output`"
        }
        SessionError::Job(JobError::Silent { .. }) => {
            "jobs may still be in the queue: cancel them when the scheduler answers"
        }
        SessionError::JobsEndWithClient => {
            "without it, the jobs are ended on Ctrl-C, and `lapwing run --resume` measures the rest"
        }
        SessionError::NothingSelected
        | SessionError::Contradiction { .. }
        | SessionError::Commands(_)
        | SessionError::Cores(CoresError::Cpus(_))
        | SessionError::Run(_)
        | SessionError::Interrupted
        | SessionError::Processors { .. }
        | SessionError::Shared(_)
        | SessionError::Job(_)
        | SessionError::NothingShared(_)
        | SessionError::StoredExecutor { .. }
        | SessionError::Plan(_)
        | SessionError::Packet(_)
        | SessionError::NoPlan { .. }
        | SessionError::StoredPlan { .. }
        | SessionError::NoTask { .. } => return None,
    };
    Some(hint.to_owned())
}

/// Returns the state of the user's data, if in doubt.
fn session_consequence(error: &SessionError) -> Option<String> {
    Some(match error {
        SessionError::Ended { file: None, .. } => {
            "what was measured until then is in the store".to_owned()
        }
        SessionError::Ended {
            file: Some(file), ..
        } => format!("what was measured until then is in {}", file.display()),
        SessionError::NothingSubmitted { .. } => {
            "no job was submitted, and nothing was stored".to_owned()
        }
        SessionError::NothingShared(_) => "nothing was computed".to_owned(),
        SessionError::NotStored { file, .. } => {
            format!("everything measured is in {}", file.display())
        }
        SessionError::NoRecordFile { folder, .. } => {
            format!("no record file can be written in {}", folder.display())
        }
        SessionError::NoCommitFolder { .. } => "no commit can be checked out".to_owned(),
        SessionError::NoEnvironmentFolder { .. } => "no Python environment can be built".to_owned(),
        SessionError::SharedFolder { folder, .. } => {
            format!("{} cannot be used", folder.display())
        }
        SessionError::StoredExecutor { .. } => {
            "the executor of the session cannot be read by this version of lapwing".to_owned()
        }
        SessionError::StoredPlan { name, .. } => {
            format!("the plan of session `{name}` cannot be read by this version of lapwing")
        }
        _ => return None,
    })
}

/// Returns how a repository of another user is read.
pub fn distrust_hint(folder: &Path) -> String {
    let folder = shell_word(&folder.display().to_string());
    format!("if you trust its owner: `git config --global --add safe.directory {folder}`")
}

fn commits_hint(error: &CommitsError) -> Option<String> {
    let hint = match error {
        CommitsError::NotARange { .. } => {
            "write `--commits A..B`: branches, tags or hashes; B may be left out"
        }
        CommitsError::NoRepository { .. } => {
            "run `lapwing run` in the repository, or name it under [version] of the suite"
        }
        CommitsError::Distrusted(repository) => return Some(distrust_hint(&repository.folder)),
        CommitsError::Shallow { .. } => "`git fetch --unshallow` brings the rest",
        CommitsError::Dirty { .. } => "commit them, or `git stash` them",
        CommitsError::Unknown { .. } => "`git log --first-parent --oneline` lists commits",
        CommitsError::NotAncestor { .. } => "the older one comes first",
        CommitsError::Submodules { .. } => {
            "fetch them in each worktree: `build = \"git submodule update --init --recursive\"` under [version]"
        }
    };
    Some(hint.to_owned())
}

fn tests_hint(error: &CollectError) -> Option<String> {
    match error {
        CollectError::NoPython { .. } => Some("name another interpreter: `python = \"…\"`".to_owned()),
        CollectError::NotInstalled { python, .. } => Some(format!(
            "`{python} -m pip install DIR`, where DIR is the folder python/pytest-lapwing of Lapwing's repository; \
             or name the interpreter that has it: `python = \"…\"`"
        )),
        CollectError::NoTests { .. } => Some(
            "mark a test with `@pytest.mark.lapwing`, or take all with `pytest_arguments = [\"--lapwing-all=PATH\"]`; \
             tests that use the fixture `benchmark` need no mark"
                .to_owned(),
        ),
        CollectError::Collection { .. } | CollectError::List { .. } | CollectError::Executor(_) => None,
    }
}

fn side_hint(error: &SideError) -> Option<String> {
    match error {
        SideError::Nothing { known, .. }
        | SideError::NoRun { known, .. }
        | SideError::TooShort { known, .. } => Some(known_sides_text(known)),
        SideError::NoFirstParents { .. } => Some(
            "run it in the repository, or name it as `repository` in the suite file".to_owned(),
        ),
        SideError::OnlyOthers { .. } => {
            Some("add `of BRANCH` to compare the runs of another branch".to_owned())
        }
        SideError::NoRunPasses { .. } => Some("`lapwing list runs` shows what there is".to_owned()),
        SideError::NotMeasured { nearest, .. } => Some(match nearest {
            Some(commit) => {
                let commit = commit.get(..10).unwrap_or(commit);
                format!("its nearest measured ancestor is commit:{commit}")
            }
            None => "`lapwing list runs` shows what is measured".to_owned(),
        }),
        SideError::SeveralKinds { text, kinds } => {
            let written: Vec<String> = kinds
                .iter()
                .map(|kind| format!("`{}:{text}`", kind.name()))
                .collect();
            Some(format!("write {}", written.join(" or ")))
        }
        SideError::SeveralRuns { .. } => Some("write more of it".to_owned()),
        SideError::NothingPasses { known, .. } => Some(
            known
                .text()
                .unwrap_or_else(|| "remove the filter".to_owned()),
        ),
        SideError::Overlap { .. } => Some(
            "a comparison takes different sides; `--split halves` checks one against itself"
                .to_owned(),
        ),
        SideError::Store(store) => store_hint(store),
    }
}

/// Returns the sides in the store.
pub fn known_sides_text(known: &KnownSides) -> String {
    match known.text() {
        Some(known) => format!("{known}; `lapwing list runs` shows all"),
        None => "`lapwing list runs` shows what there is".to_owned(),
    }
}

fn export_hint(error: &ExportError) -> Option<String> {
    match error {
        ExportError::Store(store) => store_hint(store),
        ExportError::MetricOfRecord => {
            Some("use --to csv or --to json to export a single metric".to_owned())
        }
        ExportError::Output(_) | ExportError::Csv(_) => None,
    }
}

fn exchange_hint(error: &ExchangeError) -> Option<String> {
    /// Runs to list.
    const SHOWN: usize = 8;
    match error {
        ExchangeError::SeveralRuns { runs } => {
            let mut text = String::from("choose one with --where:");
            for (id, what) in runs.iter().take(SHOWN) {
                text.push_str(&format!("\n    --where run={id}   {what}"));
            }
            if runs.len() > SHOWN {
                let more = (runs.len() - SHOWN) as u64;
                text.push_str(&format!("\n    and {} more", grouped(more)));
            }
            Some(text)
        }
        ExchangeError::Store(store) => store_hint(store),
        ExchangeError::Nothing => Some("`lapwing list` shows the contents of the store".to_owned()),
        ExchangeError::WithoutTime { others, .. } if !others.is_empty() => Some(format!(
            "choose one of these times with --metric: {}",
            others.join(", ")
        )),
        ExchangeError::NoTime { .. } | ExchangeError::WithoutTime { .. } => {
            Some("--to bmf and --to github-action accept any metric".to_owned())
        }
        ExchangeError::OnlySummaries { .. } => {
            Some("--to bmf, github-action, csv and json accept summaries".to_owned())
        }
        ExchangeError::OtherDirection { metrics } => Some(format!(
            "export it separately with --metric: {}",
            metrics.join(", ")
        )),
        ExchangeError::NothingCounts => {
            Some("--to csv and --to json also contain burn-in and failures".to_owned())
        }
        ExchangeError::Output(_) => None,
    }
}

fn store_hint(error: &StoreError) -> Option<String> {
    let hint = match error {
        StoreError::Missing { .. } => {
            "measure with `lapwing run -- COMMAND`, or import results with `lapwing import FILE`"
        }
        StoreError::Newer { .. } => "upgrade lapwing, or choose another store with --store PATH",
        StoreError::Older { .. } => "copy it to a writable folder, and open it there",
        StoreError::Link(_) => "name what it leads to: --store PATH",
        StoreError::Directory { .. } => {
            "give the path of a file in it, as in --store DIR/lapwing.db"
        }
        StoreError::NotAStore { .. } => "choose another file with --store PATH",
        StoreError::ReadOnly { .. } | StoreError::Folder { .. } => {
            "choose a writable path with --store PATH"
        }
        StoreError::Full { .. } => "free some disk space, then try again",
        StoreError::Vanished { .. } => "try again; a new store will be created",
        StoreError::Busy { .. } => "wait for the other lapwing process to finish, then try again",
        StoreError::Damaged { path, what } => {
            // Whoever wants to write into it next is told.
            Store::note_damage(path, what);
            return Some(damaged_hint(path));
        }
        StoreError::KnownDamage { path, .. } => {
            return Some(format!(
                "{}; after restoring the file from a backup, run `lapwing db check`",
                damaged_hint(path)
            ));
        }
        StoreError::NoMatch { what, .. } => return list_hint(what),
        StoreError::NoBranch { recorded, .. } if !recorded.is_empty() => {
            "`lapwing list runs` lists them; `detect`, `report` and `compare` know the branch of other commits in the repository under test"
        }
        StoreError::NoBranch { .. } => {
            "`detect`, `report` and `compare` know the branch of a commit from the repository under test: run them in it, or name it \
             as `repository` in the suite file; version=, commit= and since= choose runs without a branch"
        }
        StoreError::Ambiguous { .. } => "use the id of one of them",
        StoreError::Conflict {
            kind: RecordKind::Instance,
            ..
        } => {
            "the two stores disagree about a measurement; if they come from two copies of one database, \
             import both copies into one store instead of merging, otherwise find out which one was changed"
        }
        StoreError::Conflict { .. } => {
            "the two stores disagree about a measurement; find out which one was changed"
        }
        StoreError::NoParent { .. } => "import or merge the source that contains it first",
        StoreError::Sqlite { .. } | StoreError::Unreadable { .. } | StoreError::Refused { .. } => {
            return None;
        }
    };
    Some(hint.to_owned())
}

/// Returns how to save the readable records of a damaged store.
pub fn damaged_hint(store: &Path) -> String {
    let new = store.with_extension("rescued.db");
    format!(
        "save what can be read with `lapwing db rescue {} -o {}`",
        shell_word(&store.display().to_string()),
        shell_word(&new.display().to_string())
    )
}

fn sharing_hint(error: &SharingError) -> Option<String> {
    let hint = match error {
        SharingError::Nothing { .. } => "start one with `lapwing db push URL`",
        SharingError::Vanished { .. } => {
            "if it should exist, mount or restore it; to start a new one, use --begin-anew"
        }
        SharingError::Replaced { .. } => "to use this one from now on, add --begin-anew",
        SharingError::Foreign { .. } => "choose another folder or prefix",
        SharingError::Newer { .. } => "upgrade lapwing",
        SharingError::Overwrites { .. } => {
            "use a folder, or a server or object store that supports `If-None-Match: *`"
        }
        SharingError::Gone { .. } | SharingError::Changed { .. } => {
            "restore it from a backup; or use --begin-anew in every store that is refused: each store \
             still has all records that it pulled"
        }
        SharingError::Gap { .. } => {
            "restore it from a backup, or start a new history at another URL: every store still has all records that it pulled"
        }
        SharingError::Damaged { .. } | SharingError::Empty { .. } => {
            "nothing was read from it; restore it from a backup, or start a new history at another URL"
        }
        SharingError::Line { .. } => "nothing was read from it; upgrade lapwing",
        SharingError::WrongSignature { .. } => {
            "nothing was read from it: the segment or its signature was changed; ask its author, and restore both from a backup"
        }
        SharingError::SshKeygen(_) => "install OpenSSH",
        SharingError::Store(store) => return store_hint(store),
        SharingError::Secrets(_) => {
            "`lapwing db push URL --preview` lists them with the command that deletes each; --allow-secrets shares them"
        }
        SharingError::Remote { .. } | SharingError::Compress(_) | SharingError::Sign { .. } => {
            return None;
        }
    };
    Some(hint.to_owned())
}

fn list_hint(what: &str) -> Option<String> {
    if what == "key or factor" {
        return Some(format!("the keys are {}", KEYS.join(", ")));
    }
    let list = match what {
        "benchmark" | "tag" | "suite" => "benchmarks",
        "session" => "sessions",
        "run" | "version" | "commit" | "branch" | "variant" | "level" => "runs",
        "metric" => "metrics",
        _other => return None,
    };
    Some(format!("`lapwing list {list}` lists them"))
}

fn foreign_hint(found: Foreign) -> Option<&'static str> {
    match found {
        Foreign::Utf16 => Some("convert it to UTF-8, for example with iconv"),
        Foreign::Zip | Foreign::Tar => Some("unpack it, and import the unpacked files"),
        Foreign::Xz | Foreign::Bzip2 => {
            Some("decompress it first; only gzip and zstd are read directly")
        }
        Foreign::GzipWithin | Foreign::ZstdWithin => {
            Some("it was compressed twice: decompress it once")
        }
        Foreign::Store => Some("`lapwing db merge FILE` copies the records of another store"),
        Foreign::Sqlite | Foreign::Binary => None,
    }
}

const LIST_OF_FORMATS: &str = "`lapwing import --help` lists the formats";

/// Returns whether a text looks like the first line of a table.
fn is_line_of_names(looks: &str) -> bool {
    let separators = looks.matches([',', ';', '\t']).count();
    separators > 1 && !looks.contains(", ") && !looks.contains("; ")
}

fn import_hint(error: &ImportError) -> Option<String> {
    match error {
        ImportError::Line { good: 0, .. } => None,
        ImportError::Line { good, more, .. } => {
            let line = if *more == 0 {
                "fix the line".to_owned()
            } else {
                format!("fix this line and {} more", grouped(*more))
            };
            let verb = if *good == 1 {
                "import the one valid line".to_owned()
            } else if *more == 0 {
                format!("import the other {}", grouped(*good))
            } else {
                format!("import the {} valid ones", grouped(*good))
            };
            Some(format!("{line}, or {verb} with --keep-going"))
        }
        ImportError::Encoding { found, .. } => foreign_hint(*found).map(str::to_owned),
        ImportError::ImportedOtherwise { .. } => Some(
            "import it with the same options as before, or delete it first with `lapwing db purge --where session=NAME`"
                .to_owned(),
        ),
        ImportError::UnclearColumns { choices, .. } => {
            let columns = shell_word(&choices.to_string());
            Some(format!("say what they mean: --from runs --columns {columns}"))
        }
        ImportError::Compressed { .. } => Some("download or copy the file again".to_owned()),
        ImportError::Unknown { name, guess } => Some(match guess {
            Some(FormatGuess::Reads { format, .. }) => {
                format!("if it is that, import it with --from {format}")
            }
            Some(FormatGuess::Table { .. }) => {
                "if it is one, say what its columns mean: --from csv --columns value=COLUMN,benchmark=COLUMN".to_owned()
            }
            Some(FormatGuess::Lacks { .. }) => LIST_OF_FORMATS.to_owned(),
            Some(FormatGuess::Other { .. }) | None if program::is_program(Path::new(name)) => {
                let start = program::start(name);
                let file = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
                if file.starts_with("test_") && file.ends_with(".py") {
                    let path = shell_word(name);
                    return Some(format!("`pytest --lapwing {path}` measures its tests"));
                }
                format!("if it is a program, `lapwing run -- {start}` measures it")
            }
            Some(FormatGuess::Other { looks, .. }) if is_line_of_names(looks) => {
                let path = shell_word(name);
                format!("if it has the runs of a study, a column per factor and one for the cost: `lapwing study import {path}`")
            }
            Some(FormatGuess::Other { .. }) | None => {
                format!("{LIST_OF_FORMATS}; if it is one of them, name it with --from")
            }
        }),
        ImportError::EmptyDirectory { other_endings, .. } if other_endings.files() > 0 => {
            Some(format!(
                "to import files with other extensions ({}), name them or use a pattern",
                other_endings.text()
            ))
        }
        ImportError::EmptyDirectory { .. }
        | ImportError::Read { .. }
        | ImportError::Empty { .. }
        | ImportError::NoResults { .. }
        | ImportError::NothingGood { .. }
        | ImportError::NothingFits { .. }
        | ImportError::Companion { .. }
        | ImportError::Document { .. }
        | ImportError::TooLong { .. }
        | ImportError::Database { .. } => None,
        ImportError::Store(store) => store_hint(store),
    }
}
