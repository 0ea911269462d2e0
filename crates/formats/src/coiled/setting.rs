//! The setting in which a row of Coiled's database was measured.

use std::collections::BTreeMap;

use crate::coiled::row::move_cells;
use crate::shared::intake::RunDraft;
use crate::shared::keys::{put, put_object};
use crate::shared::reading::database::DatabaseRow;
use lapwing_model::{Level, Object, Version};

/// Columns with versions of packages besides Dask's own, and the packages.
const PACKAGES: [(&str, &str); 6] = [
    ("dask_version", "dask"),
    ("distributed_version", "distributed"),
    ("dask_expr_version", "dask-expr"),
    ("duckdb_version", "duckdb"),
    ("pyspark_version", "pyspark"),
    ("polars_version", "polars"),
];

/// Takes the setting: versions, Python, platform, and the environment of an A/B test.
pub(super) fn setting(row: &mut DatabaseRow) -> Result<RunDraft, String> {
    let mut packages = Object::new();
    let mut versions = BTreeMap::new();
    for (column, package) in PACKAGES {
        if let Some(version) = row.take_text(column)? {
            packages.insert(package.to_owned(), version.as_str().into());
            versions.insert(package, version);
        }
    }
    let python = row.take_text("python_version")?;
    let platform = row.take_text("platform")?;
    let runtime = row.take_text("coiled_runtime_version")?;
    let mut environment = Object::new();
    put_object(&mut environment, "packages", packages);
    put(&mut environment, "python", python.clone());
    put(&mut environment, "platform", platform.clone());
    move_cells(row, &["coiled_software_name"], &mut environment)?;
    let mut attributes = Object::new();
    let minor = python.as_deref().map(minor_of);
    let mut factors = BTreeMap::new();
    if let Some(minor) = &minor {
        factors.insert("python".to_owned(), Level::Text(minor.clone()));
    }
    let variant = variant(runtime.as_deref(), minor.as_deref(), platform.as_deref());
    put(&mut attributes, "coiled_runtime_version", runtime);
    let version = Version {
        name: version_name(versions.get("dask"), versions.get("distributed")),
        ..Version::default()
    };
    // Numbers and texts of one row: the same setting gives the same key in every database.
    let key = serde_json::json!([variant, factors, version, environment, attributes]).to_string();
    Ok(RunDraft {
        key,
        variant,
        factors,
        version,
        environment,
        attributes,
    })
}

/// Dask and distributed are both under test, and developed side by side.
fn version_name(dask: Option<&String>, distributed: Option<&String>) -> Option<String> {
    match (dask, distributed) {
        (Some(dask), Some(distributed)) if dask != distributed => {
            Some(format!("{dask}/{distributed}"))
        }
        (Some(one), _) | (None, Some(one)) => Some(one.clone()),
        (None, None) => None,
    }
}

/// What Coiled's pages tell apart: the environment of an A/B test, else Python's version.
fn variant(runtime: Option<&str>, python: Option<&str>, platform: Option<&str>) -> Option<String> {
    let environment = runtime.and_then(|runtime| runtime.strip_prefix("AB_"));
    let runtime = runtime.filter(|runtime| *runtime != "upstream");
    let python = python.map(|minor| format!("Python {minor}"));
    let platform = platform.filter(|platform| *platform != "linux");
    let parts: Vec<String> = environment
        .or(runtime)
        .map(str::to_owned)
        .into_iter()
        .chain(python.filter(|_| environment.is_none()))
        .chain(platform.map(str::to_owned))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// `3.10` of `3.10.17.final.0`.
fn minor_of(python: &str) -> String {
    python.splitn(3, '.').take(2).collect::<Vec<_>>().join(".")
}
