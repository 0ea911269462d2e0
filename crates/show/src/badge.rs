//! A badge for a README: the number of regressions in the history.

use maud::html;

use lapwing_analyse::detect::Detection;
use lapwing_model::text::{counted, grouped};

use crate::ChangeCounts;

const LABEL: &str = "performance";
const GREEN: &str = "#2e7d32";
const RED: &str = "#c62828";
const GREY: &str = "#616161";
/// Average width of ten letters, in pixels; texts are fitted to what is planned for them, whatever the font.
const TEN_LETTERS: usize = 63;
const MARGIN: usize = 6;
const HEIGHT: usize = 20;

/// Returns an SVG image with the number of regressions that are neither undone nor triaged, else of improvements. If there is none, it says in how
/// many of the histories, unless all were judged.
pub fn badge(detection: &Detection) -> String {
    let (text, colour) = message(detection);
    drawing(&text, colour)
}

fn message(detection: &Detection) -> (String, &'static str) {
    let counts = ChangeCounts::of(detection);
    if let Some(regressions) = counts.regressions_text("regression") {
        return (regressions, RED);
    }
    let judged = &detection.judged;
    match counts.improvements() {
        _ if judged.judged == 0 => ("not judged".to_owned(), GREY),
        0 if !judged.is_complete() => {
            let [judged, all] = [judged.judged, judged.histories].map(grouped);
            (format!("no regressions in {judged} of {all}"), GREEN)
        }
        0 => ("no regressions".to_owned(), GREEN),
        improvements => (counted(improvements, "improvement"), GREEN),
    }
}

fn drawing(text: &str, colour: &str) -> String {
    let [left, right] =
        [LABEL, text].map(|text| text.chars().count() * TEN_LETTERS / 10 + 2 * MARGIN);
    let title = format!("{LABEL}: {text}");
    let written = |text: &str, from: usize, width: usize| {
        html! {
            text x=(from + MARGIN) y="14" textLength=(width - 2 * MARGIN) { (text) }
        }
    };
    let image = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(left + right) height=(HEIGHT) role="img" aria-label=(title) {
            title { (title) }
            rect width=(left) height=(HEIGHT) fill="#424242" {}
            rect x=(left) width=(right) height=(HEIGHT) fill=(colour) {}
            g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" {
                (written(LABEL, 0, left))
                (written(text, left, right))
            }
        }
    };
    image.into_string() + "\n"
}
