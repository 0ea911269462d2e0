//! The ends of a search, which may be dates.

use lapwing_measure::session::repository;
use lapwing_measure::suite::Plan;
use lapwing_measure::{ancestry, commit_before};

use crate::error::CliError;
use crate::options::{Context, parse_date};

/// Returns revisions of both ends: a date is the last commit before it, of the later end or of what is checked out.
pub fn commits(
    plan: &Plan,
    [good, bad]: [&str; 2],
    context: &Context,
) -> Result<[String; 2], CliError> {
    let folder = repository(plan, &context.surroundings())?;
    let commit = |text: &str, tip: &str| {
        let Ok(time) = parse_date(text) else {
            return Ok(text.to_owned());
        };
        // A tag may look like a date.
        if !ancestry(&folder, text).is_empty() {
            return Ok(text.to_owned());
        }
        commit_before(&folder, tip, time).ok_or_else(|| {
            CliError::input(format!("`{tip}` has no commit before {text}"))
                .hint("`git log --first-parent --format='%h %ci %s'` lists the dates of commits")
        })
    };
    let bad = commit(bad, "HEAD")?;
    Ok([commit(good, &bad)?, bad])
}
