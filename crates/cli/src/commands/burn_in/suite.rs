//! `--update-suite`: the `burn_in` of the benchmarks of a suite file.

use std::path::{Path, PathBuf};

use lapwing_core::suite::{BurnIn, Settings, Suite};
use toml_edit::{DocumentMut, Item, TableLike, Value, value};

use super::lines;
use super::notes::why_not_written;
use super::rows::Row;
use crate::error::CliError;
use crate::options::Context;
use crate::table::counted;
use crate::{atomic, suite_file};

/// A suite file that is to be changed.
pub struct SuiteFile {
    path: PathBuf,
    suite: Suite,
    document: DocumentMut,
    /// As it was read.
    text: String,
}

/// What becomes of one table.
struct Change {
    table: String,
    before: BurnIn,
    after: u32,
    /// Its benchmarks and where each gets steady, where they are several.
    shared: Vec<(String, u32)>,
}

/// Reads a suite file; of a folder, its `lapwing.toml`.
pub fn load(path: &Path) -> Result<SuiteFile, CliError> {
    let path = suite_file::named(path);
    if !path.exists() {
        let name = path.display();
        return Err(CliError::input(format!("there is no suite file `{name}`"))
            .hint("name it: `--update-suite FILE`"));
    }
    let suite = Suite::load(&path).map_err(suite_file::about)?;
    let text = std::fs::read_to_string(&path)?;
    Ok(SuiteFile {
        path,
        suite,
        document: lines::plain(&text).parse::<DocumentMut>()?,
        text,
    })
}

impl SuiteFile {
    /// Writes where the benchmarks get steady into their tables, and says what changed.
    pub fn update(mut self, rows: &[Row], context: &Context) -> Result<(), CliError> {
        // Read again: others may have changed it while values were looked at.
        let _lock = atomic::lock_beside(&self.path)?;
        self = load(&self.path)?;
        let name = self.suite.name.clone();
        let rows: Vec<&Row> = rows.iter().filter(|row| row.suite == name).collect();
        let changes = self.changes(&rows);
        let path = self.path.display().to_string();
        if changes.is_empty() {
            return Err(CliError::input(format!(
                "{path} has no benchmark whose first steady iteration is known"
            ))
            .consequence("it was not touched")
            .hint(format!(
                "measure it with `lapwing run {path}`; its suite is `{name}`"
            )));
        }
        let differing = |it: &&Change| it.before != BurnIn::Fixed(it.after);
        for change in changes.iter().filter(differing) {
            self.set(&change.table, change.after);
        }
        let changed: Vec<String> = changes
            .iter()
            .filter(differing)
            .map(|it| format!("{} {} → {}", it.table, words(it.before), it.after))
            .collect();
        if !changed.is_empty() {
            self.write()?;
        }
        if context.quiet {
            return Ok(());
        }
        let terminal = &context.terminal;
        let stay = counted((changes.len() - changed.len()) as u64, "other");
        terminal.say(&match (changed.len(), changes.len()) {
            (0, _) => format!("{path} stays as it is: every burn_in is what was found"),
            (some, all) if some == all => format!("burn_in in {path}: {}", changed.join(", ")),
            (_, _) => format!(
                "burn_in in {path}: {}; as before: {stay}",
                changed.join(", ")
            ),
        });
        for change in changes.iter().filter(|it| it.shared.len() > 1) {
            let starts: Vec<String> = change
                .shared
                .iter()
                .map(|(id, start)| format!("{id} {start}"))
                .collect();
            terminal.note(&format!(
                "benchmarks of one table share its burn_in, which is the largest: {}",
                starts.join(", ")
            ));
        }
        for row in rows {
            if let Some(reason) = why_not_written(row) {
                let id = &row.benchmark;
                terminal.note(&format!("{id} {}, so that its burn_in stays", is(reason)));
            }
        }
        Ok(())
    }

    /// Returns what becomes of each table of a benchmark whose start is known.
    fn changes(&self, rows: &[&Row]) -> Vec<Change> {
        let cases = self.suite.plan(&Settings::default(), 0).cases;
        let tables = self.document.get("benchmark").and_then(Item::as_table_like);
        let tables = tables.into_iter().flat_map(TableLike::iter);
        let tables: Vec<&str> = tables.map(|(table, _)| table).collect();
        tables
            .iter()
            .copied()
            .filter_map(|table| {
                let of_table = |id: &str| table_of(id, &tables) == Some(table);
                let case = cases.iter().find(|it| of_table(&it.benchmark.id))?;
                let starts: Vec<(String, u32)> = rows
                    .iter()
                    .filter(|row| of_table(&row.benchmark))
                    .filter_map(|row| Some((row.benchmark.clone(), row.known_start()?)))
                    .collect();
                Some(Change {
                    table: table.to_owned(),
                    before: case.burn_in,
                    after: starts.iter().map(|(_, start)| *start).max()?,
                    shared: starts,
                })
            })
            .collect()
    }

