//! The levels in the column of a factor.

use lapwing_model::Level;

use crate::shared::reading::cells::number;
use crate::shared::reading::notation::DecimalMark;

/// Returns the levels of a column: absent and present if all are, else numbers if all are, else texts. An empty cell is
/// absent, or else no level.
pub(super) fn levels(texts: &[&str], mark: DecimalMark) -> Vec<Option<Level>> {
    let whole = |text: &str| text.parse().map(Level::Integer).ok();
    let real = |text: &str| {
        let real = number(text, mark).filter(|it| it.is_finite());
        real.map(Level::Number)
    };
    let all = |of: &dyn Fn(&str) -> Option<Level>| -> Option<Vec<Option<Level>>> {
        let level = |text: &&str| match *text {
            "" => Some(None),
            text => of(text).map(Some),
        };
        texts.iter().map(level).collect()
    };
    let presences = texts
        .iter()
        .map(|text| presence(text).map(|it| Some(Level::Bool(it))));
    if let Some(levels) = presences.collect() {
        return levels;
    }
    all(&|text| whole(text).or_else(|| real(text)))
        .or_else(|| all(&|text| Some(Level::Text(text.to_owned()))))
        .unwrap_or_default()
}

/// Returns whether a cell means that a treatment is there, if it means either.
pub(super) fn presence(text: &str) -> Option<bool> {
    const ABSENT: [&str; 7] = ["0", "false", "no", "off", "f", "n", ""];
    const PRESENT: [&str; 6] = ["1", "true", "yes", "on", "t", "y"];
    let is = |word: &&str| text.eq_ignore_ascii_case(word);
    if ABSENT.iter().any(is) {
        Some(false)
    } else {
        PRESENT.iter().any(is).then_some(true)
    }
}
