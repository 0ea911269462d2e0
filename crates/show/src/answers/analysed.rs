//! Results of questions that are answered benchmark by benchmark.

use lapwing_analyse::clean::Audit;
use lapwing_model::text::{first_names, plural};

use super::audit::{AuditDetail, AuditPart};
use super::not_judged;
use crate::earlier_epoch_text;
use crate::writing::Note;

/// Results of all benchmarks that could be analysed, and what was left out.
#[derive(Debug)]
pub struct Analysed<R> {
    /// Results, one per benchmark, metric and setting.
    pub rows: Vec<R>,
    /// Exclusions.
    pub audit: Audit,
    /// How many of the exclusions are listed.
    pub detail: AuditDetail,
    /// Number of older versions left out although the options do not ask for that.
    pub older: usize,
    /// Number of instances of earlier epochs.
    pub earlier: usize,
    /// Benchmarks that are analysed although they never reach a steady state.
    pub unsteady: Vec<String>,
}

impl<R> Analysed<R> {
    /// Returns notes on excluded results.
    pub fn exclusions(&self) -> Vec<Note> {
        let mut notes: Vec<Note> = earlier_note(self.earlier).into_iter().collect();
        if self.detail == AuditDetail::Line {
            notes.extend(not_judged::note(&not_judged::of_audit(&self.audit)));
        }
        notes.extend(self.unsteady_note());
        notes
    }

    /// Returns a note on benchmarks that are analysed although they never reach a steady state.
    pub fn unsteady_note(&self) -> Option<Note> {
        let names = first_names(self.unsteady.iter(), 5);
        let them = plural(self.unsteady.len(), "it", "them");
        (!self.unsteady.is_empty()).then(|| {
            let text = format!(
                "{names} never {} a steady state, so the numbers depend on how long was measured: fix or retire {them}; \
                 `--clean burn_in=auto` excludes {them}, `lapwing burn-in` shows {them}",
                plural(self.unsteady.len(), "reaches", "reach"),
            );
            Note::new("never_steady", text).with("benchmarks", self.unsteady.len())
        })
    }

    /// Returns the exclusions below the answer.
    pub fn audit_part(&self) -> AuditPart<'_> {
        AuditPart {
            audit: &self.audit,
            detail: self.detail,
        }
    }
}

/// Returns a note on excluded instances of earlier epochs.
pub fn earlier_note(number: usize) -> Option<Note> {
    let note = Note::marked("earlier_epoch", earlier_epoch_text(number));
    (number > 0).then(|| note.with("instances", number))
}
