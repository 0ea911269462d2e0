//! Which annotations were undone.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_model::Id;

/// Returns what is undone, and by what, of restorations and their targets in the order in which
/// they were said.
///
/// A restoration that was itself undone undoes nothing. Those that go round in a circle, which only
/// a program that makes ids of its own can bring about, count by that order: the last one holds.
pub(super) fn undone(restorations: &[(Id, Id)]) -> BTreeMap<Id, Id> {
    let target: BTreeMap<Id, Id> = restorations.iter().copied().collect();
    // How many restorations of each are not known to be undone, and may hold.
    let mut open: BTreeMap<Id, usize> = BTreeMap::new();
    for (_, target) in restorations {
        *open.entry(*target).or_default() += 1;
    }
    let mut held: BTreeSet<Id> = BTreeSet::new();
    let mut lost: BTreeSet<Id> = BTreeSet::new();
    let mut ready: Vec<Id> = restorations.iter().map(|it| it.0).collect();
    ready.retain(|id| !open.contains_key(id));
    let mut last_first = restorations.iter().rev().map(|it| it.0);
    loop {
        while let Some(id) = ready.pop() {
            if lost.contains(&id) || !held.insert(id) {
                continue;
            }
            let Some(undone) = target.get(&id).filter(|it| !held.contains(it)) else {
                continue;
            };
            if !lost.insert(*undone) {
                continue;
            }
            // If it is a restoration, one less is left of what it is about.
            if let Some(beyond) = target.get(undone)
                && let Some(left) = open.get_mut(beyond)
            {
                *left -= 1;
                if *left == 0 && target.contains_key(beyond) {
                    ready.push(*beyond);
                }
            }
        }
        match last_first.find(|id| !held.contains(id) && !lost.contains(id)) {
            Some(id) => ready.push(id),
            None => break,
        }
    }
    let mut undone = BTreeMap::new();
    for (id, target) in restorations.iter().rev() {
        if held.contains(id) && !held.contains(target) {
            undone.entry(*target).or_insert(*id);
        }
    }
    undone
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u8) -> Id {
        Id::measured(u64::from(number), [number; 10])
    }

    fn of(restorations: &[(u8, u8)]) -> Vec<(u8, u8)> {
        let said: Vec<(Id, Id)> = restorations
            .iter()
            .map(|(one, other)| (id(*one), id(*other)))
            .collect();
        let number = |of: Id| (0..9).find(|&it| id(it) == of).expect("one of ours");
        undone(&said)
            .into_iter()
            .map(|(one, other)| (number(one), number(other)))
            .collect()
    }

    #[test]
    fn chains_are_followed_in_whatever_order_they_were_said() {
        assert_eq!(of(&[(2, 1)]), [(1, 2)]);
        for chain in [[(2, 1), (3, 2)], [(3, 2), (2, 1)]] {
            assert_eq!(of(&chain), [(2, 3)]);
        }
        assert_eq!(of(&[(4, 3), (2, 1), (3, 2)]), [(1, 2), (3, 4)]);
    }

    #[test]
    fn one_of_two_that_undo_the_same_is_enough() {
        assert_eq!(of(&[(2, 1), (3, 1)]), [(1, 3)]);
        assert_eq!(of(&[(2, 1), (3, 1), (4, 3)]), [(1, 2), (3, 4)]);
    }

    #[test]
    fn in_a_circle_the_last_one_holds() {
        assert_eq!(of(&[(1, 2), (2, 1)]), [(1, 2)]);
        assert_eq!(of(&[(1, 1)]), []);
        assert_eq!(of(&[(1, 2), (2, 3), (3, 1)]), [(1, 3)]);
    }
}
