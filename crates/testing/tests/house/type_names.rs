//! A name means one type: no crate defines two types of the same name. The folder of one
//! importer is a scope of its own, so that its wire structs may be called what the format calls
//! them. Tests and types inside functions are exempt.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::{Attribute, Item};

/// The folders of sources, below `crates`.
const CRATES: [&str; 10] = [
    "analyse", "cli", "formats", "measure", "model", "record", "show", "stats", "study", "trace",
];

/// Scopes and names that still stand for several types. Rename them and remove them from here;
/// nothing is to be added.
const ALLOWED_UNTIL_RENAMED: [(&str, &str); 0] = [];

/// The names of the types of each scope, with the places that define them.
type Definitions = BTreeMap<(String, String), Vec<String>>;

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
    })
}

/// Returns the folder in which the modules of a source file have their files.
fn folder_of_modules(file: &str) -> String {
    let stem = file.trim_end_matches(".rs");
    let is_root = ["lib", "main", "mod"].contains(&stem.rsplit('/').next().unwrap_or(stem));
    match stem.rsplit_once('/') {
        Some((folder, _)) if is_root => format!("{folder}/"),
        None if is_root => String::new(),
        Some(_) | None => format!("{stem}/"),
    }
}

/// Adds the types among some items, and the files of their modules that are for tests alone.
fn collect(items: &[Item], folder: &str, types: &mut Vec<String>, tests: &mut BTreeSet<String>) {
    for item in items {
        match item {
            Item::Enum(item) if !is_for_tests(&item.attrs) => types.push(item.ident.to_string()),
            Item::Struct(item) if !is_for_tests(&item.attrs) => types.push(item.ident.to_string()),
            Item::Trait(item) if !is_for_tests(&item.attrs) => types.push(item.ident.to_string()),
            Item::Type(item) if !is_for_tests(&item.attrs) => types.push(item.ident.to_string()),
            Item::Mod(module) if is_for_tests(&module.attrs) => {
                tests.insert(format!("{folder}{}", module.ident));
            }
            Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    collect(items, &format!("{folder}{}/", module.ident), types, tests);
                }
            }
            _ => {}
        }
    }
}

/// Returns the scope of a file's names: its crate, or the folder of one importer.
fn scope(of_crate: &str, file: &str) -> String {
    match (of_crate, file.split_once('/')) {
        ("formats", Some((format, _))) if format != "shared" => format!("formats/{format}"),
        (_, _) => of_crate.to_owned(),
    }
}

fn read_sources(root: &Path, folder: &Path, sources: &mut BTreeMap<String, syn::File>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read_sources(root, &path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a readable source");
            let below = path.strip_prefix(root).expect("below its root");
            let parsed = syn::parse_file(&text).expect("the compiler took it");
            sources.insert(below.display().to_string(), parsed);
        }
    }
}

/// Adds the types of the sources of one crate.
fn collect_crate(of_crate: &str, sources: &BTreeMap<String, syn::File>, found: &mut Definitions) {
    let mut tests = BTreeSet::new();
    let mut of_files = Vec::new();
    for (file, parsed) in sources {
        let mut types = Vec::new();
        let folder = folder_of_modules(file);
        collect(&parsed.items, &folder, &mut types, &mut tests);
        of_files.push((file, types));
    }
    let is_test = |file: &str| {
        let stem = file.trim_end_matches(".rs");
        let is_below = |module: &String| stem == module || stem.starts_with(&format!("{module}/"));
        tests.iter().any(is_below)
    };
    for (file, types) in of_files.into_iter().filter(|(file, _)| !is_test(file)) {
        for name in types {
            let places = found.entry((scope(of_crate, file), name)).or_default();
            places.push(format!("{of_crate}/src/{file}"));
        }
    }
}

fn definitions() -> Definitions {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Definitions::new();
    for of_crate in CRATES {
        let root = crates.join(of_crate).join("src");
        let mut sources = BTreeMap::new();
        read_sources(&root, &root, &mut sources);
        collect_crate(of_crate, &sources, &mut found);
    }
    found
}

#[test]
fn no_two_types_of_a_crate_have_the_same_name() {
    let found = definitions();
    assert!(found.len() > 500, "only {} types", found.len());
    let collisions: BTreeMap<(&str, &str), &Vec<String>> = found
        .iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|((scope, name), places)| ((scope.as_str(), name.as_str()), places))
        .collect();
    let allowed = BTreeSet::from(ALLOWED_UNTIL_RENAMED);
    let new: Vec<_> = collisions
        .iter()
        .filter(|(key, _)| !allowed.contains(*key))
        .collect();
    assert!(
        new.is_empty(),
        "give these types names of their own: {new:#?}"
    );
    let gone: Vec<_> = allowed
        .iter()
        .filter(|key| !collisions.contains_key(*key))
        .collect();
    assert!(
        gone.is_empty(),
        "no longer a collision, so remove them from the list: {gone:#?}"
    );
}

#[test]
fn types_of_tests_and_of_other_formats_do_not_collide() {
    let parsed = |text: &str| syn::parse_file(text).expect("Rust");
    let sources = BTreeMap::from([
        (
            "lib.rs".to_owned(),
            parsed("mod go; #[cfg(test)] mod tests; struct Row;"),
        ),
        ("tests.rs".to_owned(), parsed("struct Row;")),
        (
            "go/mod.rs".to_owned(),
            parsed("struct Row; fn f() { struct Row; }"),
        ),
        (
            "go/wire.rs".to_owned(),
            parsed("#[cfg(test)] mod tests { struct Row; }"),
        ),
        (
            "shared/row.rs".to_owned(),
            parsed("mod inner { enum Row {} }"),
        ),
    ]);
    let mut found = Definitions::new();
    collect_crate("formats", &sources, &mut found);
    let key = |scope: &str| (scope.to_owned(), "Row".to_owned());
    let places = |all: &[&str]| {
        all.iter()
            .map(|file| format!("formats/src/{file}"))
            .collect()
    };
    assert_eq!(
        found,
        Definitions::from([
            (key("formats"), places(&["lib.rs", "shared/row.rs"])),
            (key("formats/go"), places(&["go/mod.rs"])),
        ])
    );
}
