//! The contract in `docs/tables.md` is that of the program.

use std::fmt::Write as _;
use std::path::Path;

use lapwing_tables::{ColumnKind, TABLE_VERSION, TableName};

fn kind(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Name => "name",
        ColumnKind::Text => "text",
        ColumnKind::Flag => "true or false",
        ColumnKind::Whole | ColumnKind::Nanoseconds => "whole number",
        ColumnKind::Number => "number",
        ColumnKind::Time => "time",
    }
}

/// Returns the contract as the document has it.
fn contract() -> String {
    let mut text = String::new();
    for table in TableName::ALL {
        writeln!(
            text,
            "### `{}`\n\n| column | kind | meaning |\n|---|---|---|",
            table.name()
        )
        .expect("text");
        for column in table.columns() {
            let unit = match column.unit {
                "" => String::new(),
                unit => format!(" ({unit})"),
            };
            let (kind, about) = (kind(column.kind), column.about);
            writeln!(text, "| `{}` | {kind}{unit} | {about} |", column.name).expect("text");
        }
        text.push('\n');
    }
    text
}

/// `LAPWING_UPDATE_DOCS=1` writes it.
#[test]
fn the_document_has_every_table_and_column() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md");
    let document = std::fs::read_to_string(&path).expect("the document");
    let (begin, end) = ("<!-- contract -->\n\n", "<!-- end of the contract -->");
    let (before, rest) = document.split_once(begin).expect("its begin");
    let (found, after) = rest.split_once(end).expect("its end");
    if std::env::var_os("LAPWING_UPDATE_DOCS").is_some() {
        let renewed = format!("{before}{begin}{}{end}{after}", contract());
        std::fs::write(&path, renewed).expect("written");
        return;
    }
    assert_eq!(found, contract());
    assert!(before.contains(&format!("version {TABLE_VERSION}")));
}
