//! What tells asv's results from each other: ids of a file's session and of what a row says.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::Source;
use crate::asv::wire::{AsvDocument, AsvMeasured, AsvRow};
use lapwing_model::Id;

/// Returns what tells a result from all others. asv writes what it measures later of the same
/// commit, environment and machine into the same file, so that the file's digest does not.
/// Without a commit there is nothing but that.
pub(super) fn identity(
    source: &Source,
    wire: &AsvDocument<'_>,
    host: Option<&str>,
) -> Option<[u8; 32]> {
    let commit = wire.commit_hash.as_deref().filter(|it| !it.is_empty())?;
    let environment = match wire.env_name.as_deref() {
        Some(name) if !name.is_empty() => name.to_owned(),
        Some(_) | None => json!([wire.python, wire.requirements]).to_string(),
    };
    let folder = source
        .path()
        .and_then(Path::parent)
        .and_then(Path::file_name);
    let folder = folder.map(|name| name.to_string_lossy().into_owned());
    let machine = host.map(str::to_owned).or(folder).unwrap_or_default();
    let mut content = AsvContent::default();
    for part in [commit, &environment, &machine] {
        content.text(part);
    }
    Some(content.digest())
}

/// Returns an id of its own for what stands in a file twice, word for word.
pub(super) fn distinct_id(id: Id, twins: &mut BTreeMap<Id, u64>) -> Id {
    let before = twins.entry(id).or_default();
    let number = *before;
    *before += 1;
    match number {
        0 => id,
        _ => Id::derived(&[id.as_bytes(), &number.to_le_bytes()]),
    }
}

/// Returns the digest of what a row says of one combination.
///
/// Where asv measures only some combinations again, it gives the new start to all of them
/// and may forget the samples of the others. Hence a start only tells something of a row
/// with one combination, and samples only where there are no statistics of them.
pub(super) fn content(
    name: &str,
    values: &[&Value],
    row: &AsvRow,
    alone: bool,
    (measured, samples): (AsvMeasured, &[f64]),
    place: usize,
) -> [u8; 32] {
    let mut content = AsvContent::default();
    content.text(name);
    content.count(values.len());
    for value in values {
        content.text(&value.to_string());
    }
    content.text(row.version.as_deref().unwrap_or_default());
    if alone {
        content.number(row.started_at);
        content.number(row.ended_at);
    }
    match measured {
        AsvMeasured::Value(value) => content.number(Some(value)),
        AsvMeasured::Failed => content.text("failed"),
        AsvMeasured::Skipped => content.text("skipped"),
    }
    for (statistic, column) in &row.stats {
        if let Some(figure) = column.get(place).copied().flatten() {
            content.text(statistic);
            content.number(Some(figure));
        }
    }
    if alone || !row.has_statistics(place) {
        content.count(samples.len());
        for sample in samples {
            content.number(Some(*sample));
        }
    }
    content.digest()
}

/// A digest of what was read, however it was written.
#[derive(Default)]
struct AsvContent(Sha256);

impl AsvContent {
    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text);
    }

    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_le_bytes());
    }

    fn number(&mut self, number: Option<f64>) {
        match number.filter(|it| !it.is_nan()) {
            None => self.0.update([0]),
            Some(number) => {
                self.0.update([1]);
                self.0.update(number.to_bits().to_le_bytes());
            }
        }
    }

    fn digest(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}
