//! Visits every text of a record, with its place.

use std::fmt;

use serde_json::Value;

use crate::iterations::Mark;
use crate::packed::{PACKED, pack, unpack};
use lapwing_model::{
    Annotation, Instance, InstanceEnd, Iteration, Level, Object, Record, Run, Session, Span,
    Summary, Version,
};

/// The place of a text in a record, such as `attributes.plan.cases.command`.
#[derive(Debug, Clone, Copy)]
pub struct TextPlace<'p> {
    parent: Option<&'p TextPlace<'p>>,
    name: &'p str,
    /// The word before it, in a list.
    before: Option<&'p str>,
}

impl<'p> TextPlace<'p> {
    pub(super) fn new(name: &'p str) -> Self {
        Self {
            parent: None,
            name,
            before: None,
        }
    }

    pub(super) fn within(&'p self, name: &'p str) -> Self {
        Self {
            parent: Some(self),
            ..Self::new(name)
        }
    }

    /// Returns the last name of the place; that of the list for its items.
    pub fn name(&self) -> &'p str {
        self.name
    }

    /// Returns the name of what it is in.
    pub fn parent(&self) -> Option<&'p str> {
        self.parent.map(|it| it.name)
    }

    /// Returns the word before it, in a list such as that of a command.
    pub(super) fn before(&self) -> Option<&'p str> {
        self.before
    }

    /// Returns whether it is in something of that name.
    pub fn is_within(&self, name: &str) -> bool {
        self.parent
            .is_some_and(|it| it.name == name || it.is_within(name))
    }
}

impl fmt::Display for TextPlace<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            write!(formatter, "{parent}.")?;
        }
        formatter.write_str(self.name)
    }
}

/// Takes each text with its place.
pub(crate) type TextVisitor<'v> = dyn FnMut(&TextPlace<'_>, &mut String) + 'v;

