//! Talks to people: data on standard output, everything else on standard error.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use crate::error::CliError;

/// The width of a terminal that does not tell it.
const USUAL_WIDTH: usize = 80;

/// Standard output and standard error, with colour where it is seen.
#[derive(Debug)]
pub struct Terminal {
    interactive: bool,
}

impl Terminal {
    /// Returns the terminal; `interactive` when standard error is seen by a person.
    pub fn new(interactive: bool) -> Self {
        Self { interactive }
    }

    /// Returns whether a person sees standard error, so that progress is welcome there.
    pub fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Returns how many characters fit a line of standard output; `None` where no person sees
    /// it, because a program that reads it wants everything.
    pub fn width(&self) -> Option<usize> {
        let stdout = io::stdout();
        stdout.is_terminal().then(|| {
            let columns = rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| size.ws_col);
            match usize::from(columns) {
                0 => USUAL_WIDTH,
                columns => columns,
            }
        })
    }

    /// Returns how many characters fit a line of what is said beside the answer.
    pub fn talk_width(&self) -> usize {
        let stderr = io::stderr();
        let columns = rustix::termios::tcgetwinsize(&stderr).map_or(0, |size| size.ws_col);
        match usize::from(columns) {
            0 => USUAL_WIDTH,
            columns => columns,
        }
    }

    /// Returns standard output, which gets every byte as it is: a name is data, whatever is in it.
    pub fn out(&self) -> impl Write {
        io::stdout().lock()
    }

    /// Returns standard output for what has colours, which drops them where they are not wanted.
    pub fn coloured_out(&self) -> impl Write {
        anstream::stdout().lock()
    }

    /// Says something beside the answer. What cannot be said is not worth failing for.
    pub fn say(&self, text: &str) {
        let _ignored: io::Result<()> = writeln!(anstream::stderr().lock(), "{text}");
    }

    /// Asks for an answer, which is typed on the same line.
    pub fn ask(&self, text: &str) {
        let mut stderr = anstream::stderr().lock();
        let _ignored: io::Result<()> = write!(stderr, "{text}").and_then(|()| stderr.flush());
    }

    /// Says that something deserves attention.
    pub fn note(&self, text: &str) {
        // A control character in a name must not play tricks on the terminal.
        let text = text.replace(char::is_control, "\u{FFFD}");
        let style = Style::new().fg_color(Some(AnsiColor::Yellow.into())).bold();
        self.say(&format!("{style}note{style:#}: {text}"));
    }

    /// Says what went wrong, what it means and what to do next.
    pub fn error(&self, error: &CliError) {
        let red = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
        let cyan = Style::new().fg_color(Some(AnsiColor::Cyan.into())).bold();
        self.say(&format!("{red}error{red:#}: {}", error.sentence()));
        if let Some(consequence) = &error.consequence {
            self.say(&format!("  {consequence}"));
        }
        if let Some(hint) = &error.hint {
            self.say(&format!("  {cyan}hint{cyan:#}: {hint}"));
        }
    }
}
