//! Finds out what the columns of a table mean, by their names and by what stands in them.

use crate::csv::heading::Heading;
use crate::csv::role::{CENTRES, COUNTS, KNOWN, NUMBERS, Role, SETTINGS, STATISTICS, VALUES};
use crate::csv::table::CsvTable;
use crate::shared::reading::cells::{is_missing, number, time};
use crate::shared::reading::marks::UnclearNumber;
use crate::shared::reading::notation::{DateOrder, DecimalMark, unclear_date};
use crate::{ColumnChoices, UnclearColumn};

/// Names of columns of dates, also where these cannot be read.
const DATES: [&str; 7] = [
    "date",
    "datum",
    "fecha",
    "timestamp",
    "datetime",
    "date_time",
    "run_date",
];

/// The columns of a table with their meaning.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) list: Vec<Column>,
    /// Columns that could be the value as well as the one that was taken.
    pub(super) rivals: Vec<String>,
}

/// A column.
#[derive(Debug)]
pub(super) struct Column {
    /// Its place in a row.
    pub(super) at: usize,
    /// Its name as it is written.
    pub(super) title: String,
    pub(super) heading: Heading,
    pub(super) role: Role,
    /// The order of its dates.
    pub(super) order: DateOrder,
    /// The decimal mark of its numbers.
    pub(super) mark: DecimalMark,
    /// A number of them that can be read in two ways.
    pub(super) unclear_number: Option<UnclearNumber>,
    /// Whether people gave it that mark.
    is_mark_given: bool,
    /// Whether people gave it its role.
    pub(super) is_given: bool,
    pub(super) content: Content,
    /// A date whose order nothing tells.
    unclear_date: Option<String>,
}

/// What stands in most cells of a column that are not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Nothing,
    Numbers,
    /// Whole numbers that may be Unix times.
    UnixTimes,
    /// Dates.
    Times,
    /// Dates, and nothing else.
    OnlyTimes,
    Text,
}

impl Columns {
    /// Returns the columns of a table.
    pub(super) fn of(table: &CsvTable, choices: &ColumnChoices) -> Result<Self, String> {
        check_header(&table.header)?;
        let columns = table.header.iter().enumerate().map(|(at, title)| {
            let order = DateOrder::of(table.column(at));
            let unclear = unclear_date(table.column(at), order);
            Column {
                at,
                title: title.clone(),
                heading: Heading::of(title),
                role: Role::Attribute,
                order,
                mark: table.marks[at].mark,
                unclear_number: table.marks[at].unclear.clone(),
                is_mark_given: false,
                is_given: false,
                content: match unclear {
                    Some(_) => Content::Times,
                    None => Content::of(table, at, order),
                },
                unclear_date: unclear.map(str::to_owned),
            }
        });
        let mut columns = Self {
            list: columns.collect(),
            rivals: Vec::new(),
        };
        columns.choose(choices)?;
        columns.know_hyperfine();
        columns.name();
        columns.find_date(table);
        columns.find_values(table)?;
        columns.find_parameters(table);
        Ok(columns)
    }

    /// Returns the columns of a role.
    pub(super) fn of_role(&self, role: Role) -> impl Iterator<Item = &Column> {
        self.list.iter().filter(move |column| column.role == role)
    }

    /// Returns the column of a role that only one has.
    pub(super) fn the(&self, role: Role) -> Option<&Column> {
        self.of_role(role).next()
    }

    /// Returns whether they look like measurements, for a file whose format is not given: something is measured, and
    /// it is said when or of what, or all that is measured has a unit.
    pub(super) fn are_measurements(&self) -> bool {
        let identity = [Role::Date, Role::Version, Role::Commit, Role::Benchmark];
        let has_identity = identity.iter().any(|role| self.the(*role).is_some());
        let mut values = self.of_role(Role::Value);
        has_identity || values.all(|it| it.heading.unit.is_some())
    }

    /// Returns the value that statistics and counts belong to: a mean or median, else the first one.
    pub(super) fn main_value(&self) -> Option<&Column> {
        let mut centres = self.of_role(Role::Value).filter(|it| it.is_centre());
        centres.next().or_else(|| self.the(Role::Value))
    }

