//! The picture of a page for link previews and for Markdown: its answer and its worst fact, as an SVG.

use maud::{Markup, html};

use super::headline::{Headline, News};
use crate::document::without_controls;

/// The size that previews of links have.
const WIDTH: usize = 1200;
const HEIGHT: usize = 630;
const MARGIN: usize = 64;

/// The letters of a line, and the lines that there is room for.
const ANSWER: (usize, usize) = (33, 4);
const FACT: (usize, usize) = (60, 3);

/// The colours of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PreviewTheme {
    /// Dark letters on white.
    Light,
    /// Light letters on near black.
    Dark,
}

impl PreviewTheme {
    /// Returns the end of the file's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Returns the colours of the background, of letters, of muted letters and of this news, as in the style sheet.
    fn colours(self, news: News) -> [&'static str; 4] {
        match self {
            Self::Light => {
                let of_news = match news {
                    News::Worse => "#b3261e",
                    News::Suspected => "#8a5a00",
                    News::Better => "#0b6b4b",
                    News::Nothing => "#59636e",
                };
                ["#ffffff", "#1d2329", "#59636e", of_news]
            }
            Self::Dark => {
                let of_news = match news {
                    News::Worse => "#ff9a8f",
                    News::Suspected => "#e8b84a",
                    News::Better => "#5fd6ae",
                    News::Nothing => "#a0a8b2",
                };
                ["#15181c", "#e4e7eb", "#a0a8b2", of_news]
            }
        }
    }
}

/// Returns the picture of a page.
pub(super) fn preview(report: &str, headline: &Headline, theme: PreviewTheme) -> String {
    let [background, letters, muted, of_news] = theme.colours(headline.news);
    let answer = lines(&plain(&headline.answer), ANSWER);
    let fact = headline.facts.first().map(plain).unwrap_or_default();
    let fact = lines(&fact, FACT);
    let top = MARGIN + 96;
    let below = top + 68 * answer.len() + 24;
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) width=(WIDTH) height=(HEIGHT) font-family="system-ui, sans-serif" {
            rect width="100%" height="100%" fill=(background) {}
            rect width="14" height="100%" fill=(of_news) {}
            text x=(MARGIN) y=(MARGIN + 24) font-size="32" fill=(muted) { (report) }
            g font-size="54" font-weight="600" fill=(letters) {
                @for (at, line) in answer.iter().enumerate() {
                    text x=(MARGIN) y=(top + 68 * at) { (line) }
                }
            }
            g font-size="32" fill=(of_news) {
                @for (at, line) in fact.iter().enumerate() {
                    text x=(MARGIN) y=(below + 44 * at) { (line) }
                }
            }
        }
    };
    without_controls(&svg.into_string())
}

/// Returns the text of a part of a page, without its tags.
pub(super) fn plain(part: &Markup) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    for letter in part.0.chars() {
        match letter {
            '<' => is_tag = true,
            '>' => is_tag = false,
            _ if !is_tag => text.push(letter),
            _ => {}
        }
    }
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ];
    for (entity, letter) in entities {
        text = text.replace(entity, letter);
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text in lines of at most so many letters; what there is no room for becomes an ellipsis.
fn lines(text: &str, (letters, most): (usize, usize)) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|it| !it.is_empty()) {
        let fits = |line: &String| line.chars().count() + 1 + word.chars().count() <= letters;
        match lines.last_mut().filter(|line| fits(line)) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.chars().take(letters).collect()),
        }
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            last.push('…');
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_entities_become_text() {
        let part = html! { a href="x" { "1 < 2" } " & “more”" };
        assert_eq!(plain(&part), "1 < 2 & “more”");
    }

    #[test]
    fn a_text_too_long_ends_with_an_ellipsis() {
        assert_eq!(lines("one two three four", (8, 2)), ["one two", "three…"]);
        assert_eq!(lines("", (8, 2)), Vec::<String>::new());
    }

    #[test]
    fn a_preview_has_the_colour_of_its_news_and_no_tags_of_others() {
        let headline = Headline::new(News::Worse, html! { "1 regression: " ("<script>\u{1b}") });
        let svg = preview("nightly", &headline, PreviewTheme::Dark);
        assert!(svg.contains("#ff9a8f"), "{svg}");
        assert!(svg.contains("1 regression: &lt;script&gt;"), "{svg}");
    }
}
