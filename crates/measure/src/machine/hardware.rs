//! Hardware and operating system in detail, as inspections of indicators describe them.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::environment::field;
use lapwing_model::Object;

/// Returns the processor's features, caches and identity below `root`, which is `/` for this machine.
///
/// The keys are those of Amun's `hwinfo`: `cpu_features`, `cpu_info` and `platform`. Unknown properties are absent.
pub fn hardware(root: &Path) -> Object {
    let cpuinfo = fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default();
    let field = |name: &str| field(&cpuinfo, name);
    let number = |name: &str| field(name).and_then(|text| text.parse::<u64>().ok());
    let mut flags: Vec<String> = field("flags")
        .or_else(|| field("Features"))
        .map(|text| text.split_whitespace().map(str::to_owned).collect())
        .unwrap_or_default();
    flags.sort();
    let mut features = caches(root);
    features.insert("flags".to_owned(), json!(flags));
    let processors = cpuinfo.lines().filter(|it| it.starts_with("processor"));
    let architecture = std::env::consts::ARCH;
    let info = json!({
        "arch_string_raw": architecture,
        "bits": usize::BITS,
        "brand_raw": field("model name"),
        "count": processors.count(),
        "family": number("cpu family"),
        "model": number("model"),
        "stepping": number("stepping"),
        "vendor_id_raw": field("vendor_id"),
    });
    let line = |path: &str| {
        let text = fs::read_to_string(root.join(path)).ok()?;
        Some(text.trim().to_owned())
    };
    let platform = json!({
        "machine": architecture,
        "node": line("proc/sys/kernel/hostname"),
        "release": line("proc/sys/kernel/osrelease"),
        "version": line("proc/sys/kernel/version"),
    });
    let parts = [
        ("cpu_features", features),
        ("cpu_info", without_unknown(info)),
        ("platform", without_unknown(platform)),
    ];
    let parts = parts.into_iter();
    parts
        .map(|(key, part)| (key.to_owned(), Json::Object(part)))
        .collect()
}

/// Returns `/etc/os-release` below `root`: keys in lower case, values without quotes; empty if there is none.
pub fn os_release(root: &Path) -> Object {
    let texts =
        ["etc/os-release", "usr/lib/os-release"].map(|it| fs::read_to_string(root.join(it)));
    let text = texts.into_iter().find_map(Result::ok).unwrap_or_default();
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs
        .map(|(key, value)| {
            let value = value.trim().trim_matches(['"', '\'']);
            (key.trim().to_lowercase(), Json::from(value))
        })
        .collect()
}

/// Returns an object without its entries that are null.
pub(super) fn without_unknown(object: Json) -> Object {
    let mut object = match object {
        Json::Object(object) => object,
        _ => Object::new(),
    };
    object.retain(|_, value| !value.is_null());
    object
}

/// Returns the sizes of the first processor's caches in bytes.
fn caches(root: &Path) -> Object {
    let folder = root.join("sys/devices/system/cpu/cpu0/cache");
    let mut sizes = Object::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let text = |name: &str| fs::read_to_string(entry.path().join(name)).ok();
        let (Some(level), Some(kind), Some(size)) = (text("level"), text("type"), text("size"))
        else {
            continue;
        };
        let name = match (level.trim(), kind.trim()) {
            ("1", "Data") => "l1_data_cache_size",
            ("1", "Instruction") => "l1_instruction_cache_size",
            ("2", _) => "l2_cache_size",
            ("3", _) => "l3_cache_size",
            _ => continue,
        };
        if let Some(bytes) = bytes_of(size.trim()) {
            sizes.insert(name.to_owned(), json!(bytes));
        }
    }
    sizes
}

/// Returns the bytes of a size such as `32K`.
fn bytes_of(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let factor = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_described_with_flags_and_caches() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: Maker\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: CPU 5\nflags\t\t: fpu avx\n\nprocessor\t: 1\n",
        );
        write("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
        for (index, level, kind, size) in [(0, "1", "Data", "32K\n"), (1, "2", "Unified", "2M\n")] {
            let folder = format!("sys/devices/system/cpu/cpu0/cache/index{index}");
            write(&format!("{folder}/level"), level);
            write(&format!("{folder}/type"), kind);
            write(&format!("{folder}/size"), size);
        }
        let found = Json::Object(hardware(root.path()));
        assert_eq!(
            found["cpu_features"],
            json!({"flags": ["avx", "fpu"], "l1_data_cache_size": 32768, "l2_cache_size": 2_097_152})
        );
        let info = &found["cpu_info"];
        assert_eq!(
            [
                &info["brand_raw"],
                &info["family"],
                &info["model"],
                &info["count"]
            ],
            [&json!("CPU 5"), &json!(6), &json!(85), &json!(2)]
        );
        assert_eq!(
            Json::Object(os_release(root.path())),
            json!({"id": "debian", "version_id": "12"})
        );
    }
}