/// Something with texts.
pub(crate) trait PrivateTexts {
    /// Calls `visit` with every text.
    fn each_text(&mut self, visit: &mut TextVisitor<'_>);
}

impl PrivateTexts for Record {
    fn each_text(&mut self, visit: &mut TextVisitor<'_>) {
        match self {
            Self::Session(it) => it.each_text(visit),
            Self::Run(it) => it.each_text(visit),
            Self::Instance(it) => it.each_text(visit),
            Self::Iteration(it) => it.each_text(visit),
            Self::Span(it) => it.each_text(visit),
            Self::InstanceEnd(it) => it.each_text(visit),
            Self::Summary(it) => it.each_text(visit),
            Self::Annotation(it) => it.each_text(visit),
        }
    }
}

impl PrivateTexts for Session {
    fn each_text(&mut self, visit: &mut TextVisitor<'_>) {
        text("suite", &mut self.suite, visit);
        text("tool", &mut self.tool, visit);
        texts("name", &mut self.name, visit);
        object("attributes", &mut self.attributes, visit);
        object("artifacts", &mut self.artifacts, visit);
        object("extra", &mut self.extra, visit);
    }
}

impl PrivateTexts for Run {
    fn each_text(&mut self, visit: &mut TextVisitor<'_>) {
        text("variant", &mut self.variant, visit);
        let factors = TextPlace::new("factors");
        for (name, level) in &mut self.factors {
            if let Level::Text(level) = level {
                visit(&factors.within(name), level);
            }
        }
        self.version.each_text(visit);
        object("environment", &mut self.environment, visit);
        object("attributes", &mut self.attributes, visit);
        object("artifacts", &mut self.artifacts, visit);
        object("extra", &mut self.extra, visit);
    }
}

impl PrivateTexts for Version {
    fn each_text(&mut self, visit: &mut TextVisitor<'_>) {
        texts("version", &mut self.name, visit);
        texts("version", &mut self.commit, visit);
        texts("branch", &mut self.branch, visit);
        object("version", &mut self.extra, visit);
    }
}

impl PrivateTexts for Instance {
    fn each_text(&mut self, visit: &mut TextVisitor<'_>) {
        text("benchmark", &mut self.benchmark.id, visit);
        object("params", &mut self.benchmark.params, visit);
        texts("tags", &mut self.benchmark.tags, visit);
        object("benchmark", &mut self.benchmark.extra, visit);
        texts("host", &mut self.host, visit);
        object("environment", &mut self.environment, visit);
        object("job", &mut self.job, visit);
        object("attributes", &mut self.attributes, visit);
        object("artifacts", &mut self.artifacts, visit);
        object("extra", &mut self.extra, visit);
    }
}

impl PrivateTexts for InstanceEnd {
    fn each_text(&mut self, visit: &mut TextVisitor<'_>) {
        texts("message", &mut self.message, visit);
        object("observed", &mut self.observed, visit);
        object("extra", &mut self.extra, visit);
    }
}

impl PrivateTexts for Iteration {
    fn each_text(&mut self, visit: &mut TextVisitor<'_>) {
        texts("message", &mut self.message, visit);
        object("attributes", &mut self.attributes, visit);
        object("artifacts", &mut self.artifacts, visit);
        object("extra", &mut self.extra, visit);
    }
}

impl PrivateTexts for Mark {
    fn each_text(&mut self, visit: &mut TextVisitor<'_>) {
        texts("message", &mut self.message, visit);
        object("attributes", &mut self.attributes, visit);
    }
}

impl PrivateTexts for Span {
    fn each_text(&mut self, visit: &mut TextVisitor<'_>) {
        text("category", &mut self.category, visit);
        text("name", &mut self.name, visit);
        texts("lane", &mut self.lane, visit);
        texts("inputs", self.inputs.iter_mut().flatten(), visit);
        texts("clock", &mut self.clock, visit);
        object("attributes", &mut self.attributes, visit);
        object("extra", &mut self.extra, visit);
    }
}

impl PrivateTexts for Summary {
    fn each_text(&mut self, visit: &mut TextVisitor<'_>) {
        object("extra", &mut self.extra, visit);
    }
}

impl PrivateTexts for Annotation {
    fn each_text(&mut self, visit: &mut TextVisitor<'_>) {
        text("by", &mut self.by, visit);
        object("target", &mut self.target, visit);
        texts("reason", &mut self.reason, visit);
        object("extra", &mut self.extra, visit);
    }
}

fn text(name: &str, text: &mut String, visit: &mut TextVisitor<'_>) {
    visit(&TextPlace::new(name), text);
}

fn texts<'t>(
    name: &str,
    all: impl IntoIterator<Item = &'t mut String>,
    visit: &mut TextVisitor<'_>,
) {
    for it in all {
        text(name, it, visit);
    }
}

fn object(name: &str, object: &mut Object, visit: &mut TextVisitor<'_>) {
    let place = TextPlace::new(name);
    for (key, value) in object.iter_mut() {
        each_of(&place.within(key), value, visit);
    }
}

/// Calls `visit` with every text in a value.
pub(super) fn each_of(place: &TextPlace<'_>, value: &mut Value, visit: &mut TextVisitor<'_>) {
    match value {
        Value::String(text) if place.name == PACKED && place.parent() == Some("plan") => {
            each_packed(place, text, visit);
        }
        Value::String(text) => visit(place, text),
        Value::Array(items) => {
            for number in 0..items.len() {
                let (before, rest) = items.split_at_mut(number);
                let before = before.last().and_then(|it| it.as_str());
                each_of(&TextPlace { before, ..*place }, &mut rest[0], visit);
            }
        }
        Value::Object(entries) => {
            for (key, value) in entries.iter_mut() {
                each_of(&place.within(key), value, visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Visits the texts of a plan that is compressed.
fn each_packed(place: &TextPlace<'_>, digits: &mut String, visit: &mut TextVisitor<'_>) {
    let Some(mut plan) = unpack(digits) else {
        return visit(place, digits);
    };
    let parent = place.parent.unwrap_or(place);
    let mut is_changed = false;
    each_of(parent, &mut plan, &mut |place, text| {
        let before = text.clone();
        visit(place, text);
        is_changed |= *text != before;
    });
    if is_changed && let Ok(packed) = pack(plan.to_string().as_bytes()) {
        *digits = packed;
    }
}
