//! Selectors: conditions on measurements as people write them, `variant=fast since=2w` or `last 10 of main`. One
//! grammar for the filters and for the sides of comparisons.
//!
//! ```text
//! selector  = { condition }                            separated by blanks, all have to hold
//! condition = KEY "=" value { "," value }              alternatives
//!           | "last" N | "of" BRANCH | "since" DATE | "until" DATE
//! ```
//!
//! `last 10 of main` is short for `branch=main last=10`. Values are quoted with `"` or `'` where they contain blanks or
//! commas. A key that is not one of [`KEYS`] is a factor.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::filter::RunKey;
use lapwing_model::{Id, InstanceOutcome, matches_pattern};
use lapwing_record::{Retired, RunHead, StoreError};

/// The keys of conditions, besides factors.
pub const KEYS: [&str; 13] = [
    "suite", "version", "commit", "branch", "variant", "session", "run", "host", "outcome",
    "since", "until", "last", "retired",
];

/// The words of conditions without `=`.
const WORDS: [&str; 4] = ["last", "of", "since", "until"];

/// A property by which measurements are selected.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SelectorKey {
    /// A property of runs.
    Run(RunKey),
    /// The host of an instance.
    Host,
    /// The outcome of an instance.
    Outcome,
    /// The level of a factor.
    Factor(String),
}

impl SelectorKey {
    /// Returns the property that a key names; any other name is that of a factor.
    fn named(name: &str) -> Self {
        match name {
            "host" => Self::Host,
            "outcome" => Self::Outcome,
            _ => match RunKey::ALL.into_iter().find(|key| key.name() == name) {
                Some(key) => Self::Run(key),
                None => Self::Factor(name.to_owned()),
            },
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Run(key) => key.name(),
            Self::Host => "host",
            Self::Outcome => "outcome",
            Self::Factor(name) => name,
        }
    }

    /// Returns the runs that a text selects: exact matches, or else partial ones.
    fn chosen<'r>(&self, runs: &'r [RunHead], text: &str) -> Vec<&'r RunHead> {
        let is_like = |name: Option<String>| {
            name.is_some_and(|name| match text.contains(['*', '?']) {
                true => matches_pattern(text, &name),
                false => name == text,
            })
        };
        let like = |name: &dyn Fn(&RunHead) -> Option<String>| -> Vec<&'r RunHead> {
            runs.iter().filter(|run| is_like(name(run))).collect()
        };
        match self {
            Self::Run(key) => {
                let mut chosen = key.chosen(runs, text);
                if chosen.is_empty() {
                    chosen = like(&|run| key.title(run));
                }
                // What is no version may be a commit.
                if chosen.is_empty() && *key == RunKey::Version {
                    chosen = RunKey::Commit.chosen(runs, text);
                }
                chosen
            }
            Self::Factor(factor) => like(&|run| run.levels.get(factor).cloned()),
            Self::Host | Self::Outcome => runs.iter().collect(),
        }
    }

    /// Returns the error for a text without a match, with similar names.
    fn no_match(&self, text: &str, runs: &[RunHead]) -> StoreError {
        let factors = || runs.iter().flat_map(|run| run.levels.keys());
        match self {
            Self::Factor(factor) if !factors().any(|it| it == factor) => {
                let keys = KEYS.iter().map(ToString::to_string);
                let known = keys.chain(factors().cloned()).collect();
                StoreError::no_match("key or factor", factor, known)
            }
            Self::Factor(factor) => {
                let levels = runs.iter().filter_map(|run| run.levels.get(factor));
                let known = levels.map(|level| format!("{factor}={level}")).collect();
                StoreError::no_match("level", &format!("{factor}={text}"), known)
            }
            Self::Run(key) => {
                let names = runs.iter().filter_map(|run| key.title(run)).collect();
                StoreError::no_match(key.name(), text, names)
            }
            Self::Host => StoreError::no_match("host", text, Vec::new()),
            Self::Outcome => StoreError::no_match("outcome", text, Vec::new()),
        }
    }
}

