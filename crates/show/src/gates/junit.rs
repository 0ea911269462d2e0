//! Tests as JUnit XML, which CI systems show.

use std::collections::BTreeMap;

use maud::{PreEscaped, html};

use super::{GateTest, GateTests};

impl GateTests {
    /// Returns the tests as JUnit XML. A property has the number of regressions of a suite, where it is known.
    pub fn junit(&self) -> String {
        let mut suites: BTreeMap<&str, Vec<&GateTest>> = BTreeMap::new();
        for test in &self.suites {
            suites.entry(&test.suite).or_default().push(test);
        }
        let failed =
            |tests: &[&GateTest]| tests.iter().filter(|it| !it.failures.is_empty()).count();
        let skipped = |tests: &[&GateTest]| tests.iter().filter(|it| it.skipped.is_some()).count();
        let regressions = |suite: &str| self.regressions.get(suite).copied().unwrap_or(0);
        let document = html! {
            (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
            testsuites name=(self.name) {
                @for (suite, tests) in &suites {
                    testsuite name=(valid(suite)) tests=(tests.len()) failures=(failed(tests)) errors="0" skipped=(skipped(tests)) {
                        @if regressions(suite) > 0 {
                            properties { property name="regressions" value=(regressions(suite)) {} }
                        }
                        @for test in tests {
                            testcase classname=(valid(suite)) name=(valid(&test.name)) {
                                @for failure in &test.failures {
                                    failure type=(failure.kind) message=(valid(&failure.message)) { (valid(&failure.text)) }
                                }
                                @if let Some(why) = &test.skipped { skipped message=(valid(why)) {} }
                            }
                        }
                    }
                }
            }
        };
        document.into_string() + "\n"
    }
}

/// Returns a text without the characters that XML does not permit, even escaped.
fn valid(text: &str) -> String {
    let is_valid = |letter: char| {
        matches!(letter, '\t' | '\n' | '\r')
            || !letter.is_control() && !matches!(letter, '\u{FFFE}' | '\u{FFFF}')
    };
    let letters = text.chars();
    letters
        .map(|letter| if is_valid(letter) { letter } else { '\u{FFFD}' })
        .collect()
}
