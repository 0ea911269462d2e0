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
use super::history::{History, HistoryPosition, RunMoment};
use super::selector_text::{SelectorError, WORDS, quoted, words};
use lapwing_model::{Id, InstanceOutcome, StartedFrom, matches_pattern};
use lapwing_record::{Retired, RunHead, StoreError};

/// The keys of conditions, besides factors.
pub const KEYS: [&str; 13] = [
    "suite", "version", "commit", "branch", "variant", "session", "run", "host", "outcome",
    "since", "until", "last", "retired",
];

/// A property by which measurements are selected.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum SelectorKey {
    /// A property of runs.
    Run(RunKey),
    /// The host of an instance.
    Host,
    /// The outcome of an instance.
    Outcome,
    /// The level of a factor.
    Factor(String),
    /// Only sessions that started at this time or later.
    Since,
    /// Only sessions that started before this time.
    Until,
    /// Only so many of the latest sessions that all other conditions leave.
    Last,
    /// Whether retired measurements are included.
    Retired,
}

impl SelectorKey {
    const OTHERS: [Self; 6] = [
        Self::Host,
        Self::Outcome,
        Self::Since,
        Self::Until,
        Self::Last,
        Self::Retired,
    ];

    /// Returns the property that a key names; any other name is that of a factor.
    fn named(name: &str) -> Self {
        let all = RunKey::ALL.map(Self::Run).into_iter().chain(Self::OTHERS);
        let known = all.into_iter().find(|key| key.name() == name);
        known.unwrap_or_else(|| Self::Factor(name.to_owned()))
    }

    fn name(&self) -> &str {
        match self {
            Self::Run(key) => key.name(),
            Self::Host => "host",
            Self::Outcome => "outcome",
            Self::Factor(name) => name,
            Self::Since => "since",
            Self::Until => "until",
            Self::Last => "last",
            Self::Retired => "retired",
        }
    }

    /// Returns whether it has a single value.
    fn is_single(&self) -> bool {
        matches!(self, Self::Since | Self::Until | Self::Last | Self::Retired)
    }

    /// Returns whether sessions can be asked for it.
    fn is_about_sessions(&self) -> bool {
        let of_run = matches!(self, Self::Run(RunKey::Suite | RunKey::Session));
        of_run || matches!(self, Self::Since | Self::Until)
    }

    /// Returns whether it is a property of instances and not of their run.
    fn is_about_instances(&self) -> bool {
        matches!(self, Self::Host | Self::Outcome | Self::Retired)
    }

    /// Returns a value as it is kept: times in full.
    fn checked(&self, text: &str, now: Timestamp) -> Result<String, SelectorError> {
        let wrong = |expected| SelectorError::WrongValue {
            text: text.to_owned(),
            expected,
        };
        let is_right = match self {
            Self::Since | Self::Until => {
                let time = moment(text, now).ok_or_else(|| wrong(A_TIME))?;
                return Ok(time.to_string());
            }
            Self::Last => text.parse().is_ok_and(|number: usize| number > 0),
            Self::Retired => ["yes", "no"].contains(&text),
            Self::Outcome => InstanceOutcome::from_name(text).is_some(),
            Self::Run(_) | Self::Host | Self::Factor(_) => true,
        };
        match self {
            _ if is_right => Ok(text.to_owned()),
            Self::Last => Err(wrong("a number of sessions")),
            Self::Retired => Err(wrong("`yes` or `no`")),
            _ => Err(wrong("one of ok, failed, timed_out, skipped and lost")),
        }
    }

