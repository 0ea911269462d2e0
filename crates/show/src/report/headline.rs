//! The headline of a page: the answer in large type, its worst fact, a picture, and the command that continues.

use maud::{Markup, html};

use crate::writing::NextStep;
use lapwing_analyse::detect::Direction;

/// The kind of news that an answer is, which is its colour and its symbol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum News {
    /// Something got worse or failed.
    Worse,
    /// Something may have got worse.
    Suspected,
    /// Something got better.
    Better,
    /// Everything is as it was, or nothing was judged.
    #[default]
    Nothing,
}

impl News {
    /// Returns that of a change in this direction.
    pub(crate) fn of(direction: Direction) -> Self {
        match direction {
            Direction::Regression => Self::Worse,
            Direction::Improvement => Self::Better,
            Direction::Neither => Self::Nothing,
        }
    }

    /// Returns the class of what has its colour.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Suspected => "suspected",
            Self::Better => "better",
            Self::Nothing => "no-news",
        }
    }

    fn symbol(self) -> Option<&'static str> {
        match self {
            Self::Worse => Some("✗"),
            Self::Suspected => Some("!"),
            Self::Better => Some("✓"),
            Self::Nothing => None,
        }
    }
}

/// The first part of a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Headline {
    pub(crate) news: News,
    /// The thing that the page is about, such as a benchmark, in a line above the answer.
    pub(crate) about: Option<Markup>,
    /// The answer.
    pub(crate) answer: Markup,
    /// The worst fact, and what else belongs to the answer, in a line each.
    pub(crate) facts: Vec<Markup>,
    /// A picture of the worst fact.
    pub(crate) picture: Option<Markup>,
    /// The command that continues, in the words of the terminal.
    pub(crate) next: Option<NextStep>,
    /// Explanations, which are folded.
    pub(crate) explained: Vec<Markup>,
}

impl Headline {
    /// Returns a headline that is an answer alone.
    pub(crate) fn new(news: News, answer: Markup) -> Self {
        Self {
            news,
            answer,
            ..Self::default()
        }
    }

    /// Returns the part of the page.
    pub(crate) fn part(&self) -> Markup {
        html! {
            section class=(format!("headline {}", self.news.class())) {
                div.says {
                    @if let Some(about) = &self.about { p.about { (about) } }
                    h1 {
                        @if let Some(symbol) = self.news.symbol() { span.news aria-hidden="true" { (symbol) } " " }
                        (self.answer)
                    }
                    @for fact in &self.facts { p.fact { (fact) } }
                    @if let Some(step) = &self.next { (next_part(step)) }
                    @if !self.explained.is_empty() {
                        details.explained {
                            summary aria-label="Explanation" title="Explanation" { "?" }
                            @for it in &self.explained { p { (it) } }
                        }
                    }
                }
                @if let Some(picture) = &self.picture { div.picture { (picture) } }
            }
        }
    }
}

/// Returns a command with what it does, and a button that copies it.
pub(crate) fn next_part(step: &NextStep) -> Markup {
    html! {
        p.next {
            "Next: " code { (step.command) }
            button type="button" data-action="copy" data-text=(step.command) title="Copy the command" aria-label="Copy the command" { "Copy" }
            " " (step.why)
        }
    }
}
