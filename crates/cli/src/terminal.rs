//! The terminal: results on standard output, messages on standard error.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use crate::error::CliError;

/// Width assumed if the terminal does not report one.
const USUAL_WIDTH: usize = 80;

/// Standard output and standard error, with colour if they are a terminal.
#[derive(Debug)]
pub struct Terminal {
    interactive: bool,
}

impl Terminal {
    /// Returns the terminal; `interactive` if standard error is a terminal.
    pub fn new(interactive: bool) -> Self {
        Self { interactive }
    }

    /// Returns whether standard error is a terminal, where progress can be shown.
    pub fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Returns the width of standard output; `None` if it is not a terminal, because a program that
    /// reads it needs everything.
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

    /// Returns the width of standard error.
    pub fn talk_width(&self) -> usize {
        let stderr = io::stderr();
        let columns = rustix::termios::tcgetwinsize(&stderr).map_or(0, |size| size.ws_col);
        match usize::from(columns) {
            0 => USUAL_WIDTH,
            columns => columns,
        }
    }

    /// Returns standard output, which passes every byte unchanged: names are data.
    pub fn out(&self) -> impl Write {
        io::stdout().lock()
    }

    /// Returns standard output for coloured text; colours are removed if not supported.
    pub fn coloured_out(&self) -> impl Write {
        anstream::stdout().lock()
    }

    /// Prints a line on standard error. Failing to do so is not an error.
    pub fn say(&self, text: &str) {
        let _ignored: io::Result<()> = writeln!(anstream::stderr().lock(), "{text}");
    }

    /// Prints a prompt; the reply is typed on the same line.
    pub fn ask(&self, text: &str) {
        let mut stderr = anstream::stderr().lock();
        let _ignored: io::Result<()> = write!(stderr, "{text}").and_then(|()| stderr.flush());
    }

    /// Prints a note.
    pub fn note(&self, text: &str) {
        // A control character in a name could change the state of the terminal.
        let text = text.replace(char::is_control, "\u{FFFD}");
        let style = Style::new().fg_color(Some(AnsiColor::Yellow.into())).bold();
        self.say(&format!("{style}note{style:#}: {text}"));
    }

    /// Prints notes.
    pub fn notes(&self, notes: impl IntoIterator<Item: AsRef<str>>) {
        notes.into_iter().for_each(|note| self.note(note.as_ref()));
    }

    /// Prints an error with its consequence and hint.
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
