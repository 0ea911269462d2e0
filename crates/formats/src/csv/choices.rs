//! The meaning that people give to columns.

use crate::csv::role::Role;

/// The columns of a CSV file that mean something else than their names and contents suggest: `value=seconds`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnChoices(Vec<(String, String)>);

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
                let names: Vec<&str> = Role::names().chain(["date_dmy", "date_mdy"]).collect();
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

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(role, column)| (role.as_str(), column.as_str()))
    }
}
