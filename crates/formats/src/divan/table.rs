//! divan's table, row by row: a tree of names, and columns of figures.

use crate::shared::reading::lines::{Line, Lines};
use crate::{BadLine, ImportError, Source};

/// The columns of figures, in their order; the last two are counts.
pub(super) const COLUMNS: [&str; 6] = ["fastest", "slowest", "median", "mean", "samples", "iters"];

/// A benchmark of a table.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) line: u64,
    /// From the bench program's name down to its own.
    pub(super) path: Vec<String>,
    /// The precision of the clock, where divan prints it.
    pub(super) precision: Option<String>,
    /// The figures of its own row, or `None` where it was ignored.
    pub(super) cells: Option<Vec<String>>,
    /// The rows below, with their lines: counters and allocations.
    pub(super) more: Vec<(u64, Vec<String>)>,
}

/// Returns whether a line is the head of a table.
pub(super) fn is_head(line: &str) -> bool {
    let mut rest = line;
    COLUMNS.iter().all(|name| match rest.find(name) {
        Some(at) => {
            rest = &rest[at + name.len()..];
            true
        }
        None => false,
    }) && line.contains('│')
}

/// The state of the reading of tables.
#[derive(Default)]
struct DivanPlace {
    /// The width of the tree with its names in characters, in the table under way.
    width: Option<usize>,
    /// Whether a line in the table or behind it is none of its rows.
    has_strangers: bool,
    /// Whether the last branch of the root was there: no further one belongs to the table.
    is_complete: bool,
    /// A row with the benchmark's own output in the place of its figures, which may stand on a later line.
    interrupted: Option<Interrupted>,
    /// The names from the root to the last row.
    path: Vec<String>,
    precision: Option<String>,
}

/// A row without its figures.
struct Interrupted {
    line: u64,
    path: Vec<String>,
    /// The number of columns that it has.
    columns: usize,
}

/// A row of a table.
enum DivanRow {
    /// A name, at a depth of the tree.
    Named {
        depth: usize,
        name: String,
        cells: Vec<String>,
    },
    /// More figures of the name above.
    More(Vec<String>),
}

