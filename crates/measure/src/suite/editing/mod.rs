//! Edits the numbers of benchmarks in the text of a suite file; the rest of it is kept.

mod lines;
mod split;

use lapwing_model::text::counted;
use toml_edit::{DocumentMut, Item, TableLike, TomlError, Value};

pub use self::split::{SplitError, SplitFactor};
use super::{BurnIn, Case, Settings, Suite};

/// Numbers of a benchmark; `None` for those that are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SuiteNumbers {
    /// Number of instances.
    pub instances: Option<u32>,
    /// Iterations per instance, after burn-in.
    pub iterations: Option<u32>,
    /// Burn-in iterations per instance.
    pub burn_in: Option<u32>,
}

impl SuiteNumbers {
    /// Returns the numbers by their keys in the suite file.
    fn by_key(self) -> [(&'static str, Option<u32>); 3] {
        [
            ("instances", self.instances),
            ("iterations", self.iterations),
            ("burn_in", self.burn_in),
        ]
    }

    /// Returns the larger of both, number by number.
    fn max(self, other: Self) -> Self {
        Self {
            instances: self.instances.max(other.instances),
            iterations: self.iterations.max(other.iterations),
            burn_in: self.burn_in.max(other.burn_in),
        }
    }
}

/// A suite whose text is edited.
#[derive(Debug)]
pub struct EditedSuite {
    suite: Suite,
    document: DocumentMut,
    /// The original text.
    text: String,
}

/// The update of one table.
#[derive(Debug, PartialEq, Eq)]
pub struct TableUpdate {
    /// The name of the table.
    pub table: String,
    /// The given keys, changed or not.
    pub keys: Vec<KeyUpdate>,
    /// Its benchmarks with given numbers; of several the table has the largest.
    pub benchmarks: Vec<(String, SuiteNumbers)>,
}

impl TableUpdate {
    /// Returns `gzip: instances 5 → 10, burn_in 1 → 3`; `None` without a change.
    fn changes(&self) -> Option<String> {
        let changed = self.keys.iter().filter(|key| key.is_change());
        let changes: Vec<String> = changed
            .map(|key| format!("{} {} → {}", key.key, key.before, key.after))
            .collect();
        (!changes.is_empty()).then(|| format!("{}: {}", self.table, changes.join(", ")))
    }
}

/// The update of one key of a table.
#[derive(Debug, PartialEq, Eq)]
pub struct KeyUpdate {
    /// The key.
    pub key: &'static str,
    /// The earlier value, from the table or elsewhere.
    pub before: String,
    /// The new value.
    pub after: u32,
}

impl KeyUpdate {
    /// Returns whether the number changes.
    pub fn is_change(&self) -> bool {
        self.before != self.after.to_string()
    }
}

/// Returns the changes of a suite file in a sentence.
pub fn changes_text(path: &str, updates: &[TableUpdate]) -> String {
    let changed: Vec<String> = updates.iter().filter_map(TableUpdate::changes).collect();
    let unchanged = match updates.len() - changed.len() {
        0 => String::new(),
        others => format!("; unchanged: {}", counted(others, "other")),
    };
    match changed.as_slice() {
        [] => format!("{path} is unchanged: it already has these numbers"),
        changed => format!("updated {path}: {}{unchanged}", changed.join("; ")),
    }
}

impl EditedSuite {
    /// Returns a suite with the text that it was read from.
    ///
    /// # Errors
    /// If the text is no TOML.
    pub fn new(suite: Suite, text: String) -> Result<Self, TomlError> {
        Ok(Self {
            suite,
            document: lines::plain(&text).parse()?,
            text,
        })
    }

    /// Returns the suite's name.
    pub fn name(&self) -> &str {
        &self.suite.name
    }

    /// Returns the ids of its benchmarks.
    pub fn benchmarks(&self) -> Vec<String> {
        let cases = self.cases().into_iter();
        cases.map(|case| case.benchmark.id).collect()
    }

    /// Writes numbers of benchmarks into their tables. Returns the updates, and the new text if anything changes.
    pub fn update(
        mut self,
        numbers: &[(String, SuiteNumbers)],
    ) -> (Vec<TableUpdate>, Option<String>) {
        let updates = self.updates(numbers);
        let mut is_changed = false;
        for update in &updates {
            for key in update.keys.iter().filter(|key| key.is_change()) {
                self.set(&update.table, key.key, key.after);
                is_changed = true;
            }
        }
        let text = is_changed.then(|| lines::like(&self.text, &self.document.to_string()));
        (updates, text)
    }

