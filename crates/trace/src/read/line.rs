//! One line of a log.

use std::borrow::Cow;

use memchr::memmem;
use serde_json::{Map, Value};

/// What a line says.
#[derive(Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all lines are events, and one exists at a time"
)]
pub(super) enum Line<'l> {
    /// Something happened.
    Event(Event<'l>),
    /// Something took so many nanoseconds.
    Micro { kind: Cow<'l, str>, duration: i64 },
    /// It is no part of a trace.
    Other,
    /// It is, but cannot be read.
    Broken,
}

/// An event as it is written. Texts that are missing are empty.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Event<'l> {
    pub(super) action: Cow<'l, str>,
    pub(super) task: Cow<'l, str>,
    pub(super) dataset: Cow<'l, str>,
    pub(super) worker: Cow<'l, str>,
    pub(super) host: Cow<'l, str>,
    pub(super) source: Cow<'l, str>,
    pub(super) target: Cow<'l, str>,
    pub(super) mode: Cow<'l, str>,
    /// The process that wrote it.
    pub(super) process: Option<i64>,
    /// Nanoseconds.
    pub(super) at: Option<i64>,
    /// Other fields that are whole numbers.
    pub(super) counts: Vec<(Cow<'l, str>, i64)>,
}

impl<'l> Event<'l> {
    fn set(&mut self, key: Cow<'l, str>, value: Cow<'l, str>) {
        match key.as_ref() {
            "action" => self.action = value,
            "task" => self.task = value,
            "dataset" => self.dataset = value,
            "worker" => self.worker = value,
            "host" => self.host = value,
            "source" => self.source = value,
            "target" => self.target = value,
            "mode" => self.mode = value,
            "at" => self.at = value.parse().ok(),
            _ => {
                if let Ok(number) = value.parse() {
                    self.counts.push((key, number));
                }
            }
        }
    }
}

/// Reads a line without its end.
pub(super) fn parse(line: &str) -> Line<'_> {
    if line.starts_with('{') {
        return of_json(line);
    }
    let Some(place) = memmem::find(line.as_bytes(), b"tracing") else {
        return Line::Other;
    };
    let rest = &line[place..];
    // `…tracing.marker:19045:#host=…`, and before November 2024 `…tracing:19045:host=…`.
    let payload = match memchr::memchr(b'#', rest.as_bytes()) {
        Some(place) => Some(&rest[place + 1..]),
        None => rest.splitn(3, ':').nth(2),
    };
    let mut line = payload.map_or(Line::Other, |payload| of_payload(payload, Cow::Borrowed));
    if let Line::Event(event) = &mut line {
        event.process = rest.split(':').nth(1).and_then(|text| text.parse().ok());
    }
    line
}

/// Reads `key=value;…;at=N`, or `kind=N`, whose texts are kept by a function.
fn of_payload<'p, 'l>(payload: &'p str, keep: fn(&'p str) -> Cow<'l, str>) -> Line<'l> {
    if memmem::find(payload.as_bytes(), b"action=").is_none() {
        let Some((kind, duration)) = payload.split_once('=') else {
            return Line::Other;
        };
        return match duration.parse() {
            Ok(duration) if !kind.contains(';') => Line::Micro {
                kind: keep(kind),
                duration,
            },
            _ => Line::Broken,
        };
    }
    let mut event = Event::default();
    let mut rest = payload;
    while !rest.is_empty() {
        let end = memchr::memchr(b';', rest.as_bytes()).unwrap_or(rest.len());
        let field = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        let Some((key, value)) = field.split_once('=') else {
            return Line::Broken;
        };
        event.set(keep(key), keep(value));
    }
    checked(event)
}

fn checked(event: Event<'_>) -> Line<'_> {
    if event.action.is_empty() || event.at.is_none() {
        return Line::Broken;
    }
    Line::Event(event)
}

fn of_json(line: &str) -> Line<'_> {
    if let Some(event) = of_flat_json(line) {
        return checked(event);
    }
    let Ok(fields) = serde_json::from_str::<Map<String, Value>>(line) else {
        return match memmem::find(line.as_bytes(), b"\"action\"") {
            Some(_) => Line::Broken,
            None => Line::Other,
        };
    };
    // A log formatter writes the payload as `message`.
    if let Some(Value::String(message)) = fields.get("message") {
        let payload = message.split_once('#').map(|(_, payload)| payload);
        return match payload.map(|text| of_payload(text, |text| Cow::Owned(text.to_owned()))) {
            // Durations of such logs do not count.
            Some(Line::Micro { .. }) | None => Line::Other,
            Some(Line::Event(event)) => Line::Event(Event {
                process: fields.get("process").and_then(Value::as_i64),
                ..event
            }),
            Some(line) => line,
        };
    }
    if !fields.contains_key("action") {
        return Line::Other;
    }
    let mut event = Event::default();
    for (key, value) in fields {
        let value = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            _ => continue,
        };
        event.set(Cow::Owned(key), Cow::Owned(value));
    }
    checked(event)
}

