//! Brings the tables to the newest version.
//!
//! The table `refinery_schema_history` is that of the crate refinery, which wrote it at first.

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, TransactionBehavior};

use lapwing_model::text::hexadecimal;
use sha2::{Digest, Sha256};

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
const MIGRATIONS: [Migration; 10] = [
    migration!(1, "first", 396_582_800_778_057_071),
    migration!(2, "chunks", 5_179_899_090_348_827_350),
    migration!(3, "remotes", 3_107_815_274_611_140_793),
    migration!(4, "remote_addresses", 3_694_821_766_064_324_488),
    migration!(5, "checksums", 6_953_224_159_429_438_459),
    migration!(6, "span_columns", 12_719_123_605_022_238_146),
    migration!(7, "opened_sessions", 4_485_525_441_601_867_369),
    migration!(8, "host_salt", 16_625_489_463_465_404_158),
    migration!(9, "trusted_annotations", 7_049_080_812_343_312_335),
    migration!(10, "history_points", 2_903_606_569_107_844_865),
];

/// Returns the newest version of the store that this program knows.
pub(super) fn newest_version() -> u32 {
    MIGRATIONS.last().map_or(0, |newest| newest.version)
}

/// SHA-256 of the tables, indices and views of each version.
const SCHEMAS: [&str; MIGRATIONS.len()] = [
    "da62db7f83f4e647d75af8a320f084a0086a39253d017b7ee6be3738954713d1",
    "41c7720fc6fb57d25fcb377e6cfdc670a27137812ac3e32c331d818332e4eefd",
    "9b0945358b307552d7041751339ae791887be8fd9205385c4d755e60da86028b",
    "af9938b6ab8b3b9ba2c8409e7f74bfec50600ac26d0a9d0eea42e3f3b6cc380e",
    "70f55823c59fb1534ad2012b14bdf89cce991e8008455b6d739bb7380956dbaa",
    "70f55823c59fb1534ad2012b14bdf89cce991e8008455b6d739bb7380956dbaa",
    "cc586be88c73367112c980d4bfa432080dff99c443c4127ac59ba355092ac324",
    "c635ab2d70b5685c3d4f94ddb437425d223b52b5f437d46ff0fe7981a50ec412",
    "24585ebea93ece94fc502e363246564dfb490fa08ee4fdbc2298e3377724d876",
    "3607876a2d51540115412dca6da1c0b4173c64c50c481c7f9870328cb29fd04f",
];

/// Refuses tables that are not those of a version: a view in the place of one could have no end, and a trigger would do
/// what its author wants.
pub(super) fn refuse_other_schema(connection: &Connection, version: u32) -> StoreResult<()> {
    let objects = schema(connection)?;
    let known = SCHEMAS.get((version as usize).wrapping_sub(1));
    if known.is_some_and(|known| *known == digest(&objects)) {
        return Ok(());
    }
    let mut own = Connection::open_in_memory()?;
    migrate_to(&mut own, version as usize)?;
    let own = schema(&own)?;
    let is_unknown = |it: &&[String; 4]| own.iter().all(|own| own[..2] != it[..2]);
    let other = objects.iter().find(is_unknown);
    let other = other.or_else(|| objects.iter().find(|it| !own.contains(it)));
    let lacking = own.iter().find(|it| !objects.contains(it));
    Err(StoreError::damaged(match (other, lacking) {
        (Some([kind, name, ..]), _) => {
            format!("its {kind} `{name}` is not one that this program makes")
        }
        (None, Some([kind, name, ..])) => format!("its {kind} `{name}` is missing"),
        (None, None) => "its tables are not those of its version".to_owned(),
    }))
}

/// Returns type, name, table and definition of what the file has, apart from what SQLite adds by itself.
fn schema(connection: &Connection) -> StoreResult<Vec<[String; 4]>> {
    // The crate refinery wrote the definition of its table in another way.
    let sql = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema \
               WHERE NOT (type = 'table' AND name = 'refinery_schema_history' \
                          AND sql LIKE 'CREATE TABLE %') \
               AND NOT (type IN ('table', 'index') AND name LIKE 'sqlite\\_%' ESCAPE '\\' \
                        AND coalesce(sql, '') NOT LIKE 'CREATE VIRTUAL %') \
               ORDER BY type, name";
    query::rows(connection, sql, [], |row| {
        Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
    })
}

fn digest(objects: &[[String; 4]]) -> String {
    let mut hash = Sha256::new();
    for part in objects.iter().flatten() {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hexadecimal(&hash.finalize())
}

/// Makes the migrations that are missing, all or none of them.
pub(super) fn migrate(connection: &mut Connection) -> StoreResult<()> {
    migrate_to(connection, MIGRATIONS.len())
}

fn migrate_to(connection: &mut Connection, version: usize) -> StoreResult<()> {
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
    for migration in MIGRATIONS.iter().take(version).skip(made) {
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
    fn the_tables_of_each_version_are_known() {
        for (version, known) in (1_u32..).zip(SCHEMAS) {
            let mut connection = Connection::open_in_memory().expect("opened");
            migrate_to(&mut connection, version as usize).expect("migrated");
            let objects = schema(&connection).expect("read");
            assert_eq!(digest(&objects), known, "version {version}");
            refuse_other_schema(&connection, version).expect("known");
        }
    }

    #[test]
    fn other_tables_are_refused_by_name() {
        for (sql, what) in [
            (
                "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END",
                "its trigger `t` is not one that this program makes",
            ),
            (
                "ALTER TABLE instance RENAME TO other; \
                 CREATE VIEW instance AS SELECT * FROM other",
                "its table `other` is not one that this program makes",
            ),
            (
                "DROP VIEW iterations; CREATE VIEW iterations AS SELECT 1",
                "its view `iterations` is not one that this program makes",
            ),
            (
                "DROP INDEX run_of_session",
                "its index `run_of_session` is missing",
            ),
        ] {
            let mut connection = Connection::open_in_memory().expect("opened");
            migrate(&mut connection).expect("migrated");
            connection
                .execute_batch("ANALYZE")
                .expect("statistics are SQLite's own");
            refuse_other_schema(&connection, newest_version()).expect("known");
            connection.execute_batch(sql).expect("changed");
            let error = refuse_other_schema(&connection, newest_version()).expect_err(sql);
            let text = error.to_string();
            assert!(text.contains(what), "{text}");
        }
    }

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
