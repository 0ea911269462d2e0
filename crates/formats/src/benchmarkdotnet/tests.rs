use super::*;
use crate::shared::testing::{fate_of_a_key, imported, read_as, refusal, refusal_of, shown};

#[test]
fn launches_are_instances_and_warm_up_is_burn_in() {
    insta::assert_snapshot!(shown(&imported("benchmarkdotnet-0.14/full.json")), @r##"
    benchmarkdotnet because it has `HostEnvironmentInfo`
    {"v":1,"kind":"session","id":"#0","suite":"benchmarkdotnet","started":"2026-01-02T03:04:05Z","tool":"BenchmarkDotNet 0.14.0","name":"full","attributes":{"source":{"file":"full.json","format":"benchmarkdotnet","sha256":"…"},"title":"Demo.Sorting-20260102-030405"}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"Allocated Memory":{"unit":"B","better":"lower"},"Gen0Collects":{"unit":"1","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"Architecture":"X64","BenchmarkDotNetCaption":"BenchmarkDotNet","BenchmarkDotNetVersion":"0.14.0","ChronometerFrequency":{"Hertz":1000000000},"Configuration":"RELEASE","DotNetCliVersion":"8.0.401","HardwareTimerKind":"Unknown","HasAttachedDebugger":false,"HasRyuJit":true,"LogicalCoreCount":8,"OsVersion":"Debian GNU/Linux 12 (bookworm)","PhysicalCoreCount":4,"PhysicalProcessorCount":1,"ProcessorName":"Generic CPU","RuntimeVersion":".NET 8.0.8 (8.0.824.36612)","job":"Job-QWERTY(IterationCount=3, LaunchCount=2, WarmupCount=2)"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"Demo.Sorting.Quick(N: 100)","params":{"N":"100"}},"block":0,"position":0,"attempt":0,"environment":{"HardwareIntrinsics":"AVX2,AES,BMI1,BMI2,FMA,LZCNT,PCLMUL,POPCNT VectorSize=256"},"attributes":{"Memory":{"BytesAllocatedPerOperation":424,"Gen0Collections":1,"Gen1Collections":0,"Gen2Collections":0,"TotalOperations":2048}}}
    {"v":1,"kind":"summary","instance":"#2","metric":"Gen0Collects","centre":0.25,"statistic":"mean"}
    {"v":1,"kind":"summary","instance":"#2","metric":"Allocated Memory","centre":424.0,"statistic":"mean"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":true,"loops":1024,"outcome":"ok","metrics":{"wall_time":1.46484375e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":true,"loops":1024,"outcome":"ok","metrics":{"wall_time":1.3721875e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"loops":1024,"outcome":"ok","metrics":{"wall_time":1.285e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":3,"burn_in":false,"loops":1024,"outcome":"ok","metrics":{"wall_time":1.2825e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":4,"burn_in":false,"loops":1024,"outcome":"ok","metrics":{"wall_time":1.29e-7}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"Demo.Sorting.Quick(N: 100)","params":{"N":"100"}},"block":1,"position":1,"attempt":0,"environment":{"HardwareIntrinsics":"AVX2,AES,BMI1,BMI2,FMA,LZCNT,PCLMUL,POPCNT VectorSize=256"},"attributes":{"Memory":{"BytesAllocatedPerOperation":424,"Gen0Collections":1,"Gen1Collections":0,"Gen2Collections":0,"TotalOperations":2048}}}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":true,"loops":1024,"outcome":"ok","metrics":{"wall_time":1.455078125e-7}}
    {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":true,"loops":1024,"outcome":"ok","metrics":{"wall_time":1.365e-7}}
    {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"loops":1024,"outcome":"ok","metrics":{"wall_time":1.275e-7}}
    {"v":1,"kind":"iteration","instance":"#3","index":3,"burn_in":false,"loops":1024,"outcome":"ok","metrics":{"wall_time":1.2775e-7}}
    {"v":1,"kind":"iteration","instance":"#3","index":4,"burn_in":false,"loops":1024,"outcome":"ok","metrics":{"wall_time":1.28e-7}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"Demo.Sorting.Broken"},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"failed","message":"it has no results"}
    left, as they do not measure the benchmark: Overhead Jitting, Workload Jitting, Workload Pilot, Overhead Warmup, Overhead Actual
    left, as they follow from the samples: Workload Result, Statistics
    kept in attributes of the instance: Memory
    "##);
}

#[test]
fn jobs_are_runs() {
    insta::assert_snapshot!(shown(&imported("benchmarkdotnet-0.14/two-jobs-without-measurements.json")), @r##"
    benchmarkdotnet because it has `HostEnvironmentInfo`
    {"v":1,"kind":"session","id":"#0","suite":"benchmarkdotnet","started":"2026-01-02T04:05:06Z","tool":"BenchmarkDotNet 0.14.0","name":"two-jobs-without-measurements","attributes":{"source":{"file":"two-jobs-without-measurements.json","format":"benchmarkdotnet","sha256":"…"},"title":"Demo.Sorting-20260102-040506"}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":".NET 8.0(Runtime=.NET 8.0)","factors":{"job":".NET 8.0(Runtime=.NET 8.0)"},"metrics":{"Allocated Memory":{"unit":"B","better":"lower"},"Gen0Collects":{"unit":"1","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"Architecture":"X64","BenchmarkDotNetCaption":"BenchmarkDotNet","BenchmarkDotNetVersion":"0.14.0","ChronometerFrequency":{"Hertz":1000000000},"Configuration":"RELEASE","DotNetCliVersion":"8.0.401","HardwareTimerKind":"Unknown","HasAttachedDebugger":false,"HasRyuJit":true,"LogicalCoreCount":8,"OsVersion":"Debian GNU/Linux 12 (bookworm)","PhysicalCoreCount":4,"PhysicalProcessorCount":1,"ProcessorName":"Generic CPU","RuntimeVersion":".NET 8.0.8 (8.0.824.36612)","job":".NET 8.0(Runtime=.NET 8.0)"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"Demo.Sorting.Merge"},"block":0,"position":0,"attempt":0,"environment":{"HardwareIntrinsics":"AVX2,AES,BMI1,BMI2,FMA,LZCNT,PCLMUL,POPCNT VectorSize=256"},"attributes":{"Memory":{"BytesAllocatedPerOperation":0,"Gen0Collections":1,"Gen1Collections":0,"Gen2Collections":0,"TotalOperations":1024}}}
    {"v":1,"kind":"summary","instance":"#2","metric":"Gen0Collects","centre":0.25,"statistic":"mean"}
    {"v":1,"kind":"summary","instance":"#2","metric":"Allocated Memory","centre":0.0,"statistic":"mean"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":2.56e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":2.555e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":2.57e-7}}
    {"v":1,"kind":"run","id":"#3","session":"#0","variant":".NET 9.0(Runtime=.NET 9.0)","factors":{"job":".NET 9.0(Runtime=.NET 9.0)"},"metrics":{"Allocated Memory":{"unit":"B","better":"lower"},"Gen0Collects":{"unit":"1","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"Architecture":"X64","BenchmarkDotNetCaption":"BenchmarkDotNet","BenchmarkDotNetVersion":"0.14.0","ChronometerFrequency":{"Hertz":1000000000},"Configuration":"RELEASE","DotNetCliVersion":"8.0.401","HardwareTimerKind":"Unknown","HasAttachedDebugger":false,"HasRyuJit":true,"LogicalCoreCount":8,"OsVersion":"Debian GNU/Linux 12 (bookworm)","PhysicalCoreCount":4,"PhysicalProcessorCount":1,"ProcessorName":"Generic CPU","RuntimeVersion":".NET 8.0.8 (8.0.824.36612)","job":".NET 9.0(Runtime=.NET 9.0)"}}
    {"v":1,"kind":"instance","id":"#4","run":"#3","benchmark":{"id":"Demo.Sorting.Merge"},"block":0,"position":1,"attempt":0,"environment":{"HardwareIntrinsics":"AVX2,AES,BMI1,BMI2,FMA,LZCNT,PCLMUL,POPCNT VectorSize=256"},"attributes":{"Memory":{"BytesAllocatedPerOperation":0,"Gen0Collections":1,"Gen1Collections":0,"Gen2Collections":0,"TotalOperations":1024}}}
    {"v":1,"kind":"summary","instance":"#4","metric":"Gen0Collects","centre":0.25,"statistic":"mean"}
    {"v":1,"kind":"summary","instance":"#4","metric":"Allocated Memory","centre":0.0,"statistic":"mean"}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":2.56e-7}}
    {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":2.555e-7}}
    {"v":1,"kind":"iteration","instance":"#4","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":2.57e-7}}
    left, as they follow from the samples: Statistics
    kept in attributes of the instance: Memory
    "##);
}

#[test]
fn figures_alone_are_a_summary() {
    insta::assert_snapshot!(shown(&imported("benchmarkdotnet-0.14/brief.json")), @r##"
    benchmarkdotnet because it has `HostEnvironmentInfo`
    {"v":1,"kind":"session","id":"#0","suite":"benchmarkdotnet","started":"2026-01-02T05:06:07Z","tool":"BenchmarkDotNet 0.14.0","name":"brief","attributes":{"source":{"file":"brief.json","format":"benchmarkdotnet","sha256":"…"},"title":"Demo.Sorting-20260102-050607"}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"Allocated Memory":{"unit":"B","better":"lower"},"Gen0Collects":{"unit":"1","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"Architecture":"X64","BenchmarkDotNetCaption":"BenchmarkDotNet","BenchmarkDotNetVersion":"0.14.0","ChronometerFrequency":{"Hertz":1000000000},"Configuration":"RELEASE","DotNetCliVersion":"8.0.401","HardwareTimerKind":"Unknown","HasAttachedDebugger":false,"HasRyuJit":true,"LogicalCoreCount":8,"OsVersion":"Debian GNU/Linux 12 (bookworm)","PhysicalCoreCount":4,"PhysicalProcessorCount":1,"ProcessorName":"Generic CPU","RuntimeVersion":".NET 8.0.8 (8.0.824.36612)","job":"Job-QWERTY(IterationCount=3, LaunchCount=2, WarmupCount=2)"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"Demo.Sorting.Quick(N: 100)","params":{"N":"100"}},"block":0,"position":0,"attempt":0,"environment":{"HardwareIntrinsics":"AVX2,AES,BMI1,BMI2,FMA,LZCNT,PCLMUL,POPCNT VectorSize=256"},"attributes":{"Memory":{"BytesAllocatedPerOperation":424,"Gen0Collections":1,"Gen1Collections":0,"Gen2Collections":0,"TotalOperations":2048}}}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":6,"centre":1.2766666666666666e-7,"spread":5.400617248673217e-10,"statistic":"mean/sd","max":1.285e-7,"median":1.27625e-7,"min":1.27e-7,"q1":1.2725e-7,"q3":1.28e-7}
    {"v":1,"kind":"summary","instance":"#2","metric":"Gen0Collects","centre":0.25,"statistic":"mean"}
    {"v":1,"kind":"summary","instance":"#2","metric":"Allocated Memory","centre":424.0,"statistic":"mean"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    kept in attributes of the instance: Memory
    "##);
}

#[test]
fn the_title_has_the_time() {
    let time = time_of_title("A.B-20260102-030405").map(|it| it.to_string());
    assert_eq!(time.as_deref(), Some("2026-01-02T03:04:05Z"));
    assert_eq!(time_of_title("A-2026-01"), None);
    assert_eq!(time_of_title("IntroJsonExport"), None);
}

#[test]
fn an_unknown_key_is_kept_or_named() {
    let fate = |file: &str, place: &str| {
        fate_of_a_key(&format!("benchmarkdotnet-0.14/{file}.json"), place)
    };
    for file in ["full", "brief"] {
        let of_statistics = "kept in attributes of the instance, under `Statistics`";
        let of_metrics = "kept in attributes of the instance, under `Metrics`";
        assert_eq!(fate(file, ""), "kept in attributes of the session");
        assert_eq!(
            fate(file, "/Benchmarks/0"),
            "kept in attributes of the instance"
        );
        assert_eq!(fate(file, "/Benchmarks/0/Statistics"), of_statistics);
        assert_eq!(fate(file, "/Benchmarks/0/Metrics/0"), of_metrics);
        assert_eq!(fate(file, "/Benchmarks/0/Metrics/0/Descriptor"), of_metrics);
    }
    assert_eq!(
        fate("full", "/Benchmarks/0/Measurements/0"),
        "left, as there are too many measurements to keep unknown keys"
    );
}

#[test]
fn unknown_keys_within_the_figures_are_kept_and_the_figures_are_not() {
    let text = r#"{"HostEnvironmentInfo": {}, "Benchmarks": [{"Method": "A", "Statistics": {
        "Mean": 1, "Kurtosis": 2, "ConfidenceInterval": {"Lower": 0, "x": 1},
        "Percentiles": {"P50": 1, "y": 2}}}]}"#;
    let imported = read_as("benchmarkdotnet", text);
    let note = imported.notes.iter().find(|note| note.kept);
    assert_eq!(
        note.map(|it| it.what.as_slice()),
        Some(&["ConfidenceInterval".to_owned(), "Percentiles".to_owned()][..])
    );
    let attributes = r#""Statistics":{"ConfidenceInterval":{"x":1},"Percentiles":{"y":2}}"#;
    assert!(shown(&imported).contains(attributes));
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("benchmarkdotnet-0.14/truncated.json"), @"truncated.json:93: the JSON is cut off");
    insta::assert_snapshot!(refusal("benchmarkdotnet-0.14/wrong.json"), @r#"wrong.json:151: `Measurements[8].Operations`: invalid type: string "many", expected a whole number"#);
    insta::assert_snapshot!(refusal("benchmarkdotnet-0.14/negative.json"), @"negative.json:23: `Nanoseconds` of `Demo.Sorting.Quick(N: 100)` is negative: -131328");
    insta::assert_snapshot!(refusal_of("benchmarkdotnet", r#"{"Benchmarks": [{}]}"#), @"made-up:1: `Method` is missing");
    insta::assert_snapshot!(refusal_of("benchmarkdotnet", r#"{"Benchmarks": []}"#), @"made-up holds no results");
}