    fn cases(&self) -> Vec<Case> {
        self.suite.plan(&Settings::default(), 0).cases
    }

    /// Returns the update of each table that has a benchmark with numbers.
    fn updates(&self, numbers: &[(String, SuiteNumbers)]) -> Vec<TableUpdate> {
        let cases = self.cases();
        let tables = self.document.get("benchmark").and_then(Item::as_table_like);
        let tables = tables.into_iter().flat_map(TableLike::iter);
        let tables: Vec<&str> = tables.map(|(table, _)| table).collect();
        let of_table = |id: &str, table: &str| table_of(id, &tables) == Some(table);
        let updates = tables.iter().filter_map(|table| {
            let case = cases.iter().find(|it| of_table(&it.benchmark.id, table))?;
            let benchmarks: Vec<(String, SuiteNumbers)> = numbers
                .iter()
                .filter(|(id, _)| of_table(id, table))
                .cloned()
                .collect();
            let largest = benchmarks.iter().map(|(_, numbers)| *numbers);
            let largest = largest.reduce(SuiteNumbers::max)?;
            let before = [
                case.instances.to_string(),
                case.iterations.to_string(),
                burn_in_text(case.burn_in),
            ];
            let keys = largest.by_key().into_iter().zip(before);
            Some(TableUpdate {
                table: (*table).to_owned(),
                keys: keys
                    .filter_map(|((key, after), before)| {
                        let after = after?;
                        Some(KeyUpdate { key, before, after })
                    })
                    .collect(),
                benchmarks,
            })
        });
        updates.collect()
    }

    /// Sets a key of a table; the text around an existing number is kept.
    fn set(&mut self, table: &str, key: &str, number: u32) {
        let tables = self.document.get_mut("benchmark");
        let tables = tables.and_then(Item::as_table_like_mut);
        let Some(keys) = tables.and_then(|tables| tables.get_mut(table)) else {
            return;
        };
        let mut number = Value::from(i64::from(number));
        if let Some(old) = keys.get_mut(key).and_then(Item::as_value_mut) {
            *number.decor_mut() = old.decor().clone();
            *old = number;
            return;
        }
        if let Some(inline) = keys.as_inline_table_mut() {
            // The last value owns the space before the closing brace.
            let last = inline.iter_mut().last();
            let room = last.and_then(|(_, last)| last.decor_mut().suffix().cloned());
            if let (Some(room), Some((_, last))) = (room, inline.iter_mut().last()) {
                last.decor_mut().set_suffix("");
                number.decor_mut().set_prefix(" ");
                number.decor_mut().set_suffix(room);
            }
        }
        if let Some(keys) = keys.as_table_like_mut() {
            keys.insert(key, Item::Value(number));
        }
    }
}

/// Returns the table of a benchmark: the one of its id, or the longest name that with parameters in brackets is
/// the id.
fn table_of<'t>(id: &str, tables: &[&'t str]) -> Option<&'t str> {
    let is_of = |table: &&&str| {
        let rest = id.strip_prefix(**table);
        rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with('[') && rest.ends_with(']')))
    };
    let candidates = tables.iter().filter(is_of);
    candidates.max_by_key(|table| table.len()).copied()
}