    /// Returns the runs that a value selects: exact matches, or else partial ones.
    fn chosen<'r>(&self, runs: &'r [RunHead], text: &str) -> Vec<&'r RunHead> {
        let like = |name: &dyn Fn(&RunHead) -> Option<String>| -> Vec<&'r RunHead> {
            let is_pattern = text.contains(['*', '?']);
            let is_like =
                |name: String| name == text || (is_pattern && matches_pattern(text, &name));
            let chosen = runs.iter().filter(|run| name(run).is_some_and(is_like));
            chosen.collect()
        };
        let started = |is_wanted: fn(&Timestamp, &Timestamp) -> bool| match text.parse() {
            Ok(time) => (runs.iter())
                .filter(|run| is_wanted(&run.started, &time))
                .collect(),
            Err(_no_time) => Vec::new(),
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
            Self::Since => started(Timestamp::ge),
            Self::Until => started(Timestamp::lt),
            Self::Host | Self::Outcome | Self::Last | Self::Retired => runs.iter().collect(),
        }
    }

    /// Returns the error for a value without a match, with similar names; `None` if there is nothing to be similar to.
    fn no_match(&self, text: &str, runs: &[RunHead]) -> Option<StoreError> {
        let factors = || runs.iter().flat_map(|run| run.levels.keys());
        match self {
            Self::Run(RunKey::Branch) => {
                let names: BTreeSet<String> =
                    runs.iter().filter_map(|run| run.branch.clone()).collect();
                Some(StoreError::NoBranch {
                    text: text.to_owned(),
                    recorded: names.into_iter().collect(),
                })
            }
            Self::Run(key) => {
                let names = runs.iter().filter_map(|run| key.title(run)).collect();
                Some(StoreError::no_match(key.name(), text, names))
            }
            Self::Factor(factor) if !factors().any(|it| it == factor) => {
                let keys = KEYS.iter().map(ToString::to_string);
                let known = keys.chain(factors().cloned()).collect();
                Some(StoreError::no_match("key or factor", factor, known))
            }
            Self::Factor(factor) => {
                let levels = runs.iter().filter_map(|run| run.levels.get(factor));
                let known = levels.map(|level| format!("{factor}={level}")).collect();
                let text = format!("{factor}={text}");
                Some(StoreError::no_match("level", &text, known))
            }
            _ => None,
        }
    }
}

/// Conditions that all have to hold; without any, everything is selected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector(BTreeMap<SelectorKey, Vec<String>>);

impl Selector {
    /// Returns the selector of one property; without alternatives, everything is selected.
    pub fn of(key: RunKey, alternatives: &[String]) -> Self {
        Self::default().with(key, alternatives)
    }

