//! `lapwing study fit`: a linear model of the factors and their pairs.

use clap::Args;
use lapwing_show::answers::study::StudyAnswer;
use lapwing_stats::Confidence;
use lapwing_study::{FitOptions, ModelChoice, StudyCovariate, StudyFit, StudyScale};

use super::options::{ReadStudy, StudyOptions};
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, NamedValue, one_of};

/// Fit a linear model: the effect of each factor and of each pair, when all others are taken into
/// account
///
/// By default on logarithms, so that effects are percentages. A coefficient is the effect where the
/// other factors are at their base; that of a pair is what having both changes beyond the sum.
#[derive(Debug, Args)]
pub struct StudyFitCommand {
    /// Terms of the model [default: all pairs if there are enough instances, else selected]
    #[arg(long, value_name = "TERMS", value_parser = one_of(&MODELS))]
    model: Option<ModelChoice>,
    /// Add a covariate; separate several with commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = one_of(&COVARIATES))]
    covariate: Vec<StudyCovariate>,
    /// Allow for a different variance of each instance (HC3)
    #[arg(long)]
    robust: bool,
    /// Let an instance count by its number of iterations
    #[arg(long)]
    weighted: bool,
    /// Predict a setting, measured or not: `a=1,b=0`; factors that are not named have their base
    #[arg(long, value_name = "SETTING")]
    predict: Vec<String>,
    #[command(flatten)]
    study: StudyOptions,
}

const MODELS: [NamedValue<ModelChoice>; 3] = [
    ("main", "Every factor", ModelChoice::Main),
    ("pairs", "Every factor and every pair", ModelChoice::Pairs),
    (
        "selected",
        "The factors and pairs that the data speak for, a pair only with both factors",
        ModelChoice::Selected,
    ),
];

const COVARIATES: [NamedValue<StudyCovariate>; 3] = [
    ("time", "The time of measurement", StudyCovariate::Time),
    ("time-of-day", "One turn per day", StudyCovariate::TimeOfDay),
    (
        "session",
        "The session, as a block",
        StudyCovariate::Session,
    ),
];

impl StudyFitCommand {
    /// Shows the coefficients beside the mean deltas.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let ReadStudy { data, notes } = self.study.read(context)?;
        let options = FitOptions {
            model: self.model.unwrap_or_else(|| ModelChoice::usual(&data)),
            scale: self.study.scale.unwrap_or(StudyScale::Log),
            covariates: self.covariate,
            is_robust: self.robust,
            is_weighted: self.weighted,
            confidence: Confidence::P95,
        };
        let fit = StudyFit::new(&data, options).map_err(|error| {
            CliError::not_enough(error).hint("--scale time fits the values as they are")
        })?;
        let answer = StudyAnswer::fit(&data, &fit, &self.predict)?;
        self.study.show(&answer, &notes, &[], context)
    }
}
