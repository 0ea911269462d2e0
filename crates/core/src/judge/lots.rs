//! Which instances of a benchmark are judged together: those of one side in one setting.

use std::collections::BTreeMap;

use super::sides::Place;
use crate::record::{
    BenchmarkData, InstanceData, Levels, Order, keep_newest_epoch, levels_text, setting_name,
    telling_levels,
};

/// Instances of a benchmark that are judged together: one side in one setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LotKey {
    pub group: usize,
    pub setting: PlaceSetting,
    /// The levels of factors that tell it from others of its side, variant and version.
    pub levels: Levels,
    pub side: usize,
}

impl LotKey {
    /// Returns what its setting is called.
    pub fn text(&self) -> Option<String> {
        self.setting.text(&self.levels)
    }
}

/// What tells the instances of a side apart before their levels do.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PlaceSetting {
    pub variant: Option<String>,
    pub version: Option<String>,
}

impl PlaceSetting {
    /// Returns `fast threads=4, 2026.9`; `None` where there is nothing to tell.
    pub fn text(&self, levels: &Levels) -> Option<String> {
        let variant = match &self.variant {
            Some(variant) => Some(setting_name(variant, levels)),
            None if levels.is_empty() => None,
            None => Some(levels_text(levels)),
        };
        let parts: Vec<String> = variant.into_iter().chain(self.version.clone()).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The instances of a benchmark by side and setting.
pub(super) type Lots<'a> = BTreeMap<LotKey, Vec<&'a InstanceData>>;

/// Returns the instances of a benchmark by side and setting, of each those of its newest epoch;
/// and how many are of earlier ones.
pub(super) fn lots(
    data: &BenchmarkData,
    places_of: impl Fn(&InstanceData) -> Vec<Place>,
) -> (Lots<'_>, BTreeMap<LotKey, usize>) {
    let mut places: BTreeMap<(usize, PlaceSetting, usize), Vec<&InstanceData>> = BTreeMap::new();
    for instance in &data.instances {
        for place in places_of(instance) {
            let setting = PlaceSetting {
                variant: place.variant,
                version: place.version,
            };
            let key = (place.group, setting, place.side);
            places.entry(key).or_default().push(instance);
        }
    }
    let mut lots = Lots::new();
    for ((group, setting, side), instances) in places {
        let telling = telling_levels(instances.iter().map(|it| it.run.as_ref()));
        for instance in instances {
            let key = LotKey {
                group,
                setting: setting.clone(),
                levels: telling.get(&instance.run.id).cloned().unwrap_or_default(),
                side,
            };
            lots.entry(key).or_default().push(instance);
        }
    }
    let (mut earlier, order) = (BTreeMap::new(), Order::of(data));
    for (key, instances) in &mut lots {
        let left_out = keep_newest_epoch(instances, &order);
        if left_out > 0 {
            earlier.insert(key.clone(), left_out);
        }
    }
    (lots, earlier)
}
