//! The frame of every page, whether of a report, of charts or of a timeline.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Applies a chosen theme before anything is drawn, so that the other one does not flash.
pub(crate) const THEME_SCRIPT: &str = "try{const t=localStorage.getItem('lapwing-theme');if(t)document.documentElement.dataset.theme=t}catch{}";

/// Returns the script in the page, for pages that are a single file.
pub(crate) fn theme_script() -> Markup {
    html! { script { (PreEscaped(THEME_SCRIPT)) } }
}

/// Returns an HTML document; `head` has its style and what else belongs before the body.
pub(crate) fn html_document(title: &str, head: &Markup, class: &str, body: &Markup) -> String {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="lapwing";
                title { (title) }
                link rel="icon" href="data:,";
                (head)
            }
            body class=[(!class.is_empty()).then_some(class)] { (body) }
        }
    };
    without_controls(&document.into_string())
}

/// Replaces characters that would change the order of the text around them, or the terminal that prints the file: names of
/// others may have them.
pub(crate) fn without_controls(text: &str) -> String {
    let is_unsafe = |it: char| {
        it.is_control() && !matches!(it, '\n' | '\t')
            || matches!(it, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    text.replace(is_unsafe, "\u{FFFD}")
}
