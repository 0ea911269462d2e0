//! A survey of the texts in records, to read before sharing them.

use std::collections::BTreeMap;

use super::cleaner::{is_host, is_identity, is_output, is_user, is_variable, secrets_at};
use super::place::{PrivateTexts, TextPlace};
use super::secrets::hidden;
use crate::memory::key_text;
use lapwing_model::{Id, Record, RecordKind};

/// How many different texts of a kind are remembered.
const EXAMPLES: usize = 3;
/// The longest example, in characters.
const LONGEST: usize = 60;
/// How many secrets are remembered; the others are counted.
const SECRETS: usize = 100;

/// What kind of thing a text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "their names say it")]
pub enum TextKind {
    Variables,
    Commands,
    Paths,
    Hosts,
    Users,
    Addresses,
    Messages,
    Output,
    Packages,
    Authors,
    Reasons,
    Names,
    Attributes,
}

impl TextKind {
    /// Returns what people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Variables => "environment variables",
            Self::Commands => "commands",
            Self::Paths => "paths",
            Self::Hosts => "hosts",
            Self::Users => "users",
            Self::Addresses => "addresses",
            Self::Messages => "messages",
            Self::Output => "program output",
            Self::Packages => "packages",
            Self::Authors => "annotation authors",
            Self::Reasons => "annotation reasons",
            Self::Names => "names of benchmarks, variants and versions",
            Self::Attributes => "other attributes",
        }
    }

    fn of(record: RecordKind, place: &TextPlace<'_>, text: &str) -> Self {
        let is_planned = place.is_within("plan");
        match record {
            RecordKind::Annotation if place.name() == "by" => return Self::Authors,
            RecordKind::Annotation if place.name() == "reason" => return Self::Reasons,
            RecordKind::Session
            | RecordKind::Run
            | RecordKind::Instance
            | RecordKind::Iteration
            | RecordKind::Span
            | RecordKind::InstanceEnd
            | RecordKind::Summary
            | RecordKind::Annotation => {}
        }
        if is_variable(place) {
            Self::Variables
        } else if place.is_within("packages") {
            Self::Packages
        } else if is_host(place) {
            Self::Hosts
        } else if is_user(place) {
            Self::Users
        } else if is_output(place) {
            Self::Output
        } else if place.name() == "message" {
            Self::Messages
        } else if is_planned && is_command(place) {
            Self::Commands
        } else if text.contains("://") {
            Self::Addresses
        } else if is_identity(place) {
            Self::Names
        } else if ["/", "~", "./", "../"]
            .iter()
            .any(|it| text.starts_with(it))
        {
            Self::Paths
        } else {
            Self::Attributes
        }
    }
}

fn is_command(place: &TextPlace<'_>) -> bool {
    let names = [
        "command",
        "setup",
        "prepare",
        "teardown",
        "check",
        "build",
        "arguments",
        "commands",
        "factor_setups",
        "environment_commands",
    ];
    names
        .iter()
        .any(|it| place.name() == *it || place.is_within(it))
}

/// The texts of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SurveyedTexts {
    /// Their number.
    pub count: u64,
    /// The first different ones, cut short.
    pub examples: Vec<String>,
}

/// A secret in a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretPlace {
    /// What it is, such as `GitHub token`.
    pub secret: &'static str,
    /// The kind of the record.
    pub record: RecordKind,
    /// The id of the record, or what it is called among those of its instance.
    pub key: String,
    /// The place in the record, such as `attributes.plan.cases.command`.
    pub place: String,
    /// The session that it belongs to; `None` for an annotation.
    pub session: Option<Id>,
}

/// The texts of records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextSurvey {
    /// The texts by kind.
    pub texts: BTreeMap<TextKind, SurveyedTexts>,
    /// The first secrets.
    pub secrets: Vec<SecretPlace>,
    /// The number of all secrets.
    pub secret_count: u64,
    session: Option<Id>,
}

impl TextSurvey {
    /// Adds the texts of a record, which comes after the session that it belongs to.
    pub fn add(&mut self, mut record: Record) {
        if let Record::Session(session) = &record {
            self.session = Some(session.id);
        }
        let kind = record.kind();
        let key = key_text(&record);
        let session = self.session.filter(|_| kind != RecordKind::Annotation);
        record.each_text(&mut |place, text| {
            if text.is_empty() {
                return;
            }
            let of_kind = self
                .texts
                .entry(TextKind::of(kind, place, text))
                .or_default();
            let secrets = secrets_at(place, text);
            of_kind.add(text, &secrets);
            for secret in secrets {
                self.secret_count += 1;
                if self.secrets.len() < SECRETS {
                    self.secrets.push(SecretPlace {
                        secret,
                        record: kind,
                        key: key.clone(),
                        place: place.to_string(),
                        session,
                    });
                }
            }
        });
    }
}

impl SurveyedTexts {
    fn add(&mut self, text: &str, secrets: &[&'static str]) {
        self.count += 1;
        if self.examples.len() >= EXAMPLES {
            return;
        }
        let example = match secrets {
            [] => cut(text),
            [kind, ..] => hidden(kind),
        };
        if !self.examples.contains(&example) {
            self.examples.push(example);
        }
    }
}

fn cut(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
