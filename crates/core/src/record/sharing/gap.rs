//! Finds segments that are missing though later ones are there.

use std::collections::BTreeSet;

use super::error::SharingError;
use super::pull::get;
use super::remote::Remote;
use super::{SEGMENTS, segment_name, segment_number};

/// Refuses a history in which a segment is missing. `next` is the first that was not found.
///
/// Whoever filled the gap would add what those never see who have the segments behind it. A place
/// that can list is looked through; of another one the segment after `next` is asked for.
pub(super) fn refuse_gap(remote: &dyn Remote, next: u32) -> Result<(), SharingError> {
    let failed = |source| SharingError::Remote {
        address: remote.address().to_owned(),
        source,
    };
    let (missing, later) = match remote.list(SEGMENTS).map_err(failed)? {
        Some(names) => {
            let numbers: BTreeSet<u32> = names.iter().filter_map(|it| segment_number(it)).collect();
            let there = (1_u32..).zip(&numbers).take_while(|(n, it)| n == *it);
            let missing = there.last().map_or(0, |(n, _)| n).saturating_add(1);
            match numbers.last() {
                Some(&last) if last > missing => (missing, last),
                Some(_) | None => return Ok(()),
            }
        }
        None => {
            let after = next.saturating_add(1);
            if get(remote, after)?.is_none() {
                return Ok(());
            }
            (next, after)
        }
    };
    // Others may have added both while this was looked at.
    if get(remote, missing)?.is_some() {
        return Ok(());
    }
    Err(SharingError::Gap {
        address: remote.address().to_owned(),
        name: segment_name(missing),
        later: segment_name(later),
    })
}
