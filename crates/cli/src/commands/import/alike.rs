//! Notes on imported sessions that may duplicate others in the store.

use lapwing_formats::Alike;
use lapwing_model::Session;
use lapwing_model::text::grouped;

use super::target::Target;
use crate::options::Context;

/// Maximum number of pairs shown.
const SHOWN: usize = 10;

/// Length of a shortened digest.
const DIGEST: usize = 12;

/// Notes the sessions that look like one from another file. They are kept, because they may be
/// separate measurements.
pub(super) fn say_alike(alike: &[Alike], target: &Target<'_>, context: &Context) {
    for pair in alike.iter().take(SHOWN) {
        context.terminal.note(&sentence(pair, target));
    }
    if alike.len() > SHOWN {
        let more = (alike.len() - SHOWN) as u64;
        let more = grouped(more);
        context.terminal.note(&format!(
            "{more} more sessions look like a session from another file"
        ));
    }
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
