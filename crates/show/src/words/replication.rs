//! Notes on how comparisons were made: units of replication, sessions, exact counts, looks.

use lapwing_analyse::judge::{ComparedRatio, Comparison, Looks, ReplicationUnit, SessionNoise};
use lapwing_model::text::counted;

use super::super::quantity::percent;
use crate::writing::Note;

/// Returns the note on how much sessions differ, where the sides are of different ones and the store knows.
fn session_note(comparisons: &[Comparison]) -> Option<Note> {
    let noises = comparisons.iter().filter_map(Comparison::session_noise);
    session_noise_note(noises.collect())
}

/// Returns the note on how much sessions differ; `None` if nothing says so.
pub fn session_noise_note(mut noises: Vec<SessionNoise>) -> Option<Note> {
    noises.sort_by(|one, other| one.deviation().total_cmp(&other.deviation()));
    let (least, most) = (noises.first()?, noises.last()?);
    let sessions = noises.iter().map(|it| it.sessions).max()?;
    let [low, high] = [least, most].map(|it| percent(it.deviation()));
    let by = if low == high {
        format!("about {low}")
    } else {
        format!("between {low} and {high}")
    };
    let text = format!(
        "the sides are from different sessions, which differ by {by} (standard deviation, from {}): intervals \
         and p-values allow for it",
        counted(sessions, "earlier session")
    );
    let note = Note::marked("session_noise", text).with("sessions", sessions);
    let ends = [least, most].map(|it| it.deviation());
    Some(note.with("least_sd", ends[0]).with("most_sd", ends[1]))
}

/// Returns the notes on how comparisons were made: units of replication other than the instance, earlier sessions,
/// exact counts, looks: `the unit of replication is the block (10 pairs); pairing made intervals 35 % narrower`.
pub fn replication_notes(comparisons: &[Comparison]) -> Vec<Note> {
    let mut notes = Vec::new();
    for unit in [
        ReplicationUnit::Session,
        ReplicationUnit::Pair,
        ReplicationUnit::Block,
        ReplicationUnit::Host,
    ] {
        let ratios: Vec<&ComparedRatio> = comparisons
            .iter()
            .filter_map(|comparison| comparison.ratio.as_ref())
            .filter(|ratio| ratio.unit == unit)
            .collect();
        let mut sizes: Vec<usize> = ratios
            .iter()
            .map(|ratio| ratio.replicates[0].min(ratio.replicates[1]))
            .collect();
        sizes.sort_unstable();
        let (Some(least), Some(most)) = (sizes.first(), sizes.last()) else {
            continue;
        };
        let mut unequal = ratios.iter().map(|ratio| ratio.replicates);
        let first = unequal.next().filter(|sizes| sizes[0] != sizes[1]);
        let unequal = first.filter(|first| unequal.all(|sizes| sizes == *first));
        let number = if let Some([baseline, candidate]) = unequal {
            format!("{baseline} and {candidate}")
        } else if least == most {
            least.to_string()
        } else {
            format!("{least}–{most}")
        };
        let what = if ratios.iter().any(|ratio| ratio.unpaired.is_some()) {
            " pairs"
        } else if unequal.is_some() {
            ""
        } else {
            " per side"
        };
        let text = format!(
            "the unit of replication is the {}: {number}{what}",
            unit.name()
        );
        let note = Note::marked("replication", text).with("unit", unit.name());
        notes.push(note.with("least", *least).with("most", *most));
    }
    notes.extend(session_note(comparisons));
    let is_of_others = |it: &&Comparison| it.session_noise().is_none() && it.earlier_sessions() > 0;
    let earlier = comparisons.iter().filter(is_of_others);
    if let Some(most) = earlier.map(Comparison::earlier_sessions).max() {
        let text = format!(
            "how noisy a benchmark is was learned from {} as well",
            counted(most, "earlier session")
        );
        notes.push(Note::marked("earlier_sessions", text).with("sessions", most));
    }
    let mut exact: Vec<&str> = Vec::new();
    for it in comparisons.iter().filter(|it| it.is_exact) {
        if !exact.contains(&it.subject.metric.as_str()) {
            exact.push(&it.subject.metric);
        }
    }
    if !exact.is_empty() {
        let text = format!(
            "counts that never vary within a side are compared exactly: {}",
            exact.join(", ")
        );
        notes.push(Note::marked("exact", text).with("metrics", exact));
    }
    let looks = comparisons.iter().filter_map(|it| it.replication.as_ref());
    let looks = looks.map(|it| &it.looks).filter(|it| !it.are_plain());
    if let Some(most) = looks.map(Looks::count).max() {
        let text = format!(
            "the results were looked at while instances were added ({}): intervals and p-values allow for it",
            counted(most, "look")
        );
        notes.push(Note::marked("looks", text).with("looks", most));
    }
    notes
}
