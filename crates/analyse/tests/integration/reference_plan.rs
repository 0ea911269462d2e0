//! Hail's published plan beside the cheapest one: what each would detect, and what it costs.

use lapwing_analyse::explain::{ChoiceRule, Chosen, PlanNoise, PlanOptions, RunCosts};
use lapwing_analyse::judge::{DetectionOptions, USUAL_ASSURANCE};
use lapwing_model::JudgeSettings;
use lapwing_stats::{Configuration, DetectionMethod, Noise, Strategy};
use lapwing_testing::reference_data;

/// A benchmark with the first configuration of the last entry that Hail published for it: the one that
/// is run, as `lapwing run --plan` reads it.
struct Published {
    burn_in: f64,
    mean: f64,
    cv: f64,
    slowdown: f64,
    configuration: Configuration,
}

fn published() -> Option<Vec<Published>> {
    let path = reference_data("hail/published_plan.csv")?;
    let mut csv = csv::Reader::from_path(path).unwrap();
    let mut all: Vec<(String, Published)> = Vec::new();
    let mut before: Option<(String, f64)> = None;
    for record in csv.records() {
        let record = record.unwrap();
        let number = |at: usize| record[at].parse::<f64>().unwrap();
        let count = |at: usize| record[at].parse::<usize>().unwrap();
        let entry = Published {
            burn_in: number(1),
            mean: number(2),
            cv: number(3),
            slowdown: number(4),
            configuration: Configuration {
                instances: count(5),
                iterations: count(6),
            },
        };
        // Slowdowns ascend, so that a smaller one begins the second entry of an item.
        let goes_on = before
            .as_ref()
            .is_some_and(|(item, slowdown)| *item == record[0] && *slowdown <= entry.slowdown);
        before = Some((record[0].to_owned(), entry.slowdown));
        if goes_on {
            continue;
        }
        match all.iter_mut().find(|(item, _)| *item == record[0]) {
            Some((_, known)) => *known = entry,
            None => all.push((record[0].to_owned(), entry)),
        }
    }
    let twice = all
        .iter()
        .find(|it| it.0.ends_with("::test_table_key_by_shuffle"));
    let twice = twice.unwrap().1.configuration;
    assert_eq!((twice.instances, twice.iterations), (15, 10));
    Some(all.into_iter().map(|(_, entry)| entry).collect())
}

fn options(method: DetectionMethod) -> PlanOptions {
    PlanOptions {
        slowdowns: Vec::new(),
        limits: JudgeSettings::default(),
        power: 0.95,
        false_positives: 0.05,
        assurance: USUAL_ASSURANCE,
        detection: DetectionOptions {
            methods: vec![method],
            strategies: vec![Strategy::DifferentInstances],
            ..DetectionOptions::default()
        },
        rule: ChoiceRule::Cheapest(MOST),
    }
}

const MOST: Configuration = Configuration {
    instances: 2_000,
    iterations: 50,
};

/// What two plans come to, for one assumption on where the noise lies.
#[derive(Debug, Default)]
struct Sums {
    hail_hours: f64,
    our_hours: f64,
    /// How many of Hail's choices have the power.
    with_power: usize,
    powers: Vec<f64>,
    not_planned: usize,
}

fn compare(all: &[Published], share_between: f64, method: DetectionMethod) -> Sums {
    let options = options(method);
    let mut sums = Sums::default();
    for it in all {
        let variance = it.cv * it.cv;
        let noise = Noise {
            between: share_between * variance,
            within: (1.0 - share_between) * variance,
        };
        let noise = PlanNoise::Known(noise);
        let costs = RunCosts {
            start: 0.0,
            burn_in: it.burn_in * it.mean,
            iteration: it.mean,
        };
        let theirs = options
            .by_formula(noise, it.configuration, it.slowdown)
            .unwrap();
        sums.powers.push(power(&theirs));
        sums.with_power += usize::from(power(&theirs) >= 0.95);
        match options.cheapest_by_formula(noise, costs, it.slowdown, MOST) {
            Ok(ours) => {
                assert!(power(&ours) >= 0.95, "{ours:?}");
                assert!(false_positives(&ours) <= 0.052, "{ours:?}");
                // Where Hail's choice does as well, the cheapest is no dearer.
                if power(&theirs) >= 0.95 && false_positives(&theirs) <= 0.052 {
                    let cost = |configuration| costs.of(configuration);
                    assert!(cost(ours.configuration) <= cost(it.configuration) + 1e-9);
                }
                sums.hail_hours += costs.of(it.configuration) / 3_600.0;
                sums.our_hours += costs.of(ours.configuration) / 3_600.0;
            }
            Err(_) => sums.not_planned += 1,
        }
    }
    sums.powers.sort_by(f64::total_cmp);
    sums
}

fn power(chosen: &Chosen) -> f64 {
    chosen.power().unwrap()
}

fn false_positives(chosen: &Chosen) -> f64 {
    chosen.rates.unwrap().false_positives.value
}

#[test]
fn the_cheapest_plan_is_no_dearer_than_that_of_hail_where_that_has_the_power() {
    let Some(all) = published() else { return };
    assert_eq!(all.len(), 143);
    for method in [DetectionMethod::Paired, DetectionMethod::Laaber] {
        for share in [0.0, 0.1, 0.25, 0.5, 1.0] {
            let sums = compare(&all, share, method);
            let at = |place: usize| sums.powers[place];
            eprintln!(
                "{} between {share}: Hail {:.0} h, {} of 143 with the power (lowest {:.2}, quarter {:.2}, median {:.2}); cheapest {:.0} h, {} not planned",
                method.name(),
                sums.hail_hours,
                sums.with_power,
                at(0),
                at(35),
                at(71),
                sums.our_hours,
                sums.not_planned
            );
            assert_eq!(sums.not_planned, 0);
        }
    }
}