/// Hands out the benchmarks of all tables, and the lines that are wrong.
pub(super) fn each_leaf(
    source: &Source,
    mut take: impl FnMut(Result<Leaf, BadLine>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut lines = Lines::of(source)?;
    let mut place = DivanPlace::default();
    let mut last: Option<Leaf> = None;
    while let Some((line, text)) = lines.next_indented()? {
        let text = match text {
            Line::Text(text) => without_colours(text),
            Line::Bad(reason) => {
                take(Err(BadLine::new(line, reason)))?;
                continue;
            }
        };
        let (line, row) = match place.continued(&text) {
            Some(row) => row,
            None => match place.take(&text) {
                Some(row) => (line, row),
                None => continue,
            },
        };
        if let Some(bad) = place.cut_off(Some(&row)) {
            take(Err(bad))?;
        }
        match place.put(row, line, &mut last) {
            Err(bad) => take(Err(bad))?,
            Ok(Some(complete)) => take(Ok(complete))?,
            Ok(None) => {}
        }
    }
    if let Some(bad) = place.cut_off(None) {
        take(Err(bad))?;
    }
    last.map_or(Ok(()), |leaf| take(Ok(leaf)))
}

impl DivanPlace {
    /// Returns the row whose figures alone are a line, and its own line.
    fn continued(&mut self, text: &str) -> Option<(u64, DivanRow)> {
        let cells = cells_in(text);
        if cells.len() < COLUMNS.len() || text.starts_with([' ', '│', '├', '╰']) || is_head(text)
        {
            return None;
        }
        let Interrupted { line, path, .. } = self.interrupted.take()?;
        let name = path.last()?.clone();
        let depth = path.len() - 2;
        Some((line, DivanRow::Named { depth, name, cells }))
    }

    /// Returns the row that is left without figures when the next one comes.
    fn cut_off(&mut self, next: Option<&DivanRow>) -> Option<BadLine> {
        let Interrupted {
            line,
            path,
            columns: found,
        } = self.interrupted.take()?;
        // Groups have no figures.
        if let Some(DivanRow::Named { depth, .. }) = next
            && *depth + 1 == path.len()
        {
            return None;
        }
        let all = COLUMNS.len();
        let reason = format!("the row is cut off: it has {found} of {all} columns");
        Some(BadLine::new(line, reason).of(path.join("::")))
    }

    /// Returns the row of the table that a line is, if it is one.
    fn take(&mut self, text: &str) -> Option<DivanRow> {
        if let Some(precision) = text.trim().strip_prefix("Timer precision: ") {
            self.precision = Some(precision.to_owned());
            return None;
        }
        if is_head(text) {
            let at = text.find(COLUMNS[0])?;
            self.width = Some(text[..at].chars().count());
            self.path = vec![text[..at].trim().to_owned()];
            self.has_strangers = false;
            self.is_complete = false;
            return None;
        }
        let width = self.width?;
        let at = text
            .char_indices()
            .nth(width)
            .map_or(text.len(), |(at, _)| at);
        let (tree, figures) = text.split_at(at);
        let depth = tree.chars().take_while(|it| "│ ├╰".contains(*it)).count() / 3;
        let branch = tree.find(['├', '╰']);
        if branch.is_none() && !(tree.starts_with([' ', '│']) && figures.contains('│')) {
            // Something else stands there, in the middle of the table or behind it.
            self.has_strangers = true;
            return None;
        }
        let cells = cells_in(figures);
        let is_foreign = branch.is_none() || (self.is_complete && !tree.starts_with(' '));
        if self.has_strangers && is_foreign && cells.len() < COLUMNS.len() {
            return None;
        }
        self.is_complete |= tree.starts_with('╰');
        Some(match branch {
            None => DivanRow::More(cells),
            Some(branch) => {
                let name = tree[branch..].trim_start_matches(['├', '╰', '─', ' ']);
                DivanRow::Named {
                    depth,
                    name: name.trim().to_owned(),
                    cells,
                }
            }
        })
    }

    /// Makes a benchmark of a row, or adds to the last one; returns the one before, which is
    /// complete then.
    fn put(
        &mut self,
        row: DivanRow,
        line: u64,
        last: &mut Option<Leaf>,
    ) -> Result<Option<Leaf>, BadLine> {
        match row {
            DivanRow::More(cells) => {
                let leaf = last
                    .as_mut()
                    .filter(|leaf| leaf.cells.is_some() && leaf.path == self.path)
                    .ok_or_else(|| BadLine::new(line, "there are figures without a name"))?;
                leaf.more.push((line, cells));
            }
            DivanRow::Named { depth, name, cells } => {
                if depth + 1 > self.path.len() {
                    let reason = format!("`{name}` hangs below nothing");
                    return Err(BadLine::new(line, reason).of(name));
                }
                self.path.truncate(depth + 1);
                self.path.push(name);
                if cells.len() < COLUMNS.len() {
                    self.interrupted = Some(Interrupted {
                        line,
                        path: self.path.clone(),
                        columns: cells.len(),
                    });
                    return Ok(None);
                }
                let is_group = cells.iter().all(String::is_empty);
                let is_ignored = cells.first().is_some_and(|cell| cell == "(ignored)");
                if !is_group {
                    return Ok(last.replace(Leaf {
                        line,
                        path: self.path.clone(),
                        precision: self.precision.clone(),
                        cells: (!is_ignored).then_some(cells),
                        more: Vec::new(),
                    }));
                }
            }
        }
        Ok(None)
    }
}

fn cells_in(figures: &str) -> Vec<String> {
    let cells = figures.split('│');
    cells.map(|cell| cell.trim().to_owned()).collect()
}

/// Returns the text without the sequences that colour it.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_gives_each_benchmark_its_path() {
        let text = "\
Timer precision: 20 ns
a           \u{1b}[1mfastest\u{1b}[0m  │ slowest │ median │ mean │ samples │ iters
├─ b                 │         │        │      │         │
│  ╰─ c              │         │        │      │         │
│     ├─ d  1 ns     │ 2 ns    │ 1 ns   │ 1 ns │ 5       │ 5
│     │     1 GB/s   │ 1 GB/s  │ 1 GB/s │ 1 GB │         │
╰─ é        (ignored)│         │        │      │         │

├─ d        1 ns     │ 2 ns    │ 1 ns   │ 1 ns │ 5       │ 5
done
├─ e        1 ns     │ 2 ns    │ 1 ns   │ 1 ns │ 5       │ 5
├─ src
";
        let source = Source::from_bytes("a.txt", text.as_bytes().to_vec()).expect("bytes");
        let mut leaves = Vec::new();
        each_leaf(&source, |leaf| {
            leaves.push(leaf.expect("a good row"));
            Ok(())
        })
        .expect("text");
        let found: Vec<(u64, String, usize)> = leaves
            .iter()
            .map(|leaf| (leaf.line, leaf.path.join(" "), leaf.more.len()))
            .collect();
        let expected = [
            (5, "a b c d", 1),
            (7, "a é", 0),
            (9, "a d", 0),
            (11, "a e", 0),
        ];
        assert_eq!(
            found,
            expected.map(|(line, path, more)| (line, path.to_owned(), more))
        );
        assert_eq!(leaves[0].precision.as_deref(), Some("20 ns"));
    }
}
