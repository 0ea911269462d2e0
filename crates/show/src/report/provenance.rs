//! Notes on numbers that other programs measured or summarised.
//!
//! Texts have code between backticks; [`marked`] and the page's script turn it into `<code>`.

use maud::{Markup, html};

use crate::sample::{ImportedFrom, RunSample};
use lapwing_model::EachRun;

/// Returns what it means that a run's number is a summary, and what would help.
pub(super) fn summary_note(run: &RunSample) -> String {
    let format = run.imported_from.as_ref().map(|it| it.format.as_str());
    format!(
        "A summary: the source kept this number and not the samples that it was made from. \
         So a run by itself has no interval, no noise and no verdict; the history is judged, by one value per run. {}",
        way_to_samples(format.unwrap_or_default())
    )
}

/// Returns how a source is made to keep its samples.
fn way_to_samples(format: &str) -> &'static str {
    match format {
        "pytest-benchmark" => {
            "pytest-benchmark keeps every round with `--benchmark-json FILE`, \
             or with `--benchmark-save-data` beside `--benchmark-save NAME`."
        }
        "asv" => "asv keeps them with `asv run --record-samples`.",
        "hyperfine" => {
            "hyperfine keeps a time for every run, but of user and system time only the means; \
             `lapwing run` keeps all of them."
        }
        "google-benchmark" => {
            "Google Benchmark writes every repetition with `--benchmark_repetitions=10`, \
             unless `--benchmark_report_aggregates_only` is set."
        }
        "jmh" => "JMH keeps every iteration in the modes `-bm avgt` and `-bm thrpt`.",
        "benchmarkdotnet" => "BenchmarkDotNet keeps every measurement with `--exporters fulljson`.",
        "bmf" | "github-action" => {
            "This format holds one number for each benchmark; import instead the file that the \
             benchmarks' own tool wrote."
        }
        "libtest" | "divan" => {
            "Its output has no samples; Criterion, whose folder can be imported, keeps them."
        }
        _ => {
            "Import the file that has the samples, where the tool writes one, or measure with \
             `lapwing run`."
        }
    }
}

/// Returns what to know of runs that a program measured one right after another.
pub(super) fn back_to_back_note(source: &ImportedFrom) -> Option<String> {
    let format = &source.format;
    Some(match source.each_run? {
        EachRun::Instance => format!(
            "Instances are single runs of {format}, one right after another (imported with \
             `--each-run instance`). What drifts slowly hits all of them alike, so the interval \
             may be narrower than it should be."
        ),
        EachRun::Iteration => format!(
            "The runs of {format}, one right after another, are the iterations of one instance; \
             so there is no interval between instances. In a store into which they are imported with \
             `--each-run instance`, each run is an instance."
        ),
    })
}

/// Returns a text in which what stands between backticks is code.
pub(super) fn marked(text: &str) -> Markup {
    html! {
        @for (position, part) in text.split('`').enumerate() {
            @if position % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_marked_and_nothing_breaks_out() {
        assert_eq!(
            marked("use `a <b>` & `c`.").into_string(),
            "use <code>a &lt;b&gt;</code> &amp; <code>c</code>."
        );
    }

    #[test]
    fn a_source_with_a_choice_says_which_was_taken() {
        let source = |each_run| ImportedFrom {
            format: "hyperfine".to_owned(),
            each_run,
        };
        let note = |each_run| back_to_back_note(&source(each_run));
        let instance = note(Some(EachRun::Instance)).expect("a note");
        assert!(instance.starts_with("Instances are single runs of hyperfine, one right after"));
        let iteration = note(Some(EachRun::Iteration)).expect("a note");
        assert!(iteration.contains("no interval between instances"));
        assert_eq!(note(None), None);
    }
}
