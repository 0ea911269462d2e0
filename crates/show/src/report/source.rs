//! The source code of a benchmark, if it was recorded.

use maud::{Markup, html};
use serde_json::Value;

use crate::sample::RunSample;
use lapwing_analyse::sample::{BenchmarkData, History, VariantNames};
use lapwing_model::Object;
use lapwing_record::InstanceData;

/// The number of characters that the page shows of a source.
const SHOWN_CHARACTERS: usize = 20_000;

/// The source code of a test and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BenchmarkSource {
    path: Option<String>,
    line: Option<u64>,
    text: String,
}

impl BenchmarkSource {
    fn of(attributes: &Object) -> Option<Self> {
        let source = attributes.get("source")?;
        let text = |key: &str| source.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            path: text("path"),
            line: source.get("line").and_then(Value::as_u64),
            text: text("text").filter(|text| !text.trim().is_empty())?,
        })
    }

    /// Returns the source as the latest run that has one says, and which run that is: `None` for the
    /// latest of all.
    fn latest(data: &BenchmarkData) -> Option<(Self, Option<String>)> {
        let order = History::of(data);
        let place = |it: &InstanceData| order.position(&it.run.id);
        let newest = data.instances.iter().filter_map(place).max();
        let said = data.instances.iter().filter_map(|instance| {
            let source = Self::of(&instance.instance.attributes)
                .or_else(|| Self::of(&instance.run.attributes));
            Some((instance, source?))
        });
        let (it, source) = said.max_by_key(|(it, _)| place(it))?;
        let of_the_latest = place(it) == newest;
        let run = RunSample::empty(it, &VariantNames::default());
        Some((source, (!of_the_latest).then(|| run.label_within_variant())))
    }

    fn place(&self) -> Option<String> {
        let path = self.path.as_ref()?;
        Some(match self.line {
            Some(line) => format!("{path}, line {line}"),
            None => path.clone(),
        })
    }
}

/// Returns the source, folded, where it is known.
pub(super) fn source_part(data: &BenchmarkData) -> Markup {
    html! {
        @if let Some((source, run)) = BenchmarkSource::latest(data) {
            @let length = source.text.chars().count();
            section #source aria-labelledby="source-title" {
                h2 #source-title { "Source" }
                details {
                    summary {
                        @if let Some(run) = run {
                            "What the run of " (run) " measured; later ones did not keep it"
                        } @else { "What the latest run measured" }
                        @if let Some(place) = source.place() { ": " code { (place) } }
                    }
                    pre tabindex="0" { (source.text.chars().take(SHOWN_CHARACTERS).collect::<String>()) }
                    @if length > SHOWN_CHARACTERS { p.hint { "Cut off here; the store has all of it." } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_source_is_a_text_with_its_place() {
        let attributes = |value: Value| value.as_object().cloned().unwrap_or_default();
        let whole = json!({"source": {"path": "a.py", "line": 7, "text": "def test_a(): pass"}});
        let source = BenchmarkSource::of(&attributes(whole)).expect("a source");
        assert_eq!(source.place().as_deref(), Some("a.py, line 7"));
        // Of an imported session the same key says which program's results it is from.
        let format = json!({"source": {"format": "asv"}});
        assert_eq!(BenchmarkSource::of(&attributes(format)), None);
    }
}
