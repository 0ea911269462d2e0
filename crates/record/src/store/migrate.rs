//! Brings the tables to the newest version.

use std::path::PathBuf;

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use super::rows::json_text;
use super::{StoreError, checksum, span_columns};

mod embedded {
    refinery::embed_migrations!("src/store/migrations");
}

/// Returns the newest version of the store that this program knows.
pub(super) fn newest_version() -> u32 {
    embedded::migrations::runner()
        .get_migrations()
        .iter()
        .map(|migration| u32::try_from(migration.version()).unwrap_or(u32::MAX))
        .max()
        .unwrap_or(0)
}

/// Makes the migrations that are missing, all or none of them.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    // SQLite writes 15 digits of a number; a value has to stay the same to the last bit.
    connection.create_scalar_function(
        "lapwing_json_number",
        1,
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC,
        |context| {
            let number: Option<f64> = context.get(0)?;
            json_text(&number).map_err(|error| rusqlite::Error::UserFunctionError(Box::new(error)))
        },
    )?;
    checksum::lend(connection)?;
    span_columns::lend(connection)?;
    // Grouped: a migration and the note that it was made are one transaction.
    embedded::migrations::runner()
        .set_grouped(true)
        .run(connection)
        .map_err(|error| migration_error(&error))?;
    Ok(())
}

/// Finds SQLite's own words in a migration's error.
fn migration_error(error: &refinery::Error) -> StoreError {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(current) = cause {
        match current.downcast_ref::<rusqlite::Error>() {
            Some(rusqlite::Error::SqliteFailure(code, text)) => {
                return rusqlite::Error::SqliteFailure(*code, text.clone()).into();
            }
            // Its own message would repeat the whole migration.
            Some(rusqlite::Error::SqlInputError { error, msg, .. }) => {
                return rusqlite::Error::SqliteFailure(*error, Some(msg.clone())).into();
            }
            Some(_) | None => {}
        }
        cause = current.source();
    }
    StoreError::Damaged {
        path: PathBuf::new(),
        what: error.to_string(),
    }
}
