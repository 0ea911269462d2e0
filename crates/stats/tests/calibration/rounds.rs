//! Many simulated experiments, on all processors and yet the same ones every time.

use lapwing_stats::Seed;
use rand_xoshiro::Xoshiro256PlusPlus;

/// So many rounds share one random stream.
const BLOCK: u32 = 100;

/// Returns the mean of what `rounds` experiments give, each with numbers of its own.
pub fn average<const N: usize>(
    name: &str,
    rounds: u32,
    experiment: impl Fn(&mut Xoshiro256PlusPlus) -> [f64; N] + Sync,
) -> [f64; N] {
    let blocks = rounds.div_ceil(BLOCK);
    let seed = Seed(7).split(name);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let experiment = &experiment;
    let sums: Vec<[f64; N]> = std::thread::scope(|scope| {
        let of = |first: u32| {
            move || {
                let blocks = (first..blocks).step_by(threads);
                let block = |index: u32| {
                    let mut random = seed.block(u64::from(index));
                    let rounds = (0..BLOCK).map(|_| experiment(&mut random));
                    (index, rounds.fold([0.0; N], add))
                };
                blocks.map(block).collect::<Vec<_>>()
            }
        };
        let running: Vec<_> = (0..blocks)
            .take(threads)
            .map(|first| scope.spawn(of(first)))
            .collect();
        let mut sums: Vec<_> = running
            .into_iter()
            .flat_map(|it| it.join().unwrap())
            .collect();
        sums.sort_by_key(|(index, _)| *index);
        sums.into_iter().map(|(_, sum)| sum).collect()
    });
    let total = f64::from(blocks * BLOCK);
    sums.into_iter().fold([0.0; N], add).map(|sum| sum / total)
}

fn add<const N: usize>(mut one: [f64; N], other: [f64; N]) -> [f64; N] {
    for (sum, value) in one.iter_mut().zip(other) {
        *sum += value;
    }
    one
}

/// Returns 1 for yes and 0 for no, so that averages are shares.
pub fn count(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

/// Four standard errors of a share near 95 % in that many rounds.
pub fn tolerance(rounds: u32) -> f64 {
    4.0 * (0.95_f64 * 0.05 / f64::from(rounds)).sqrt()
}

/// Shows a table, which is what the large runs are for.
pub fn show(table: &str) {
    #[expect(clippy::print_stdout, reason = "somebody asked for the table")]
    {
        println!("{table}");
    }
}
