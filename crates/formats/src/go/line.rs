//! What single lines of Go's benchmark text say (golang.org/design/14313-benchmark-format).

use std::collections::BTreeMap;

use crate::shared::units::Unit;
use lapwing_model::{Better, Metric};
use lapwing_record::NEVER_NEGATIVE;

/// The meaning of a line.
#[derive(Debug, PartialEq)]
pub(super) enum GoLine<'l> {
    /// A setting for the lines that follow; an empty value takes it back.
    Setting(&'l str, &'l str),
    /// A description of a unit: its name, keys and values.
    Unit(&'l str, Vec<(&'l str, &'l str)>),
    /// A result.
    Result(GoResult<'l>),
    /// A benchmark's name alone: it begins.
    Begins(&'l str),
    /// A benchmark's name, followed by output of its own instead of figures.
    Interrupted(&'l str),
    /// A benchmark failed.
    Failed(&'l str),
    /// A benchmark was skipped.
    Skipped(&'l str),
    /// Notes of a benchmark that ran well follow.
    Logged,
    /// The program ends of an error that no benchmark caught.
    Crash(&'l str),
    /// A package was not built.
    NotBuilt(&'l str),
    /// The process of a package ends.
    End,
    /// Belongs to the line before.
    Indented(&'l str),
    /// The name of a test that starts; other lines say it as well.
    Progress,
    /// None of these.
    Other,
}

/// The result of one benchmark with one number of iterations.
#[derive(Debug, PartialEq)]
pub(super) struct GoResult<'l> {
    /// The name with everything behind it.
    pub(super) name: &'l str,
    /// The number of iterations that the values are means of; 0 where it did not get that far.
    pub(super) loops: u64,
    /// Values and their units, as printed; NaN where there is none.
    pub(super) values: Vec<(f64, &'l str)>,
}

/// Returns what a line says, or why it cannot be understood.
pub(super) fn parse(line: &str) -> Result<GoLine<'_>, String> {
    if line.starts_with([' ', '\t']) {
        return Ok(GoLine::Indented(line.trim()));
    }
    let line = line.trim_end();
    if line.starts_with("Benchmark") {
        return benchmark(line);
    }
    if let Some(name) = line.strip_prefix("--- FAIL: ") {
        return Ok(GoLine::Failed(first_word(name)));
    }
    if let Some(name) = line.strip_prefix("--- SKIP: ") {
        return Ok(GoLine::Skipped(first_word(name)));
    }
    if line.starts_with("--- BENCH: ") {
        return Ok(GoLine::Logged);
    }
    if let Some(metadata) = line.strip_prefix("Unit ") {
        return unit_metadata(metadata);
    }
    if line.starts_with("=== ") {
        return Ok(GoLine::Progress);
    }
    if line.starts_with("panic: ") || line.starts_with("fatal error: ") {
        return Ok(GoLine::Crash(line));
    }
    if let Some((package, why)) = line
        .strip_prefix("FAIL\t")
        .and_then(|it| it.split_once(" ["))
        && matches!(why, "build failed]" | "setup failed]")
    {
        return Ok(GoLine::NotBuilt(package));
    }
    if matches!(line, "PASS" | "FAIL")
        || ["ok \t", "ok  ", "FAIL\t", "exit status "]
            .iter()
            .any(|begin| line.starts_with(begin))
    {
        return Ok(GoLine::End);
    }
    Ok(setting(line).unwrap_or(GoLine::Other))
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}

/// Go's own names have no lower-case letter behind `Benchmark`; other programs' may.
pub(super) fn is_name_of_go(name: &str) -> bool {
    name.strip_prefix("Benchmark")
        .is_some_and(|rest| !rest.starts_with(char::is_lowercase))
}

fn benchmark(line: &str) -> Result<GoLine<'_>, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, loops, pairs @ ..] = words.as_slice() else {
        return Ok(if is_name_of_go(line) {
            GoLine::Begins(line)
        } else {
            GoLine::Other
        });
    };
    // What a benchmark prints itself stands behind its name.
    let printed = match loops.parse::<u64>() {
        Ok(_) => 0,
        Err(_) => match (0..pairs.len()).find(|&at| are_figures(&pairs[at..])) {
            Some(before) => before + 1,
            None if !is_name_of_go(name) || *name == "Benchmark" => return Ok(GoLine::Other),
            None if words.contains(&"ns/op") => {
                return Err(format!("`{loops}` is not a number of iterations"));
            }
            None => return Ok(GoLine::Interrupted(name)),
        },
    };
    figures(name, &words[1 + printed..])
}

/// Returns whether words are a number of iterations and values with units.
fn are_figures(words: &[&str]) -> bool {
    let [loops, pairs @ ..] = words else {
        return false;
    };
    let mut pairs = pairs.chunks(2);
    loops.parse::<u64>().is_ok()
        && pairs.len() > 0
        && pairs.all(|pair| {
            let is_unit = |unit: &str| unit.parse::<f64>().is_err();
            matches!(pair, [value, unit] if value.parse::<f64>().is_ok() && is_unit(unit))
        })
}

/// Returns the result of a benchmark whose figures are on the line after its name.
pub(super) fn continued<'l>(name: &'l str, line: &'l str) -> Option<GoResult<'l>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match figures(name, are_figures(&words).then_some(&words)?) {
        Ok(GoLine::Result(result)) => Some(result),
        Ok(_) | Err(_) => None,
    }
}

fn figures<'l>(name: &'l str, words: &[&'l str]) -> Result<GoLine<'l>, String> {
    let [loops, pairs @ ..] = words else {
        return Ok(GoLine::Interrupted(name));
    };
    let Ok(loops) = loops.parse() else {
        return Err(format!("`{loops}` is not a number of iterations"));
    };
    let mut values = Vec::with_capacity(pairs.len() / 2);
    for pair in pairs.chunks(2) {
        let &[value, unit] = pair else {
            return Err(format!("`{}` of `{name}` has no unit", pair[0]));
        };
        let number: f64 = value
            .parse()
            .map_err(|_error| format!("`{unit}` of `{name}` is not a number: {value}"))?;
        if number < 0.0 && is_never_negative(&Quantity::of(unit)) {
            return Err(format!("`{unit}` of `{name}` is negative: {value}"));
        }
        let known = number.is_finite();
        values.push((if known { number } else { f64::NAN }, unit));
    }
    if values.is_empty() {
        return Err(format!("`{name}` has no values"));
    }
    Ok(GoLine::Result(GoResult {
        name,
        loops,
        values,
    }))
}

fn unit_metadata(text: &str) -> Result<GoLine<'_>, String> {
    let mut words = text.split_whitespace();
    let Some(unit) = words.next() else {
        return Err("`Unit` without the name of one".to_owned());
    };
    let pairs: Option<Vec<_>> = words.map(|word| word.split_once('=')).collect();
    match pairs {
        Some(pairs) if !pairs.is_empty() => Ok(GoLine::Unit(unit, pairs)),
        Some(_) | None => Err(format!("`Unit {unit}` is not followed by key=value")),
    }
}

/// `key: value`, the key beginning with a lower-case letter and without upper-case ones.
fn setting(line: &str) -> Option<GoLine<'_>> {
    let (key, value) = line.split_once(':')?;
    let good_key = key.starts_with(char::is_lowercase)
        && !key.contains(|it: char| it.is_whitespace() || it.is_uppercase());
    let good_value = value.is_empty() || value.starts_with(char::is_whitespace);
    (good_key && good_value).then(|| GoLine::Setting(key, value.trim()))
}

/// A benchmark's name, taken apart.
#[derive(Debug, PartialEq)]
pub(super) struct GoName<'l> {
    /// The name without the number of processors.
    pub(super) stem: &'l str,
    /// GOMAXPROCS, which is printed where it is not 1.
    pub(super) processors: Option<u32>,
}

impl<'l> GoName<'l> {
    pub(super) fn of(name: &'l str) -> Self {
        let number = name.rsplit_once('-').and_then(|(stem, digits)| {
            let all_digits = digits.bytes().all(|it| it.is_ascii_digit());
            let number = digits.parse().ok().filter(|_| all_digits)?;
            Some((stem, number))
        });
        match number {
            Some((stem, processors)) => Self {
                stem,
                processors: Some(processors),
            },
            None => Self {
                stem: name,
                processors: None,
            },
        }
    }

    /// Returns the parts of the form `key=value`.
    pub(super) fn parameters(&self) -> BTreeMap<&'l str, &'l str> {
        self.stem
            .split('/')
            .skip(1)
            .filter_map(|part| part.split_once('='))
            .filter(|(key, _)| !key.is_empty())
            .collect()
    }
}

/// The quantity that a unit of Go's counts: the metric's name, and the way to the base unit.
#[derive(Debug, PartialEq)]
pub(crate) struct Quantity {
    /// The name of the metric.
    pub(crate) metric: String,
    /// Its unit.
    pub(crate) unit: Unit,
}

impl Quantity {
    /// Returns what `unit` counts. The time and the throughput that Go measures itself have
    /// the names that they have everywhere; everything else is called what its unit is
    /// called. `…-ns`, `…-µs` and `…-bytes` are times and amounts.
    pub(crate) fn of(unit: &str) -> Self {
        let (metric, kind) = match unit {
            "ns/op" | "sec/op" => ("wall_time", unit),
            "MB/s" | "B/s" => ("bytes_per_second", unit),
            own => (own, own),
        };
        let (above, below) = match kind.split_once('/') {
            Some((above, below)) => (above, Some(below)),
            None => (kind, None),
        };
        let last = above.rsplit('-').next().unwrap_or(above);
        let unit = match (last, below) {
            (last, Some(below)) if is_amount(last) => Unit::named(&format!("{last}/{below}")),
            (last, None) if is_amount(last) => Unit::named(last),
            ("allocs", _) => Unit::named(kind).with_better(Some(Better::Lower)),
            // People's own letters, such as `m` or `d`, are not minutes and days, and their
            // `min` is a minimum.
            _own if kind.len() == 1 || matches!(above, "m" | "h" | "d" | "min") => {
                Self::unknown(kind)
            }
            _own => Unit::named(kind),
        };
        Self {
            // The Greek letter looks like the sign for micro, and means the same.
            metric: metric.replace('\u{3bc}', "\u{b5}"),
            unit,
        }
    }

    fn unknown(kind: &str) -> Unit {
        let mut unit = Unit::named("");
        unit.metric = Metric::undirected(kind);
        unit
    }
}

fn is_never_negative(quantity: &Quantity) -> bool {
    quantity.unit.metric.unit == "s" || NEVER_NEGATIVE.contains(&quantity.metric.as_str())
}

/// Returns whether a unit, alone or at the end of a name, says a time or an amount of memory.
fn is_amount(unit: &str) -> bool {
    let time = ["ps", "ns", "us", "\u{b5}s", "\u{3bc}s", "ms", "s", "sec"];
    let memory = ["B", "bytes", "kB", "KB", "MB", "GB", "KiB", "MiB", "GiB"];
    time.contains(&unit) || memory.contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(line: &str) -> GoResult<'_> {
        match parse(line) {
            Ok(GoLine::Result(result)) => result,
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn a_result_has_a_name_a_count_and_values_with_units() {
        assert_eq!(
            result("BenchmarkA/k=v-8 \t 500\t 2300 ns/op\t27.8 MB/s"),
            GoResult {
                name: "BenchmarkA/k=v-8",
                loops: 500,
                values: vec![(2300.0, "ns/op"), (27.8, "MB/s")],
            }
        );
    }

    #[test]
    fn a_name_alone_and_what_a_benchmark_prints_are_no_results() {
        assert_eq!(parse("BenchmarkA"), Ok(GoLine::Begins("BenchmarkA")));
        let begun = Ok(GoLine::Interrupted("BenchmarkA-8"));
        assert_eq!(parse("BenchmarkA-8 \tloading 3 files"), begun);
        assert_eq!(parse("Benchmark of 3 files"), Ok(GoLine::Other));
        assert_eq!(parse("Benchmarking is fun: 3 ns/op"), Ok(GoLine::Other));
        assert_eq!(parse("Benchmarking"), Ok(GoLine::Other));
    }

    #[test]
    fn output_of_the_benchmark_may_stand_before_the_figures() {
        let expected = vec![(2200.0, "ns/op")];
        let result = result("BenchmarkB-8 loaded 3 files 100 2200 ns/op");
        assert_eq!((result.loops, result.values), (100, expected.clone()));
        let result = continued("BenchmarkA-8", "  100\t 2200 ns/op").expect("figures");
        assert_eq!((result.loops, result.values), (100, expected));
        assert_eq!(continued("BenchmarkA-8", "100 connections"), None);
    }

    #[test]
    fn other_programs_have_names_with_small_letters() {
        let expected = vec![(43568.0, "data-bytes")];
        assert_eq!(
            result("Benchmarktopo_data 1 43568 data-bytes").values,
            expected
        );
    }

    #[test]
    fn a_result_that_is_wrong_says_why() {
        let reason = |line| parse(line).expect_err("bad on purpose");
        assert_eq!(
            reason("BenchmarkA 5x 3 ns/op"),
            "`5x` is not a number of iterations"
        );
        assert_eq!(
            reason("BenchmarkA 5 3,5 ns/op"),
            "`ns/op` of `BenchmarkA` is not a number: 3,5"
        );
        assert_eq!(
            reason("BenchmarkA 5 3 ns/op 7"),
            "`7` of `BenchmarkA` has no unit"
        );
        assert_eq!(
            reason("BenchmarkA 5 -3 wait-ns"),
            "`wait-ns` of `BenchmarkA` is negative: -3"
        );
    }

    #[test]
    fn settings_have_lower_case_keys_and_a_space() {
        assert_eq!(parse("pkg: a/b"), Ok(GoLine::Setting("pkg", "a/b")));
        assert_eq!(parse("pkg:"), Ok(GoLine::Setting("pkg", "")));
        assert_eq!(parse("a_test.go:48: no"), Ok(GoLine::Other));
        assert_eq!(parse("Note: no"), Ok(GoLine::Other));
        assert_eq!(parse("    note: no"), Ok(GoLine::Indented("note: no")));
    }

    #[test]
    fn the_number_behind_a_name_is_that_of_the_processors() {
        let name = GoName::of("BenchmarkA/size=1-2/kind=x-y-16");
        assert_eq!(name.stem, "BenchmarkA/size=1-2/kind=x-y");
        assert_eq!(name.processors, Some(16));
        let expected = BTreeMap::from([("size", "1-2"), ("kind", "x-y")]);
        assert_eq!(name.parameters(), expected);
        assert_eq!(GoName::of("BenchmarkA/_-_20").processors, None);
    }

    #[test]
    fn units_become_base_units() {
        let of = |unit: &str, value: f64| {
            let quantity = Quantity::of(unit);
            let base = quantity.unit.base(value);
            (quantity.metric, base, quantity.unit.metric)
        };
        let name = str::to_owned;
        assert_eq!(
            of("ns/op", 12.5),
            (name("wall_time"), 1.25e-8, Metric::lower("s"))
        );
        assert_eq!(
            of("MB/s", 2.5),
            (name("bytes_per_second"), 2.5e6, Metric::higher("B/s"))
        );
        assert_eq!(of("B/op", 16.0), (name("B/op"), 16.0, Metric::lower("B")));
        assert_eq!(
            of("allocs/op", 3.0),
            (name("allocs/op"), 3.0, Metric::lower("allocs"))
        );
        assert_eq!(
            of("build-real-ns/op", 5.0),
            (name("build-real-ns/op"), 5e-9, Metric::lower("s"))
        );
        assert_eq!(
            of("ns/GC", 7.0),
            (name("ns/GC"), 7e-9, Metric::lower("s/GC"))
        );
        assert_eq!(
            of("text-bytes", 7.0),
            (name("text-bytes"), 7.0, Metric::lower("B"))
        );
        assert_eq!(
            of("words/op", 7.0),
            (name("words/op"), 7.0, Metric::undirected("words"))
        );
    }

    #[test]
    fn own_units_become_base_units_where_they_are_plain() {
        let of = |unit: &str, value: f64| {
            let quantity = Quantity::of(unit);
            let base = quantity.unit.base(value);
            (quantity.metric, base, quantity.unit.metric)
        };
        let name = str::to_owned;
        let micro = (name("\u{b5}s/op"), 66.37e-6, Metric::lower("s"));
        assert_eq!(of("\u{b5}s/op", 66.37), micro);
        assert_eq!(of("\u{3bc}s/op", 66.37), micro);
        assert_eq!(
            of("p99-\u{b5}s", 2.0),
            (name("p99-\u{b5}s"), 2e-6, Metric::lower("s"))
        );
        assert_eq!(
            of("p99-ms/op", 2.0),
            (name("p99-ms/op"), 2e-3, Metric::lower("s"))
        );
        assert_eq!(
            of("heap-MiB", 1.0),
            (name("heap-MiB"), 1_048_576.0, Metric::lower("B"))
        );
        // What may be something else stays as it is.
        for unit in ["m", "m/op", "min", "latency-min", "d/op"] {
            assert_eq!(
                of(unit, 3.0),
                (name(unit), 3.0, Metric::undirected(unit)),
                "{unit}"
            );
        }
    }
}
