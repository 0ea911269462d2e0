//! Progress of long operations.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lapwing_show::writing::safe_line;

use crate::options::Context;

/// Fewer benchmarks than this are read too quickly to need a bar.
const BENCHMARKS_WITHOUT_BAR: usize = 200;

/// Returns a progress bar for benchmarks that take little time each; hidden if they are few.
pub fn bar_of_many(doing: &str, benchmarks: usize, context: &Context) -> ProgressBar {
    if benchmarks > BENCHMARKS_WITHOUT_BAR {
        bar(doing, benchmarks, context)
    } else {
        ProgressBar::hidden()
    }
}

/// Returns a progress bar of `steps` steps; hidden if standard error is not a terminal.
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

/// Returns a spinner for an operation that takes some seconds; hidden if standard error is not a terminal.
pub fn spinner(doing: &str, context: &Context) -> ProgressBar {
    if context.quiet || !context.terminal.is_interactive() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::default_spinner());
    bar.set_message(doing.to_owned());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// Operations shorter than this show no progress.
const QUICK: Duration = Duration::from_secs(2);

/// Spinner for an operation of unknown length, shown once it takes long.
pub struct LateSpinner {
    bar: ProgressBar,
    begin: Instant,
    wanted: bool,
}

impl LateSpinner {
    /// Starts the spinner; hidden if standard error is not a terminal.
    pub fn new(context: &Context) -> Self {
        Self {
            bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
            begin: Instant::now(),
            wanted: !context.quiet && context.terminal.is_interactive(),
        }
    }

    /// Shows the current state.
    pub fn say(&mut self, text: &str) {
        if self.wanted && self.begin.elapsed() > QUICK {
            self.wanted = false;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_message(safe_line(text));
        self.bar.tick();
    }

    /// Removes the spinner.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}
