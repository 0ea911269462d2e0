//! The moment of a history from which on changes are reported.

use lapwing_analyse::detect::{Histories, HistoryOrder, Moment};
use lapwing_show::writing::Note;

use crate::cleaning::JudgingOptions;
use crate::error::CliError;
use crate::options::parse_date;

/// The beginning of a part of a history.
pub struct HistoryStart {
    /// The index of its first moment, which is the number of moments if there is none.
    pub first: usize,
    /// What was chosen in place of a commit that is not measured.
    pub note: Option<Note>,
}

/// Fewer characters of a hash match too many commits.
const SHORTEST: usize = 4;

/// Returns the part of a history after a version or Git revision, or from a date on.
///
/// # Errors
/// If the text is none of these.
pub fn changed_since(
    text: &str,
    histories: &Histories,
    order: HistoryOrder,
    judging: &JudgingOptions,
) -> Result<HistoryStart, CliError> {
    let start = |first| HistoryStart { first, note: None };
    if let Some(last) = last_of(histories, |moment| is_version(moment, text))
        .or_else(|| last_of(histories, |moment| moment.is_of_session(text)))
    {
        return Ok(start(last + 1));
    }
    if let Ok(time) = parse_date(text) {
        let is_earlier = |moment: &Moment| match order {
            HistoryOrder::Version => moment.time_in_order().is_some_and(|it| it < time),
            HistoryOrder::Time => moment.position.measured < time,
        };
        if order == HistoryOrder::Version {
            check_dates(histories)?;
        }
        return Ok(start(
            last_of(histories, is_earlier).map_or(0, |last| last + 1),
        ));
    }
    let commits = judging.ancestry(text);
    let Some(newest) = commits.first() else {
        return Err(CliError::input(format!(
            "`{text}` is not a version, run, Git revision or date"
        ))
        .hint("`lapwing list runs` shows the versions"));
    };
    for commit in &commits {
        if let Some(last) = last_of(histories, |moment| is_commit(moment, commit)) {
            let short = |commit: &String| commit.chars().take(10).collect::<String>();
            let note = (commit != newest).then(|| {
                let [newest, used] = [newest, commit].map(short);
                let text = format!(
                    "{text} is commit {newest}, which is not measured: its nearest measured ancestor {used} is used"
                );
                let note = Note::marked("measured_ancestor", text);
                note.with("commit", newest).with("ancestor", used)
            });
            return Ok(HistoryStart {
                note,
                ..start(last + 1)
            });
        }
    }
    Err(CliError::input(format!(
        "neither `{text}` nor one of its latest {} ancestors is measured",
        commits.len() - 1
    ))
    .hint("`lapwing list runs` shows the versions"))
}

/// Checks that some runs have their place by a time, so that a date means one.
///
/// # Errors
/// If none has.
pub fn check_dates(histories: &Histories) -> Result<(), CliError> {
    let mut moments = histories.moments.iter();
    if moments.any(|moment| moment.time_in_order().is_some()) {
        return Ok(());
    }
    Err(
        CliError::input("no date is known of the runs, which are in order of names or of a file")
            .hint("name a version or run instead, as `lapwing detect` calls it"),
    )
}

fn last_of(histories: &Histories, is_wanted: impl Fn(&Moment) -> bool) -> Option<usize> {
    histories.moments.iter().rposition(is_wanted)
}

fn is_version(moment: &Moment, text: &str) -> bool {
    let version = moment.version();
    let commit = version.commit.as_deref();
    version.name.as_deref() == Some(text)
        || version.label().as_deref() == Some(text)
        || (text.len() >= SHORTEST && commit.is_some_and(|commit| commit.starts_with(text)))
}

fn is_commit(moment: &Moment, hash: &str) -> bool {
    let commit = moment.version().commit.as_deref();
    commit.is_some_and(|commit| commit.len() >= SHORTEST && hash.starts_with(commit))
}
