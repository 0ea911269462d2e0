//! Hides secrets and private texts of records: what every record passes before it is kept.

use std::borrow::Cow;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::HideRules;
use super::paths::{HOME, with_home, without_homes, without_paths};
use super::place::{PrivateTexts, TextPlace, each_of};
use super::secrets::{HIDDEN, find_secrets, hidden, is_secret_of, without_secrets};
use crate::IterationColumns;
use lapwing_model::text::hexadecimal;
use lapwing_model::{Instance, Record, Session, Span};

/// What is private here, and how much of it is hidden.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrivacyRules {
    /// What the suite file asks for.
    pub hide: HideRules,
    /// The home folder of the user who measures.
    pub home: Option<String>,
    /// The folder to which hidden paths are relative.
    pub folder: Option<String>,
}

/// Hides secrets and private texts of records.
#[derive(Debug, Clone, Default)]
pub struct RecordCleaner {
    rules: PrivacyRules,
    salt: Vec<u8>,
}

/// The kind of a secret that only its name tells.
const NAMED: &str = "secret";
/// How a hashed host begins.
const HASHED: &str = "host-";

impl RecordCleaner {
    /// Returns one with these rules; hosts are hashed with the salt.
    pub fn new(rules: PrivacyRules, salt: Vec<u8>) -> Self {
        Self { rules, salt }
    }

    /// Returns the rules.
    pub fn rules(&self) -> &PrivacyRules {
        &self.rules
    }

