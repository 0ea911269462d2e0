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
    if texts.iter().all(|text| presence(text).is_some()) {
        let presences = texts.iter().map(|text| presence(text).map(Level::Bool));
        return presences.collect();
    }
    all(&|text| whole(text).or_else(|| real(text)))
        .or_else(|| all(&|text| Some(Level::Text(text.to_owned()))))
        .unwrap_or_default()
}

/// Returns whether a cell means that a treatment is there, if it means either.
pub(super) fn presence(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "0" | "false" | "no" | "off" | "f" | "n" | "" => Some(false),
        "1" | "true" | "yes" | "on" | "t" | "y" => Some(true),
        _ => None,
    }
}
