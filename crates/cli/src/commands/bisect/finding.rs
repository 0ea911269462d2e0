//! A change of a history as a search: its range of commits, benchmark, metric and setting.

use lapwing_analyse::detect::{DetectOptions, Histories, change_id, detect};
use lapwing_analyse::sample::Subject;
use lapwing_measure::suite::{Plan, Variant};
use lapwing_model::Levels;
use lapwing_model::text::shell_word;

use crate::commands::triage;
use crate::error::CliError;
use crate::options::Context;
use crate::store::open_for_reading;

/// A change of a history that is to be searched.
pub struct SearchedFinding {
    /// The commits before and after it.
    pub ends: [String; 2],
    /// What changed.
    pub subject: Subject,
}

impl SearchedFinding {
    /// Finds the change with an id, as `lapwing detect` lists it: the commits are those of the last run that is certainly
    /// before it, and of the last that may be its first. An id of which there is no change now stands for the runs beside
    /// its place.
    pub fn find(id: &str, context: &Context) -> Result<Self, CliError> {
        let store = open_for_reading(context)?;
        let judged = triage::judged(&store)?;
        let detection = detect(&judged, &DetectOptions::default());
        let mut findings = detection.findings.iter();
        let found = findings.find(|it| change_id(&it.subject, &judged.moments[it.since()]) == id);
        if let Some(found) = found {
            let ends = [found.good, *found.range.end()];
            return Self::between(&judged, ends, &found.subject);
        }
        for histories in [judged, triage::histories(&store)?] {
            for series in &histories.series {
                let mut tried = series.tried.windows(2);
                let is_it =
                    |ends: &&[usize]| change_id(&series.subject, &histories.moments[ends[1]]) == id;
                if let Some([before, after]) = tried.find(is_it) {
                    return Self::between(&histories, [*before, *after], &series.subject);
                }
            }
        }
        Err(CliError::input(format!("no change has the id `{id}`"))
            .hint("`lapwing detect` lists changes with their ids"))
    }

    fn between(
        histories: &Histories,
        ends: [usize; 2],
        subject: &Subject,
    ) -> Result<Self, CliError> {
        let commit = |at: usize| {
            let moment = &histories.moments[at];
            let commit = moment.version().commit.clone();
            commit.ok_or_else(|| {
                let label = moment.label();
                CliError::input(format!(
                    "the commit of {label} is not known, so there is nothing to search"
                ))
            })
        };
        Ok(Self {
            ends: [commit(ends[0])?, commit(ends[1])?],
            subject: subject.clone(),
        })
    }

    /// Returns the command that does the same with a command to measure.
    pub fn with_command(&self, program: &str) -> String {
        let [good, bad] = &self.ends;
        let metric = shell_word(&self.subject.metric);
        format!("{program} bisect {good} {bad} --metric {metric} -- COMMAND")
    }

    /// Keeps the variant in which it changed.
    pub fn choose_variant(&self, plan: &mut Plan) {
        let setting = &self.subject.setting;
        let is_it = |variant: &Variant| {
            let levels: Levels = variant
                .factors
                .iter()
                .map(|(factor, level)| (factor.clone(), level.to_string()))
                .collect();
            let mut wanted = setting.levels.iter();
            setting
                .variant
                .as_ref()
                .is_none_or(|it| *it == variant.name)
                && wanted.all(|(factor, level)| levels.get(factor) == Some(level))
        };
        let chosen: Vec<Variant> = plan
            .variants
            .iter()
            .filter(|it| is_it(it))
            .cloned()
            .collect();
        if !chosen.is_empty() {
            plan.variants = chosen;
        }
    }
}
