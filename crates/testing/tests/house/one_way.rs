//! Rooms and what they may use. Cargo keeps the arrows between crates, once their manifests draw them; the tests here
//! keep what Cargo cannot: the stages of `analyse` form a one-way street, in which a module uses only what stands to
//! its left; importers do not know each other; and what belongs to the program alone (environment variables,
//! printing, the clock) stays out of the library, but for the measuring clock in `measure`.
//!
//! The modules are followed from `lib.rs` through every `mod`, so that `super::super`
//! is understood and no file is forgotten. Tests are exempt, both modules and files
//! under `#[cfg(test)]`: they may look at what came out with whatever is handy.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

/// The stages of `analyse`, left to right.
const STAGES: [&str; 5] = ["sample", "clean", "judge", "detect", "explain"];

/// The crates of the library, and those that each may use.
const ROOMS: [(&str, &[&str]); 9] = [
    ("stats", &[]),
    ("model", &[]),
    ("record", &["model"]),
    ("measure", &["model", "record", "stats"]),
    ("analyse", &["model", "record", "stats"]),
    ("study", &["analyse", "model", "record", "stats"]),
    ("trace", &["model", "stats"]),
    ("formats", &["model", "record", "stats", "trace"]),
    (
        "show",
        &["analyse", "model", "record", "stats", "study", "trace"],
    ),
];

/// Ends of paths that only the program may use, and what they reach for.
const OF_THE_PROGRAM: [(&[&str], &str); 8] = [
    (&["io", "stdout"], "the terminal"),
    (&["io", "stderr"], "the terminal"),
    (&["SystemTime", "now"], "the clock"),
    (&["Timestamp", "now"], "the clock"),
    (&["Zoned", "now"], "the clock"),
    (&["Instant", "now"], "the clock"),
    (&["Uuid", "now_v7"], "the clock"),
    (&["Uuid", "new_v4"], "global randomness"),
];

/// Macros that only the program may use.
const PRINTING: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// The crate whose purpose is to time things.
const MEASURING: &str = "measure";

/// Texts of source files by their path below `src`.
type Sources = BTreeMap<String, String>;

/// Walks through one file.
struct Walk<'s> {
    sources: &'s Sources,
    /// The crate.
    room: &'s str,
    /// The names of the modules around, from the crate's root.
    module: Vec<String>,
    /// Where the files of child modules are, with a slash at the end unless empty.
    folder: String,
    file: String,
    seen: BTreeSet<String>,
    findings: Vec<String>,
}

/// Returns one sentence for each place that breaks a rule.
fn findings(room: &str, sources: &Sources) -> Vec<String> {
    let mut walk = Walk {
        sources,
        room,
        module: Vec::new(),
        folder: String::new(),
        file: "lib.rs".to_owned(),
        seen: BTreeSet::new(),
        findings: Vec::new(),
    };
    walk.read();
    for file in sources.keys().filter(|file| !walk.seen.contains(*file)) {
        let text = format!("{file}:1: no module leads to this file, so its rules go unchecked");
        walk.findings.push(text);
    }
    walk.findings
}

fn rank(stage: &str) -> Option<usize> {
    STAGES.iter().position(|name| *name == stage)
}

/// Returns what a path reaches for, if only the program may.
fn of_the_program(path: &[String], room: &str) -> Option<&'static str> {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let environment = match names.strip_prefix(&["std"]).unwrap_or(&names) {
        // Constants of the compiler, a function of its argument, and what only gives variables to processes.
        ["env", "consts", ..] | ["env", "split_paths" | "set_var"] => false,
        ["env", _, ..] => true,
        ["env"] => names.len() > 1,
        _ => false,
    };
    if environment {
        return Some("the environment");
    }
    OF_THE_PROGRAM
        .into_iter()
        .find(|(end, _)| names.ends_with(end) && !(room == MEASURING && end[0] == "Instant"))
        .map(|(_, what)| what)
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