    /// Returns the name of what the value is of many, if it is.
    pub(super) fn statistic(&self) -> Option<&'static str> {
        let main = self.main_value()?;
        if ["median", "m\u{e9}diane", "mediana"].contains(&main.heading.key().as_str()) {
            return Some("median");
        }
        (main.is_centre() || self.the(Role::Count).is_some()).then_some("mean")
    }

    /// Returns the names of all columns.
    pub(super) fn titles(&self) -> Vec<String> {
        self.list.iter().map(|it| it.title.clone()).collect()
    }

    /// Says in one line what each column means, as `--columns` takes it.
    pub(super) fn text(&self) -> String {
        let parts = Role::names().filter_map(Role::named).flat_map(|role| {
            let of_role = self.of_role(role).filter(|it| !it.title.is_empty());
            of_role.map(move |it| match (&it.heading.unit, role) {
                (_, Role::Value) if it.is_mark_given || it.unclear_number.is_some() => {
                    format!("{}={}", it.mark.name(), it.title)
                }
                (Some(unit), Role::Value) if !it.title.ends_with([')', ']']) => {
                    format!("{role}={} [{unit}]", it.title)
                }
                (_, Role::Date) => format!("{}={}", it.order.name(), it.title),
                (Some(_) | None, _) => format!("{role}={}", it.title),
            })
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Returns the values whose numbers can be read in two ways, where nothing was said of it.
    pub(super) fn unclear_numbers(&self) -> Vec<UnclearColumn> {
        let of_value = self.of_role(Role::Value).filter(|it| !it.is_mark_given);
        let unclear = of_value.filter_map(|it| {
            let number = it.unclear_number.as_ref()?;
            Some(UnclearColumn {
                title: it.title.clone(),
                cell: number.cell.clone(),
                taken: number.taken,
                otherwise: it.mark.other().name(),
            })
        });
        unclear.collect()
    }

    /// Gives the columns the roles that were asked for.
    fn choose(&mut self, choices: &ColumnChoices) -> Result<(), String> {
        for (role, title) in choices.iter() {
            let at = self.place(title)?;
            let column = &mut self.list[at];
            if let Some(order) = DateOrder::named(role) {
                (column.order, column.unclear_date) = (order, None);
            }
            if let Some(mark) = DecimalMark::named(role) {
                (column.mark, column.is_mark_given) = (mark, true);
            }
            column.role = Role::named(role).unwrap_or(Role::Attribute);
            column.is_given = true;
        }
        Ok(())
    }

    /// Returns the place of a column that is named or numbered (`#3`).
    fn place(&self, title: &str) -> Result<usize, String> {
        let exact = self.list.iter().position(|it| it.title == title);
        let alike = || {
            let mut list = self.list.iter();
            list.position(|it| it.title.eq_ignore_ascii_case(title))
        };
        let number = || {
            let number: usize = title.strip_prefix('#')?.parse().ok()?;
            number.checked_sub(1).filter(|at| *at < self.list.len())
        };
        exact.or_else(alike).or_else(number).ok_or_else(|| {
            let titles: Vec<String> = self
                .list
                .iter()
                .map(|it| format!("`{}`", it.title))
                .collect();
            format!("there is no column `{title}`, only {}", titles.join(", "))
        })
    }

    /// Gives the columns the roles that their names stand for, where their content agrees.
    fn name(&mut self) {
        for (role, names) in KNOWN {
            if !role.is_shared() && self.the(role).is_some() {
                continue;
            }
            for name in names {
                let fits = |it: &&mut Column| {
                    !it.is_given
                        && it.role == Role::Attribute
                        && it.has_key(name)
                        && it.content.fits(role)
                };
                let Some(column) = self.list.iter_mut().find(fits) else {
                    continue;
                };
                column.role = role;
                if !role.is_shared() {
                    break;
                }
            }
        }
        for column in &mut self.list {
            let prefix = column.title.to_lowercase();
            let is_parameter = prefix.starts_with("param:") || prefix.starts_with("param_");
            if column.role == Role::Attribute && !column.is_given && is_parameter {
                column.role = Role::Parameter;
            }
        }
    }

    /// Takes a column of dates for the date, whatever its name.
    fn find_date(&mut self, table: &CsvTable) {
        let is_date = |it: &&mut Column| {
            it.role == Role::Attribute
                && !it.is_given
                && (it.content == Content::OnlyTimes || it.unclear_date.is_some())
        };
        if self.the(Role::Date).is_some() {
            return;
        }
        if let Some(column) = self.list.iter_mut().find(is_date) {
            column.role = Role::Date;
            return;
        }
        // Dates that cannot be read are no parameter.
        let is_named = |it: &&mut Column| {
            let is_text = it.role == Role::Attribute && it.content == Content::Text;
            is_text && !it.is_given && DATES.contains(&it.heading.key().as_str())
        };
        if let Some(column) = self.list.iter_mut().find(is_named) {
            let mut cells = table.column(column.at);
            column.role = Role::Date;
            column.unclear_date = cells.find(|cell| !is_missing(cell)).map(str::to_owned);
        }
    }

    /// Returns the columns, unless their dates can be read in two ways.
    pub(super) fn with_clear_dates(self) -> Result<Self, String> {
        let date = self.the(Role::Date);
        let unclear = date.and_then(|it| Some((&it.title, it.unclear_date.as_ref()?, it.content)));
        match unclear {
            Some((title, cell, Content::Text)) => Err(format!(
                "`{cell}` in column `{title}` is no date that can be read, such as 2026-11-05 or 5.11.2026"
            )),
            Some((title, cell, _)) => Err(format!(
                "`{cell}` in column `{title}` may begin with the day or with the month: say `--columns date_dmy={title}` or `--columns date_mdy={title}`"
            )),
            None => Ok(self),
        }
    }

    /// Gives hyperfine's table its unit, which it does not state.
    fn know_hyperfine(&mut self) {
        const COLUMNS: [&str; 8] = [
            "command", "mean", "stddev", "median", "user", "system", "min", "max",
        ];
        let has = |name: &str| self.list.iter().any(|it| it.title == name);
        if COLUMNS.into_iter().all(has) {
            for column in &mut self.list {
                if COLUMNS[1..].contains(&column.title.as_str()) {
                    column.heading.unit = Some("s".to_owned());
                }
            }
        }
    }

    /// Finds the values among the columns of numbers that mean nothing else.
    fn find_values(&mut self, table: &CsvTable) -> Result<(), String> {
        let free = Column::is_free_number;
        let is_given = self.the(Role::Value).is_some();
        let named = |of: &Self, names: &[&str]| -> Vec<usize> {
            let with = |name: &&str| {
                let mut list = of.list.iter();
                list.position(|it| free(it) && it.heading.key() == **name)
            };
            names.iter().filter_map(with).collect()
        };
        let (values, centres) = (named(self, &VALUES), named(self, &CENTRES));
        let measured = |it: &&Column| free(it) && !it.is_setting();
        let all: Vec<usize> = self.list.iter().filter(measured).map(|it| it.at).collect();
        let is_long = self.the(Role::Metric).is_some();
        let taken: Vec<usize> = match (is_given, values.first(), centres.first()) {
            (true, ..) => Vec::new(),
            (false, Some(first), _) => {
                let has_unit = |at: &usize| {
                    let column = &self.list[*at];
                    column.heading.unit.is_some() && !column.is_figure()
                };
                let is_rival = |at: &usize| at != first && (values.contains(at) || has_unit(at));
                let rivals: Vec<usize> = all.iter().copied().filter(is_rival).collect();
                self.rivals = self.titles_at(&rivals);
                vec![*first]
            }
            (false, None, Some(first)) => {
                let figures = |at: &usize| !self.list[*at].is_figure();
                let others = all.iter().copied().filter(figures);
                std::iter::once(*first).chain(others).collect()
            }
            (false, None, None) if is_long => {
                self.rivals = self.titles_at(all.get(1..).unwrap_or_default());
                all.first().copied().into_iter().collect()
            }
            (false, None, None) => self.without_counts(all),
        };
        for at in taken {
            self.list[at].role = Role::Value;
        }
        let Some(main) = self.main_value() else {
            return Err(self.without_values(table));
        };
        // Figures belong to a single value, or to the one that is one of them.
        let is_one = main.is_centre() || self.of_role(Role::Value).count() == 1;
        if is_one {
            for column in &mut self.list {
                if column.is_free_number() {
                    if column.is_count() {
                        column.role = Role::Count;
                    } else if column.is_figure() {
                        column.role = Role::Statistic;
                    }
                }
            }
        }
        Ok(())
    }

    /// Leaves out what was counted beside values with a unit, which is not the counts'.
    fn without_counts(&self, places: Vec<usize>) -> Vec<usize> {
        let is_count = |at: &usize| self.list[*at].is_count();
        if self.the(Role::Unit).is_none() || places.iter().all(is_count) {
            return places;
        }
        places.into_iter().filter(|at| !is_count(at)).collect()
    }

    /// Returns whether the unit of a row is that of a column's value in it.
    pub(super) fn takes_unit(&self, column: &Column) -> bool {
        let unit = self.the(Role::Unit);
        let is_of_times = unit.is_some_and(|unit| unit.heading.key() == "time_unit");
        !column.is_count() && (!is_of_times || column.heading.may_be_time())
    }

    /// Says that there are no values, with a text that a number was expected instead of.
    fn without_values(&self, table: &CsvTable) -> String {
        let is_value = |it: &&Column| {
            let is_text = it.role == Role::Attribute && it.content == Content::Text;
            is_text && (it.heading.unit.is_some() || it.has_usual_name())
        };
        let texts = |it: &Column| {
            let mark = it.mark;
            let mut cells = table.column(it.at);
            let cell = cells.find(|cell| number(cell, mark).is_none())?;
            Some(format!("`{}` has texts such as {cell:?}", it.title))
        };
        let reason = self.list.iter().find(is_value).and_then(texts);
        let reason = reason
            .unwrap_or_else(|| "all of them are texts, dates or numbers of something".to_owned());
        format!("no column has measured values: {reason}")
    }

    fn titles_at(&self, places: &[usize]) -> Vec<String> {
        places
            .iter()
            .map(|at| self.list[*at].title.clone())
            .collect()
    }
}

impl Column {
    fn has_key(&self, name: &str) -> bool {
        // The name of a column such as `date_ms` ends in a unit, which belongs to it.
        self.heading.key() == name || crate::csv::heading::key(&self.title) == name
    }

    /// Returns whether its name is that of a value.
    fn has_usual_name(&self) -> bool {
        let key = self.heading.key();
        [&VALUES[..], &CENTRES]
            .iter()
            .any(|names| names.contains(&key.as_str()))
            || self.heading.unit(None).metric.better.is_some()
    }

    /// Returns whether a unit or its name says what its numbers are; a name that it was given does not.
    pub(super) fn is_told(&self, has_header: bool) -> bool {
        self.heading.unit.is_some() || has_header && self.has_usual_name()
    }

    /// Returns whether it means nothing else yet.
    pub(super) fn is_free(&self) -> bool {
        self.role == Role::Attribute && !self.is_given
    }

    fn is_free_number(&self) -> bool {
        self.is_free() && self.content.is_numbers()
    }

    /// Returns whether its numbers were chosen, or only tell rows apart.
    fn is_setting(&self) -> bool {
        let key = self.heading.key();
        let is_known = |names: &[&str]| names.contains(&key.as_str());
        is_known(&SETTINGS) || is_known(&NUMBERS) || key.ends_with("_id") || self.title.is_empty()
    }

    /// Returns whether it is a mean or median.
    fn is_centre(&self) -> bool {
        CENTRES.contains(&self.heading.key().as_str())
    }

    /// Returns whether it is another figure of a value.
    fn is_figure(&self) -> bool {
        STATISTICS.contains(&self.heading.key().as_str()) || self.is_count()
    }

    fn is_count(&self) -> bool {
        COUNTS.contains(&self.heading.key().as_str())
    }
}

impl Content {
    /// Returns what stands in most cells.
    fn of(table: &CsvTable, at: usize, order: DateOrder) -> Self {
        let (mut filled, mut numbers, mut times, mut whole) = (0_usize, 0, 0, 0);
        for cell in table.column(at) {
            if is_missing(cell) {
                continue;
            }
            filled += 1;
            let is_number = number(cell, table.marks[at].mark).is_some();
            numbers += usize::from(is_number);
            whole += usize::from(is_number && !cell.contains(['.', ',', 'e']));
            times += usize::from(time(cell, order).is_some());
        }
        match filled {
            0 => Self::Nothing,
            // Numbers with decimals are rarely times, whatever their size.
            _ if 2 * numbers > filled && 2 * times > filled && whole == numbers => Self::UnixTimes,
            _ if 2 * numbers > filled => Self::Numbers,
            _ if times == table.rows.len() => Self::OnlyTimes,
            _ if 2 * times > filled => Self::Times,
            _ => Self::Text,
        }
    }

    fn is_numbers(self) -> bool {
        matches!(self, Self::Numbers | Self::UnixTimes)
    }

    /// Returns whether a column of that role can hold this.
    fn fits(self, role: Role) -> bool {
        match role {
            Role::Date => matches!(self, Self::Times | Self::OnlyTimes | Self::UnixTimes),
            Role::Benchmark | Role::Metric | Role::Unit => self == Self::Text,
            Role::Version | Role::Commit | Role::Instance | Role::Iteration => {
                self != Self::Nothing
            }
            Role::Branch
            | Role::Session
            | Role::Parameter
            | Role::Host
            | Role::Variant
            | Role::BurnIn
            | Role::Value
            | Role::Statistic
            | Role::Count
            | Role::Attribute => self != Self::Nothing,
        }
    }
}

/// Returns an error for a first line that names no columns.
fn check_header(header: &[String]) -> Result<(), String> {
    let no_name = |title: &&String| {
        number(title, DecimalMark::Point).is_some_and(f64::is_finite)
            || time(title, DateOrder::Unknown).is_some()
    };
    match header.iter().find(no_name) {
        Some(cell) => Err(format!(
            "the first line has to name the columns, and `{cell}` is no name: put a line such as `date,commit,benchmark,seconds` before it"
        )),
        None => Ok(()),
    }
}