fn burn_in_text(burn_in: BurnIn) -> String {
    match burn_in {
        BurnIn::Fixed(count) => count.to_string(),
        BurnIn::Auto => "\"auto\"".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

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

    const ALL: SuiteNumbers = SuiteNumbers {
        instances: Some(8),
        iterations: Some(9),
        burn_in: Some(7),
    };

    /// Returns the text of a suite file after its benchmark got other numbers, and the updates.
    fn updated(text: &str, numbers: &[(&str, SuiteNumbers)]) -> (String, Vec<TableUpdate>) {
        let (path, folder) = (Path::new("lapwing.toml"), Path::new("."));
        let suite = Suite::parse(path, text, folder).expect("a suite");
        let edited = EditedSuite::new(suite, text.to_owned()).expect("a suite");
        let numbers = numbers.iter().map(|(id, it)| ((*id).to_owned(), *it));
        let (updates, changed) = edited.update(&numbers.collect::<Vec<_>>());
        (changed.unwrap_or_else(|| text.to_owned()), updates)
    }

    /// Returns the text of a suite file after its benchmark got another burn-in.
    fn with_burn_in(text: &str, id: &str) -> String {
        let burn_in = SuiteNumbers {
            burn_in: Some(7),
            ..SuiteNumbers::default()
        };
        updated(text, &[(id, burn_in)]).0
    }

    #[test]
    fn a_table_keeps_its_layout_however_it_is_written() {
        insta::assert_snapshot!(with_burn_in("[benchmark.a]\ncommand = 'x'\n\n[benchmark.a.env]\nK = '1' # one\n", "a"), @"
        [benchmark.a]
        command = 'x'
        burn_in = 7

        [benchmark.a.env]
        K = '1' # one
        ");
        insta::assert_snapshot!(with_burn_in("[benchmark.'a b']\nburn_in = \"auto\" # later\ncommand = 'x'\n", "a b"), @"
        [benchmark.'a b']
        burn_in = 7 # later
        command = 'x'
        ");
        insta::assert_snapshot!(with_burn_in("benchmark.a.command = 'x'\n", "a"), @"
        benchmark.a.command = 'x'
        benchmark.a.burn_in = 7
        ");
        insta::assert_snapshot!(with_burn_in("[benchmark]\na = { command = 'x', burn_in = 1 }\n", "a"), @"
        [benchmark]
        a = { command = 'x', burn_in = 7 }
        ");
        insta::assert_snapshot!(with_burn_in("[benchmark]\na = { command = 'x' }\n", "a"), @"
        [benchmark]
        a = { command = 'x', burn_in = 7 }
        ");
    }

    #[test]
    fn all_three_numbers_are_written_where_they_differ_from_what_is_in_force() {
        let text = "# Mine.\n[defaults]\niterations = 9\n\n[benchmark.a] # first\ncommand = 'x'\ninstances   = 3 # few\n";
        let (text, updates) = updated(text, &[("a", ALL)]);
        insta::assert_snapshot!(text, @"
        # Mine.
        [defaults]
        iterations = 9

        [benchmark.a] # first
        command = 'x'
        instances   = 8 # few
        burn_in = 7
        ");
        let key = |key, before: &str, after| KeyUpdate {
            key,
            before: before.to_owned(),
            after,
        };
        let keys = vec![
            key("instances", "3", 8),
            key("iterations", "9", 9),
            key("burn_in", "1", 7),
        ];
        let benchmarks = vec![("a".to_owned(), ALL)];
        let table = "a".to_owned();
        assert_eq!(
            updates,
            [TableUpdate {
                table,
                keys,
                benchmarks
            }]
        );
        insta::assert_snapshot!(updated("[benchmark]\na = {command = 'x'}\n", &[("a", ALL)]).0, @"
        [benchmark]
        a = {command = 'x', instances = 8, iterations = 9, burn_in = 7}
        ");
    }

    #[test]
    fn benchmarks_of_one_table_get_the_largest_of_each_number() {
        let text = "[benchmark.a]\ncommand = 'x {n}'\nparams.n = [1, 2, 3]\n\n[benchmark.'a[n]']\ncommand = 'y'\n\n[benchmark.b]\ncommand = 'z'\n";
        let few = SuiteNumbers {
            instances: Some(20),
            iterations: Some(2),
            burn_in: None,
        };
        let (text, updates) = updated(text, &[("a[n=1]", ALL), ("a[n=2]", few), ("a[n]", few)]);
        insta::assert_snapshot!(text, @"
        [benchmark.a]
        command = 'x {n}'
        params.n = [1, 2, 3]
        instances = 20
        iterations = 9
        burn_in = 7

        [benchmark.'a[n]']
        command = 'y'
        instances = 20
        iterations = 2

        [benchmark.b]
        command = 'z'
        ");
        let tables: Vec<(&str, usize)> = updates
            .iter()
            .map(|it| (it.table.as_str(), it.benchmarks.len()))
            .collect();
        assert_eq!(tables, [("a", 2), ("a[n]", 1)]);
    }

    #[test]
    fn what_is_as_it_should_be_or_unknown_leaves_the_file_alone() {
        let text = "[benchmark.a]\r\ncommand = 'x'\r\n";
        let same = SuiteNumbers {
            instances: Some(5),
            ..SuiteNumbers::default()
        };
        let (after, updates) = updated(text, &[("a", same)]);
        assert_eq!(after, text);
        assert!(!updates[0].keys[0].is_change());
        let (after, updates) = updated(text, &[("b", ALL)]);
        assert_eq!((after.as_str(), updates.len()), (text, 0));
        let (after, _) = updated(text, &[("a", ALL)]);
        assert_eq!(after.matches("\r\n").count(), 5);
        assert_eq!(after.matches('\n').count(), 5);
    }
}