impl Walk<'_> {
    fn has_stages(&self) -> bool {
        self.room == "analyse"
    }

    /// Reads `self.file`.
    fn read(&mut self) {
        self.seen.insert(self.file.clone());
        let parsed = syn::parse_file(&self.sources[&self.file]).expect("the compiler took it");
        self.visit_file(&parsed);
    }

    /// Goes on in the file of a child module.
    fn descend(&mut self, name: &str, span: Span) {
        let folder = format!("{}{name}/", self.folder);
        let candidates = [
            format!("{}{name}.rs", self.folder),
            format!("{folder}mod.rs"),
        ];
        let mut candidates = candidates.into_iter();
        let Some(file) = candidates.find(|file| self.sources.contains_key(file)) else {
            self.complain(span, &format!("no file holds module `{name}`"));
            return;
        };
        let mut module = self.module.clone();
        module.push(name.to_owned());
        let mut child = Walk {
            sources: self.sources,
            room: self.room,
            module,
            folder,
            file,
            seen: std::mem::take(&mut self.seen),
            findings: std::mem::take(&mut self.findings),
        };
        child.read();
        (self.seen, self.findings) = (child.seen, child.findings);
    }

    /// Marks the files of a test module as seen.
    fn exempt(&mut self, name: &str) {
        let file = format!("{}{name}.rs", self.folder);
        let below = format!("{}{name}/", self.folder);
        let exempt = self.sources.keys();
        let exempt = exempt.filter(|path| **path == file || path.starts_with(&below));
        self.seen.extend(exempt.cloned());
    }

    fn complain(&mut self, span: Span, what: &str) {
        let line = span.start().line;
        self.findings.push(format!("{}:{line}: {what}", self.file));
    }

    /// Returns the path from the crate's root, or from another crate.
    fn absolute(&self, path: &[String]) -> Vec<String> {
        let mut around = self.module.clone();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("crate") => {
                around.clear();
                rest = &path[1..];
            }
            Some("self" | "super") => {
                while let Some((first, others)) = rest.split_first() {
                    match first.as_str() {
                        "self" => {}
                        "super" => drop(around.pop()),
                        _ => break,
                    }
                    rest = others;
                }
            }
            Some(_) | None => return path.to_vec(),
        }
        let root = std::iter::once("crate".to_owned());
        root.chain(around).chain(rest.iter().cloned()).collect()
    }

    fn check(&mut self, path: &[String], span: Span) {
        let absolute = self.absolute(path);
        let own = self.module.first().cloned().unwrap_or_default();
        if self.has_stages()
            && absolute[0] == "crate"
            && let Some(target) = absolute.get(1)
            && let (Some(own_rank), Some(rank)) = (rank(&own), rank(target))
            && rank > own_rank
        {
            let what = format!("`{own}` uses `{target}`, which stands to its right");
            self.complain(span, &what);
        }
        if let Some(what) = of_the_program(&absolute, self.room) {
            let path = path.join("::");
            self.complain(span, &format!("`{path}`: {what} belongs to the program"));
        }
    }

    fn walk_use(&mut self, tree: &UseTree, path: &mut Vec<String>) {
        match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.walk_use(&tree.tree, path);
                path.pop();
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.walk_use(tree, path);
                }
            }
            UseTree::Name(name) => self.check_import(path, Some(&name.ident), name.ident.span()),
            UseTree::Rename(name) => self.check_import(path, Some(&name.ident), name.ident.span()),
            UseTree::Glob(glob) => self.check_import(path, None, glob.star_token.spans[0]),
        }
    }

    fn check_import(&mut self, path: &[String], name: Option<&syn::Ident>, span: Span) {
        let mut path = path.to_vec();
        path.extend(name.map(ToString::to_string));
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        if self.has_stages() && self.absolute(&path) == ["crate"] {
            self.complain(span, "brings every stage into reach: name what is meant");
        } else {
            self.check(&path, span);
        }
    }

    /// Finds paths in the tokens of macros and attributes; `before` is what stands
    /// before the braces of `crate::{…}`.
    fn walk_tokens(&mut self, tokens: TokenStream, before: &[String]) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        let mut place = Span::call_site();
        for token in tokens {
            let joined = colons == 2 && !path.is_empty();
            match &token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(ident) if joined => path.push(ident.to_string()),
                TokenTree::Group(group) if joined && group.delimiter() == Delimiter::Brace => {
                    let before = [before, &path].concat();
                    path.clear();
                    self.walk_tokens(group.stream(), &before);
                }
                TokenTree::Ident(_)
                | TokenTree::Group(_)
                | TokenTree::Literal(_)
                | TokenTree::Punct(_) => {
                    self.check_tokens(before, &mut path, place);
                    place = token.span();
                    self.begin(token, &mut path);
                }
            }
            colons = 0;
        }
        self.check_tokens(before, &mut path, place);
    }

    /// Takes a token that does not continue a path.
    fn begin(&mut self, token: TokenTree, path: &mut Vec<String>) {
        let span = token.span();
        match token {
            TokenTree::Ident(ident) => path.push(ident.to_string()),
            TokenTree::Group(group) => self.walk_tokens(group.stream(), &[]),
            TokenTree::Literal(literal) => {
                // Such as `#[serde(with = "crate::…")]`.
                let text = literal.to_string();
                let text = text.trim_matches('"');
                if text.starts_with("crate::") || text.starts_with("super::") {
                    let path: Vec<String> = text.split("::").map(str::to_owned).collect();
                    self.check(&path, span);
                }
            }
            TokenTree::Punct(_) => {}
        }
    }

    fn check_tokens(&mut self, before: &[String], path: &mut Vec<String>, span: Span) {
        if !path.is_empty() {
            self.check(&[before, path].concat(), span);
            path.clear();
        }
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let for_tests = is_for_tests(attributes(item));
        if for_tests && let Item::Mod(module) = item {
            self.exempt(&module.ident.to_string());
        }
        if !for_tests {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let (name, span) = (module.ident.to_string(), module.ident.span());
        if self.has_stages() && self.module.is_empty() && rank(&name).is_none() {
            self.complain(span, &format!("`{name}` is none of the stages"));
        }
        if module.content.is_none() {
            self.descend(&name, span);
            return;
        }
        let folder = format!("{}{name}/", self.folder);
        let folder = std::mem::replace(&mut self.folder, folder);
        self.module.push(name);
        visit::visit_item_mod(self, module);
        self.module.pop();
        self.folder = folder;
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if self.has_stages() && self.module.is_empty() {
            let what = "the root only names the stages: a re-export here hides where it is from";
            self.complain(item.use_token.span, what);
        }
        self.walk_use(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(first) = path.segments.first() {
            let segments = path.segments.iter();
            let names: Vec<String> = segments.map(|it| it.ident.to_string()).collect();
            self.check(&names, first.ident.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.walk_tokens(list.tokens.clone(), &[]);
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if let Some(name) = call.path.segments.last()
            && PRINTING.iter().any(|it| name.ident == it)
        {
            let what = format!("`{}!`: printing belongs to the program", name.ident);
            self.complain(name.ident.span(), &what);
        }
        self.walk_tokens(call.tokens.clone(), &[]);
    }
}

fn read_sources(root: &Path, folder: &Path, sources: &mut Sources) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read_sources(root, &path, sources);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let below = path.strip_prefix(root).expect("below its root");
            let text = fs::read_to_string(&path).expect("a readable source");
            sources.insert(below.display().to_string(), text);
        }
    }
}

