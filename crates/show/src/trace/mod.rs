//! Traces as sentences, pages and pictures.

mod divergence;
mod events;
mod lanes;
mod words;

pub use divergence::divergence_note;
pub use events::write_events;
pub(crate) use lanes::SCRIPT as LANES_SCRIPT;
pub use lanes::{LanesPage, OtherRun, lanes_svg};
pub use words::{
    column_title, defect_text, defects_text, finding_text, headline, no_finding, path_notes,
    replay_notes, share, signed_percent, signed_time, size, time, trace_answer,
};
