//! Catch2's XML: the benchmarks of test cases and their sections, with rounded statistics.

use lapwing_model::{InstanceOutcome, Object};
use roxmltree::Node;

use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use crate::shared::keys::{number_or_text, put};
use crate::shared::reading::xml::{XmlText, begins_with, children, has_element, number, spot_of};
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};

pub(super) const FORMAT: Format =
    Format::new("catch2", "XML of Catch2's benchmarks", looks_like, read);

/// Returns what all times are counted in.
fn unit() -> Unit {
    Unit::named("ns")
}

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let is_catch = begins_with(head, &["Catch", "Catch2TestRun"]);
    (is_catch && has_element(head, "BenchmarkResults"))
        .then_some("it has `BenchmarkResults` of Catch2")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let text = XmlText::of(source)?;
    let document = text.parse()?;
    let root = document.root_element();
    let tool = match root.attribute("catch2-version") {
        Some(version) => format!("Catch2 {version}"),
        None => "Catch2".to_owned(),
    };
    let mut attributes = Object::new();
    for key in ["name", "rng-seed", "filters"] {
        put(&mut attributes, key, root.attribute(key));
    }
    let session = SessionDraft {
        attributes,
        ..SessionDraft::of(&tool)
    };
    let mut intake = Intake::begin(source, &text.digest, sink, session)?;
    let run = intake.run(RunDraft::default())?;
    let benchmarks = root
        .descendants()
        .filter(|it| it.has_tag_name("BenchmarkResults"));
    for benchmark in benchmarks {
        intake.read_instance(spot_of(benchmark), run, draft(benchmark))?;
    }
    intake.finish()
}

fn draft(benchmark: Node<'_, '_>) -> Result<InstanceDraft, BadLine> {
    let mut draft = InstanceDraft::of(id(benchmark));
    draft.benchmark.tags = tags(benchmark);
    for attribute in benchmark.attributes().filter(|it| it.name() != "name") {
        let value = number_or_text(attribute.value());
        draft.attributes.insert(attribute.name().to_owned(), value);
    }
    if let Some(failed) = children(benchmark, "failed").next() {
        draft.outcome = InstanceOutcome::Failed;
        draft.message = failed.attribute("message").map(str::to_owned);
        return Ok(draft);
    }
    let mean = children(benchmark, "mean").next();
    let Some((mean, value)) = mean
        .map(|mean| Ok((mean, number(mean, "value")?)))
        .transpose()?
    else {
        return Err(spot_of(benchmark).bad("`mean` is missing"));
    };
    let value = value.ok_or_else(|| spot_of(mean).bad("`value` is missing"))?;
    let unit = unit();
    let mut summary = SummaryDraft::of("wall_time", unit.base(value), "mean");
    let samples = benchmark.attribute("samples");
    summary.n = samples.and_then(|samples| samples.parse().ok());
    for (attribute, name) in [("lowerBound", "lower_bound"), ("upperBound", "upper_bound")] {
        let bound = number(mean, attribute)?.map(|bound| unit.base(bound));
        put(
            &mut summary.extra,
            name,
            bound.filter(|bound| bound.is_finite()),
        );
    }
    put(&mut summary.extra, "confidence", number(mean, "ci")?);
    let deviation = children(benchmark, "standardDeviation").next();
    let deviation = deviation
        .map(|it| number(it, "value"))
        .transpose()?
        .flatten();
    let deviation = deviation.map(|it| unit.base(it));
    draft.summarise(&unit, summary.with_spread(deviation, "sd"));
    if let Some(outliers) = children(benchmark, "outliers").next() {
        let counts = outliers.attributes();
        let counts: Object = counts
            .map(|it| (it.name().to_owned(), number_or_text(it.value())))
            .collect();
        put(&mut draft.attributes, "outliers", Some(counts));
    }
    Ok(draft)
}

/// Returns the names of the test case, of the sections in it and of the benchmark.
fn id(benchmark: Node<'_, '_>) -> String {
    let named = |it: &Node<'_, '_>| {
        ["TestCase", "Section", "BenchmarkResults"].contains(&it.tag_name().name())
    };
    let mut names: Vec<&str> = benchmark
        .ancestors()
        .filter(named)
        .map(|it| it.attribute("name").unwrap_or_default())
        .collect();
    names.reverse();
    names.join("::")
}

/// Returns the tags of the test case, which stand in brackets: `[sort][slow]`.
fn tags(benchmark: Node<'_, '_>) -> Vec<String> {
    let mut cases = benchmark.ancestors().filter_map(|it| it.attribute("tags"));
    let tags = cases.next().unwrap_or_default().split(['[', ']']);
    tags.filter(|tag| !tag.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests;