/// Conditions that all have to hold; without any, everything is selected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    /// Alternatives of each property.
    named: BTreeMap<SelectorKey, Vec<String>>,
    /// Only sessions that started at this time or later.
    since: Option<Timestamp>,
    /// Only sessions that started before this time.
    until: Option<Timestamp>,
    /// Only so many of the latest sessions that all other conditions leave.
    last: Option<usize>,
    /// Whether retired measurements are included.
    retired: Option<Retired>,
}

/// Errors of the text of a selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// There is no condition.
    #[error("a selector has a condition such as `variant=fast`")]
    Empty,
    /// A word is no condition.
    #[error("`{text}` is not a condition such as `variant=fast`")]
    NotACondition {
        /// The word.
        text: String,
    },
    /// A word is no key with a value.
    #[error("`{text}` is not written as KEY=VALUE")]
    NotAnAssignment {
        /// The word.
        text: String,
    },
    /// A key or word without its value.
    #[error("`{key}` has no value")]
    NoValue {
        /// The key.
        key: String,
    },
    /// A quote has no end.
    #[error("the quotation in `{text}` has no end")]
    OpenQuote {
        /// The condition.
        text: String,
    },
    /// A value is none of those that the key can have.
    #[error("`{text}` is not {expected}")]
    WrongValue {
        /// The value.
        text: String,
        /// The values that the key can have.
        expected: &'static str,
    },
    /// A key that can have one value has several.
    #[error("`{key}` takes one value")]
    Twice {
        /// The key.
        key: &'static str,
    },
}

/// A word of a selector: `variant=a,b`, `last`, `10`.
#[derive(Debug, Default)]
struct SelectorWord {
    written: String,
    key: Option<String>,
    values: Vec<String>,
}

impl SelectorWord {
    /// Returns which word without `=` it is.
    fn word(&self) -> Option<&str> {
        (self.key.is_none() && WORDS.contains(&self.written.as_str())).then_some(&self.written)
    }
}

