//! Names for sessions that people can say and remember.

use std::collections::BTreeSet;

use lapwing_core::model::Id;

const ADJECTIVES: [&str; 32] = [
    "amber", "bold", "brave", "brisk", "calm", "clear", "coral", "crisp", "deft", "eager", "early",
    "fleet", "gentle", "golden", "grand", "hardy", "keen", "light", "lively", "mellow", "nimble",
    "proud", "quick", "quiet", "ruddy", "sharp", "silver", "sleek", "snowy", "spry", "swift",
    "wary",
];

const BIRDS: [&str; 32] = [
    "avocet", "bittern", "bunting", "crane", "curlew", "dipper", "dunlin", "eider", "falcon",
    "finch", "godwit", "grebe", "heron", "hobby", "jackdaw", "kestrel", "kite", "lark", "linnet",
    "martin", "merlin", "oriole", "osprey", "petrel", "plover", "rail", "siskin", "snipe", "swift",
    "tern", "thrush", "wren",
];

/// Returns a name for the session of that id, such as `brisk-heron`, that is not taken yet.
pub fn of(id: Id, taken: &BTreeSet<String>) -> String {
    // The last bytes of an id are its random ones.
    let bytes = id.as_bytes();
    let start = usize::from(bytes[14]) * BIRDS.len() + usize::from(bytes[15]) % BIRDS.len();
    let many = ADJECTIVES.len() * BIRDS.len();
    let words = |index: usize| {
        let adjective = ADJECTIVES[index / BIRDS.len() % ADJECTIVES.len()];
        format!("{adjective}-{}", BIRDS[index % BIRDS.len()])
    };
    // Steps of a prime number, so that neighbours in time are not neighbours in the list.
    let mut names = (0..many).map(|step| words(start + step * 379));
    names
        .find(|name| !taken.contains(name))
        .unwrap_or_else(|| format!("{}-{}", words(start), taken.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_given_twice_even_when_all_pairs_of_words_are_taken() {
        let id = Id::from(uuid::Uuid::from_u128(7));
        let mut taken = BTreeSet::new();
        for _ in 0..1100 {
            let name = of(id, &taken);
            assert!(taken.insert(name.clone()), "{name} came twice");
        }
        assert_eq!(
            taken
                .iter()
                .filter(|it| it.matches('-').count() == 1)
                .count(),
            1024
        );
    }
}
