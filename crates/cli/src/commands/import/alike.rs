//! Says which imported sessions may hold measurements that are in the store already.

use lapwing_core::model::Session;
use lapwing_core::record::import::Alike;
use lapwing_core::text::grouped;

use super::target::Target;
use crate::options::Context;

/// Pairs to spell out.
const SHOWN: usize = 10;

/// Characters of a digest that tell files apart.
const DIGEST: usize = 12;

/// Says which sessions look like one of another file. They are kept, because two of them
/// may be two measurements.
pub(super) fn say_alike(alike: &[Alike], target: &Target<'_>, context: &Context) {
    for pair in alike.iter().take(SHOWN) {
        context.terminal.note(&sentence(pair, target));
    }
    if alike.len() > SHOWN {
        let more = (alike.len() - SHOWN) as u64;
        let more = grouped(more);
        context
            .terminal
            .note(&format!("{more} more look like a session of another file"));
    }
}

fn sentence(pair: &Alike, target: &Target<'_>) -> String {
    let (file, digest) = pair.known_file();
    let digest = digest.get(..DIGEST).unwrap_or(digest);
    let known = format!(
        "session `{}` of {} by {} is there already from another file ({file}, sha256 {digest}…), with most of the same values",
        label(&pair.known),
        pair.known.started.strftime("%Y-%m-%d %H:%M:%S UTC"),
        pair.known.tool,
    );
    match target.kept_in() {
        None => format!("{known}; `{}` would be kept beside it", label(&pair.new)),
        Some(_) => format!(
            "{known}; `{}` is kept beside it, and if it is the same, it counts twice: \
             `lapwing db purge --session {}` removes it",
            label(&pair.new),
            pair.new.id
        ),
    }
}

fn label(session: &Session) -> String {
    let name = session.name.as_ref();
    name.cloned().unwrap_or_else(|| session.id.to_string())
}