fn sources_of(room: &str) -> Sources {
    let root = crates().join(room).join("src");
    let mut sources = Sources::new();
    read_sources(&root, &root, &mut sources);
    sources
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_library_keeps_to_its_stages_and_off_clock_and_surroundings() {
    for (room, _) in ROOMS {
        let sources = sources_of(room);
        assert!(sources.len() > 10, "only {} files", sources.len());
        assert_eq!(findings(room, &sources), Vec::<String>::new(), "{room}");
    }
}

#[test]
fn a_room_uses_only_those_to_its_left() {
    for (room, may_use) in ROOMS {
        let manifest = fs::read_to_string(crates().join(room).join("Cargo.toml"));
        let manifest = manifest.expect("a manifest");
        let (_, rest) = manifest.split_once("[dependencies]").expect("a table");
        let lines = rest
            .lines()
            .skip(1)
            .take_while(|line| !line.starts_with('['));
        let used = lines.filter_map(|line| line.strip_prefix("lapwing-")?.split('.').next());
        let others: Vec<&str> = used.filter(|name| !may_use.contains(name)).collect();
        assert_eq!(others, Vec::<&str>::new(), "{room}");
    }
}

#[test]
fn no_importer_knows_another() {
    let sources = sources_of("formats");
    let room_of = |path: &str| path.split_once('/').map(|(room, _)| room.to_owned());
    let rooms: BTreeSet<String> = sources.keys().filter_map(|path| room_of(path)).collect();
    let mut known = Vec::new();
    for (path, text) in &sources {
        let own = room_of(path);
        let others = rooms
            .iter()
            .filter(|room| *room != "shared" && own.as_ref() != Some(room));
        let named = others.filter(|room| text.contains(&format!("crate::{room}::")));
        known.extend(
            named
                .filter(|_| own.is_some())
                .map(|room| (path.as_str(), room.as_str())),
        );
    }
    // Go's output is one of the formats that github-action-benchmark keeps.
    assert_eq!(known, [("github_action/mod.rs", "go")]);
}

#[test]
fn what_breaks_the_rules_is_found_whichever_way_it_is_written() {
    let clean = "mod deep;\n#[cfg(test)]\nmod deep_tests;\n\
        #[cfg(test)]\nmod tests { use crate::explain::Advice; }\n\
        use crate::{sample::Run, explain::{self, Advice}};\nuse super::judge;\nuse crate::*;";
    let deep = "use super::super::explain::Advice;\nuse super::super::sample::Sample;\n\
        fn f(c: &crate::detect::Change) {\n    vec![crate::{judge::ratio}];\n    println!();\n}\n\
        #[serde(with = \"crate::explain::form\")]\nstruct S;\n\
        fn g() {\n    Timestamp::now();\n    Instant::now();\n    std::io::stdout();\n}\n\
        use std::{env, io};";
    let root = "pub mod clean;\nmod extras;\npub mod detect;\npub use detect::Change;";
    let sources: Sources = [
        ("lib.rs", root),
        ("extras.rs", ""),
        ("clean/mod.rs", clean),
        ("clean/deep.rs", deep),
        ("clean/deep_tests.rs", "use crate::explain::Advice;"),
        ("clean/lost.rs", ""),
        ("detect.rs", ""),
    ]
    .map(|(path, text)| (path.to_owned(), text.to_owned()))
    .into();
    insta::assert_snapshot!(findings("analyse", &sources).join("\n"), @"
    clean/deep.rs:1: `clean` uses `explain`, which stands to its right
    clean/deep.rs:3: `clean` uses `detect`, which stands to its right
    clean/deep.rs:4: `clean` uses `judge`, which stands to its right
    clean/deep.rs:5: `println!`: printing belongs to the program
    clean/deep.rs:7: `clean` uses `explain`, which stands to its right
    clean/deep.rs:10: `Timestamp::now`: the clock belongs to the program
    clean/deep.rs:11: `Instant::now`: the clock belongs to the program
    clean/deep.rs:12: `std::io::stdout`: the terminal belongs to the program
    clean/deep.rs:14: `std::env`: the environment belongs to the program
    clean/mod.rs:6: `clean` uses `explain`, which stands to its right
    clean/mod.rs:6: `clean` uses `explain`, which stands to its right
    clean/mod.rs:7: `clean` uses `judge`, which stands to its right
    clean/mod.rs:8: brings every stage into reach: name what is meant
    lib.rs:2: `extras` is none of the stages
    lib.rs:4: the root only names the stages: a re-export here hides where it is from
    clean/lost.rs:1: no module leads to this file, so its rules go unchecked
    ");
    let measure = "fn f() {\n    std::time::Instant::now();\n    std::env::var(\"X\");\n    std::env::consts::ARCH;\n    env::temp_dir();\n}";
    let sources: Sources = [("lib.rs".to_owned(), measure.to_owned())].into();
    insta::assert_snapshot!(findings("measure", &sources).join("\n"), @"
    lib.rs:3: `std::env::var`: the environment belongs to the program
    lib.rs:5: `env::temp_dir`: the environment belongs to the program
    ");
}
