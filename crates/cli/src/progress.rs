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

/// Returns the place of progress; `None` if it is not shown.
fn target(context: &Context) -> Option<ProgressDrawTarget> {
    context.terminal.progress().filter(|_| !context.quiet)
}

/// Returns a progress bar of `steps` steps; hidden if standard error is not a terminal.
pub fn bar(doing: &str, steps: usize, context: &Context) -> ProgressBar {
    let Some(target) = target(context) else {
        return ProgressBar::hidden();
    };
    let bar = ProgressBar::with_draw_target(Some(steps as u64), target);
    let template = format!(" {doing}  [{{bar:24}}]  {{pos}}/{{len}}   about {{eta}} left");
    match ProgressStyle::with_template(&template) {
        Ok(style) => bar.with_style(style),
        Err(_invalid) => bar,
    }
}

/// Returns a spinner for an operation that takes some seconds; hidden if standard error is not a terminal.
pub fn spinner(doing: &str, context: &Context) -> ProgressBar {
    let Some(target) = target(context) else {
        return ProgressBar::hidden();
    };
    let bar = spinner_on(target);
    bar.set_message(doing.to_owned());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// Returns a spinner with nothing but its message: the usual style has a number of steps, which is 0 here.
fn spinner_on(target: ProgressDrawTarget) -> ProgressBar {
    ProgressBar::with_draw_target(None, target).with_style(ProgressStyle::default_spinner())
}

/// Operations shorter than this show no progress.
const QUICK: Duration = Duration::from_secs(2);

/// Spinner for an operation of unknown length, shown once it takes long.
pub struct LateSpinner {
    bar: ProgressBar,
    begin: Instant,
    target: Option<ProgressDrawTarget>,
}

impl LateSpinner {
    /// Starts the spinner; hidden if standard error is not a terminal.
    pub fn new(context: &Context) -> Self {
        Self {
            bar: spinner_on(ProgressDrawTarget::hidden()),
            begin: Instant::now(),
            target: target(context),
        }
    }

    /// Shows the current state.
    pub fn say(&mut self, text: &str) {
        if self.begin.elapsed() > QUICK
            && let Some(target) = self.target.take()
        {
            self.bar.set_draw_target(target);
        }
        self.bar.set_message(safe_line(text));
        self.bar.tick();
    }

    /// Removes the spinner.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal that keeps what is written to it.
    #[derive(Debug, Clone, Default)]
    struct KeptTerminal(Arc<Mutex<String>>);

    impl TermLike for KeptTerminal {
        fn width(&self) -> u16 {
            80
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().expect("one thread").push_str(text);
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_spinner_shows_its_message_and_no_number_of_steps() {
        let terminal = KeptTerminal::default();
        let spinner = spinner_on(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
        spinner.set_message("reading the histories");
        spinner.tick();
        let shown = terminal.0.lock().expect("one thread").clone();
        assert!(shown.contains("reading the histories"), "{shown}");
        assert!(!shown.contains("0/0"), "{shown}");
    }
}
