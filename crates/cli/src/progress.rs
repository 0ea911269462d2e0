//! How far something is that takes its time.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::options::Context;

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
