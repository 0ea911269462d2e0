//! The quantiles of the dip of uniform samples, as they stand in src/dip_table.rs.

use lapwing_stats::{dip, quantile};
use rand::RngExt;

use super::rounds::{collect, show};

const SIZES: [usize; 16] = [4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 50, 75, 100, 200];

const P_VALUES: [f64; 14] = [
    0.99, 0.95, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1, 0.05, 0.02, 0.01, 0.002, 0.0005,
];

#[test]
#[ignore = "takes minutes; its table stands in src/dip_table.rs"]
fn table_of_the_dip() {
    let mut table = String::new();
    for size in SIZES {
        let dips = collect(&format!("dip {size}"), 200_000, |random| {
            let values: Vec<f64> = (0..size).map(|_| random.random()).collect();
            dip(&values).unwrap().statistic
        });
        let quantiles = P_VALUES.map(|p| {
            let root = f64::from(u32::try_from(size).unwrap()).sqrt();
            format!("{:.5}", root * quantile(&dips, 1.0 - p).unwrap())
        });
        table.push_str(&format!("({size}, [{}]),\n", quantiles.join(", ")));
    }
    show(&table);
}
