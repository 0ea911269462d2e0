//! `docs/cli.md` is the help of the program.

use std::fs;
use std::path::Path;

use crate::program::output;

#[test]
fn the_command_line_reference_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = root.join("docs/cli.md");
    let help = String::from_utf8(output(&root, &["markdown-help"]).stdout).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&page, &help).unwrap();
    }
    assert!(
        fs::read_to_string(&page).is_ok_and(|documented| documented == help),
        "docs/cli.md is not the help of the program: run `cargo run -p lapwing -- markdown-help > docs/cli.md` to update it"
    );
}
