//! Notes on imported sessions that may duplicate others in the store.

use lapwing_formats::Alike;
use lapwing_model::Session;
use lapwing_model::text::grouped;
use lapwing_show::writing::Note;

use super::target::Target;

/// Maximum number of pairs shown.
const SHOWN: usize = 10;

/// Length of a shortened digest.
const DIGEST: usize = 12;

/// Returns notes on the sessions that look like one from another file. They are kept, because they may be
/// separate measurements.
pub(super) fn alike_notes(alike: &[Alike], target: &Target<'_>) -> Vec<Note> {
    let mut notes: Vec<Note> = alike
        .iter()
        .take(SHOWN)
        .map(|pair| {
            Note::marked("alike", sentence(pair, target))
                .with("session", pair.new.id.to_string())
                .with("known_session", pair.known.id.to_string())
                .with("known_file", pair.known_file().0)
                .with("known_sha256", pair.known_file().1)
        })
        .collect();
    if let Some(more @ 1..) = alike.len().checked_sub(SHOWN) {
        let text = format!(
            "{} more sessions look like a session from another file",
            grouped(more)
        );
        notes.push(Note::marked("more_alike", text).with("sessions", more));
    }
    notes
}

fn sentence(pair: &Alike, target: &Target<'_>) -> String {
    let (file, digest) = pair.known_file();
    let digest = digest.get(..DIGEST).unwrap_or(digest);
    let known = format!(
        "session `{}` of {} by {} was already imported from another file ({file}, sha256 {digest}…), with mostly the same values",
        label(&pair.known),
        pair.known.started.strftime("%Y-%m-%d %H:%M:%S UTC"),
        pair.known.tool,
    );
    match target.kept_in() {
        _ if target.is_passing() => format!(
            "`{}` has mostly the same values as `{}` ({file}): if one is a copy, its results count twice, and only one should be named",
            label(&pair.new),
            label(&pair.known)
        ),
        None => format!("{known}; `{}` would be kept as well", label(&pair.new)),
        Some(_) => format!(
            "{known}; `{}` is kept as well, so duplicated results would count twice: \
             `lapwing db purge --where session={}` deletes it",
            label(&pair.new),
            pair.new.id
        ),
    }
}

fn label(session: &Session) -> String {
    let name = session.name.as_ref();
    name.cloned().unwrap_or_else(|| session.id.to_string())
}
