//! Ninja's log of what it built: `.ninja_log`.

use crate::shared::intake::{InstanceDraft, SessionDraft};
use crate::shared::reading::lines::{Line, Lines};
use crate::shared::reading::spot::Spot;
use crate::shared::sink::Sink;
use crate::shared::spans::{SpanDraft, TASK, put_in_lanes, take_traces, traced};
use crate::{Format, ImportError, Source};

pub(super) const FORMAT: Format = Format {
    takes_names: true,
    is_trace: true,
    ..Format::new("ninja", "Ninja's build log (.ninja_log)", looks_like, read)
};

/// The beginning of the first line, in front of the number of the version.
const HEAD: &str = "# ninja log v";

fn looks_like(head: &[u8]) -> Option<&'static str> {
    (head.starts_with(HEAD.as_bytes())).then_some("it begins with `# ninja log`")
}

/// A command, in ms from the beginning of its build.
struct Step {
    begin: i64,
    end: i64,
    hash: String,
    outputs: Vec<String>,
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let mut lines = Lines::of(source)?;
    let mut builds: Vec<(u64, Vec<Step>)> = Vec::new();
    while let Some((number, line)) = lines.next()? {
        let step = match line {
            Line::Text(head) if number == 1 => match head.strip_prefix(HEAD) {
                Some("5" | "6" | "7") => continue,
                _other => Err("versions 5 to 7 of the log are read".to_owned()),
            },
            Line::Text(text) => step_of(text).ok_or_else(|| {
                "a step is a begin, an end, a time, an output and a hash, with tabs between them"
                    .to_owned()
            }),
            Line::Bad(reason) => Err(reason),
        };
        let step = match step {
            Ok(step) => step,
            Err(reason) => {
                sink.bad(Spot::from(number).bad(reason));
                continue;
            }
        };
        // Steps are in the order of their ends: an earlier one is of another build.
        match builds.last_mut() {
            Some((_, steps)) if steps.last().is_some_and(|last| last.end <= step.end) => {
                match steps.last_mut() {
                    Some(last) if last.is_same(&step) => last.outputs.extend(step.outputs),
                    _ => steps.push(step),
                }
            }
            _ => builds.push((number, vec![step])),
        }
    }
    let traces = builds.into_iter().map(|(line, steps)| (line, trace(steps)));
    let session = SessionDraft::of("Ninja");
    take_traces(source, &digest, sink, session, traces.collect())
}

impl Step {
    /// Returns whether another output is of the same command.
    fn is_same(&self, other: &Self) -> bool {
        (self.begin, self.end, &self.hash) == (other.begin, other.end, &other.hash)
    }
}

fn step_of(text: &str) -> Option<Step> {
    let fields: Vec<&str> = text.split('\t').collect();
    let [begin, end, changed, output, hash] = fields[..] else {
        return None;
    };
    let (begin, end): (i64, i64) = (begin.parse().ok()?, end.parse().ok()?);
    let _changed: i64 = changed.parse().ok()?;
    let _hash = u64::from_str_radix(hash, 16).ok()?;
    (0 <= begin && begin <= end && !output.is_empty()).then(|| Step {
        begin,
        end,
        hash: hash.to_owned(),
        outputs: vec![output.to_owned()],
    })
}

fn trace(steps: Vec<Step>) -> InstanceDraft {
    const MILLISECOND: i64 = 1_000_000;
    let spans = steps.into_iter().map(|step| {
        let mut span = SpanDraft::of(TASK, step.outputs[0].clone());
        span.event("started", step.begin.checked_mul(MILLISECOND));
        span.event("computed", step.end.checked_mul(MILLISECOND));
        span.clock = Some("trace".to_owned());
        let file = step.outputs[0].rsplit('/').next().unwrap_or_default();
        let ending = file.rsplit_once('.').map(|(_, ending)| ending);
        span.attribute("class", ending.filter(|it| !it.is_empty()));
        let others = (step.outputs.len() > 1).then(|| step.outputs[1..].to_vec());
        span.attribute("outputs", others);
        span
    });
    let mut spans: Vec<SpanDraft> = spans.collect();
    put_in_lanes(&mut spans);
    traced("ninja", None, spans)
}

#[cfg(test)]
mod tests;
