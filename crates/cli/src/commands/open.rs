//! Opens the store and takes in what waits in its inbox.

use lapwing_core::record::Store;
use lapwing_core::record::inbox::{self, Arrival};

use crate::error::CliError;
use crate::options::Context;

/// Opens the store for writing, and makes it where there is none.
pub fn for_writing(context: &Context) -> Result<Store, CliError> {
    let mut store = Store::open(&context.store)?;
    take_in(&mut store, context)?;
    Ok(store)
}

/// Opens a store that must be there.
pub fn existing(context: &Context) -> Result<Store, CliError> {
    let mut store = Store::open_existing(&context.store)?;
    if !store.is_read_only() {
        take_in(&mut store, context)?;
    }
    Ok(store)
}

/// Opens the store if there is one.
pub fn if_there(context: &Context) -> Result<Option<Store>, CliError> {
    if context.store.exists() {
        existing(context).map(Some)
    } else {
        Ok(None)
    }
}

/// Opens a second connection to a store that was opened before.
pub fn again(context: &Context) -> Result<Store, CliError> {
    Ok(Store::open_existing(&context.store)?)
}

fn take_in(store: &mut Store, context: &Context) -> Result<(), CliError> {
    let folder = store.inbox();
    for arrival in inbox::take_in(store, &folder)? {
        match arrival {
            Arrival::TakenIn { path, cut_off, .. } => {
                if !context.quiet {
                    let cut = if cut_off {
                        "; its last line was cut off and left out"
                    } else {
                        ""
                    };
                    context
                        .terminal
                        .note(&format!("took in {}{cut}", path.display()));
                }
            }
            Arrival::UnderWay { path } => {
                if context.verbose {
                    context
                        .terminal
                        .say(&format!("{} is still being written", path.display()));
                }
            }
            Arrival::Refused { path, error } => context.terminal.note(&format!(
                "{} stays in the inbox: {}",
                path.display(),
                CliError::input(error).sentence()
            )),
        }
    }
    Ok(())
}
