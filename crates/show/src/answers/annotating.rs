//! Annotations that were added: `lapwing db rename`, `retire`, `restore` and `lapwing triage`.

use lapwing_model::text::{counted, plural, shell_word};
use lapwing_model::{Annotation, Object};
use lapwing_record::{AnnotationCounts, Remark, TouchedCounts};
use schemars::JsonSchema;
use serde::Serialize;

use crate::writing::{AnswerKind, NextStep, Note, ReadyAnswer, TextAnswer, WriteError};

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<AddedFields<'_>>("annotate").listing("annotations");

/// Annotations that were added, or would be.
#[derive(Debug)]
pub struct AddedAnnotations<'a> {
    /// The change in words: `renamed a to b`.
    pub sentence: String,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// The affected benchmarks and instances, if they are counted.
    pub touched: Option<TouchedCounts>,
    /// The annotations; those of a dry run are not in the store.
    pub annotations: Vec<&'a Annotation>,
    /// Annotations that were undone.
    pub undone: &'a [Remark],
    /// Remarks.
    pub notes: Vec<Note>,
    /// How a suggested command starts.
    pub program: String,
}

/// Added annotations for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct AddedFields<'a> {
    /// Whether nothing was changed.
    dry_run: bool,
    /// Number of affected benchmarks; `null` if they are not counted.
    benchmarks: Option<u64>,
    /// Number of affected instances; `null` if they are not counted.
    instances: Option<u64>,
    annotations: Vec<AddedAnnotation<'a>>,
    /// Annotations that were undone.
    undone: Vec<UndoneAnnotation<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct UndoneAnnotation<'a> {
    id: String,
    action: &'a str,
    at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AddedAnnotation<'a> {
    #[serde(flatten)]
    row: AddedRow<'a>,
    /// The target of the annotation, as recorded.
    target: &'a Object,
}

#[derive(Debug, Default, Clone, Serialize, JsonSchema)]
struct AddedRow<'a> {
    /// Its id; `null` in a dry run.
    id: Option<String>,
    by: &'a str,
    action: &'a str,
    reason: Option<&'a str>,
}

impl AddedAnnotations<'_> {
    /// Returns the answer.
    ///
    /// # Errors
    ///
    /// Returns the error of a value that JSON has no form for.
    pub fn answer(self) -> Result<ReadyAnswer, WriteError> {
        let rows = self.annotations.iter().map(|it| AddedRow {
            id: (!self.dry_run).then(|| it.id.to_string()),
            by: &it.by,
            action: &it.action,
            reason: it.reason.as_deref(),
        });
        let rows: Vec<AddedRow<'_>> = rows.collect();
        let annotations = rows.iter().zip(&self.annotations);
        let annotations = annotations.map(|(row, it)| AddedAnnotation {
            row: row.clone(),
            target: &it.target,
        });
        let undone = self.undone.iter().map(|it| UndoneAnnotation {
            id: it.annotation.id.to_string(),
            action: &it.annotation.action,
            at: it.annotation.at.to_string(),
        });
        let fields = AddedFields {
            dry_run: self.dry_run,
            benchmarks: self.touched.map(|it| it.benchmarks),
            instances: self.touched.map(|it| it.instances),
            annotations: annotations.collect(),
            undone: undone.collect(),
        };
        let about = self.touched.map_or_else(String::new, |touched| {
            let benchmarks = counted(touched.benchmarks, "benchmark");
            format!(": {benchmarks}, {}", counted(touched.instances, "instance"))
        });
        let mut notes = self.notes;
        if self.dry_run {
            notes.push(Note::marked("dry_run", "nothing was changed"));
        }
        let undoable = self.annotations.iter().filter(|it| it.action != "restore");
        let undoable: Vec<&&Annotation> = undoable.filter(|_| !self.dry_run).collect();
        let program = self.program;
        let next = match undoable.as_slice() {
            [] => None,
            [only] => Some(NextStep::new(
                format!("{program} db restore {}", only.id),
                "undoes it",
            )),
            several => Some(NextStep::new(
                format!("{program} db annotations"),
                format!(
                    "lists the {} that were added",
                    counted(several.len(), "annotation")
                ),
            )),
        };
        let text = TextAnswer {
            headline: format!("{}{about}", self.sentence),
            notes,
            next: next.into_iter().collect(),
            ..TextAnswer::default()
        };
        ReadyAnswer::new(&KIND, text, &fields, &rows)
    }
}

/// Returns a note on annotations of others that do not count in judgements, and on how to honour them.
pub fn disregarded_note(disregarded: &AnnotationCounts) -> Option<Note> {
    let total = disregarded.total();
    if total == 0 {
        return None;
    }
    let authors = disregarded.authors();
    let in_file = "`triage_by` in the [judge] table of the suite file";
    // The option takes names apart at commas.
    let how = if authors.iter().any(|author| author.contains(',')) {
        in_file.to_owned()
    } else {
        format!(
            "`--triage-by {}` or {in_file}",
            shell_word(&authors.join(","))
        )
    };
    let text = format!(
        "{} from {} {} not count here; {how} would honour {}",
        disregarded.text(),
        plural(total, "another store", "other stores"),
        plural(total, "does", "do"),
        plural(total, "it", "them"),
    );
    let note = Note::marked("not_honoured", text);
    Some(note.with("annotations", total).with("by", authors))
}

/// Returns a note on annotations that came from elsewhere, with their authors.
pub fn came_note(came: &AnnotationCounts) -> Option<Note> {
    let text = format!(
        "{} came with it; judgements honour annotations of others only if an allowed signer signed them, or \
         under --triage-by",
        came.text(),
    );
    let note = Note::marked("annotations_of_others", text);
    let note = note.with("annotations", came.total());
    (came.total() > 0).then(|| note.with("by", came.authors()))
}