    /// Returns a record without what is private.
    pub fn clean<'r>(&self, record: &'r Record) -> Cow<'r, Record> {
        let has_texts = match record {
            Record::Iteration(it) => {
                it.message.is_some()
                    || !(it.attributes.is_empty() && it.artifacts.is_empty() && it.extra.is_empty())
            }
            Record::Span(it) => !self.is_clean_span(it),
            Record::Summary(it) => !it.extra.is_empty(),
            Record::Instance(it) => !self.is_clean_instance(it),
            Record::InstanceEnd(it) => {
                it.message.is_some() || !(it.observed.is_empty() && it.extra.is_empty())
            }
            Record::Session(_) | Record::Run(_) | Record::Annotation(_) => true,
        };
        match has_texts.then(|| self.cleaned(record)).flatten() {
            Some(clean) => Cow::Owned(clean),
            None => Cow::Borrowed(record),
        }
    }

    /// Returns a span without what is private.
    pub(crate) fn clean_span(&self, span: Span) -> Span {
        if self.is_clean_span(&span) {
            return span;
        }
        self.cleaned(&span).unwrap_or(span)
    }

    /// Returns a session without what is private.
    pub fn clean_session(&self, session: &Session) -> Session {
        self.cleaned(session).unwrap_or_else(|| session.clone())
    }

    /// Hides the secrets of the definition of a benchmark, as they are hidden in the plan: its hash
    /// could be used to guess passwords otherwise. Paths stay.
    pub fn clean_definition(&self, definition: &mut serde_json::Value) {
        let (plan, cases) = (TextPlace::new("plan"), "cases");
        each_of(&plan.within(cases), definition, &mut |place, text| {
            let whole = self.hidden_whole(place, text);
            if let Some(clean) = whole.or_else(|| match without_secrets(text) {
                Cow::Owned(clean) => Some(clean),
                Cow::Borrowed(_) => None,
            }) {
                *text = clean;
            }
        });
    }

    /// Returns columns without what is private.
    pub(crate) fn clean_columns(&self, columns: &mut IterationColumns) {
        for mark in columns.marks.values_mut() {
            self.clean_texts(mark);
        }
    }

    /// Returns a copy without what is private; `None` if nothing is.
    pub(crate) fn cleaned<T: PrivateTexts + Clone>(&self, kept: &T) -> Option<T> {
        let mut clean = kept.clone();
        self.clean_texts(&mut clean).then_some(clean)
    }

    fn clean_texts(&self, kept: &mut impl PrivateTexts) -> bool {
        let mut is_changed = false;
        kept.each_text(&mut |place, text| {
            if let Some(clean) = self.clean_text(place, text) {
                *text = clean;
                is_changed = true;
            }
        });
        is_changed
    }

    /// Returns the name of a benchmark, variant or suite as records have it.
    pub fn clean_name(&self, name: &str) -> String {
        let clean = self.clean_text(&TextPlace::new("benchmark"), name);
        clean.unwrap_or_else(|| name.to_owned())
    }

    /// There may be millions of instances.
    fn is_clean_instance(&self, instance: &Instance) -> bool {
        let benchmark = &instance.benchmark;
        let objects = [
            &benchmark.params,
            &benchmark.extra,
            &instance.environment,
            &instance.job,
            &instance.attributes,
            &instance.artifacts,
            &instance.extra,
        ];
        let is_clean = |name, text: &String| self.clean_text(&TextPlace::new(name), text).is_none();
        objects.iter().all(|object| object.is_empty())
            && is_clean("benchmark", &benchmark.id)
            && benchmark.tags.iter().all(|tag| is_clean("tags", tag))
            && instance.host.iter().all(|host| is_clean("host", host))
    }

    /// There may be millions of spans.
    fn is_clean_span(&self, span: &Span) -> bool {
        let place = TextPlace::new("span");
        let texts = [&span.category, &span.name].into_iter();
        let mut texts = texts
            .chain(&span.lane)
            .chain(span.inputs.iter().flatten())
            .chain(&span.clock);
        let attributes = TextPlace::new("attributes");
        let is_clean = |(name, value): (&String, &Value)| match value {
            Value::String(text) => self.clean_text(&attributes.within(name), text).is_none(),
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
            Value::Array(_) | Value::Object(_) => false,
        };
        span.extra.is_empty()
            && texts.all(|it| self.clean_parts(&place, it) == **it)
            && span.attributes.iter().all(is_clean)
    }

    /// Returns a text without what is private; `None` if nothing is.
    fn clean_text(&self, place: &TextPlace<'_>, text: &str) -> Option<String> {
        if text.is_empty() {
            return None;
        }
        let whole = self.hidden_whole(place, text);
        let clean = whole.map_or_else(|| self.clean_parts(place, text), Cow::Owned);
        (clean != text).then(|| clean.into_owned())
    }

    /// Returns what stands for a text whose place makes it private.
    fn hidden_whole(&self, place: &TextPlace<'_>, text: &str) -> Option<String> {
        let hide = &self.rules.hide;
        if is_named_secret(place, text) {
            return Some(hidden(NAMED));
        }
        if is_variable(place) && hide.hides_variable(place.name()) {
            return Some(hidden("variable"));
        }
        if hide.stderr && is_output(place) {
            return Some(hidden("output"));
        }
        if hide.user && is_user(place) {
            return Some(hidden("user"));
        }
        if hide.host && is_host(place) {
            return Some(self.hashed_host(text));
        }
        None
    }

    fn clean_parts<'t>(&self, place: &TextPlace<'_>, text: &'t str) -> Cow<'t, str> {
        let rules = &self.rules;
        let mut clean = without_secrets(text);
        let is_message = place.name() == "message";
        if rules.hide.stderr && is_message {
            clean = in_own_words(&clean).to_owned().into();
        }
        if !clean.contains('/') && !clean.contains(HOME) {
            return clean;
        }
        // A plan is executed again when its session is resumed, and `~` is the home folder of the user who resumes it.
        let is_plan = place.is_within("plan") && !is_identity(place);
        let others = if is_plan {
            hidden("home folder")
        } else {
            HOME.to_owned()
        };
        let changed = |new: Cow<'_, str>| match new {
            Cow::Owned(new) => Some(new),
            Cow::Borrowed(_) => None,
        };
        if let Some(new) = changed(without_homes(&clean, rules.home.as_deref(), &others)) {
            clean = new.into();
        }
        if rules.hide.paths && !is_identity(place) {
            let folder = rules.folder.as_deref().filter(|_| !is_plan);
            if let Some(new) = changed(without_paths(&clean, folder, &hidden("path"))) {
                clean = new.into();
            }
        }
        clean
    }

    /// Returns a name that tells a host from others and says nothing of it.
    fn hashed_host(&self, host: &str) -> String {
        let digits = host.strip_prefix(HASHED);
        let is_hashed = |it: &str| it.len() == 12 && it.chars().all(|it| it.is_ascii_hexdigit());
        if digits.is_some_and(is_hashed) {
            return host.to_owned();
        }
        let digest = Sha256::new().chain_update(&self.salt).chain_update(host);
        let digits = hexadecimal(&digest.finalize()[..6]);
        format!("{HASHED}{digits}")
    }
}

/// Writes the home folder in full where the attributes of a session have `~`, so that what they describe can be
/// executed again.
pub fn restore_home(session: &mut Session, home: &str) {
    session.each_text(&mut |place, text| {
        let is_name = matches!(place.name(), "name" | "id" | "control_of");
        if place.is_within("attributes") && !is_name && !is_identity(place) && text.contains(HOME) {
            *text = with_home(text, home);
        }
    });
}

