//! Instances of two sides that were measured together: in the same session, and in the same block of it.

use std::collections::BTreeSet;

use super::unit::{BLOCKS, InstanceOrigin, SESSIONS, blocks_follow_each_other};
use crate::judge::INSTANCES_FOR_A_VERDICT;
use crate::sample::Sample;
use lapwing_record::InstanceData;

/// Leaves out the instances of the baseline and of the candidates that were measured apart, if enough of both sides were
/// measured together; returns how many of each sample. Where the sides share a few of many sessions, these are the
/// replicates, and nothing is left out.
pub(in crate::judge) fn keep_together(samples: &mut [Sample<'_>]) -> Vec<usize> {
    let before: Vec<usize> = samples.iter().map(|it| it.instances.len()).collect();
    let groups: BTreeSet<usize> = samples.iter().map(|it| it.place.group).collect();
    for group in groups {
        let mut of_group: Vec<&mut Sample<'_>> = samples
            .iter_mut()
            .filter(|it| it.place.group == group)
            .collect();
        let session = |it: &InstanceData| it.session.id;
        let [baseline, candidates] = kinds(&of_group, session);
        let shared: BTreeSet<_> = baseline.intersection(&candidates).copied().collect();
        let are_many = baseline.len().min(candidates.len()) >= SESSIONS;
        if shared.is_empty() || (are_many && shared.len() < SESSIONS) {
            continue;
        }
        keep(&mut of_group, |it| shared.contains(&session(it)));
        if !are_blocks(&of_group) {
            continue;
        }
        let block = |it: &InstanceData| (it.session.id, it.instance.block);
        let [baseline, candidates] = kinds(&of_group, block);
        let shared: BTreeSet<_> = baseline.intersection(&candidates).copied().collect();
        if shared.len() >= BLOCKS {
            keep(&mut of_group, |it| shared.contains(&block(it)));
        }
    }
    let after = samples.iter().map(|it| it.instances.len());
    before
        .into_iter()
        .zip(after)
        .map(|(before, after)| before - after)
        .collect()
}

/// Returns the sessions or blocks of the baseline and of the candidates.
fn kinds<K: Ord>(
    samples: &[&mut Sample<'_>],
    kind: impl Fn(&InstanceData) -> K,
) -> [BTreeSet<K>; 2] {
    [true, false].map(|is_baseline| {
        let of_side = samples
            .iter()
            .filter(|it| (it.place.side == 0) == is_baseline);
        of_side
            .flat_map(|it| it.instances.iter().map(|it| kind(it)))
            .collect()
    })
}

/// Keeps some instances of the samples that have enough of them.
fn keep(samples: &mut [&mut Sample<'_>], is_kept: impl Fn(&InstanceData) -> bool) {
    for sample in samples {
        let kept = sample.instances.iter().filter(|it| is_kept(it)).count();
        if kept >= INSTANCES_FOR_A_VERDICT {
            sample.instances.retain(|it| is_kept(it));
        }
    }
}

fn are_blocks(samples: &[&mut Sample<'_>]) -> bool {
    let instances = samples.iter().flat_map(|it| &it.instances);
    let origins = instances.map(|it| InstanceOrigin {
        session: it.session.id,
        block: it.instance.block,
        position: it.instance.position,
        host: None,
    });
    blocks_follow_each_other(origins.collect::<Vec<_>>().iter())
}
