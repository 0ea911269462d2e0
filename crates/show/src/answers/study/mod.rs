//! Answers about factor studies: `lapwing study`.

mod carry_over;
mod colour;
mod confirm;
mod curves;
mod deltas;
mod design;
mod fields;
mod finding_row;
mod findings;
mod fit;
mod fit_fields;
mod means;
mod optimise;
mod paths;
mod pca;
mod scatter;
mod split;
mod stability;

use std::path::Path;

use lapwing_model::text::grouped;
use lapwing_study::{StudyData, StudyFitError, StudyScale, StudyViewError};
use serde::Serialize;
use serde_json::Value;

pub use self::carry_over::ComparedStudies;
pub use self::confirm::{ConfirmationAnswer, FEWEST_INSTANCES};
pub use self::design::{DESIGN_FILE, DesignAnswer, replicates_note};
use self::fields::StudyFields;
pub use self::optimise::{OptimisationAnswer, round_text};
pub use self::paths::PathQuestion;
pub use self::pca::ComponentQuestion;
pub use self::split::SplitAnswer;
pub use self::stability::stability_note;
use crate::chart::{Chart, PageSection, SaveError, save_page_with};
use crate::study::data_note;
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// The kinds of answers about studies.
pub const KINDS: &[&AnswerKind] = &[
    &carry_over::KIND,
    &colour::KIND,
    &confirm::KIND,
    &curves::KIND,
    &deltas::KIND,
    &design::KIND,
    &findings::KIND,
    &fit::KIND,
    &means::KIND,
    &optimise::KIND,
    &paths::KIND,
    &pca::KIND,
    &scatter::KIND,
    &split::KIND,
    &stability::KIND,
];

/// An answer about a study, with its charts.
#[derive(Debug)]
pub struct StudyAnswer<'d> {
    kind: &'static AnswerKind,
    data: &'d StudyData,
    headline: String,
    table: Table,
    notes: Vec<Note>,
    /// Notes on the data, below the others.
    data_notes: Vec<Note>,
    verdict: Option<&'static str>,
    /// Number of rows that are listed without `--full`, of the table and of the list in JSON: `None` for all.
    shown: Option<usize>,
    rows: CsvRows,
    json: Value,
    /// The charts by name; several may have the same.
    pub charts: Vec<(&'static str, Chart)>,
    sections: Vec<PageSection>,
}

/// Reason why a question about a study has no answer.
#[derive(Debug, thiserror::Error)]
pub enum StudyAnswerError {
    /// The data have no such view.
    #[error(transparent)]
    View(#[from] StudyViewError),
    /// The model predicts nothing.
    #[error(transparent)]
    Fit(#[from] StudyFitError),
    /// A row could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl<'d> StudyAnswer<'d> {
    /// Returns an answer with the fields of its kind and with rows for spreadsheets, and no words yet.
    fn of_view<R: Serialize + Default>(
        kind: &'static AnswerKind,
        data: &'d StudyData,
        scale: StudyScale,
        rows: &[R],
        view: impl Serialize,
    ) -> Result<Self, WriteError> {
        Ok(Self {
            kind,
            data,
            headline: String::new(),
            table: Table::default(),
            notes: Vec::new(),
            data_notes: data.notes.iter().map(data_note).collect(),
            verdict: None,
            shown: None,
            rows: csv_rows(rows)?,
            json: serde_json::to_value(StudyFields::new(data, scale, view))?,
            charts: Vec::new(),
            sections: Vec::new(),
        })
    }

    /// Saves a page with the answer in sentences, and all charts below them.
    ///
    /// # Errors
    ///
    /// Returns the error of the file.
    pub fn save_page(&self, path: &Path) -> Result<(), SaveError> {
        let mut sections = self.sections.clone();
        let notes = self.notes.iter().chain(&self.data_notes);
        let sentences: Vec<String> = notes.map(|note| note.text.clone()).collect();
        if !sentences.is_empty() {
            sections.push(PageSection {
                title: "Notes".to_owned(),
                sentences,
            });
        }
        let lead = format!(
            "{}; {}. {}.",
            self.data.metric.name.replace('_', " "),
            self.data.size_text(),
            self.headline
        );
        let title = format!("Study of {}", self.data.benchmark);
        save_page_with(path, &title, &lead, &sections, &self.charts())
    }

    /// Returns the number of rows of a view out of all.
    fn listed(&self, view: View, all: usize) -> usize {
        let shown = self.shown.filter(|_| !view.full);
        shown.map_or(all, |shown| shown.min(all))
    }

    fn all_listed(&self) -> usize {
        let list = self.kind.list.and_then(|list| self.json[list].as_array());
        list.map_or(0, Vec::len)
    }
}

impl Answer for StudyAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        self.kind
    }

    fn for_people(&self, view: View) -> TextAnswer {
        let mut table = self.table.clone();
        let all = table.len();
        let listed = self.listed(view, all);
        table.truncate(listed);
        let mut notes = self.notes.clone();
        if listed < all {
            let hidden = all - listed;
            let text = format!("{} more not shown (`--full` shows all)", grouped(hidden));
            notes.push(Note::new("not_shown", text).with("rows", hidden));
        }
        notes.extend(self.data_notes.iter().cloned());
        TextAnswer {
            headline: self.headline.clone(),
            table,
            notes,
            ..TextAnswer::default()
        }
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        let mut json = self.json.clone();
        let listed = self.listed(view, self.all_listed());
        let list = self.kind.list.and_then(|list| json[list].as_array_mut());
        list.into_iter().for_each(|rows| rows.truncate(listed));
        Ok(json)
    }

    fn omitted_rows(&self, view: View) -> usize {
        let all = self.all_listed();
        all - self.listed(view, all)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        Ok(self.rows.clone())
    }

    fn charts(&self) -> Vec<Chart> {
        let charts = self.charts.iter();
        charts.map(|(_, chart)| chart.clone()).collect()
    }

    fn verdict(&self) -> Option<&'static str> {
        self.verdict
    }
}

/// Returns a text, or a dash in its place.
fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

/// Returns a p-value as text.
fn p_text(p_value: Option<f64>) -> String {
    or_dash(p_value.map(|p| {
        if p < 0.0001 {
            "<0.0001".to_owned()
        } else {
            format!("{p:.2}").replace("0.00", &format!("{p:.4}"))
        }
    }))
}
