//! How far something is that takes its time.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::options::Context;

/// Fewer benchmarks than this are read before anybody could look at a bar.
const BENCHMARKS_WITHOUT_BAR: usize = 200;

/// Returns a bar of so many benchmarks of which each takes no time to speak of.
pub fn bar_of_many(doing: &str, benchmarks: usize, context: &Context) -> ProgressBar {
    match benchmarks > BENCHMARKS_WITHOUT_BAR {
        true => bar(doing, benchmarks, context),
        false => ProgressBar::hidden(),
    }
}

/// Returns a bar of so many steps; nothing is seen of it where nobody looks.
pub fn bar(doing: &str, steps: usize, context: &Context) -> ProgressBar {
    if context.quiet || !context.terminal.is_interactive() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
    let template = format!(" {doing}  [{{bar:24}}]  {{pos}}/{{len}}   about {{eta}} left");
    match ProgressStyle::with_template(&template) {
        Ok(style) => bar.with_style(style),
        Err(_invalid) => bar,
    }
}

/// What is quicker than this needs no progress.
const QUICK: Duration = Duration::from_secs(2);

/// Says how far something is of which nobody knows how long it takes, once it takes long.
pub struct LateSpinner {
    bar: ProgressBar,
    begin: Instant,
    wanted: bool,
}

impl LateSpinner {
    /// Begins; nothing is seen of it where nobody looks.
    pub fn new(context: &Context) -> Self {
        Self {
            bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
            begin: Instant::now(),
            wanted: !context.quiet && context.terminal.is_interactive(),
        }
    }

    /// Says how far it is.
    pub fn say(&mut self, text: &str) {
        if self.wanted && self.begin.elapsed() > QUICK {
            self.wanted = false;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_message(text.to_owned());
        self.bar.tick();
    }

    /// Takes it away.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}
