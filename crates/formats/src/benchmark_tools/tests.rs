use crate::shared::testing::{imported, refusal, refusal_of, shown};

#[test]
fn a_trial_is_an_instance_with_its_samples() {
    insta::assert_snapshot!(shown(&imported("benchmarktools/trials.json")), @r##"
    benchmarktools because it begins with the versions of Julia and BenchmarkTools
    {"v":1,"kind":"session","id":"#0","suite":"benchmarktools","started":"2026-01-01T00:00:00Z","tool":"BenchmarkTools.jl 1.6.0","name":"trials","attributes":{"BenchmarkTools":"1.6.0","Julia":"1.11.2","source":{"file":"trials.json","format":"benchmarktools","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"allocs":{"unit":"allocs","better":"lower"},"gc_time":{"unit":"s","better":"lower"},"memory":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sum/(\"large\", 1000)","tags":["vector","fast"]},"block":0,"position":0,"attempt":0,"attributes":{"parameters":{"evals":10,"gcsample":false,"gctrial":true,"memory_tolerance":0.01,"overhead":0.0,"samples":3,"seconds":5.0,"time_tolerance":0.05}}}
    {"v":1,"kind":"summary","instance":"#2","metric":"memory","centre":128.0,"statistic":"value"}
    {"v":1,"kind":"summary","instance":"#2","metric":"allocs","centre":2.0,"statistic":"value"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":10,"outcome":"ok","metrics":{"gc_time":0.0,"wall_time":1.0105e-6}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":10,"outcome":"ok","metrics":{"gc_time":5e-8,"wall_time":1.06e-6}}
    {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"loops":10,"outcome":"ok","metrics":{"gc_time":0.0,"wall_time":1.00525e-6}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sum/small","tags":["vector","fast"]},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":1.25e-8,"statistic":"estimate"}
    {"v":1,"kind":"summary","instance":"#3","metric":"gc_time","centre":0.0,"statistic":"estimate"}
    {"v":1,"kind":"summary","instance":"#3","metric":"memory","centre":0.0,"statistic":"value"}
    {"v":1,"kind":"summary","instance":"#3","metric":"allocs","centre":0.0,"statistic":"value"}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    left, as they are no trials: parameters, ratios, judgements: tuned
    "##);
}

#[test]
fn a_broken_file_is_named() {
    let versions = "{\"Julia\": \"1.11.2\", \"BenchmarkTools\": \"1.6.0\"}";
    let deep = "[\"BenchmarkGroup\",{\"tags\":[],\"data\":{\"a\":".repeat(61);
    let deep = format!("[{versions},[{deep}null{}]]", "}}]".repeat(61));
    let broken = [
        refusal("benchmarktools/truncated.json"),
        refusal("benchmarktools/wrong.json"),
        refusal_of("benchmarktools", &format!("[{versions}, []]")),
        refusal_of("benchmarktools", &deep),
    ];
    insta::assert_snapshot!(broken.join("\n"), @r#"
    truncated.json:4: the JSON is cut off
    wrong.json:3: `times[1]`: invalid type: string "soon", expected a number
    made-up holds no results
    made-up:1: groups are nested too deep (byte 2510)
    "#);
}