/// Returns the kind of a text that is hidden in the plan of a session, which can then not be executed again.
pub fn hidden_in_plan(session: &Session) -> Option<String> {
    let mut found = None;
    let mut session = session.clone();
    session.each_text(&mut |place, text| {
        if place.is_within("plan") && !is_identity(place) {
            let hidden = text
                .split_once(HIDDEN)
                .and_then(|(_, it)| it.split_once(']'));
            found = found.take().or(hidden.map(|(kind, _)| kind.to_owned()));
        }
    });
    found
}

/// Returns what the program itself says at the beginning of a message, before what was printed.
fn in_own_words(message: &str) -> &str {
    let line = message.lines().next().unwrap_or_default();
    line.split_once(": ").map_or(line, |(own, _)| own)
}

/// Returns the kinds of the secrets in a text.
pub(super) fn secrets_at(place: &TextPlace<'_>, text: &str) -> Vec<&'static str> {
    if is_named_secret(place, text) {
        return vec![NAMED];
    }
    find_secrets(text).iter().map(|it| it.kind).collect()
}

/// Returns whether the name of a text, or the option before it, says that it is a secret.
fn is_named_secret(place: &TextPlace<'_>, text: &str) -> bool {
    let name = may_name_secrets(place).then(|| place.name());
    let option = place
        .before()
        .filter(|it| it.starts_with('-') && !text.starts_with('-'));
    name.into_iter()
        .chain(option)
        .any(|name| is_secret_of(name, text))
}

/// Returns whether the names in a place are those of variables, options and the like. Elsewhere they belong to the
/// benchmark: a parameter `token` says what is measured, and a package is followed by its version.
fn may_name_secrets(place: &TextPlace<'_>) -> bool {
    !["params", "parameters", "factors", "packages", "metrics"]
        .iter()
        .any(|it| place.is_within(it))
}

/// Returns whether a text tells benchmarks, variants or versions from each other.
pub(super) fn is_identity(place: &TextPlace<'_>) -> bool {
    let names = [
        "benchmark",
        "variant",
        "suite",
        "version",
        "branch",
        "tags",
        "params",
        "factors",
    ];
    names
        .iter()
        .any(|it| place.name() == *it || place.is_within(it))
}

/// Returns whether a text is the value of an environment variable.
pub(super) fn is_variable(place: &TextPlace<'_>) -> bool {
    let is_planned = place.is_within("plan") || place.is_within("attributes");
    match place.parent() {
        Some("environment") => is_planned,
        Some("env" | "variables" | "environ" | "environment_variables") => true,
        Some(_) | None => false,
    }
}

/// Returns whether a program printed a text.
pub(super) fn is_output(place: &TextPlace<'_>) -> bool {
    matches!(place.name(), "stdout" | "stderr") || place.parent() == Some("outputs")
}

/// Returns whether a text is the name of a user.
pub(super) fn is_user(place: &TextPlace<'_>) -> bool {
    matches!(
        place.name(),
        "user" | "username" | "user_name" | "login" | "USER" | "LOGNAME"
    )
}

/// Returns whether a text is the name of a host.
pub(super) fn is_host(place: &TextPlace<'_>) -> bool {
    let names = [
        "host",
        "hostname",
        "host_name",
        "node",
        "nodename",
        "node_name",
        "HOSTNAME",
    ];
    names.contains(&place.name()) && !is_identity(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_model::{Id, parse_line, write_line};
    use serde_json::{Value, json};

    fn cleaned(rules: PrivacyRules, record: Value) -> Value {
        let record = parse_line(record.to_string().as_bytes()).unwrap();
        let cleaner = RecordCleaner::new(rules, b"salt".to_vec());
        let clean = cleaner.clean(&record).into_owned();
        assert_eq!(
            *cleaner.clean(&clean),
            clean,
            "cleaning twice changes nothing"
        );
        let mut line = Vec::new();
        write_line(&mut line, &clean).unwrap();
        serde_json::from_slice(&line).unwrap()
    }

    fn session(attributes: Value) -> Value {
        json!({"v": 1, "kind": "session", "id": Id::derived(&[b"1"]), "suite": "s", "started": "2026-01-01T00:00:00Z",
            "tool": "t", "attributes": attributes})
    }

    fn hide(entries: &[&str]) -> PrivacyRules {
        let mut rules = PrivacyRules {
            home: Some("/home/ann".to_owned()),
            folder: Some("/srv".to_owned()),
            ..PrivacyRules::default()
        };
        for entry in entries {
            assert!(rules.hide.add(entry));
        }
        rules
    }

    #[test]
    fn secrets_are_hidden_by_their_names_and_by_the_option_before_them() {
        let attributes = json!({"plan": {
            "directory": "/home/ann/x",
            "cases": [{
                "command": ["login", "--token", "abc", "--max-token", "5", "--verbose"],
                "environment": {"HF_TOKEN": "abc", "TOKEN_COUNT": "12", "MODE": "fast"},
                "stdin": {"file": "/home/bob/y"},
            }],
        }, "source": {"file": "/home/bob/y"}, "packages": {"simple-token": "1.2.3"}});
        let clean = cleaned(hide(&[]), session(attributes));
        let expected = json!({"plan": {
            "directory": "~/x",
            "cases": [{
                "command": ["login", "--token", "[hidden: secret]", "--max-token", "5", "--verbose"],
                "environment": {"HF_TOKEN": "[hidden: secret]", "TOKEN_COUNT": "12", "MODE": "fast"},
                "stdin": {"file": "[hidden: home folder]/y"},
            }],
        }, "source": {"file": "~/y"}, "packages": {"simple-token": "1.2.3"}});
        assert_eq!(clean["attributes"], expected);
    }

    #[test]
    fn what_the_suite_hides_is_hidden() {
        let rules = hide(&["env.MO*", "host", "user", "stderr", "paths"]);
        let attributes = json!({"plan": {"cases": [{"environment": {"MODE": "fast", "LEVEL": "1"}}]},
            "user": "ann", "log": "/srv/a.txt and /data/b", "stdout": "x"});
        let clean = cleaned(rules.clone(), session(attributes));
        let expected = json!({"plan": {"cases": [{"environment": {"MODE": "[hidden: variable]", "LEVEL": "1"}}]},
            "user": "[hidden: user]", "log": "a.txt and [hidden: path]", "stdout": "[hidden: output]"});
        assert_eq!(clean["attributes"], expected);
        let (id, run) = (Id::derived(&[b"2"]), Id::derived(&[b"3"]));
        let instance = |host: &str| {
            json!({"v": 1, "kind": "instance", "id": id, "run": run, "benchmark": {"id": "/data/b"}, "host": host,
                "environment": {"host": host}})
        };
        let [one, other] = ["a", "b"].map(|host| cleaned(rules.clone(), instance(host)));
        assert_eq!(one["host"], one["environment"]["host"]);
        assert_ne!(one["host"], other["host"]);
        assert_eq!(one["benchmark"]["id"], "/data/b");
        let end = json!({"v": 1, "kind": "instance_end", "instance": id, "message": "exit code 1: no /x"});
        assert_eq!(cleaned(rules, end)["message"], "exit code 1");
    }

    #[test]
    fn a_compressed_plan_is_cleaned_too() {
        let plan = json!({"cases": [{"command": "login --token abc"}]});
        let packed = crate::packed::pack(plan.to_string().as_bytes()).unwrap();
        let clean = cleaned(hide(&[]), session(json!({"plan": {"zlib": packed}})));
        let digits = clean["attributes"]["plan"]["zlib"].as_str().unwrap();
        let command = &crate::packed::unpack(digits).unwrap()["cases"][0]["command"];
        assert_eq!(command, "login --token [hidden: secret]");
    }

    #[test]
    fn a_plan_is_whole_again_unless_something_in_it_is_hidden() {
        let attributes = json!({"plan": {"directory": "/home/ann/x", "cases": [
            {"benchmark": {"id": "cat /home/ann/y"}, "command": "cat /home/ann/y"}]}});
        let restored = |attributes: Value| {
            let clean = cleaned(hide(&[]), session(attributes));
            let Record::Session(mut session) = parse_line(clean.to_string().as_bytes()).unwrap()
            else {
                panic!("not a session");
            };
            restore_home(&mut session, "/home/ann");
            session
        };
        let whole = restored(attributes.clone());
        let plan = &whole.attributes["plan"];
        assert_eq!(plan["directory"], "/home/ann/x");
        assert_eq!(plan["cases"][0]["command"], "cat /home/ann/y");
        assert_eq!(plan["cases"][0]["benchmark"]["id"], "cat ~/y");
        assert_eq!(hidden_in_plan(&whole), None);
        let partial = restored(json!({"plan": {"cases": [{"command": "x --token abc"}]}}));
        assert_eq!(hidden_in_plan(&partial).as_deref(), Some("secret"));
    }
}
