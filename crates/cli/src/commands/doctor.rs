//! `lapwing doctor`: checks whether this machine is suitable for measuring.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use clap::{Args, ValueEnum};
use lapwing_measure::doctor::{DoctorDiagnosis, DoctorFinding, Severity, examine};
use lapwing_measure::local::{LauncherOptions, LocalExecutor};
use serde_json::json;

use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use lapwing_show::writing::write_json;

/// Check whether this machine is suitable for measuring, and suggest improvements
///
/// Checks load, frequency governor, turbo, virtualisation, swap, the clock and the available
/// counters, and repeats a short computation to see how much its time varies. Changes nothing.
#[derive(Debug, Args)]
pub struct DoctorCommand {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: DoctorFormat,
}

/// Output format of a diagnosis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum DoctorFormat {
    /// Text for reading in a terminal
    #[default]
    Text,
    /// JSON for programs, documented and stable
    Json,
}

impl DoctorCommand {
    /// Examines the machine and prints the findings.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let mut executor = LocalExecutor::start(&LauncherOptions {
            program: crate::launcher_program(),
            cpus: None,
        })?;
        let diagnosis = examine(Path::new("/"), &context.store, &mut executor)?;
        let mut out = context.terminal.coloured_out();
        match self.format {
            DoctorFormat::Text => write_text(&mut out, &diagnosis, context.quiet)?,
            DoctorFormat::Json => {
                let answer = json!({
                    "conclusion": conclusion(&diagnosis),
                    "noise": diagnosis.noise,
                    "findings": diagnosis.findings,
                });
                write_json(&answer, &mut out)?;
            }
        }
        out.flush()?;
        Ok(ExitStatus::Fine)
    }
}

/// Detectable difference above which the machine is called unsuitable.
const UNFIT: f64 = 0.10;

/// Returns the conclusion in one sentence.
fn conclusion(diagnosis: &DoctorDiagnosis) -> String {
    let disturbing = diagnosis
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Disturbing)
        .count();
    let also = match disturbing {
        0 => "no disturbances".to_owned(),
        1 => "1 disturbance".to_owned(),
        more => format!("{more} disturbances"),
    };
    match diagnosis.noise {
        None => format!("cannot tell whether this machine is suitable for measuring; {also}"),
        Some(noise) if noise.detectable > UNFIT => format!(
            "not suitable for measuring right now: differences below about {} % are lost in noise; {also}",
            rounded_up(noise.detectable),
        ),
        Some(noise) => format!(
            "suitable for detecting differences of about {} % or more; {also}",
            rounded_up(noise.detectable),
        ),
    }
}

/// Returns a share as a percentage, rounded up.
fn rounded_up(share: f64) -> String {
    let percent = (share * 100.0).max(0.5);
    if percent < 2.0 {
        format!("{:.1}", (percent * 2.0).ceil() / 2.0)
    } else {
        format!("{:.0}", percent.ceil())
    }
}

fn write_text(out: &mut impl Write, diagnosis: &DoctorDiagnosis, quiet: bool) -> io::Result<()> {
    writeln!(out, " {}", conclusion(diagnosis))?;
    if quiet {
        return Ok(());
    }
    writeln!(out)?;
    for finding in &diagnosis.findings {
        write_finding(out, finding)?;
    }
    if diagnosis.noise.is_some() {
        writeln!(
            out,
            "\n The percentage is computed from the noise line: 5 instances per side with\n \
             5 iterations each detect such a difference with a power of 80 %. Instances\n \
             further apart in time vary more, and so do programs that do more than compute."
        )?;
    }
    Ok(())
}

fn write_finding(out: &mut impl Write, finding: &DoctorFinding) -> io::Result<()> {
    let (symbol, colour) = match finding.severity {
        Severity::Good => ('✓', AnsiColor::Green),
        Severity::Disturbing => ('!', AnsiColor::Yellow),
        Severity::Neutral => ('–', AnsiColor::BrightBlack),
    };
    let style = Style::new().fg_color(Some(colour.into()));
    let name = finding.subject.replace('_', " ");
    let mut label = format!(" {style}{symbol}{style:#} {name:<22}");
    let advice = finding.advice.iter().map(|advice| format!("→ {advice}"));
    for text in std::iter::once(finding.found.clone()).chain(advice) {
        for line in wrapped(&text) {
            writeln!(out, "{label} {line}")?;
            label = " ".repeat(25);
        }
    }
    Ok(())
}

/// Returns a text wrapped to the width beside the names.
fn wrapped(text: &str) -> Vec<String> {
    const WIDTH: usize = 54;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use lapwing_measure::doctor::MachineNoise;

    use super::*;

    fn diagnosis(detectable: f64) -> DoctorDiagnosis {
        DoctorDiagnosis {
            noise: Some(MachineNoise {
                executions: 50,
                median: 0.01,
                spread: 0.02,
                slowest: 1.1,
                detectable,
            }),
            findings: vec![DoctorFinding {
                subject: "clock_rate",
                severity: Severity::Disturbing,
                found: "it varies".to_owned(),
                advice: Some("hold it still".to_owned()),
            }],
        }
    }

    #[test]
    fn the_conclusion_follows_from_the_noise() {
        assert_eq!(
            conclusion(&diagnosis(0.021)),
            "suitable for detecting differences of about 3 % or more; 1 disturbance"
        );
        assert_eq!(
            conclusion(&diagnosis(0.001)),
            "suitable for detecting differences of about 0.5 % or more; 1 disturbance"
        );
        assert_eq!(
            conclusion(&diagnosis(0.3)),
            "not suitable for measuring right now: differences below about 30 % are lost in noise; \
             1 disturbance"
        );
        let unknown = DoctorDiagnosis {
            noise: None,
            findings: Vec::new(),
        };
        assert_eq!(
            conclusion(&unknown),
            "cannot tell whether this machine is suitable for measuring; no disturbances"
        );
    }

    #[test]
    fn a_finding_is_a_line_and_its_advice_another() {
        let mut written = Vec::new();
        write_finding(&mut written, &diagnosis(0.1).findings[0]).expect("memory");
        let plain = anstream::adapter::strip_bytes(&written).into_vec();
        assert_eq!(
            String::from_utf8(plain).expect("text"),
            " ! clock rate             it varies\n                          → hold it still\n"
        );
    }
}