    /// Returns the same with other alternatives of a property.
    #[must_use]
    pub fn with(mut self, key: RunKey, alternatives: &[String]) -> Self {
        let key = SelectorKey::Run(key);
        if alternatives.is_empty() {
            self.0.remove(&key)
        } else {
            self.0.insert(key, alternatives.to_vec())
        };
        self
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
                        let is_value = next.key.is_none() && next.word().is_none();
                        is_value && (is_date || value.is_empty())
                    }) {
                        value.extend(next.values);
                    }
                    if is_date && !value.is_empty() {
                        value = vec![value.join(" ")];
                    }
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
        let begins = words.next().is_some_and(|it| WORDS.contains(&it)) && words.next().is_some();
        let key = |word: &str| word.split_once('=').map(|it| it.0.to_owned());
        let mut keys = text.split_whitespace().filter_map(key);
        begins || keys.any(|key| KEYS.contains(&key.as_str()))
    }

    fn add(&mut self, name: &str, values: &[String], now: Timestamp) -> Result<(), SelectorError> {
        if values.is_empty() || values.iter().any(String::is_empty) {
            return Err(SelectorError::NoValue {
                key: name.to_owned(),
            });
        }
        let key = SelectorKey::named(name);
        if key.is_single() && (values.len() > 1 || self.0.contains_key(&key)) {
            return Err(SelectorError::Twice {
                key: name.to_owned(),
            });
        }
        for value in values {
            let value = key.checked(value, now)?;
            self.0.entry(key.clone()).or_default().push(value);
        }
        Ok(())
    }

    fn values(&self, key: &SelectorKey) -> &[String] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// Returns the same with those of its conditions only that are about such properties.
    fn only_about(&self, is_kept: impl Fn(&SelectorKey) -> bool) -> Self {
        let conditions = self.0.iter().filter(|(key, _)| is_kept(key));
        Self(
            conditions
                .map(|(key, values)| (key.clone(), values.clone()))
                .collect(),
        )
    }

    /// Returns the alternatives of a property; none if it does not matter.
    pub fn alternatives(&self, key: RunKey) -> &[String] {
        self.values(&SelectorKey::Run(key))
    }

    /// Returns the time before which sessions started.
    pub fn until(&self) -> Option<Timestamp> {
        self.values(&SelectorKey::Until).first()?.parse().ok()
    }

    /// Returns the conditions besides these properties and `until`.
    #[must_use]
    pub fn besides(&self, keys: &[RunKey]) -> Self {
        self.only_about(|key| match key {
            SelectorKey::Run(key) => !keys.contains(key),
            key => *key != SelectorKey::Until,
        })
    }

    /// Returns its only condition if that is one value of a property of runs: `variant=fast`.
    pub fn only(&self) -> Option<(RunKey, &str)> {
        let mut conditions = self.0.iter();
        match (conditions.next()?, conditions.next()) {
            ((SelectorKey::Run(key), values), None) => match values.as_slice() {
                [value] if !value.contains(['*', '?']) => Some((*key, value)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the first property of instances that it asks for.
    pub fn of_instances(&self) -> Option<&str> {
        let mut keys = self.0.keys();
        keys.find(|key| key.is_about_instances())
            .map(SelectorKey::name)
    }

    /// Returns the hosts of instances; empty for all.
    pub(super) fn hosts(&self) -> &[String] {
        self.values(&SelectorKey::Host)
    }

    /// Returns the outcomes of instances; empty for all.
    pub(super) fn outcomes(&self) -> &[String] {
        self.values(&SelectorKey::Outcome)
    }

    /// Returns and removes whether retired measurements are included.
    pub fn take_retired(&mut self) -> Retired {
        match self.0.remove(&SelectorKey::Retired) {
            Some(value) if value == ["yes"] => Retired::Show,
            Some(_) | None => Retired::LeaveOut,
        }
    }

    /// Returns each condition as a selector, `last` at the end.
    pub(super) fn parts(&self) -> Vec<Self> {
        let keys = self.0.keys();
        keys.map(|one| self.only_about(|key| key == one)).collect()
    }

    /// Returns the conditions that sessions can be asked.
    pub(super) fn about_sessions(&self) -> Self {
        self.only_about(SelectorKey::is_about_sessions)
    }

    /// Returns the conditions that only runs can be asked, besides `last`.
    pub(super) fn about_runs(&self) -> Self {
        self.only_about(|key| {
            matches!(key, SelectorKey::Run(_) | SelectorKey::Factor(_)) && !key.is_about_sessions()
        })
    }

    /// Returns its `last`.
    pub(super) fn latest(&self) -> Option<Self> {
        let latest = self.only_about(|key| *key == SelectorKey::Last);
        (latest != Self::default()).then_some(latest)
    }

    /// Returns its conditions besides `last`.
    pub(super) fn without_latest(&self) -> Self {
        self.only_about(|key| *key != SelectorKey::Last)
    }

    /// Returns the selected runs; a value without a match selects none.
    pub fn passing(&self, runs: &[RunHead]) -> BTreeSet<Id> {
        let mut left: BTreeSet<Id> = runs.iter().map(|run| run.id).collect();
        for (key, values) in &self.0 {
            let chosen = values.iter().flat_map(|value| key.chosen(runs, value));
            let chosen: BTreeSet<Id> = chosen.map(|run| run.id).collect();
            left.retain(|run| chosen.contains(run));
        }
        let last = self.values(&SelectorKey::Last).first();
        if let Some(last) = last.and_then(|it| it.parse().ok()) {
            let of_left = || runs.iter().filter(|run| left.contains(&run.id));
            // Where the times are those of files, names may tell the order, as they do in a history.
            let has_file_times = of_left().any(|run| run.started_from == StartedFrom::FileTime);
            let history = has_file_times.then(|| History::among(of_left().map(RunMoment::of_run)));
            let mut sessions: BTreeMap<Id, (Option<HistoryPosition>, Timestamp)> = BTreeMap::new();
            for run in of_left() {
                let position = history.as_ref().and_then(|it| it.position(&run.id));
                let place = (position, run.started);
                let newest = sessions.entry(run.session).or_insert(place);
                *newest = place.max(*newest);
            }
            let mut sessions: Vec<Id> = {
                let mut placed: Vec<_> = sessions.into_iter().collect();
                placed.sort_by_key(|(session, place)| (*place, *session));
                placed.into_iter().map(|(session, _)| session).collect()
            };
            let latest = sessions.split_off(sessions.len().saturating_sub(last));
            let is_latest = |run: &&RunHead| latest.contains(&run.session);
            left = of_left().filter(is_latest).map(|run| run.id).collect();
        }
        left
    }

    /// Returns the selected runs; a value without a match is an error, because it is most likely a typing error.
    ///
    /// # Errors
    /// If a value, or a factor, has no match among the runs.
    pub fn choose(&self, runs: &[RunHead]) -> Result<BTreeSet<Id>, StoreError> {
        let values = self
            .0
            .iter()
            .flat_map(|(key, values)| values.iter().map(move |it| (key, it)));
        let mut unmatched = values.filter(|(key, value)| key.chosen(runs, value).is_empty());
        match unmatched.find_map(|(key, value)| key.no_match(value, runs)) {
            Some(error) => Err(error),
            None => Ok(self.passing(runs)),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions = self.0.iter().map(|(key, values)| {
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            format!("{}={}", quoted(key.name()), values.join(","))
        });
        formatter.write_str(&conditions.collect::<Vec<_>>().join(" "))
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
