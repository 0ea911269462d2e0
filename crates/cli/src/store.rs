//! Opens the store for a command, and first takes in what waits in its inbox.

use std::collections::BTreeSet;

use lapwing_core::clean::Rules;
use lapwing_core::record::inbox::{self, Arrival};
use lapwing_core::record::{BenchmarkData, Filter, LeftOut, Store, StoreError};
use lapwing_core::show::earlier_epoch_text;
use lapwing_core::text::counted;

use crate::burn_in_file::unknown_names;
use crate::error::CliError;
use crate::left_over;
use crate::options::Context;

/// Opens the store, making it where there is none.
pub fn open_for_writing(context: &Context) -> Result<Store, CliError> {
    let mut store = Store::open(&context.store)?;
    take_in(&mut store, context)?;
    Ok(store)
}

/// Opens the store where there is one, or where records wait for one.
pub fn open_for_reading(context: &Context) -> Result<Store, CliError> {
    let waiting = Store::inbox_of(&context.store)
        .read_dir()
        .is_ok_and(|mut entries| entries.next().is_some());
    let mut store = match Store::open_existing(&context.store) {
        Err(StoreError::Missing { .. }) if waiting => Store::open(&context.store)?,
        opened => opened?,
    };
    take_in(&mut store, context)?;
    Ok(store)
}

fn take_in(store: &mut Store, context: &Context) -> Result<(), CliError> {
    let folder = store.inbox();
    if store.is_read_only() {
        return Ok(());
    }
    let mut whole = Vec::new();
    for arrival in inbox::take_in(store, &folder)? {
        match arrival {
            Arrival::TakenIn {
                path,
                appended,
                cut_off,
                ..
            } => match appended.total().new {
                new if cut_off => context.terminal.note(&format!(
                    "took in {} that a run left in {}; its last line was cut off and is lost",
                    counted(new, "record"),
                    path.display()
                )),
                0 => {}
                new => whole.push((path, new)),
            },
            Arrival::UnderWay { path } => {
                if context.verbose {
                    context.terminal.note(&format!(
                        "somebody is measuring: {} is not taken in yet",
                        path.display()
                    ));
                }
            }
            Arrival::Refused { error, path } => {
                let sentence = CliError::input(error).sentence();
                context.terminal.note(&format!(
                    "left in the inbox, because {sentence}; `lapwing import --keep-going {}` \
                     takes its good lines in",
                    path.display()
                ));
            }
        }
    }
    // Its session and run are in the store now.
    left_over::take_in(store, &folder, context);
    let new = counted(whole.iter().map(|it| it.1).sum::<u64>(), "record");
    match whole.as_slice() {
        [] => {}
        [(path, _)] => context.terminal.note(&format!(
            "took in {new} that a run left in {}",
            path.display()
        )),
        several => context.terminal.note(&format!(
            "took in {new} that runs left in {} ({})",
            folder.display(),
            counted(several.len(), "file")
        )),
    }
    Ok(())
}

/// Says how much of what passes a filter is left out because it is retired.
pub fn note_retired(store: &Store, filter: &Filter, context: &Context) -> Result<(), CliError> {
    if context.quiet {
        return Ok(());
    }
    for note in retired_notes(&store.left_out(filter)?) {
        context.terminal.note(&note);
    }
    Ok(())
}

/// Returns what to say of what is left out because it is retired.
pub fn retired_notes(left_out: &LeftOut) -> Vec<String> {
    let metrics = left_out.metrics.iter();
    let metrics: Vec<String> = metrics
        .map(|(metric, of)| format!("`{metric}` of {}", counted(*of, "instance")))
        .collect();
    let note = |what: &str, one: bool| {
        let verb = if one { "is" } else { "are" };
        format!(
            "{what} {verb} left out; --retired shows what there is, `lapwing db annotations` says why"
        )
    };
    let mut notes = Vec::new();
    if left_out.instances > 0 {
        let what = counted(left_out.instances, "retired instance");
        notes.push(note(&what, left_out.instances == 1));
    }
    if !metrics.is_empty() {
        let what = format!("retired {}", metrics.join(" and "));
        notes.push(note(&what, metrics.len() == 1));
    }
    notes
}

/// Returns what to say of so many instances of earlier epochs that are left out.
pub fn earlier_note(number: usize) -> Option<String> {
    (number > 0).then(|| earlier_epoch_text(number))
}

/// Says which names of a burn-in file no benchmark of the store has.
pub fn note_unknown_names(store: &Store, rules: &Rules, context: &Context) -> Result<(), CliError> {
    let Some(listed) = rules.listed().filter(|_| !context.quiet) else {
        return Ok(());
    };
    let rows = store.benchmarks(&Filter::default())?;
    for note in unknown_names(listed, rows.iter().map(|row| row.benchmark.as_str())) {
        context.terminal.note(&note);
    }
    Ok(())
}

/// Calls `visit` with every benchmark that has one of the metrics asked for. All of its metrics come with it,
/// because burn-in is found from the wall time whatever is judged.
pub fn each_with_all_metrics<E: From<StoreError>>(
    store: &Store,
    mut filter: Filter,
    mut visit: impl FnMut(BenchmarkData) -> Result<(), E>,
) -> Result<(), E> {
    let asked = with_metrics(store, &filter)?;
    filter.metrics.clear();
    store.each_benchmark(&filter, |data| {
        let key = (data.suite.clone(), data.benchmark.id.clone());
        match asked.as_ref().is_none_or(|asked| asked.contains(&key)) {
            true => visit(data),
            false => Ok(()),
        }
    })
}

/// Returns suite and id of the benchmarks that have one of the metrics asked for; `None` where all
/// metrics are.
pub fn with_metrics(
    store: &Store,
    filter: &Filter,
) -> Result<Option<BTreeSet<(String, String)>>, StoreError> {
    if filter.metrics.is_empty() {
        return Ok(None);
    }
    let rows = store.benchmarks(filter)?.into_iter();
    Ok(Some(rows.map(|row| (row.suite, row.benchmark)).collect()))
}