/// Reads an object of texts without escapes and of numbers, which nearly all are; `None` if it is none, or has no
/// action.
fn of_flat_json(line: &str) -> Option<Event<'_>> {
    let mut event = Event::default();
    let mut rest = line.strip_prefix('{')?;
    loop {
        rest = rest.trim_start().strip_prefix('"')?;
        let end = memchr::memchr2(b'"', b'\\', rest.as_bytes())?;
        let key = &rest[..end];
        rest = rest[end..].strip_prefix('"')?.trim_start();
        rest = rest.strip_prefix(':')?.trim_start();
        let value;
        if let Some(text) = rest.strip_prefix('"') {
            let end = memchr::memchr2(b'"', b'\\', text.as_bytes())?;
            value = &text[..end];
            rest = text[end..].strip_prefix('"')?;
        } else {
            let end = rest.find([',', '}'])?;
            value = rest[..end].trim_end();
            if value.starts_with(['{', '[']) {
                return None;
            }
            rest = &rest[end..];
        }
        event.set(Cow::Borrowed(key), Cow::Borrowed(value));
        rest = rest.trim_start();
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None if rest == "}" => break,
            None => return None,
        }
    }
    (!event.action.is_empty()).then_some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(line: &str) -> Event<'_> {
        match parse(line) {
            Line::Event(event) => event,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_forms_of_a_line_say_the_same() {
        let lines = [
            "2026-11-20 18:09:25,041:DEBUG:cascade.low.tracing.marker:19045:#host=h0;task=efi:1;action=task_started;worker=h0.w1;at=17",
            "DEBUG:controller.tracing:19045:host=h0;task=efi:1;action=task_started;worker=h0.w1;at=17",
            r#"{"host": "h0", "task":"efi:1","action": "task_started" ,"worker": "h0.w1", "at": 17}"#,
            r#"{"host": "h\u0030", "task":"efi:1","action": "task_started","worker": "h0.w1", "at": 17}"#,
            r##"{"timestamp": "t", "process": 7, "message": "#host=h0;task=efi:1;action=task_started;worker=h0.w1;at=17", "level": "DEBUG"}"##,
        ];
        for line in lines {
            let event = event(line);
            assert_eq!(event.action, "task_started");
            assert_eq!((event.task, event.worker), ("efi:1".into(), "h0.w1".into()));
            assert_eq!((event.host, event.at), ("h0".into(), Some(17)));
        }
        let processes = lines.map(|line| event(line).process);
        assert_eq!(processes, [Some(19045), Some(19045), None, None, Some(7)]);
    }

    #[test]
    fn durations_and_counts_are_read() {
        let line = "…:cascade.low.tracing.tracer:19045:#ctrl_init=94542";
        let expected = Line::Micro {
            kind: "ctrl_init".into(),
            duration: 94542,
        };
        assert_eq!(parse(line), expected);
        let line =
            r#"{"action": "controllerReport", "actDuration": 12, "waitDuration": null, "at": 3}"#;
        assert_eq!(event(line).counts, [("actDuration".into(), 12)]);
    }

    #[test]
    fn other_lines_are_skipped_and_broken_ones_noticed() {
        assert_eq!(parse("starting up"), Line::Other);
        assert_eq!(
            parse(r#"{"level": "INFO", "message": "hello"}"#),
            Line::Other
        );
        assert_eq!(parse(""), Line::Other);
        let broken = [
            r#"{"action": "task_started", "at": "#,
            r#"{"action": "task_started"}"#,
            "…tracing.marker:1:#host=h0;action=task_started;at=",
            "…tracing.marker:1:#host=h0;action=task_started;a",
            "…tracing.tracer:1:#ctrl_init=x",
        ];
        for line in broken {
            assert_eq!(parse(line), Line::Broken, "{line}");
        }
    }
}
