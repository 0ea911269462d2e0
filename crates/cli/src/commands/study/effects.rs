//! `lapwing study effects`: what each treatment changes, in several views.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use lapwing_model::text::joined;
use lapwing_show::answers::study::{ComponentQuestion, PathQuestion, StudyAnswer};
use lapwing_stats::Seed;
use lapwing_stats::deltas::DeltaPairing;
use lapwing_study::design::StudyModel;
use lapwing_study::{
    PathOrder, StabilityOptions, StabilityOrder, StudyData, StudyScale, StudyStability,
};

use super::options::{MODELS, ReadStudy, StudyOptions};
use super::suite::StudySuite;
use crate::comparing::parse_change;
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, NamedValue, one_of, within};

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
    factor: Option<String>,
    /// Scatter: treatment whose presence distinguishes the settings [default: the strongest
    /// modifier]
    #[arg(long, value_name = "FACTOR")]
    by: Option<String>,
    /// Paths and pca: setting to start from, such as `a=1,b=0` [default: all factors at their base]
    #[arg(long, value_name = "SETTING")]
    from: Option<String>,
    /// Paths and pca: setting to end at [default: of paths the recommended one, else the best that was
    /// measured, of pca the largest that several sequences reach]
    #[arg(long, value_name = "SETTING")]
    to: Option<String>,
    /// Paths: order of the steps: best-first, nicest-first (by `nice` of the factors in the suite
    /// file, the lowest first), or treatments separated by commas [default: best-first]
    #[arg(long, value_name = "ORDER")]
    order: Option<String>,
    /// Paths: use measured settings only, no predictions
    #[arg(long)]
    measured_only: bool,
    /// Pca: number of sequences [default: 550]
    #[arg(long, value_name = "N")]
    sequences: Option<usize>,
    /// Stability: an effect is known when its interval reaches no further than this share [default:
    /// 5%]
    #[arg(long, value_name = "SHARE", value_parser = parse_change)]
    within: Option<f64>,
    /// Stability: number of strongest effects whose order has to be settled [default: 5]
    #[arg(long, value_name = "N", value_parser = within(1..=1000, "write a number from 1 to 1,000"))]
    strongest: Option<usize>,
    /// Stability: with `main`, pairs are assumed to have no effect, so that effects that could be theirs are known
    /// [default: pairs]
    #[arg(long, value_name = "MODEL", value_parser = one_of(&MODELS))]
    model: Option<StudyModel>,
    /// Pca: seed of the choice of sequences [default: 7]. Stability: add the runs in random order of
    /// this seed instead of the order of measuring
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    study: StudyOptions,
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
    /// The expected value at each level of the numeric factors, averaged over the others
    Curves,
    /// The changes from each setting to the same with one treatment more
    Deltas,
    /// Which treatments take the place of each other: principal components of sequences
    Pca,
    /// Contribution of each treatment on the way from one setting to another, with Shapley values
    Paths,
    /// Since when more runs change nothing that matters, or how many more are needed
    Stability,
}

/// How replicates of two settings make deltas.
const PAIRINGS: [NamedValue<DeltaPairing>; 3] = [
    (
        "means",
        "One delta per pair of settings, of their means",
        DeltaPairing::Means,
    ),
    (
        "medians",
        "One delta per pair of settings, of their medians",
        DeltaPairing::Medians,
    ),
    (
        "all",
        "Every instance of the one with every instance of the other",
        DeltaPairing::AllPairs,
    ),
];

impl StudyEffects {
    /// Shows the view.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        self.check()?;
        let study = &self.study;
        let ReadStudy { data: all, notes } = study.all(context)?;
        let data = &all.without(&study.without)?;
        let usual = if self.show == EffectView::Stability {
            StudyScale::Log
        } else {
            StudyScale::Time
        };
        let scale = study.scale.unwrap_or(usual);
        let pairing = self.pairing.unwrap_or(DeltaPairing::Means);
        let from = self.from.as_deref().unwrap_or_default();
        let to = self.to.as_deref();
        let answer = match self.show {
            EffectView::Means => {
                let rest = (!study.without.is_empty()).then_some(data);
                StudyAnswer::means(&all, &study.without, rest, scale, pairing)?
            }
            EffectView::Scatter => {
                let (factor, by) = (self.factor.as_deref(), self.by.as_deref());
                StudyAnswer::scatter(data, study.scale, factor, by)?
            }
            EffectView::Colour => StudyAnswer::colour(data, scale)?,
            EffectView::Curves => StudyAnswer::curves(data, study.scale)?,
            EffectView::Deltas => StudyAnswer::deltas(data, scale, pairing)?,
            EffectView::Pca => {
                let question = ComponentQuestion {
                    from,
                    to,
                    sequences: self.sequences,
                    seed: Seed(self.seed.unwrap_or(7)),
                };
                StudyAnswer::components(data, scale, &question)?
            }
            EffectView::Paths => {
                let question = PathQuestion {
                    from,
                    to,
                    order: self.path_order(data)?,
                    measured_only: self.measured_only,
                };
                StudyAnswer::paths(data, scale, &question)?
            }
            EffectView::Stability => {
                let usual = StabilityOptions::default();
                let options = StabilityOptions {
                    scale,
                    within: self.within.unwrap_or(usual.within),
                    strongest: self.strongest.unwrap_or(usual.strongest),
                    order: self.seed.map_or(StabilityOrder::Measured, |seed| {
                        StabilityOrder::Random(Seed(seed))
                    }),
                    model: self.model.unwrap_or(usual.model),
                    ..usual
                };
                let stability = StudyStability::new(data, &options).map_err(|error| {
                    CliError::not_enough(error).hint("--scale time takes the values as they are")
                })?;
                StudyAnswer::stability(data, &options, &stability)?
            }
        };
        study.show(&answer, &notes, &[], context)
    }

    fn path_order(&self, data: &StudyData) -> Result<PathOrder, CliError> {
        match self.order.as_deref() {
            None | Some("best-first") => Ok(PathOrder::BestFirst),
            Some("nicest-first") => {
                let study = StudySuite::load(self.study.data.cleaning.suite().as_deref())?;
                let factors = study.suite.factors();
                let nice: BTreeSet<i64> = factors.iter().filter_map(|factor| factor.nice).collect();
                if nice.is_empty() {
                    return Err(CliError::input("no factor of the suite file has `nice`")
                        .hint("add `nice = 1` and so on to [factor.NAME], the nicest lowest"));
                }
                let rank = |name: &str| {
                    let factor = factors.iter().find(|factor| factor.name == name)?;
                    nice.iter().position(|nice| Some(*nice) == factor.nice)
                };
                let treatments = data.treatments.iter();
                let ranks = treatments.map(|treatment| {
                    let name = &data.factors[treatment.factor].name;
                    rank(name).unwrap_or(nice.len())
                });
                Ok(PathOrder::NicestFirst(ranks.collect()))
            }
            Some(names) => {
                let steps = names.split(',').map(|name| data.treatment(name.trim()));
                Ok(PathOrder::Given(steps.collect::<Result<_, _>>()?))
            }
        }
    }

    /// Refuses options of other views.
    fn check(&self) -> Result<(), CliError> {
        use EffectView::{Curves, Deltas, Means, Paths, Pca, Scatter, Stability};
        let options: [(&str, bool, &[EffectView]); 13] = [
            (
                "--scale",
                self.study.scale.is_some(),
                &[Means, Scatter, Curves, Deltas, Pca, Paths, Stability],
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
            ("--model", self.model.is_some(), &[Stability]),
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
            joined(views.iter().map(|view| view.name()))
        )))
    }
}

impl EffectView {
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
