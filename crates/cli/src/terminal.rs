//! The terminal: results on standard output, messages on standard error.

use std::io::{self, IsTerminal, Stdout, Write};
use std::sync::Mutex;

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressDrawTarget, TermLike};
use lapwing_show::writing::{AnswerFormat, SafeWriter, safe};

use crate::error::CliError;

/// Width assumed if the terminal does not report one.
const USUAL_WIDTH: usize = 80;

/// Standard output and standard error, with colour if they are a terminal.
#[derive(Debug)]
pub struct Terminal {
    progress: ProgressShown,
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgressShown {
    /// On a terminal.
    Drawn,
    /// As lines, for the program that started this one.
    AsLines,
    Hidden,
}

/// Redraws per second: more would disturb a measurement.
const REDRAW_PER_SECOND: u8 = 4;

#[expect(
    clippy::disallowed_methods,
    reason = "this file is the one that makes texts of others safe"
)]
fn stdout() -> Stdout {
    io::stdout()
}

impl Terminal {
    /// Returns the terminal; `interactive` if standard error is a terminal.
    pub fn new(interactive: bool) -> Self {
        let progress = if interactive {
            ProgressShown::Drawn
        } else {
            ProgressShown::Hidden
        };
        Self { progress }
    }

    /// Returns a terminal that shows progress as lines.
    pub fn of_lines() -> Self {
        let progress = ProgressShown::AsLines;
        Self { progress }
    }

    /// Returns the place where progress is shown; `None` if it is not.
    pub fn progress(&self) -> Option<ProgressDrawTarget> {
        match self.progress {
            ProgressShown::Drawn => Some(ProgressDrawTarget::stderr_with_hz(REDRAW_PER_SECOND)),
            ProgressShown::AsLines => {
                let lines = Box::new(ProgressLines::default());
                Some(ProgressDrawTarget::term_like_with_hz(
                    lines,
                    REDRAW_PER_SECOND,
                ))
            }
            ProgressShown::Hidden => None,
        }
    }

    /// Returns a terminal that shows progress alike.
    pub fn copied(&self) -> Self {
        let progress = self.progress;
        Self { progress }
    }

    /// Returns whether standard error is a terminal, where progress can be shown.
    pub fn is_interactive(&self) -> bool {
        self.progress == ProgressShown::Drawn
    }

    /// Returns the width of standard output; `None` if it is not a terminal, because a program that
    /// reads it needs everything.
    pub fn width(&self) -> Option<usize> {
        let stdout = stdout();
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

    /// Returns standard output for text, which is safe to show wherever it ends up.
    pub fn out(&self) -> Box<dyn Write> {
        Box::new(SafeWriter::new(stdout().lock()))
    }

    /// Returns standard output for a file. A program that reads it gets every byte, because names are data;
    /// a terminal gets none that would change its state.
    pub fn file_out(&self) -> Box<dyn Write> {
        if stdout().is_terminal() {
            self.out()
        } else {
            Box::new(stdout().lock())
        }
    }

    /// Returns standard output for bytes that are no text; `None` if it is a terminal.
    #[cfg(feature = "tables")]
    pub fn bytes_out(&self) -> Option<std::io::Stdout> {
        Some(stdout()).filter(|it| !it.is_terminal())
    }

    /// Returns standard output for an answer in this format.
    pub fn out_as(&self, format: AnswerFormat) -> Box<dyn Write> {
        match format {
            AnswerFormat::Text | AnswerFormat::Markdown | AnswerFormat::Csv => self.out(),
            AnswerFormat::Json => Box::new(SafeWriter::json(stdout().lock())),
        }
    }

    /// Prints a line on standard error. Failing to do so is not an error.
    pub fn say(&self, text: &str) {
        Self::line(&safe(text));
    }

    /// Prints a prompt; the reply is typed on the same line.
    pub fn ask(&self, text: &str) {
        let mut stderr = anstream::stderr().lock();
        let _ignored: io::Result<()> =
            write!(stderr, "{}", safe(text)).and_then(|()| stderr.flush());
    }

    /// Prints a note.
    pub fn note(&self, text: &str) {
        // Messages of failures have several lines.
        let style = Style::new().fg_color(Some(AnsiColor::Yellow.into())).bold();
        Self::line(&format!("{style}note{style:#}: {}", safe(text)));
    }

    /// Prints notes.
    pub fn notes(&self, notes: impl IntoIterator<Item: AsRef<str>>) {
        notes.into_iter().for_each(|note| self.note(note.as_ref()));
    }

    /// Prints an error with its consequence and hint.
    pub fn error(&self, error: &CliError) {
        let red = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
        let cyan = Style::new().fg_color(Some(AnsiColor::Cyan.into())).bold();
        Self::line(&format!("{red}error{red:#}: {}", safe(&error.sentence())));
        if let Some(consequence) = &error.consequence {
            self.say(&format!("  {consequence}"));
        }
        if let Some(hint) = &error.hint {
            Self::line(&format!("  {cyan}hint{cyan:#}: {}", safe(hint)));
        }
    }

    fn line(text: &str) {
        let _ignored: io::Result<()> = writeln!(anstream::stderr().lock(), "{text}");
    }
}

/// Progress as lines on standard error, each behind the character that separates records (U+001E).
#[derive(Debug, Default)]
struct ProgressLines(Mutex<String>);

impl ProgressLines {
    fn add(&self, text: &str) {
        if let Ok(mut line) = self.0.lock() {
            line.push_str(text);
        }
    }
}

impl TermLike for ProgressLines {
    fn width(&self) -> u16 {
        LINE_WIDTH
    }

    fn move_cursor_up(&self, _lines: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _lines: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _columns: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _columns: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.add(text);
        Ok(())
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.add(text);
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let line = self.0.lock().map(|mut it| std::mem::take(&mut *it));
        match line {
            Ok(line) if !line.trim().is_empty() => {
                writeln!(io::stderr().lock(), "\u{1e}{}", safe(line.trim()))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

/// Width of a line of progress in characters.
const LINE_WIDTH: u16 = 120;
