//! JUnit's XML, which many test runners write: the times of test cases.

use jiff::Timestamp;
use lapwing_model::{InstanceOutcome, Metric, Object};
use roxmltree::Node;

use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, iterations_of};
use crate::shared::keys::{put, put_object};
use crate::shared::notes::Notes;
use crate::shared::reading::moment::moment;
use crate::shared::reading::xml::{XmlText, begins_with, children, has_element, number, spot_of};
use crate::shared::sink::Sink;
use crate::{BadLine, Format, ImportError, Source};

pub(super) const FORMAT: Format = Format::new(
    "junit",
    "JUnit's XML with the times of test cases",
    looks_like,
    read,
);

/// The attributes of a test case that are understood.
const KNOWN: [&str; 6] = [
    "name",
    "classname",
    "time",
    "timestamp",
    "hostname",
    "status",
];

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let is_junit = begins_with(head, &["testsuites", "testsuite"]);
    (is_junit && has_element(head, "testcase")).then_some("it has `testsuite` and `testcase`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let text = XmlText::of(source)?;
    let document = text.parse()?;
    let root = document.root_element();
    let mut attributes = Object::new();
    put(&mut attributes, "name", root.attribute("name"));
    put_object(
        &mut attributes,
        "properties",
        properties(root, sink.notes()),
    );
    let session = SessionDraft {
        started: root.descendants().filter_map(time_of).min(),
        attributes,
        ..SessionDraft::of("JUnit")
    };
    let mut intake = Intake::begin(source, &text.digest, sink, session)?;
    let run = intake.run(RunDraft::default())?;
    for case in root.descendants().filter(|it| it.has_tag_name("testcase")) {
        let drafted = draft(case, intake.notes());
        intake.read_instance(spot_of(case), run, drafted)?;
    }
    intake.finish()
}

fn time_of(node: Node<'_, '_>) -> Option<Timestamp> {
    moment(node.attribute("timestamp")?)
}

fn properties(root: Node<'_, '_>, notes: &mut Notes) -> Object {
    let mut properties = Object::new();
    for property in root.descendants().filter(|it| it.has_tag_name("property")) {
        if let Some(name) = property.attribute("name") {
            let value = property.attribute("value").or_else(|| property.text());
            notes.kept(name, "attributes of the session");
            put(&mut properties, name, value);
        }
    }
    properties
}

fn draft(case: Node<'_, '_>, notes: &mut Notes) -> Result<InstanceDraft, BadLine> {
    let suite = case.ancestors().find(|it| it.has_tag_name("testsuite"));
    let of_suite = |name: &str| suite.and_then(|suite| suite.attribute(name));
    let name = case.attribute("name").unwrap_or_default();
    let class = case.attribute("classname").or_else(|| of_suite("name"));
    let mut draft = match class {
        Some(class) if !class.is_empty() && !name.is_empty() => {
            InstanceDraft::of(format!("{class}::{name}"))
        }
        Some(_) | None => InstanceDraft::of(name),
    };
    draft.started = time_of(case);
    let host = case.attribute("hostname").or_else(|| of_suite("hostname"));
    draft.host = host.filter(|host| !host.is_empty()).map(str::to_owned);
    for attribute in case.attributes() {
        if !KNOWN.contains(&attribute.name()) {
            notes.kept(attribute.name(), "attributes of the instance");
            put(
                &mut draft.attributes,
                attribute.name(),
                Some(attribute.value()),
            );
        }
    }
    let is_output =
        |it: &Node<'_, '_>| it.has_tag_name("system-out") || it.has_tag_name("system-err");
    if case.children().any(|it| is_output(&it)) {
        notes.left("system-out, system-err", "they are output");
    }
    let ends = [
        ("skipped", InstanceOutcome::Skipped),
        ("error", InstanceOutcome::Failed),
        ("failure", InstanceOutcome::Failed),
    ];
    for (child, outcome) in ends {
        if let Some(end) = children(case, child).next() {
            draft.outcome = outcome;
            let message = end.attribute("message").or_else(|| end.text());
            draft.message = message
                .map(|it| it.trim().to_owned())
                .filter(|it| !it.is_empty());
            return Ok(draft);
        }
    }
    match number(case, "time")? {
        Some(time) if time.abs() > 0.0 => {
            let metric = Metric::lower("s");
            draft.metrics.insert("wall_time".to_owned(), metric);
            draft.iterations = iterations_of("wall_time", vec![time]);
        }
        Some(_) => notes.left(&draft.benchmark.id, "their time is rounded to 0"),
        None => notes.left(&draft.benchmark.id, "they have no time"),
    }
    Ok(draft)
}

#[cfg(test)]
mod tests;
