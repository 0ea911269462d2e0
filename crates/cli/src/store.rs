//! Opening the store for a command, after reading its inbox.

use std::fs;
use std::path::Path;

use lapwing_analyse::clean::CleaningRules;
use lapwing_measure::pytest::left_over;
use lapwing_measure::session::remove_killed_checkouts;
use lapwing_measure::suite::Suite;
use lapwing_measure::suite::burn_in_file::unknown_names;
use lapwing_model::Id;
use lapwing_model::text::counted;
use lapwing_record::inbox::{self, InboxArrival, is_under_way};
use lapwing_record::private::{HideRules, PrivacyRules};
use lapwing_record::{Filter, LeftOut, Store, StoreError};
use lapwing_show::writing::Note;

use crate::error::CliError;
use crate::options::Context;
use crate::session::{home_folder, working_directory};
use crate::suite::suite_file;

/// Opens the store, creating it if needed.
pub fn open_for_writing(context: &Context) -> Result<Store, CliError> {
    Store::refuse_damaged(&context.store)?;
    let mut store = Store::open(&context.store)?;
    if !store.is_read_only() {
        store.set_privacy(privacy()?)?;
    }
    take_in(&mut store, context)?;
    Ok(store)
}

/// Opens the store if it exists, or if its inbox has records.
pub fn open_for_reading(context: &Context) -> Result<Store, CliError> {
    if context.store_is_copy {
        return Ok(Store::open_copy(&context.store)?);
    }
    let waiting = Store::inbox_of(&context.store)
        .read_dir()
        .is_ok_and(|mut entries| entries.next().is_some());
    let mut store = match Store::open_existing(&context.store) {
        Err(StoreError::Missing { .. }) if waiting => Store::open(&context.store)?,
        opened => opened?,
    };
    if !store.is_read_only() {
        match privacy() {
            Ok(rules) => store.set_privacy(rules)?,
            Err(error) if waiting => return Err(error),
            // What is only read need not be hidden.
            Err(_) => {}
        }
    }
    take_in(&mut store, context)?;
    Ok(store)
}

/// Returns what is private here, as the suite file in this folder says.
fn privacy() -> Result<PrivacyRules, CliError> {
    let hide = match suite_file::here() {
        Some(path) => Suite::load_hidden(&path).map_err(suite_file::about)?,
        None => HideRules::default(),
    };
    Ok(PrivacyRules {
        hide,
        home: home_folder(),
        folder: working_directory().to_str().map(str::to_owned),
    })
}

fn take_in(store: &mut Store, context: &Context) -> Result<(), CliError> {
    for trouble in remove_killed_checkouts(context.machine.places()) {
        context.terminal.note(&trouble);
    }
    let folder = store.inbox();
    if store.is_read_only() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let waiting = entries.filter(|it| it.path().extension().is_some_and(|it| it == "jsonl"));
        let waiting = waiting.count();
        if waiting > 0 {
            context.terminal.note(&format!(
                "{} in {} cannot be imported, because the store is read-only: what {} is missing here",
                counted(waiting, "file"),
                folder.display(),
                if waiting == 1 { "it holds" } else { "they hold" }
            ));
        }
        return Ok(());
    }
    if Store::refuse_damaged(store.path()).is_err() {
        return Ok(());
    }
    let mut whole = Vec::new();
    let mut of_pytest = 0;
    for arrival in inbox::take_in(store, &folder)? {
        match arrival {
            InboxArrival::TakenIn {
                appended,
                refused: Some((refused, kept)),
                ..
            } => {
                context.terminal.note(&format!(
                    "recovered {} of an interrupted run; {} could not be read and {} kept in {}: {}",
                    counted(appended.total().new, "record"),
                    counted(refused.count, "line"),
                    if refused.count == 1 { "is" } else { "are" },
                    kept.display(),
                    refused.first.join("; ")
                ));
            }
            InboxArrival::TakenIn {
                path,
                appended,
                cut_off,
                refused: None,
                session,
            } => match appended.total().new {
                new if cut_off => context.terminal.note(&format!(
                    "recovered {} of an interrupted run from {}; the last line was incomplete and is lost",
                    counted(new, "record"),
                    path.display()
                )),
                0 => {}
                new if is_of_pytest(store, session) => of_pytest += new,
                new => whole.push((path, new)),
            },
            InboxArrival::UnderWay { path } => {
                if context.verbose {
                    context.terminal.note(&format!(
                        "a session is in progress: {} is read when it ends",
                        path.display()
                    ));
                }
            }
            InboxArrival::Refused { error, path } => {
                let sentence = CliError::input(error).sentence();
                context.terminal.note(&format!(
                    "{} stays in the inbox: {sentence}",
                    path.display()
                ));
            }
        }
    }
    // Their sessions and runs are in the store now.
    recover_tests(store, &folder, context);
    if of_pytest > 0 {
        context
            .terminal
            .say(&format!("read {} of pytest", counted(of_pytest, "record")));
    }
    let new = counted(whole.iter().map(|it| it.1).sum::<u64>(), "record");
    match whole.as_slice() {
        [] => {}
        [(path, _)] => context.terminal.note(&format!(
            "recovered {new} of an interrupted run from {}",
            path.display()
        )),
        several => context.terminal.note(&format!(
            "recovered {new} of interrupted runs from {} ({})",
            folder.display(),
            counted(several.len(), "file")
        )),
    }
    Ok(())
}

