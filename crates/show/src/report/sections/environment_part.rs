//! Observations around the latest runs, on the page of a benchmark.

use maud::{Markup, html};

use super::super::environment::{ObservedValue, VariantEnvironment};
use super::super::page::first_open;
use lapwing_model::Run;
use lapwing_model::text::{counted, grouped, plural};

/// The number of variants besides the latest whose changes are on the page.
const SHOWN_VARIANTS: usize = 20;

/// The number of them that are listed; the others are folded.
const OPEN_VARIANTS: usize = 3;

/// The number of observations in a table, and of characters of each.
const SHOWN_OBSERVATIONS: usize = 200;
const SHOWN_CHARACTERS: usize = 160;

/// Returns what differs between the latest run of each variant and the run before it.
pub(in crate::report) fn environment_part(environments: &[VariantEnvironment]) -> Markup {
    let name = |it: &VariantEnvironment| match environments {
        [_] if it.variant == Run::DEFAULT_VARIANT => String::new(),
        _ => format!(" of {}", it.variant),
    };
    html! {
        @if let Some((latest, others)) = environments.split_first() {
            section #environment aria-labelledby="environment-title" {
                h2 #environment-title { "Environment" }
                (environment_change(latest, &name(latest)))
                @let other_variants = others.iter().take(SHOWN_VARIANTS).map(|other| {
                    let number = changed(other).len();
                    html! { details {
                        summary {
                            (other.variant) ": "
                            @if other.previous.is_none() { "only one run" }
                            @else if number == 0 { "nothing differs" }
                            @else { (counted(number, "observation")) " " (plural(number, "differs", "differ")) }
                        }
                        (environment_change(other, &name(other)))
                    } }
                });
                (first_open(&other_variants.collect::<Vec<_>>(), OPEN_VARIANTS, "more variant"))
                @if others.len() > SHOWN_VARIANTS {
                    p.hint { "A click on a run says what differs from the run before it, of every variant." }
                }
                @if !latest.observations.is_empty() {
                    details {
                        summary { "Environment of the run" (name(latest)) " of " (latest.latest) }
                        (observation_table(
                            &latest.observations.iter().filter(|it| it.now.is_some()).collect::<Vec<_>>(),
                            &[(latest.latest.as_str(), true)],
                        ))
                    }
                }
            }
        }
    }
}

fn changed(environment: &VariantEnvironment) -> Vec<&ObservedValue> {
    let observations = environment.observations.iter();
    observations.filter(|it| it.differs()).collect()
}

fn only_run(name: &str) -> String {
    match name.strip_prefix(" of ") {
        None => "Only one run".to_owned(),
        Some(variant) => format!("{variant}: only one run"),
    }
}

/// Returns what differs between the latest run of a variant, which may be named, and the run before.
fn environment_change(environment: &VariantEnvironment, name: &str) -> Markup {
    let changed = changed(environment);
    let latest = environment.latest.as_str();
    html! {
        @match environment.previous.as_deref() {
            None => {
                p.hint { (only_run(name)) " so far. Later runs list their changes here." }
            }
            Some(previous) if changed.is_empty() => {
                p.hint { "Nothing that was observed differs between the runs" (name) " of " (previous) " and " (latest) "." }
            }
            Some(previous) => {
                p { "What differs between the two latest runs" (name) ":" }
                (observation_table(&changed, &[(previous, false), (latest, true)]))
            }
        }
    }
}

fn observation_table(observations: &[&ObservedValue], columns: &[(&str, bool)]) -> Markup {
    let shown = |value: Option<&String>| {
        let value = value.map_or("–", String::as_str);
        if value.chars().count() > SHOWN_CHARACTERS {
            let head: String = value.chars().take(SHOWN_CHARACTERS).collect();
            format!("{head}…")
        } else {
            value.to_owned()
        }
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label="Observations" {
        table.observations {
            thead { tr { th scope="col" { "observed" } @for (title, _) in columns { th scope="col" { (title) } } } }
            tbody {
                @for observation in observations.iter().take(SHOWN_OBSERVATIONS) {
                    tr {
                        th scope="row" { (shown(Some(&observation.key))) }
                        @for (_, now) in columns {
                            td { (shown(if *now { observation.now.as_ref() } else { observation.before.as_ref() })) }
                        }
                    }
                }
            }
        }
        }
        @if observations.len() > SHOWN_OBSERVATIONS {
            p.hint { "and " (grouped(observations.len() - SHOWN_OBSERVATIONS)) " more: " code { "lapwing export" } " has them all." }
        }
    }
}
