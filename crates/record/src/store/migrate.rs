//! Brings the tables to the newest version.
//!
//! The table `refinery_schema_history` is that of the crate refinery, which wrote it at first.

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, TransactionBehavior};

use super::columns::span_columns;
use super::reading::rows::json_text;
use super::writing::checksum;
use super::{StoreError, StoreResult, query};

/// One step from a version of the store to the next.
struct Migration {
    version: u32,
    name: &'static str,
    /// SipHash-1-3 of name, version and SQL, as refinery computes it. A constant, so that it does
    /// not depend on the hash function of the standard library.
    checksum: u64,
    sql: &'static str,
}

macro_rules! migration {
    ($version:literal, $name:literal, $checksum:literal) => {
        Migration {
            version: $version,
            name: $name,
            checksum: $checksum,
            sql: include_str!(concat!("migrations/V", $version, "__", $name, ".sql")),
        }
    };
}

/// All migrations in order. One that was released is never changed.
const MIGRATIONS: [Migration; 7] = [
    migration!(1, "first", 396_582_800_778_057_071),
    migration!(2, "chunks", 5_179_899_090_348_827_350),
    migration!(3, "remotes", 3_107_815_274_611_140_793),
    migration!(4, "remote_addresses", 3_694_821_766_064_324_488),
    migration!(5, "checksums", 6_953_224_159_429_438_459),
    migration!(6, "span_columns", 12_719_123_605_022_238_146),
    migration!(7, "trusted_annotations", 10_287_223_367_298_789_327),
];

/// Returns the newest version of the store that this program knows.
pub(super) fn newest_version() -> u32 {
    MIGRATIONS.last().map_or(0, |newest| newest.version)
}

/// Makes the migrations that are missing, all or none of them.
pub(super) fn migrate(connection: &mut Connection) -> StoreResult<()> {
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
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS refinery_schema_history (version int4 PRIMARY KEY, \
         name VARCHAR(255), applied_on VARCHAR(255), checksum VARCHAR(255))",
    )?;
    let made = check_made(&transaction)?;
    for migration in &MIGRATIONS[made..] {
        transaction
            .execute_batch(migration.sql)
            .map_err(without_sql)?;
        let sql = "INSERT INTO refinery_schema_history \
                   VALUES (?1, ?2, strftime('%Y-%m-%dT%H:%M:%fZ'), ?3)";
        let checksum = migration.checksum.to_string();
        transaction.execute(sql, (migration.version, migration.name, checksum))?;
    }
    Ok(transaction.commit()?)
}

/// Returns the number of migrations that were made, which have to be the first ones.
fn check_made(connection: &Connection) -> StoreResult<usize> {
    let sql = "SELECT version, name, checksum FROM refinery_schema_history ORDER BY version";
    let made: Vec<(u32, String, String)> = query::rows(connection, sql, [], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    for (at, (version, name, checksum)) in made.iter().enumerate() {
        let is_ours = MIGRATIONS.get(at).is_some_and(|ours| {
            ours.version == *version && ours.name == name && ours.checksum.to_string() == *checksum
        });
        if !is_ours {
            return Err(StoreError::damaged(format!(
                "its migration {version} (`{name}`) is not one of this program"
            )));
        }
    }
    Ok(made.len())
}

/// Returns SQLite's own words; the error would repeat the whole migration.
fn without_sql(error: rusqlite::Error) -> rusqlite::Error {
    match error {
        rusqlite::Error::SqlInputError { error, msg, .. } => {
            rusqlite::Error::SqliteFailure(error, Some(msg))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hash, Hasher};

    use super::*;

    #[test]
    fn migrations_are_numbered_and_have_not_changed() {
        for (version, migration) in (1_u32..).zip(&MIGRATIONS) {
            assert_eq!(migration.version, version);
            // At present SipHash-1-3 as well.
            let mut hasher = DefaultHasher::new();
            migration.name.hash(&mut hasher);
            migration.version.hash(&mut hasher);
            migration.sql.hash(&mut hasher);
            assert_eq!(migration.checksum, hasher.finish(), "{}", migration.name);
        }
    }
}
