//! News of a search, for the terminal.

use lapwing_measure::bisection::{BisectionError, SearchNews, SearchStep};
use lapwing_model::text::counted;
use lapwing_show::{LookedText, percent};

use crate::options::Context;

/// Shows what a search does.
pub fn say_news(news: SearchNews, context: &Context) {
    let text = match news.step {
        SearchStep::Ends { ends, later } => format!(
            "comparing {} with {}, {} later",
            ends[0],
            ends[1],
            counted(later, "commit")
        ),
        SearchStep::Looked(looked) => {
            format!("{}: {}", looked.instances_text(), looked.text())
        }
        SearchStep::Compared { is_last: false, .. } if !context.verbose => return,
        SearchStep::Compared { difference, .. } => {
            format!("{}: {}", difference.instances_text(), difference.text())
        }
        SearchStep::Measured { is_new: false, .. } if !context.verbose => return,
        SearchStep::Measured {
            commits,
            suspect,
            probability,
            ..
        } => {
            let labels = commits.into_iter().map(|(label, is_measured)| {
                if is_measured {
                    label
                } else {
                    format!("{label} cannot be measured")
                }
            });
            format!(
                "measured {}; most likely so far: {suspect} ({})",
                labels.collect::<Vec<_>>().join(", "),
                percent(probability)
            )
        }
        SearchStep::Parent { commits } => {
            format!("comparing {} with {}", commits[0], commits[1])
        }
        SearchStep::SearchesOn => "they do not differ as the ends do: searching on".to_owned(),
        SearchStep::SearchesRest => {
            "that may not be the only change: searching the rest".to_owned()
        }
        SearchStep::Merge { merge, commits } => format!(
            "{merge} is a merge: searching the {} that it brought",
            counted(commits, "commit")
        ),
        SearchStep::Unused { instances } => {
            return context.terminal.note(&format!(
                "{instances} stored instances do not fit the search and are not used"
            ));
        }
    };
    if !context.quiet {
        let benchmark = news.benchmark.map(|id| format!("{id}: "));
        context
            .terminal
            .say(&format!("{}{text}", benchmark.unwrap_or_default()));
    }
}

/// Returns what to do about a search that cannot be continued.
pub fn bisection_hint(error: &BisectionError) -> Option<String> {
    let hint = match error {
        BisectionError::NothingToResume => "start one with `lapwing bisect GOOD BAD -- COMMAND`",
        BisectionError::NoBisection { .. } => "`lapwing run --resume` continues other sessions",
        BisectionError::EndedEarly { .. } => "start it anew with `lapwing bisect`",
        BisectionError::Options(_) | BisectionError::Session(_) | BisectionError::Store(_) => {
            return None;
        }
    };
    Some(hint.to_owned())
}
