//! The table of a benchmark with parameters: rows and columns are its parameters.

/// The lines of a table so far.
#[derive(Debug, Default)]
pub(super) struct ParameterTable {
    /// The first and last character of each column, from the line of `=`.
    columns: Vec<(usize, usize)>,
    /// How many of the columns are parameters.
    keys: usize,
    /// How many lines of `=` there were.
    rules: usize,
    header: Vec<Vec<String>>,
}

/// The content of a line of a table.
#[derive(Debug, PartialEq)]
pub(super) enum TableLine {
    /// The parameters and the value of each cell.
    Cells(Vec<(String, String)>),
    /// Nothing yet.
    Header,
    End,
}

impl ParameterTable {
    /// Takes the next line.
    pub(super) fn line(&mut self, line: &str) -> TableLine {
        if is_rule(line, '=') {
            self.rules += 1;
            if self.rules == 1 {
                self.columns = columns(line);
            }
            if self.rules == 2 {
                self.begin();
            }
            return if self.rules >= 3 {
                TableLine::End
            } else {
                TableLine::Header
            };
        }
        match self.rules {
            1 => {
                if !is_rule(line, '-') {
                    self.header.push(self.cells(line));
                } else if self.groups() == 0 {
                    // The rows of a single parameter follow.
                    self.rules = 2;
                    self.begin();
                }
                TableLine::Header
            }
            2 => TableLine::Cells(self.values(line)),
            _outside => TableLine::End,
        }
    }

    /// Returns how many parameters the rows have, if the columns have others.
    fn groups(&self) -> usize {
        let first = self.header.first();
        let marks = first
            .into_iter()
            .flatten()
            .filter(|cell| cell.as_str() == "--");
        marks.count()
    }

    fn begin(&mut self) {
        self.keys = match self.groups() {
            0 => self.columns.len().saturating_sub(1),
            groups => groups,
        };
    }

    fn values(&self, line: &str) -> Vec<(String, String)> {
        let cells = self.cells(line);
        let Some((keys, values)) = cells.split_at_checked(self.keys) else {
            return Vec::new();
        };
        let titles = match self.header.len() {
            2.. => self.header.last(),
            _one => None,
        };
        let value = |(at, value): (usize, &String)| {
            let title = titles.and_then(|titles| titles.get(self.keys + at));
            let of_column = title.into_iter().flat_map(|title| title.split(" / "));
            let keys = keys.iter().map(String::as_str).chain(of_column);
            let parameters: Vec<String> = keys.map(|it| as_python(it.trim())).collect();
            (parameters.join(", "), value.clone())
        };
        let values = values.iter().enumerate();
        values
            .filter(|(_, value)| !value.is_empty())
            .map(value)
            .collect()
    }

    /// Returns the cells of a line. The header of several columns stands in all of them.
    fn cells(&self, line: &str) -> Vec<String> {
        let signs: Vec<char> = line.chars().collect();
        let cell = |(start, end): &(usize, usize)| {
            let start = (*start).min(signs.len());
            let text: String = signs[start..(end + 1).clamp(start, signs.len())]
                .iter()
                .collect();
            text.trim().to_owned()
        };
        self.columns.iter().map(cell).collect()
    }
}

/// Returns whether a line has nothing but groups of this sign, behind a share of progress if there is one.
pub(super) fn is_rule(line: &str, sign: char) -> bool {
    let rest = line.rsplit('·').next().unwrap_or(line).trim();
    rest.len() >= 3 && rest.contains(sign) && rest.chars().all(|it| it == sign || it == ' ')
}

fn columns(line: &str) -> Vec<(usize, usize)> {
    let mut columns: Vec<(usize, usize)> = Vec::new();
    for (at, _) in line.chars().enumerate().filter(|(_, sign)| *sign == '=') {
        match columns.last_mut() {
            Some((_, end)) if *end + 1 == at => *end = at,
            Some(_) | None => columns.push((at, at)),
        }
    }
    columns
}

/// Returns a parameter as Python writes it: texts in quotes, which tables leave out.
fn as_python(text: &str) -> String {
    let is_plain = text.parse::<f64>().is_ok()
        || ["True", "False", "None"].contains(&text)
        || text.starts_with(['\'', '"', '(', '[', '{', '<']);
    if is_plain {
        text.to_owned()
    } else {
        format!("'{text}'")
    }
}
