use super::*;
use crate::clean::{CleanInstance, Cleaned};

/// Returns a side with instances of these sessions, blocks, positions, hosts and values.
fn side(instances: &[(u8, u32, u32, &str, f64)]) -> SideSample {
    let origin = |(session, block, position, host, _): &(u8, u32, u32, &str, f64)| InstanceOrigin {
        session: Id::from(uuid::Uuid::from_u128(u128::from(*session))),
        block: *block,
        position: *position,
        host: (!host.is_empty()).then(|| (*host).to_owned()),
    };
    SideSample {
        cleaned: Cleaned {
            instances: instances
                .iter()
                .enumerate()
                .map(|(position, instance)| CleanInstance {
                    position,
                    values: vec![instance.4],
                    without_value: 0,
                    host: None,
                })
                .collect(),
            ..Cleaned::default()
        },
        origins: instances.iter().map(origin).collect(),
        recorded_instances: instances.len(),
        ..SideSample::default()
    }
}

fn replication(sides: [&SideSample; 2]) -> Replication {
    let values = sides.map(|side| instance_means(&side.cleaned));
    Replication::of(sides, &values).expect("values")
}

/// Returns two sides in blocks of one session, interleaved or one after the other.
fn in_blocks(blocks: u32, interleaved: bool) -> [SideSample; 2] {
    [0, 1].map(|which| {
        let instances: Vec<(u8, u32, u32, &str, f64)> = (0..blocks)
            .map(|block| {
                let position = if interleaved {
                    2 * block + which
                } else {
                    blocks * which + block
                };
                let weather = f64::from(block * block);
                (1, block, position, "a", weather + 0.5 * f64::from(which))
            })
            .collect();
        side(&instances)
    })
}

#[test]
fn shared_blocks_are_pairs_from_three_on() {
    let sides = in_blocks(3, true);
    let found = replication([&sides[0], &sides[1]]);
    assert_eq!(found.unit, ReplicationUnit::Block);
    assert_eq!(found.replicates, Replicates::Pairs(vec![0.5; 3]));
    assert!((found.centres[1] - found.centres[0] - 0.5).abs() < 1e-12);
    let sides = in_blocks(2, true);
    assert_eq!(
        replication([&sides[0], &sides[1]]).unit,
        ReplicationUnit::Instance
    );
}

#[test]
fn numbers_of_executions_are_no_blocks() {
    let sides = in_blocks(6, false);
    let found = replication([&sides[0], &sides[1]]);
    assert_eq!(
        (found.unit, found.sizes()),
        (ReplicationUnit::Instance, [6, 6])
    );
}

#[test]
fn blocks_that_lack_a_side_are_dropped() {
    let [baseline, _] = in_blocks(20, true);
    let [_, candidate] = in_blocks(6, true);
    let found = replication([&baseline, &candidate]);
    assert_eq!(
        (found.unit, found.sizes()),
        (ReplicationUnit::Block, [6, 6])
    );
}

#[test]
fn three_sessions_per_side_are_the_unit() {
    let of = |first: u8| {
        let instances: Vec<(u8, u32, u32, &str, f64)> = (0..6)
            .map(|k| {
                (
                    first + k / 2,
                    u32::from(k % 2),
                    u32::from(k),
                    "a",
                    f64::from(k),
                )
            })
            .collect();
        side(&instances)
    };
    let apart = replication([&of(1), &of(11)]);
    assert_eq!(
        (apart.unit, apart.is_paired()),
        (ReplicationUnit::Session, false)
    );
    let means = vec![0.5, 2.5, 4.5];
    assert_eq!(apart.replicates, Replicates::Sides([means.clone(), means]));
    let shared = replication([&of(1), &of(1)]);
    assert_eq!(
        (shared.unit, shared.is_paired()),
        (ReplicationUnit::Session, true)
    );
    assert_eq!(shared.replicates, Replicates::Pairs(vec![0.0; 3]));
}

#[test]
fn three_shared_hosts_are_pairs() {
    let of = |session: u8, hosts: &[&'static str]| {
        let instances: Vec<(u8, u32, u32, &str, f64)> = hosts
            .iter()
            .enumerate()
            .map(|(k, host)| (session, 0, u32::try_from(k).unwrap(), *host, 1.0))
            .collect();
        side(&instances)
    };
    let one = of(1, &["a", "b", "c", "a"]);
    assert_eq!(
        replication([&one, &of(2, &["c", "b", "a"])]).unit,
        ReplicationUnit::Host
    );
    assert_eq!(
        replication([&one, &of(2, &["a", "b", "x", "y"])]).unit,
        ReplicationUnit::Instance
    );
}

#[test]
fn the_number_of_iterations_does_not_shift_the_logarithm() {
    let varied: Vec<f64> = (0..100)
        .map(|k| 1.0 + 0.3 * f64::from(k % 2 * 2 - 1))
        .collect();
    let mut long = side(&[(1, 0, 0, "", 0.0), (1, 1, 1, "", 0.0), (1, 2, 2, "", 0.0)]);
    for instance in &mut long.cleaned.instances {
        instance.values.clone_from(&varied);
    }
    let mut short = long.clone();
    for (k, instance) in short.cleaned.instances.iter_mut().enumerate() {
        instance.values = vec![1.0 + [0.3, -0.3, 0.0][k]];
    }
    let logs = log_means([&short, &long]).expect("positive");
    let uncorrected = (1.3_f64.ln() + 0.7_f64.ln()) / 3.0;
    let within = pooled_within([&short, &long]);
    assert!((within - 0.09 * 100.0 / 99.0).abs() < 1e-9, "{within}");
    let corrected = mean(&logs[0]).expect("values");
    assert!((corrected - uncorrected - within / 2.0 * 0.99).abs() < 1e-12);
    // The instances with the most iterations are unchanged.
    assert!(logs[1].iter().all(|log| log.abs() < 1e-12), "{logs:?}");
}

#[test]
fn imbalance_is_the_distance_of_the_shares() {
    let nine_one = [vec!["a"; 9], vec!["b"]].concat();
    assert!((imbalance([nine_one, vec!["b"; 10]]) - 0.9).abs() < 1e-12);
    assert!(imbalance([vec!["a", "b"], vec!["b", "a"]]).abs() < 1e-12);
    assert!(imbalance([vec!["a"], Vec::new()]).abs() < 1e-12);
}

#[test]
fn without_blocks_shared_hosts_are_pairs() {
    // Six blocks on three hosts; the candidate is slower by 0.5 on each.
    let sides = [0.0, 0.5].map(|slower| {
        let instances: Vec<(u8, u32, u32, &str, f64)> = (0..6_u32)
            .map(|block| {
                let host = ["n1", "n2", "n3"][block as usize % 3];
                let of_host = f64::from(block % 3);
                (1, block, block, host, of_host + slower)
            })
            .collect();
        side(&instances)
    });
    let by_host = sides.clone().map(|mut side| {
        side.forget_blocks();
        side
    });
    assert_eq!(
        replication([&sides[0], &sides[1]]).unit,
        ReplicationUnit::Block
    );
    let found = replication([&by_host[0], &by_host[1]]);
    assert_eq!((found.unit, found.sizes()), (ReplicationUnit::Host, [3, 3]));
    assert_eq!(found.replicates, Replicates::Pairs(vec![0.5; 3]));
}
