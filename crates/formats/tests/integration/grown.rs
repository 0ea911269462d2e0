//! Files that were imported before and have grown, and files with the same content.

use std::fs;
use std::path::Path;

use lapwing_formats::{BadLines, ColumnChoices, ImportOptions, Imported, Source, import};
use lapwing_model::RecordKind;
use lapwing_record::Store;

/// Imports a file of this name and text, and returns the numbers of new instances and iterations.
fn import_as(folder: &Path, name: &str, text: &str, columns: &str) -> Result<[u64; 2], String> {
    let mut store = Store::open(&folder.join("lapwing.db")).unwrap();
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    let source = Source::open(&path, folder).unwrap();
    let options = ImportOptions {
        format: None,
        suite: None,
        trace: Default::default(),
        each_run: Default::default(),
        columns: ColumnChoices::parse(columns).unwrap(),
        bad_lines: BadLines::Refuse,
        continued: None,
        now: "2026-12-01T00:00:00Z".parse().unwrap(),
    };
    let imported = import(&mut store, &source, &options).map_err(|error| error.to_string())?;
    Ok(new(&imported))
}

fn new(imported: &Imported) -> [u64; 2] {
    [RecordKind::Instance, RecordKind::Iteration].map(|kind| imported.appended.of(kind).new)
}

#[test]
fn a_table_that_has_grown_adds_only_its_new_rows() {
    let rows = [
        ["2026-11-01,aaa", "sort,1.5"],
        ["2026-11-01,aaa", "scan,2.5"],
        ["2026-11-02,bbb", "sort,1.25"],
        ["2026-11-02,bbb", "scan,2.25"],
        ["2026-11-03,ccc", "sort,1.75"],
        ["2026-11-03,ccc", "scan,2.75"],
    ];
    let plain = |number: usize| {
        let rows = rows[..number].iter().map(|it| it.join(",") + "\n");
        format!("date,commit,test,seconds\n{}", rows.collect::<String>())
    };
    // The new column, and its cells in earlier and later rows.
    let with = |title: &str, place: usize, cell: &dyn Fn(usize) -> &'static str| {
        let insert = |line: &str, cell: &str| {
            let mut cells: Vec<&str> = line.split(',').collect();
            cells.insert(place, cell);
            cells.join(",") + "\n"
        };
        let text = plain(6);
        let mut lines = text.lines();
        let header = insert(lines.next().unwrap(), title);
        let rows = lines.enumerate().map(|(at, line)| insert(line, cell(at)));
        header + &rows.collect::<String>()
    };
    for (title, place, cell) in [
        (
            "note",
            4,
            &(|at: usize| ["", "loud"][usize::from(at == 5)]) as &dyn Fn(usize) -> &'static str,
        ),
        ("host", 2, &|_: usize| "m1"),
        ("peak_memory (MiB)", 4, &|at: usize| ["", "3.5"][at / 4]),
        ("allocations", 0, &|_: usize| "12"),
        ("engine", 4, &|at: usize| ["hash", "merge"][at % 2]),
        ("version", 1, &|at: usize| ["", "1.2"][at / 4]),
        ("branch", 4, &|_: usize| "main"),
        ("run", 4, &|at: usize| ["1", "2"][at % 2]),
        ("n", 4, &|_: usize| "10"),
        ("started", 4, &|_: usize| "2026-10-01"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let import = |text: &str| import_as(folder.path(), "history.csv", text, "").unwrap();
        assert_eq!(import(&plain(4)), [4, 4], "{title}");
        let grown = with(title, place, cell);
        assert_eq!(import(&grown)[0], 2, "{title}");
        assert_eq!(import(&grown), [0, 0], "{title}");
        // And once more, with a row of another night.
        let cells = grown
            .lines()
            .next()
            .unwrap()
            .split(',')
            .map(|name| match name {
                "date" => "2026-11-04",
                "test" => "sort",
                "seconds" => "1.5",
                "note" | "engine" => "",
                "run" | "n" | "allocations" | "peak_memory (MiB)" => "3",
                "started" => "2026-10-01",
                _name => "ddd",
            });
        let row = cells.collect::<Vec<_>>().join(",");
        assert_eq!(import(&format!("{grown}{row}\n"))[0], 1, "{title}");
    }
}

#[test]
fn rows_of_a_night_that_was_imported_before_are_added_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let import = |name: &str, rows: &[&str], header: &str| {
        let text = format!("{header}\n{}\n", rows.join("\n"));
        import_as(folder.path(), name, &text, "").unwrap()
    };
    let rows = [
        "2026-11-01,a,1.5",
        "2026-11-01,a,1.25",
        "2026-11-01,b,2",
        "2026-11-01,a,1.5",
        "2026-11-01,a,1.5",
    ];
    let dated = |number: usize| import("dated.csv", &rows[..number], "date,test,seconds");
    assert_eq!(dated(2), [1, 2]);
    assert_eq!(dated(3), [1, 1]);
    assert_eq!(dated(4), [1, 1]);
    assert_eq!(dated(5), [1, 1]);
    assert_eq!(dated(5), [0, 0]);
    let rows = ["a,1.5", "b,2", "a,1.5"];
    let undated = |name: &str, number: usize| import(name, &rows[..number], "test,seconds");
    assert_eq!(undated("undated.csv", 2), [2, 2]);
    assert_eq!(undated("undated.csv", 3), [1, 1]);
    assert_eq!(undated("undated.csv", 3), [0, 0]);
}

#[test]
fn the_meaning_of_a_column_stays_and_another_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = "date,test,seconds,score\n2026-11-01,a,1.5,3\n";
    let import = |text: &str, columns: &str| import_as(folder.path(), "a.csv", text, columns);
    import(text, "value=seconds").unwrap();
    let grown = format!("{text}2026-11-02,a,1.25,4\n");
    assert_eq!(import(&grown, ""), Ok([1, 1]));
    assert_eq!(import(&grown, "value=seconds"), Ok([0, 0]));
    let refused = import(&grown, "value=score").unwrap_err();
    assert!(refused.contains("columns `"), "{refused}");
}

#[test]
fn the_same_values_of_two_nights_are_two_results() {
    let hyperfine = r#"{"results": [{"command": "sort", "times": [0.5, 0.25]}]}"#;
    let table = "test,seconds\na,1.5\n";
    for (ending, text) in [("json", hyperfine), ("csv", table)] {
        let folder = tempfile::tempdir().unwrap();
        let import = |name: &str| {
            let name = format!("{name}.{ending}");
            import_as(folder.path(), &name, text, "").unwrap()[0]
        };
        for name in [
            "nightly-001",
            "nightly-002",
            "003/out",
            "004/out",
            "2026-11-05",
        ] {
            assert_eq!(import(name), 1, "{name}");
            assert_eq!(import(name), 0, "{name}");
        }
    }
    // A result that says when it was measured is one, whatever the file is called.
    let dated = "date,test,seconds\n2026-11-01,a,1.5\n";
    let folder = tempfile::tempdir().unwrap();
    let import = |name: &str| import_as(folder.path(), name, dated, "").unwrap()[0];
    assert_eq!([import("one.csv"), import("two.csv")], [1, 0]);
}