    /// Sets one table's key; what stands around a number that is there stays.
    fn set(&mut self, table: &str, burn_in: u32) {
        let tables = self.document.get_mut("benchmark");
        let tables = tables.and_then(Item::as_table_like_mut);
        let keys = tables
            .and_then(|tables| tables.get_mut(table))
            .and_then(Item::as_table_like_mut);
        let Some(keys) = keys else { return };
        match keys.get_mut("burn_in").and_then(Item::as_value_mut) {
            Some(old) => {
                let around = old.decor().clone();
                *old = Value::from(i64::from(burn_in));
                *old.decor_mut() = around;
            }
            None => {
                keys.insert("burn_in", value(i64::from(burn_in)));
            }
        }
    }

    /// Writes the file once it is sure that it can be read again.
    fn write(&self) -> Result<(), CliError> {
        let text = lines::like(&self.text, &self.document.to_string());
        let folder = std::path::absolute(&self.path)?;
        let folder = folder.parent().unwrap_or(Path::new("/"));
        let untouched = format!("{} was not touched", self.path.display());
        Suite::parse(&self.path, &text, folder)
            .map_err(|error| suite_file::about(error).consequence(untouched.clone()))?;
        atomic::replace(&self.path, &text)
            .map_err(|error| CliError::input(error).consequence(untouched))
    }
}

/// Returns the table of a benchmark: the one of its id, or the longest one whose id it has with parameters
/// in brackets behind it.
fn table_of<'t>(id: &str, tables: &[&'t str]) -> Option<&'t str> {
    let is_of = |table: &&&str| {
        let rest = id.strip_prefix(**table);
        rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with('[') && rest.ends_with(']')))
    };
    let of_it = tables.iter().filter(is_of);
    of_it.max_by_key(|table| table.len()).copied()
}

fn words(burn_in: BurnIn) -> String {
    match burn_in {
        BurnIn::Fixed(count) => count.to_string(),
        BurnIn::Auto => "\"auto\"".to_owned(),
    }
}

fn is(reason: &str) -> String {
    if reason.starts_with("never") {
        reason.to_owned()
    } else {
        format!("is {reason}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text of a suite file after its benchmark got another burn-in.
    fn changed(text: &str, table: &str) -> String {
        let (path, folder) = (Path::new("lapwing.toml"), Path::new("/suite"));
        let mut file = SuiteFile {
            path: path.to_owned(),
            suite: Suite::parse(path, text, folder).expect("a suite"),
            document: text.parse().expect("TOML"),
            text: text.to_owned(),
        };
        file.set(table, 7);
        let text = file.document.to_string();
        let suite = Suite::parse(path, &text, folder).expect("still a suite");
        let cases = suite.plan(&Settings::default(), 0).cases;
        assert!(cases.iter().all(|it| it.burn_in == BurnIn::Fixed(7)));
        text
    }

    #[test]
    fn a_benchmark_belongs_to_the_table_that_names_most_of_it() {
        let tables = ["b", "b[n=1]x", "c"];
        assert_eq!(table_of("b", &tables), Some("b"));
        assert_eq!(table_of("b[n=2]", &tables), Some("b"));
        assert_eq!(table_of("b[n=1]x", &tables), Some("b[n=1]x"));
        assert_eq!(table_of("b[n=1]x[m=2]", &tables), Some("b[n=1]x"));
        assert_eq!(table_of("b[n=1]y", &tables), None);
        assert_eq!(table_of("cc", &tables), None);
    }

    #[test]
    fn a_table_keeps_its_layout_however_it_is_written() {
        insta::assert_snapshot!(changed("[benchmark.a]\ncommand = 'x'\n\n[benchmark.a.env]\nK = '1' # one\n", "a"), @"
        [benchmark.a]
        command = 'x'
        burn_in = 7

        [benchmark.a.env]
        K = '1' # one
        ");
        insta::assert_snapshot!(changed("[benchmark.'a b']\nburn_in = \"auto\" # later\ncommand = 'x'\n", "a b"), @"
        [benchmark.'a b']
        burn_in = 7 # later
        command = 'x'
        ");
        insta::assert_snapshot!(changed("benchmark.a.command = 'x'\n", "a"), @"
        benchmark.a.command = 'x'
        benchmark.a.burn_in = 7
        ");
        insta::assert_snapshot!(changed("[benchmark]\na = { command = 'x', burn_in = 1 }\n", "a"), @"
        [benchmark]
        a = { command = 'x', burn_in = 7 }
        ");
        insta::assert_snapshot!(changed("[benchmark]\na = { command = 'x' }\n", "a"), @"
        [benchmark]
        a = { command = 'x' , burn_in = 7 }
        ");
    }
}
