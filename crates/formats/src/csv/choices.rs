//! The meaning that people give to columns.

use crate::shared::reading::notation::WRITTEN;
use std::fmt;

use crate::csv::role::{FACTOR, Role};

/// The columns of a CSV file that mean something else than their names and contents suggest: `value=seconds`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnChoices(Vec<(String, String)>);

impl fmt::Display for ColumnChoices {
    /// Writes the text that [`ColumnChoices::parse`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.iter().map(|(role, column)| format!("{role}={column}"));
        f.write_str(&parts.collect::<Vec<String>>().join(","))
    }
}

impl ColumnChoices {
    /// Returns the choices in a text such as `value=seconds,benchmark=name`.
    ///
    /// # Errors
    /// In words, when it is no such text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut choices: Vec<(String, String)> = Vec::new();
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let Some((role, column)) = part.split_once('=') else {
                return Err(format!("`{part}` is not MEANING=COLUMN"));
            };
            let (role, column) = (role.trim(), column.trim());
            let Some(known) = Role::named(role) else {
                let names: Vec<&str> = Role::names().chain(WRITTEN).chain([FACTOR]).collect();
                return Err(format!("`{role}` is not one of {}", names.join(", ")));
            };
            if !known.is_shared() && choices.iter().any(|(it, _)| Role::named(it) == Some(known)) {
                return Err(format!("`{role}` can only be one column"));
            }
            choices.push((role.to_owned(), column.to_owned()));
        }
        Ok(Self(choices))
    }

    /// Returns whether nothing was chosen.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns these choices and another one.
    #[must_use]
    pub(crate) fn and(&self, meaning: &str, column: &str) -> Self {
        let mut choices = self.clone();
        choices.0.push((meaning.to_owned(), column.to_owned()));
        choices
    }

    /// Returns the choices that a line of [`crate::ColumnsUsed`] says of these columns.
    pub(super) fn of_text(text: &str, titles: &[String]) -> Self {
        let text = format!(", {text}, ");
        let roles: Vec<&str> = Role::names().chain(WRITTEN).collect();
        let mut choices = Vec::new();
        for title in titles.iter().filter(|title| !title.is_empty()) {
            let is_said = |role: &&&str| {
                let part = format!(", {role}={title}");
                [", ", " ["]
                    .iter()
                    .any(|end| text.contains(&format!("{part}{end}")))
            };
            if let Some(role) = roles.iter().find(is_said) {
                choices.push(((*role).to_owned(), title.clone()));
            }
        }
        Self(choices)
    }

    /// Adds the choices of others, where it has none of the same column. A meaning that only one column can have stays
    /// with the column that has it.
    pub(super) fn add(&mut self, others: &Self) {
        for (name, title) in &others.0 {
            let role = Role::named(name).unwrap_or(Role::Attribute);
            let is_taken = |(name, _): &(String, String)| Role::named(name) == Some(role);
            let is_free = role.is_shared() || !self.0.iter().any(is_taken);
            if !self.has(title) {
                let name = if is_free {
                    name.clone()
                } else {
                    Role::Attribute.to_string()
                };
                self.0.push((name, title.clone()));
            }
        }
    }

    /// Makes attributes of all other columns.
    pub(super) fn leave_others(&mut self, titles: &[String]) {
        for title in titles {
            if !title.is_empty() && !self.has(title) {
                let role = Role::Attribute.to_string();
                self.0.push((role, title.clone()));
            }
        }
    }

    fn has(&self, title: &str) -> bool {
        self.0.iter().any(|(_, known)| known == title)
    }

    /// Returns the meanings with their columns.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(role, column)| (role.as_str(), column.as_str()))
    }
}
