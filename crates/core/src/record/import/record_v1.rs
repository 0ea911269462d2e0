//! Record v1: what Lapwing and its plugins write themselves (`docs/record-format.md`).

use super::detect::{first_line, has_own_key};
use super::lines::{Line, Lines};
use super::reason::reason;
use super::sink::Sink;
use super::{BadLine, Format, ImportError, ImportOptions, Source, no_folder};
use crate::record::{LineError, parse_line};

pub(super) const FORMAT: Format = Format {
    name: "record",
    about: "record v1, JSON Lines",
    looks_like,
    folder: no_folder,
    companions: &[],
    read,
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let line = first_line(head);
    (line.starts_with(b"{") && has_own_key(line, "v") && has_own_key(line, "kind"))
        .then_some("its first line has `v` and `kind`")
}

fn read(
    source: &Source,
    _options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let mut lines = Lines::of(source)?;
    while let Some((number, line)) = lines.next()? {
        match line {
            Line::Bad(why) => sink.bad(BadLine::new(number, why)),
            Line::Text(text) => match parse_line(text.as_bytes()) {
                Ok(record) => sink.line(number, [&record])?,
                Err(LineError::Json(error)) => {
                    sink.bad(BadLine::new(number, reason(text, &error)));
                }
                Err(
                    error @ (LineError::NoVersion
                    | LineError::Newer { .. }
                    | LineError::Kind { .. }
                    | LineError::Negative { .. }),
                ) => sink.bad(BadLine::new(number, error.to_string())),
            },
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::refusal;

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        insta::assert_snapshot!(refusal("record/truncated.jsonl"), @"truncated.jsonl:32: the JSON is cut off");
        insta::assert_snapshot!(refusal("record/wrong.jsonl"), @r#"wrong.jsonl:6: invalid type: string "no", expected a boolean"#);
    }
}
