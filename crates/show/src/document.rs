//! The frame of every page, whether of a report, of charts or of a timeline.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Returns an HTML document; `style` is its style sheet or a link to one.
pub(crate) fn html_document(title: &str, style: &Markup, class: &str, body: &Markup) -> String {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="lapwing";
                title { (title) }
                (style)
                link rel="icon" href="data:,";
                // Before anything is drawn, so that a chosen theme does not flash.
                script { (PreEscaped("try{const t=localStorage.getItem('lapwing-theme');if(t)document.documentElement.dataset.theme=t}catch{}")) }
            }
            body class=[(!class.is_empty()).then_some(class)] { (body) }
        }
    };
    // Names of others would change the order of the text around them, or the terminal that prints the file.
    let is_unsafe = |it: char| {
        it.is_control() && !matches!(it, '\n' | '\t')
            || matches!(it, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    document.into_string().replace(is_unsafe, "\u{FFFD}")
}
