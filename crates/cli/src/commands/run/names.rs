//! Names for sessions that people can say and remember.

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

/// Returns the name of the session of that id, such as `brisk-heron`.
pub fn of(id: Id) -> String {
    // The last bytes of an id are its random ones.
    let bytes = id.as_bytes();
    let adjective = ADJECTIVES[usize::from(bytes[14]) % ADJECTIVES.len()];
    let bird = BIRDS[usize::from(bytes[15]) % BIRDS.len()];
    format!("{adjective}-{bird}")
}