/// Splits a text at the blanks outside of quotes, and each word at its first `=` and its commas.
fn words(text: &str) -> Result<Vec<SelectorWord>, SelectorError> {
    let mut words = Vec::new();
    let mut word = SelectorWord::default();
    let mut value = String::new();
    let mut quote = None;
    for character in text.chars().chain([' ']) {
        let is_blank = character.is_whitespace() && quote.is_none();
        if !is_blank {
            word.written.push(character);
        }
        match character {
            _ if quote == Some(character) => quote = None,
            _ if quote.is_some() => value.push(character),
            '"' | '\'' => quote = Some(character),
            '=' if word.key.is_none() && word.values.is_empty() && !value.is_empty() => {
                word.key = Some(std::mem::take(&mut value));
            }
            ',' => word.values.push(std::mem::take(&mut value)),
            _ if is_blank => {
                if !word.written.is_empty() {
                    word.values.push(std::mem::take(&mut value));
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => value.push(character),
        }
    }
    match quote {
        Some(_) => Err(SelectorError::OpenQuote {
            text: word.written.trim_end().to_owned(),
        }),
        None => Ok(words),
    }
}

/// Returns the keys and values of a text such as `burn_in=auto min_instances=3`, which is written as selectors are.
///
/// # Errors
/// If a word has no key or no value.
pub fn assignments(text: &str) -> Result<Vec<(String, String)>, SelectorError> {
    let assigned = words(text)?.into_iter().map(|word| {
        let value = word.values.join(",");
        match word.key {
            None => Err(SelectorError::NotAnAssignment { text: word.written }),
            Some(key) if value.is_empty() => Err(SelectorError::NoValue { key }),
            Some(key) => Ok((key, value)),
        }
    });
    assigned.collect()
}

impl Selector {
    /// Returns the selector of one property; without alternatives, everything is selected.
    pub fn of(key: RunKey, alternatives: &[String]) -> Self {
        Self::default().with(key, alternatives)
    }

    /// Returns the same with other alternatives of a property.
    #[must_use]
    pub fn with(mut self, key: RunKey, alternatives: &[String]) -> Self {
        let key = SelectorKey::Run(key);
        match alternatives.is_empty() {
            true => self.named.remove(&key),
            false => self.named.insert(key, alternatives.to_vec()),
        };
        self
    }

    /// Returns the alternatives of a property; none if it does not matter.
    pub fn alternatives(&self, key: RunKey) -> &[String] {
        let values = self.named.get(&SelectorKey::Run(key));
        values.map_or(&[], Vec::as_slice)
    }

    /// Returns the time before which sessions started.
    pub fn until(&self) -> Option<Timestamp> {
        self.until
    }

    /// Returns the conditions besides these properties and `until`.
    #[must_use]
    pub fn besides(&self, keys: &[RunKey]) -> Self {
        let mut rest = self.clone();
        rest.named
            .retain(|key, _| !matches!(key, SelectorKey::Run(key) if keys.contains(key)));
        rest.until = None;
        rest
    }

    /// Returns the selector that a text means; times such as `2w` are before `now`.
    ///
    /// # Errors
    /// If a condition is incomplete, unknown or contradicts another one.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, SelectorError> {
        let mut selector = Self::default();
        let mut words = words(text)?.into_iter().peekable();
        if words.peek().is_none() {
            return Err(SelectorError::Empty);
        }
        while let Some(word) = words.next() {
            match (&word.key, word.word()) {
                (Some(key), _) => selector.add(key, &word.values, now)?,
                (None, Some(key)) => {
                    // A date may have several words: `since 3 days ago`.
                    let is_date = matches!(key, "since" | "until");
                    let mut value: Vec<String> = Vec::new();
                    while let Some(next) = words.next_if(|next| {
                        next.key.is_none() && next.word().is_none() && (is_date || value.is_empty())
                    }) {
                        value.extend(next.values);
                    }
                    let value = match is_date && !value.is_empty() {
                        true => vec![value.join(" ")],
                        false => value,
                    };
                    let key = if key == "of" { "branch" } else { key };
                    selector.add(key, &value, now)?;
                }
                (None, None) => return Err(SelectorError::NotACondition { text: word.written }),
            }
        }
        Ok(selector)
    }

    /// Returns whether a text can only be meant as a selector: it has one of the keys, or begins with a word such as
    /// `last`.
    pub fn is_meant_by(text: &str) -> bool {
        let mut words = text.split_whitespace();
        let has_key = |word: &str| {
            let key = word.split_once('=').map(|it| it.0);
            key.is_some_and(|key| KEYS.contains(&key))
        };
        let first = words.next();
        first.is_some_and(|first| {
            has_key(first) || (WORDS.contains(&first) && words.clone().count() > 0)
        }) || words.any(has_key)
    }

    fn add(&mut self, key: &str, values: &[String], now: Timestamp) -> Result<(), SelectorError> {
        if values.is_empty() || values.iter().any(String::is_empty) {
            return Err(SelectorError::NoValue {
                key: key.to_owned(),
            });
        }
        let single = |key: &'static str, is_known: bool| match values {
            [one] if !is_known => Ok(one.as_str()),
            _ => Err(SelectorError::Twice { key }),
        };
        let wrong = |text: &str, expected| SelectorError::WrongValue {
            text: text.to_owned(),
            expected,
        };
        let time = |text: &str| moment(text, now).ok_or_else(|| wrong(text, A_TIME));
        match key {
            "since" => self.since = Some(time(single("since", self.since.is_some())?)?),
            "until" => self.until = Some(time(single("until", self.until.is_some())?)?),
            "last" => {
                let text = single("last", self.last.is_some())?;
                let number = text.parse().ok().filter(|number| *number > 0);
                self.last = Some(number.ok_or_else(|| wrong(text, "a number of sessions"))?);
            }
            "retired" => {
                self.retired = Some(match single("retired", self.retired.is_some())? {
                    "yes" => Retired::Show,
                    "no" => Retired::LeaveOut,
                    other => return Err(wrong(other, "`yes` or `no`")),
                });
            }
            _ => {
                let key = SelectorKey::named(key);
                let is_outcome = |text: &&String| InstanceOutcome::from_name(text).is_some();
                if key == SelectorKey::Outcome
                    && let Some(other) = values.iter().find(|it| !is_outcome(it))
                {
                    return Err(wrong(
                        other,
                        "one of ok, failed, timed_out, skipped and lost",
                    ));
                }
                let known = self.named.entry(key).or_default();
                known.extend_from_slice(values);
            }
        }
        Ok(())
    }

    /// Adds the conditions of another selector; values of the same key are alternatives.
    ///
    /// # Errors
    /// If both have a key that takes one value.
    pub fn extend(&mut self, other: Self) -> Result<(), SelectorError> {
        fn one<T>(
            key: &'static str,
            here: &mut Option<T>,
            there: Option<T>,
        ) -> Result<(), SelectorError> {
            if here.is_some() && there.is_some() {
                return Err(SelectorError::Twice { key });
            }
            *here = here.take().or(there);
            Ok(())
        }
        for (key, mut values) in other.named {
            self.named.entry(key).or_default().append(&mut values);
        }
        one("since", &mut self.since, other.since)?;
        one("until", &mut self.until, other.until)?;
        one("last", &mut self.last, other.last)?;
        one("retired", &mut self.retired, other.retired)
    }

    /// Returns its only condition if that is one value of a property of runs: `variant=fast`.
    pub fn only(&self) -> Option<(RunKey, &str)> {
        let mut named = self.named.iter();
        match (named.next(), named.next()) {
            (Some((SelectorKey::Run(key), values)), None) if self.parts().len() == 1 => {
                match values.as_slice() {
                    [value] if !value.contains(['*', '?']) => Some((*key, value)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the first condition that is not about runs but about their instances.
    pub fn of_instances(&self) -> Option<&'static str> {
        let has = |key| self.named.contains_key(&key);
        let retired = self.retired.map(|_| "retired");
        (has(SelectorKey::Host).then_some("host"))
            .or(has(SelectorKey::Outcome).then_some("outcome"))
            .or(retired)
    }

    /// Returns the hosts of instances; empty for all.
    pub(super) fn hosts(&self) -> &[String] {
        self.named
            .get(&SelectorKey::Host)
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the outcomes of instances; empty for all.
    pub(super) fn outcomes(&self) -> &[String] {
        self.named
            .get(&SelectorKey::Outcome)
            .map_or(&[], Vec::as_slice)
    }

    /// Returns and removes whether retired measurements are included.
    pub fn take_retired(&mut self) -> Retired {
        self.retired.take().unwrap_or_default()
    }

    /// Returns the conditions on runs, those about sessions first, as they are written and as selectors of their own;
    /// `last` comes last.
    pub(super) fn parts(&self) -> Vec<Self> {
        let named = self.named.iter().map(|(key, values)| Self {
            named: BTreeMap::from([(key.clone(), values.clone())]),
            ..Self::default()
        });
        let mut parts: Vec<Self> = named.collect();
        parts.extend(self.since.map(|since| Self {
            since: Some(since),
            ..Self::default()
        }));
        parts.extend(self.until.map(|until| Self {
            until: Some(until),
            ..Self::default()
        }));
        parts.extend(self.last.map(|last| Self {
            last: Some(last),
            ..Self::default()
        }));
        parts
    }

    /// Returns the conditions that sessions can be asked.
    pub(super) fn about_sessions(&self) -> Self {
        let mut sessions = self.clone();
        sessions
            .named
            .retain(|key, _| matches!(key, SelectorKey::Run(RunKey::Suite | RunKey::Session)));
        Self {
            last: None,
            ..sessions
        }
    }

    /// Returns the conditions that sessions cannot be asked, besides `last`.
    pub(super) fn about_runs(&self) -> Self {
        let mut named = self.named.clone();
        named.retain(|key, _| match key {
            SelectorKey::Run(key) => !matches!(key, RunKey::Suite | RunKey::Session),
            SelectorKey::Factor(_) => true,
            SelectorKey::Host | SelectorKey::Outcome => false,
        });
        Self {
            named,
            ..Self::default()
        }
    }

    /// Returns its `last`.
    pub(super) fn latest(&self) -> Option<Self> {
        self.last.map(|last| Self {
            last: Some(last),
            ..Self::default()
        })
    }

    /// Returns the selected runs; a value without a match selects none.
    pub fn passing(&self, runs: &[RunHead]) -> BTreeSet<Id> {
        let mut left: BTreeSet<Id> = runs
            .iter()
            .filter(|run| self.since.is_none_or(|since| run.started >= since))
            .filter(|run| self.until.is_none_or(|until| run.started < until))
            .map(|run| run.id)
            .collect();
        for (key, values) in &self.named {
            let chosen = values.iter().flat_map(|value| key.chosen(runs, value));
            let chosen: BTreeSet<Id> = chosen.map(|run| run.id).collect();
            left.retain(|run| chosen.contains(run));
        }
        if let Some(last) = self.last {
            let of_left = runs.iter().filter(|run| left.contains(&run.id));
            let sessions: BTreeSet<_> = of_left.map(|run| (run.started, run.session)).collect();
            let latest: BTreeSet<Id> = sessions
                .into_iter()
                .rev()
                .take(last)
                .map(|it| it.1)
                .collect();
            let is_latest = |run: &&RunHead| latest.contains(&run.session);
            let kept: BTreeSet<Id> = runs.iter().filter(is_latest).map(|run| run.id).collect();
            left.retain(|run| kept.contains(run));
        }
        left
    }

    /// Returns the selected runs; a value without a match is an error, because it is most likely a typing error.
    ///
    /// # Errors
    /// If a value, or a factor, has no match among the runs.
    pub fn choose(&self, runs: &[RunHead]) -> Result<BTreeSet<Id>, StoreError> {
        for (key, values) in &self.named {
            for value in values {
                if key.chosen(runs, value).is_empty() {
                    return Err(key.no_match(value, runs));
                }
            }
        }
        Ok(self.passing(runs))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.named.iter().map(|(key, values)| {
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            format!("{}={}", quoted(key.name()), values.join(","))
        });
        let retired = self.retired.map(|retired| match retired {
            Retired::Show => "retired=yes".to_owned(),
            Retired::LeaveOut => "retired=no".to_owned(),
        });
        let conditions: Vec<String> = named
            .chain(self.since.map(|since| format!("since={since}")))
            .chain(self.until.map(|until| format!("until={until}")))
            .chain(self.last.map(|last| format!("last={last}")))
            .chain(retired)
            .collect();
        formatter.write_str(&conditions.join(" "))
    }
}

/// Returns a key or value as it is written: in quotes if it has to be.
fn quoted(text: &str) -> String {
    let is_special = |character: char| character.is_whitespace() || ",=\"'".contains(character);
    match text.contains(is_special) {
        true => format!("\"{}\"", text.replace('"', "\"'\"'\"")),
        false => text.to_owned(),
    }
}

const A_TIME: &str =
    "a date or time such as 2026-11-20, 2026-11-20T10:00:00Z, yesterday or `3 days ago`";

/// Returns the moment that a text names: a date (midnight UTC), an RFC 3339 time, `today` and `yesterday` (midnight
/// UTC), or a span before now such as `3 days ago` and `2w`.
pub fn moment(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    let now = now.to_zoned(TimeZone::UTC);
    let day = match text {
        "today" => Some(now.date()),
        "yesterday" => Some(now.date().yesterday().ok()?),
        _ => text.parse::<Date>().ok(),
    };
    if let Some(day) = day {
        return Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp());
    }
    let span: Span = text.parse().ok()?;
    Some(now.checked_sub(span.abs()).ok()?.timestamp())
}
