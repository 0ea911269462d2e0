//! Whether a machine is suitable for measuring: `lapwing doctor`.

use std::collections::BTreeMap;

use lapwing_model::text::counted;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::writing::Align::Left;
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// Detectable difference above which the machine is called unsuitable.
const UNFIT: f64 = 0.10;

/// Instances per side, and iterations of each, that the detectable difference is computed for.
const COMPARED: [u32; 2] = [5, 5];
/// The power of the detectable difference.
const POWER: f64 = 0.8;

/// What was found about a machine.
#[derive(Debug)]
pub struct DoctorAnswer {
    /// The spread of the same work; `None` if it could not be executed.
    pub noise: Option<NoiseFields>,
    /// The findings.
    pub findings: Vec<DoctorFindingFields>,
}

/// The spread of the same short computation, executed again and again.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct NoiseFields {
    /// Number of executions.
    pub executions: usize,
    /// Their median in seconds.
    pub median: f64,
    /// Their standard deviation as a share of their mean.
    pub spread: f64,
    /// The slowest of them as a multiple of the median.
    pub slowest: f64,
    /// The smallest difference, as a share, that a comparison would probably detect.
    pub detectable: f64,
}

/// A finding.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DoctorFindingFields {
    /// Its subject: a stable name such as `governor`.
    pub subject: &'static str,
    /// How bad it is.
    pub severity: FindingSeverity,
    /// The finding.
    pub text: String,
    /// The remedy.
    pub advice: Option<String>,
    /// The numbers of the finding, in base units.
    pub values: BTreeMap<&'static str, f64>,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingSeverity {
    /// As it should be.
    Good,
    /// It disturbs measurements.
    Disturbing,
    /// Neither good nor bad, or unknown.
    #[default]
    Neutral,
}

/// The diagnosis for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct DoctorFields<'a> {
    noise: Option<NoiseFields>,
    /// Number of findings that disturb measurements.
    disturbances: usize,
    findings: &'a [DoctorFindingFields],
}

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<DoctorFields<'_>>("doctor").listing("findings");

#[derive(Debug, Default, Serialize)]
struct DoctorRow<'a> {
    subject: &'static str,
    severity: FindingSeverity,
    text: &'a str,
    advice: Option<&'a str>,
}

impl DoctorAnswer {
    fn disturbances(&self) -> usize {
        let findings = self.findings.iter();
        findings
            .filter(|it| it.severity == FindingSeverity::Disturbing)
            .count()
    }

    fn conclusion(&self) -> String {
        let also = match self.disturbances() {
            0 => "no disturbances".to_owned(),
            some => counted(some, "disturbance"),
        };
        match self.noise {
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

impl Answer for DoctorAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let mut table = Table::plain(&[Left, Left, Left]);
        for finding in &self.findings {
            let symbol = match finding.severity {
                FindingSeverity::Good => "✓",
                FindingSeverity::Disturbing => "!",
                FindingSeverity::Neutral => "–",
            };
            let subject = finding.subject.replace('_', " ");
            table.row(vec![symbol.to_owned(), subject, finding.text.clone()]);
            if let Some(advice) = &finding.advice {
                table.row(vec![String::new(), String::new(), format!("→ {advice}")]);
            }
        }
        let [instances, iterations] = COMPARED;
        let method = self.noise.map(|noise| {
            let text = format!(
                "the percentage is computed from the noise: {instances} instances per side with {iterations} \
                 iterations each detect such a difference with a power of {:.0} %; instances further apart in \
                 time vary more, and so do programs that do more than compute",
                100.0 * POWER
            );
            Note::marked("detectable", text)
                .with("detectable", noise.detectable)
                .with("instances", instances)
                .with("iterations", iterations)
                .with("power", POWER)
        });
        TextAnswer {
            headline: self.conclusion(),
            table,
            notes: method.into_iter().collect(),
            ..TextAnswer::default()
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        Ok(serde_json::to_value(DoctorFields {
            noise: self.noise,
            disturbances: self.disturbances(),
            findings: &self.findings,
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        let rows = self.findings.iter().map(|finding| DoctorRow {
            subject: finding.subject,
            severity: finding.severity,
            text: &finding.text,
            advice: finding.advice.as_deref(),
        });
        csv_rows(&rows.collect::<Vec<_>>())
    }

    fn verdict(&self) -> Option<&'static str> {
        Some(match self.noise {
            None => "unknown",
            Some(noise) if noise.detectable > UNFIT => "unsuitable",
            Some(_) => "suitable",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnosis(detectable: f64) -> DoctorAnswer {
        DoctorAnswer {
            noise: Some(NoiseFields {
                executions: 50,
                median: 0.01,
                spread: 0.02,
                slowest: 1.1,
                detectable,
            }),
            findings: vec![DoctorFindingFields {
                subject: "clock_rate",
                severity: FindingSeverity::Disturbing,
                text: "it varies".to_owned(),
                advice: Some("hold it still".to_owned()),
                values: BTreeMap::new(),
            }],
        }
    }

    #[test]
    fn the_conclusion_follows_from_the_noise() {
        assert_eq!(
            diagnosis(0.021).conclusion(),
            "suitable for detecting differences of about 3 % or more; 1 disturbance"
        );
        assert_eq!(
            diagnosis(0.001).conclusion(),
            "suitable for detecting differences of about 0.5 % or more; 1 disturbance"
        );
        assert_eq!(
            diagnosis(0.3).conclusion(),
            "not suitable for measuring right now: differences below about 30 % are lost in noise; \
             1 disturbance"
        );
        let unknown = DoctorAnswer {
            noise: None,
            findings: Vec::new(),
        };
        assert_eq!(
            unknown.conclusion(),
            "cannot tell whether this machine is suitable for measuring; no disturbances"
        );
    }

    #[test]
    fn a_finding_is_a_line_and_its_advice_another() {
        let text = diagnosis(0.1).for_people(View::default());
        let mut written = Vec::new();
        text.table.text(&mut written).expect("memory");
        insta::assert_snapshot!(String::from_utf8(written).expect("text"), @"
        !  clock rate  it varies
                       → hold it still
        ");
    }
}
