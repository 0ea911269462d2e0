//! Many simulated experiments, on all processors and yet the same ones every time.

use lapwing_stats::Seed;
use rand_xoshiro::Xoshiro256PlusPlus;

/// So many rounds share one random stream.
const BLOCK: u32 = 100;

/// Returns what `rounds` experiments give, each with numbers of its own.
pub fn collect<T: Send>(
    name: &str,
    rounds: u32,
    experiment: impl Fn(&mut Xoshiro256PlusPlus) -> T + Sync,
) -> Vec<T> {
    let blocks = rounds.div_ceil(BLOCK);
    let seed = Seed(7).split(name);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let block = |index: u32| {
        let mut random = seed.block(u64::from(index));
        let rounds = (0..BLOCK).map(|_| experiment(&mut random));
        (index, rounds.collect::<Vec<T>>())
    };
    let every = |first: u32| {
        (first..blocks)
            .step_by(threads)
            .map(block)
            .collect::<Vec<_>>()
    };
    let mut results: Vec<(u32, Vec<T>)> = std::thread::scope(|scope| {
        let start = |first| scope.spawn(move || every(first));
        let running: Vec<_> = (0..blocks).take(threads).map(start).collect();
        running
            .into_iter()
            .flat_map(|it| it.join().unwrap())
            .collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().flat_map(|(_, values)| values).collect()
}

/// Returns the mean of what `rounds` experiments give.
pub fn average<const N: usize>(
    name: &str,
    rounds: u32,
    experiment: impl Fn(&mut Xoshiro256PlusPlus) -> [f64; N] + Sync,
) -> [f64; N] {
    let all = collect(name, rounds, experiment);
    let total: f64 = all.iter().map(|_| 1.0).sum();
    all.into_iter().fold([0.0; N], add).map(|sum| sum / total)
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
