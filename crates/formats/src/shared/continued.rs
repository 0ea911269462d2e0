//! A history that other results continue.

use std::collections::BTreeSet;

/// The history that github-action-benchmark keeps, whose newest run may stand in a file of the tool itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContinuedHistory {
    /// Its suite.
    pub suite: String,
    /// The names of its benchmarks.
    pub benchmarks: BTreeSet<String>,
}

impl ContinuedHistory {
    /// The program that measured, as all of its runs name it.
    pub const TOOL: &str = "github-action-benchmark";

    /// Returns the benchmark that is meant by a name of the tool: github-action-benchmark leaves out Go's number of
    /// processors, and writes its package behind the name, or not at all.
    pub(crate) fn benchmark(&self, name: &str) -> Option<&str> {
        let plain = without_processors(name);
        let (package, short) = match plain.split_once("Benchmark") {
            Some((package, rest)) if package.ends_with('.') => (
                package.strip_suffix('.').unwrap_or_default(),
                format!("Benchmark{rest}"),
            ),
            Some(_) | None => ("", plain.to_owned()),
        };
        let spellings = [
            name.to_owned(),
            plain.to_owned(),
            format!("{short} ({package})"),
            short,
        ];
        let mut known = spellings.iter().filter_map(|it| self.benchmarks.get(it));
        known.next().map(String::as_str)
    }
}

fn without_processors(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((stem, digits))
            if !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()) =>
        {
            stem
        }
        Some(_) | None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_go_are_those_of_the_history() {
        let history = ContinuedHistory {
            suite: "Go Benchmark".to_owned(),
            benchmarks: ["BenchmarkFib10", "BenchmarkAdd/n=8 (x/y)", "size-16", "b.c"]
                .map(str::to_owned)
                .into(),
        };
        for (typed, known) in [
            ("x/y.BenchmarkFib10-8", Some("BenchmarkFib10")),
            ("BenchmarkFib10", Some("BenchmarkFib10")),
            ("x/y.BenchmarkAdd/n=8-4", Some("BenchmarkAdd/n=8 (x/y)")),
            ("x/z.BenchmarkAdd/n=8-4", None),
            ("size-16", Some("size-16")),
            ("size-32", None),
            ("BenchmarkFib20-8", None),
        ] {
            assert_eq!(history.benchmark(typed), known, "{typed}");
        }
    }
}
