//! Record v1: what Lapwing and its plugins write themselves (`docs/record-format.md`).

use std::iter::empty;

use crate::shared::detect::{first_line, has_own_key};
use crate::shared::reading::lines::{Line, Lines};
use crate::shared::reading::spot::Spot;
use crate::shared::reason::reason;
use crate::shared::sink::Sink;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::Record;
use lapwing_record::{LineError, parse_line};

pub(super) const FORMAT: Format = Format::new("record", "record v1, JSON Lines", looks_like, read);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let line = first_line(head);
    (line.starts_with(b"{") && has_own_key(line, "v") && has_own_key(line, "kind"))
        .then_some("its first line has `v` and `kind`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let mut lines = Lines::of(source)?;
    while let Some((number, line)) = lines.next()? {
        let record = match line {
            Line::Bad(why) => Err(why),
            Line::Text(text) => parse_line(text.as_bytes()).map_err(|error| match error {
                LineError::Json(error) => reason(text, &error),
                error @ (LineError::NoVersion
                | LineError::Newer { .. }
                | LineError::Kind { .. }
                | LineError::Refused { .. }) => error.to_string(),
            }),
        };
        match record {
            Ok(record) => {
                let records = [record];
                let good = sink.line(Spot::from(number), &records, empty(), None)?;
                if let ([Record::Instance(instance)], true) = (&records, good) {
                    sink.found().result(&instance.benchmark.id);
                }
            }
            Err(why) => sink.bad(BadLine::new(number, why)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
