//! `lapwing study effects`: what each treatment changes, in several views.

use clap::{Args, ValueEnum};
use lapwing_model::text::joined;
use lapwing_stats::deltas::DeltaPairing;
use lapwing_study::StudyScale;

use super::options::{PAIRINGS, StudyOptions};
use super::paths::StoryOrder;
use crate::comparing::parse_change;
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, one_of, within};

/// Show what each treatment changes: on average, pair by pair, depending on others, on a path
///
/// Compares measured settings that differ by one treatment; `study fit` fits a model instead. A mean
/// hides interactions: look at `--show scatter`, too.
#[derive(Debug, Args)]
pub struct StudyEffects {
    /// View of the effects
    #[arg(long, value_name = "VIEW", value_enum, default_value = "means")]
    show: EffectView,
    /// Means and deltas: how replicates of two settings make deltas [default: means]
    #[arg(long, value_name = "HOW", value_parser = one_of(&PAIRINGS))]
    pairing: Option<DeltaPairing>,
    /// Scatter: treatment to look at [default: the one whose effect depends most on another]
    #[arg(long, value_name = "FACTOR")]
    pub factor: Option<String>,
    /// Scatter: treatment whose presence distinguishes the settings [default: the strongest
    /// modifier]
    #[arg(long, value_name = "FACTOR")]
    pub by: Option<String>,
    /// Paths and pca: setting to start from, such as `a=1,b=0` [default: all factors at their base]
    #[arg(long, value_name = "SETTING")]
    pub from: Option<String>,
    /// Paths and pca: setting to end at [default: of paths the best measured one, of pca the largest
    /// that several sequences reach]
    #[arg(long, value_name = "SETTING")]
    pub to: Option<String>,
    /// Paths: order of the steps: best-first, nicest-first (by `nice` of the factors in the suite
    /// file, the lowest first), or treatments separated by commas [default: best-first]
    #[arg(long, value_name = "ORDER")]
    pub order: Option<StoryOrder>,
    /// Paths: use measured settings only, no predictions
    #[arg(long)]
    pub measured_only: bool,
    /// Pca: number of sequences [default: 550]
    #[arg(long, value_name = "N")]
    pub sequences: Option<usize>,
    /// Stability: an effect is known when its interval reaches no further than this share [default:
    /// 5%]
    #[arg(long, value_name = "SHARE", value_parser = parse_change)]
    pub within: Option<f64>,
    /// Stability: number of strongest effects whose order has to be settled [default: 5]
    #[arg(long, value_name = "N", value_parser = within(1..=1000, "write a number from 1 to 1,000"))]
    pub strongest: Option<usize>,
    /// Pca: seed of the choice of sequences [default: 7]. Stability: add the runs in random order of
    /// this seed instead of the order of measuring
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub study: StudyOptions,
}

/// A view of the effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EffectView {
    /// The mean change over all settings with and without each treatment, and without another one
    /// (--without) beside it
    Means,
    /// How the effect of a treatment depends on others, and on how slow a setting is
    Scatter,
    /// How often each treatment helps, and by how much, in slow and in fast settings
    Colour,
    /// The changes from each setting to the same with one treatment more
    Deltas,
    /// Which treatments take the place of each other: principal components of sequences
    Pca,
    /// Contribution of each treatment on the way from one setting to another, with Shapley values
    Paths,
    /// Since when more runs change nothing that matters, or how many more are needed
    Stability,
}

impl StudyEffects {
    /// Shows the view.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        self.check()?;
        let study = &self.study;
        let all = study.all(context)?;
        let usual = match self.show {
            EffectView::Stability => StudyScale::Log,
            EffectView::Means
            | EffectView::Scatter
            | EffectView::Colour
            | EffectView::Deltas
            | EffectView::Pca
            | EffectView::Paths => StudyScale::Time,
        };
        let scale = study.scale.unwrap_or(usual);
        if self.show == EffectView::Means {
            return self.means(&all, scale)?.write(&all, scale, study, context);
        }
        let data = study.restricted(&all)?;
        match self.show {
            EffectView::Means => Ok(ExitStatus::Fine),
            EffectView::Scatter => self
                .scatter(&data, scale)?
                .write(&data, scale, study, context),
            EffectView::Colour => self.colour(&data)?.write(&data, scale, study, context),
            EffectView::Deltas => self
                .deltas(&data, scale)?
                .write(&data, scale, study, context),
            EffectView::Pca => self.pca(&data, scale)?.write(&data, scale, study, context),
            EffectView::Paths => self
                .paths(&data, scale)?
                .write(&data, scale, study, context),
            EffectView::Stability => self
                .stability(&data, scale)?
                .write(&data, scale, study, context),
        }
    }

    /// Returns how replicates make deltas.
    pub fn pairing(&self) -> DeltaPairing {
        self.pairing.unwrap_or(DeltaPairing::Means)
    }

    /// Refuses options of other views.
    fn check(&self) -> Result<(), CliError> {
        use EffectView::{Deltas, Means, Paths, Pca, Scatter, Stability};
        let options: [(&str, bool, &[EffectView]); 12] = [
            (
                "--scale",
                self.study.scale.is_some(),
                &[Means, Scatter, Deltas, Pca, Paths, Stability],
            ),
            ("--pairing", self.pairing.is_some(), &[Means, Deltas]),
            ("--factor", self.factor.is_some(), &[Scatter]),
            ("--by", self.by.is_some(), &[Scatter]),
            ("--from", self.from.is_some(), &[Pca, Paths]),
            ("--to", self.to.is_some(), &[Pca, Paths]),
            ("--order", self.order.is_some(), &[Paths]),
            ("--measured-only", self.measured_only, &[Paths]),
            ("--sequences", self.sequences.is_some(), &[Pca]),
            ("--within", self.within.is_some(), &[Stability]),
            ("--strongest", self.strongest.is_some(), &[Stability]),
            ("--seed", self.seed.is_some(), &[Pca, Stability]),
        ];
        let mut others = options
            .iter()
            .filter(|(_, _, views)| !views.contains(&self.show));
        let Some((option, _, views)) = others.find(|(_, is_given, _)| *is_given) else {
            return Ok(());
        };
        Err(CliError::input(format!(
            "{option} does not apply to --show {}",
            self.show.name()
        ))
        .hint(format!(
            "it is for --show {}",
            joined(views.iter().map(|it| it.name()))
        )))
    }
}

impl EffectView {
    fn name(self) -> &'static str {
        match self {
            Self::Means => "means",
            Self::Scatter => "scatter",
            Self::Colour => "colour",
            Self::Deltas => "deltas",
            Self::Pca => "pca",
            Self::Paths => "paths",
            Self::Stability => "stability",
        }
    }
}