/// Returns whether a session is one of the pytest plugin, which leaves its records to the next command.
fn is_of_pytest(store: &Store, session: Option<Id>) -> bool {
    let found = session.and_then(|it| store.catalogue().session(&it.to_string()).ok());
    found.is_some_and(|it| it.tool.starts_with("pytest-lapwing"))
}

/// Reads the records in the working folders of killed sessions, and removes the folders. They are in the inbox, each
/// named after its session.
fn recover_tests(store: &mut Store, inbox: &Path, context: &Context) {
    for entry in fs::read_dir(inbox).into_iter().flatten().flatten() {
        let folder = entry.path();
        let name = entry.file_name();
        let session = name.to_str().and_then(|it| it.parse::<Id>().ok());
        let is_dead = session
            .filter(|_| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .is_some_and(|it| matches!(is_under_way(inbox, it, None), Ok(false)));
        if !is_dead {
            continue;
        }
        let records = left_over(&folder);
        match store.append(&records) {
            Ok(appended) => {
                let new = appended.total().new;
                if new > 0 {
                    context.terminal.note(&format!(
                        "recovered {} of a test that was being measured when its run was killed",
                        counted(new, "record")
                    ));
                }
                let _stays = fs::remove_dir_all(&folder);
            }
            Err(error) => {
                let sentence = CliError::input(error).sentence();
                context
                    .terminal
                    .note(&format!("kept {}: {sentence}", folder.display()));
            }
        }
    }
}

/// Notes how many results that pass a filter are excluded because they are retired.
pub fn note_retired(store: &Store, filter: &Filter, context: &Context) -> Result<(), CliError> {
    if context.quiet {
        return Ok(());
    }
    let notes = notes_on_retired(store, filter)?;
    context.terminal.notes(notes);
    Ok(())
}

/// Returns notes on results that pass a filter and are excluded because they are retired.
pub fn notes_on_retired(store: &Store, filter: &Filter) -> Result<Vec<Note>, CliError> {
    Ok(retired_notes(&store.catalogue().left_out(filter)?))
}

/// Returns notes on results excluded because they are retired.
pub fn retired_notes(left_out: &LeftOut) -> Vec<Note> {
    let metrics = left_out.metrics.iter();
    let metrics: Vec<String> = metrics
        .map(|(metric, of)| format!("`{metric}` of {}", counted(*of, "instance")))
        .collect();
    let note = |what: &str, one: bool| {
        let verb = if one { "is" } else { "are" };
        let text = format!(
            "{what} {verb} excluded (--where retired=yes to include); `lapwing db annotations` shows why"
        );
        Note::marked("retired", text)
    };
    let mut notes = Vec::new();
    if left_out.instances > 0 {
        let what = counted(left_out.instances, "retired instance");
        let note = note(&what, left_out.instances == 1);
        notes.push(note.with("instances", left_out.instances));
    }
    if !metrics.is_empty() {
        let what = format!("retired {}", metrics.join(" and "));
        let note = note(&what, metrics.len() == 1);
        let numbers: Vec<u64> = left_out.metrics.values().copied().collect();
        notes.push(note.with("instances", numbers));
    }
    notes
}

/// Notes the names in a burn-in file that no benchmark has.
pub fn note_unknown_names(
    store: &Store,
    rules: &CleaningRules,
    context: &Context,
) -> Result<(), CliError> {
    let Some(listed) = rules.burn_in.listed.as_ref().filter(|_| !context.quiet) else {
        return Ok(());
    };
    let rows = store.catalogue().benchmarks(&Filter::default())?;
    let ids = rows.iter().map(|row| row.benchmark.as_str());
    context.terminal.notes(unknown_names(listed, ids));
    Ok(())
}
