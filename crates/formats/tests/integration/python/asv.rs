use std::path::Path;

use lapwing_formats::{Imported, Source};

use super::reading::{counts, error, fixture, import, imported, lines, notes};

const NEW: &str = "asv-0.6.6";
const OLD: &str = "asv-0.4.2";

/// Returns what becomes of a file that has its folder around it.
fn in_place(name: &str) -> Imported {
    let source = Source::open(&fixture(name), Path::new(".")).expect("it is there");
    import(&source).expect("a good fixture")
}

#[test]
fn samples_are_iterations_and_failures_stay_failures() {
    let file = format!("{NEW}/results/bench-host/4d7b9087-virtualenv-py3.11-LC_ALLC.json");
    let with_samples = in_place(&file);
    assert_eq!(with_samples.format.name, "asv");
    assert_eq!(
        with_samples.because,
        Some("it has `results` with `result_columns`")
    );
    insta::assert_snapshot!(lines(&with_samples), @r#"
    session {"attributes":{"source":{"format":"asv"}},"name":"4d7b9087-virtualenv-py3.11-LC_ALLC","started":"2026-11-20T22:19:08.537Z","suite":"asv","tool":"asv"}
    run {"environment":{"arch":"x86_64","cpu":"AMD EPYC","env_name":"virtualenv-py3.11-LC_ALLC","env_vars":{"LC_ALL":"C"},"num_cpu":"2","os":"Linux 6.1.0","python":"3.11"},"metrics":{"memory":{"better":"lower","unit":"B"},"peak_memory":{"better":"lower","unit":"B"},"value (swaps)":{"unit":"swaps"},"wall_time":{"better":"lower","unit":"s"}},"variant":"virtualenv-py3.11-LC_ALLC","version":{"commit":"4d7b90875906760000581778e643235bdcdb406d","date":"2026-01-02T02:04:05Z"}}
    instance {"attempt":0,"benchmark":{"fingerprint":"098378841d0a80e6c33753cf4b94487bc6d67cee97f692a5939dd273d037340e","id":"bench_sorting.time_fails"},"block":0,"host":"bench-host","position":0,"started":"2026-11-20T22:19:08.537Z"}
    instance_end {"ended":"2026-11-20T22:19:08.6594Z","message":"asv has no result for it (null)","outcome":"failed"}
    instance {"attempt":0,"benchmark":{"fingerprint":"217c8890012510e5b11e3e20d63fd799993dec0ff02b90c7ffe3d3bba9122158","id":"bench_sorting.time_plain"},"block":0,"host":"bench-host","position":1,"started":"2026-11-20T22:19:10.69Z"}
    instance_end {"ended":"2026-11-20T22:19:10.89463Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":100,"metrics":{"wall_time":3.2779000321170314e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":100,"metrics":{"wall_time":2.5176999770337714e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":100,"metrics":{"wall_time":2.5408000510651617e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"loops":100,"metrics":{"wall_time":3.254900002502836e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":4,"loops":100,"metrics":{"wall_time":2.502799907233566e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":5,"loops":100,"metrics":{"wall_time":2.484699871274643e-7},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"fingerprint":"f1a9f77c4457e50710487dae715b474223a7cabfefebb97e142b6a6c2dda9729","id":"bench_sorting.time_skipped"},"block":0,"host":"bench-host","position":2,"started":"2026-11-20T22:19:10.785Z"}
    instance_end {"ended":"2026-11-20T22:19:11.04083Z","message":"asv skipped it, or it gave no number (NaN)","outcome":"skipped"}
    instance {"attempt":0,"benchmark":{"fingerprint":"0b47fca03cb3e3dac1c897e00777453b2d163c4e7d97461d3230d74c8465208f","id":"bench_sorting.timeraw_import"},"block":0,"host":"bench-host","position":3,"started":"2026-11-20T22:19:10.913Z"}
    instance_end {"ended":"2026-11-20T22:19:11.52369Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"wall_time":0.00029764300052192993},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"metrics":{"wall_time":0.0003242130005673971},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"metrics":{"wall_time":0.0001669390003371518},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"metrics":{"wall_time":0.00032992200067383237},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"duration":0.74432},"benchmark":{"fingerprint":"97dbf8ae72ddf5fe396083693912a2043372983bad50672a44f563ea6da29da9","id":"bench_sorting.Insertion.time_sort(10, 'up')","params":{"order":"up","size":10}},"block":0,"host":"bench-host","position":4,"started":"2026-11-20T22:19:09.181Z"}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":20,"metrics":{"wall_time":1.8222001926915255e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":20,"metrics":{"wall_time":1.2919501386932097e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":20,"metrics":{"wall_time":1.3468999895849265e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"loops":20,"metrics":{"wall_time":1.3525001122616232e-6},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"duration":0.74432},"benchmark":{"fingerprint":"97dbf8ae72ddf5fe396083693912a2043372983bad50672a44f563ea6da29da9","id":"bench_sorting.Insertion.time_sort(10, 'down')","params":{"order":"down","size":10}},"block":0,"host":"bench-host","position":5,"started":"2026-11-20T22:19:09.181Z"}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":20,"metrics":{"wall_time":3.407099939067848e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":20,"metrics":{"wall_time":5.531800343305804e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":20,"metrics":{"wall_time":2.7696497454599013e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"loops":20,"metrics":{"wall_time":2.852349825843703e-6},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"duration":0.74432},"benchmark":{"fingerprint":"97dbf8ae72ddf5fe396083693912a2043372983bad50672a44f563ea6da29da9","id":"bench_sorting.Insertion.time_sort(100, 'up')","params":{"order":"up","size":100}},"block":0,"host":"bench-host","position":6,"started":"2026-11-20T22:19:09.181Z"}
    instance_end {"message":"asv skipped it, or it gave no number (NaN)","outcome":"skipped"}
    instance {"attempt":0,"attributes":{"duration":0.74432},"benchmark":{"fingerprint":"97dbf8ae72ddf5fe396083693912a2043372983bad50672a44f563ea6da29da9","id":"bench_sorting.Insertion.time_sort(100, 'down')","params":{"order":"down","size":100}},"block":0,"host":"bench-host","position":7,"started":"2026-11-20T22:19:09.181Z"}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":20,"metrics":{"wall_time":0.0001289919001465023},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":20,"metrics":{"wall_time":0.0001494643996920786},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":20,"metrics":{"wall_time":0.00017842220013335463},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"loops":20,"metrics":{"wall_time":0.0001765469500242034},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"duration":0.52639},"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(10, 'up')","params":{"order":"up","size":10}},"block":0,"host":"bench-host","position":8,"started":"2026-11-20T22:19:09.927Z"}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"value (swaps)":0.0},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"duration":0.52639},"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(10, 'down')","params":{"order":"down","size":10}},"block":0,"host":"bench-host","position":9,"started":"2026-11-20T22:19:09.927Z"}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"value (swaps)":45.0},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"duration":0.52639},"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(100, 'up')","params":{"order":"up","size":100}},"block":0,"host":"bench-host","position":10,"started":"2026-11-20T22:19:09.927Z"}
    instance_end {"message":"asv skipped it, or it gave no number (NaN)","outcome":"skipped"}
    instance {"attempt":0,"attributes":{"duration":0.52639},"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(100, 'down')","params":{"order":"down","size":100}},"block":0,"host":"bench-host","position":11,"started":"2026-11-20T22:19:09.927Z"}
    instance_end {"message":"asv has no result for it (null)","outcome":"failed"}
    instance {"attempt":0,"benchmark":{"fingerprint":"b4b157764f5aaa71b2d00cb8f08e0154601c9597f5653ebfbaa73741cb786ca3","id":"bench_sorting.mem_list"},"block":0,"host":"bench-host","position":12,"started":"2026-11-20T22:19:10.454Z"}
    instance_end {"ended":"2026-11-20T22:19:10.57647Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"memory":856.0},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"fingerprint":"d3abe3537363a1f6f49048f968e8aa88326a03b3045ae3e1c42b534edf23a29c","id":"bench_sorting.peakmem_list"},"block":0,"host":"bench-host","position":13,"started":"2026-11-20T22:19:10.577Z"}
    instance_end {"ended":"2026-11-20T22:19:10.6894Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"peak_memory":27312128.0},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"fingerprint":"7516faf1cf99a23579b92f9967ed38a2f5c428717faad20984bbf8f3c313e4e8","id":"bench_sorting.track_nothing"},"block":0,"host":"bench-host","position":14,"started":"2026-11-20T22:19:11.241Z"}
    instance_end {"ended":"2026-11-20T22:19:11.36554Z","message":"asv skipped it, or it gave no number (NaN)","outcome":"skipped"}
    "#);
    insta::assert_snapshot!(notes(&with_samples), @"left result, ci_99_a, ci_99_b, q_25, q_75, repeat: they follow from the samples");
}

#[test]
fn without_samples_there_are_summaries() {
    let file = format!("{NEW}/results/bench-host/3533aad3-virtualenv-py3.11-LC_ALLC.json");
    let summaries = in_place(&file);
    insta::assert_snapshot!(lines(&summaries), @r#"
    session {"attributes":{"source":{"format":"asv"}},"name":"3533aad3-virtualenv-py3.11-LC_ALLC","started":"2026-11-20T22:19:12.17Z","suite":"asv","tool":"asv"}
    run {"environment":{"arch":"x86_64","cpu":"AMD EPYC","env_name":"virtualenv-py3.11-LC_ALLC","env_vars":{"LC_ALL":"C"},"num_cpu":"2","os":"Linux 6.1.0","python":"3.11"},"metrics":{"memory":{"better":"lower","unit":"B"},"peak_memory":{"better":"lower","unit":"B"},"value (swaps)":{"unit":"swaps"},"wall_time":{"better":"lower","unit":"s"}},"variant":"virtualenv-py3.11-LC_ALLC","version":{"commit":"3533aad3d9b803e37c0f33bc8ec6d44fd85e5de6","date":"2026-01-03T02:04:05Z"}}
    instance {"attempt":0,"benchmark":{"fingerprint":"098378841d0a80e6c33753cf4b94487bc6d67cee97f692a5939dd273d037340e","id":"bench_sorting.time_fails"},"block":0,"host":"bench-host","position":0,"started":"2026-11-20T22:19:12.17Z"}
    instance_end {"ended":"2026-11-20T22:19:12.32996Z","message":"asv has no result for it (null)","outcome":"failed"}
    instance {"attempt":0,"attributes":{"number":100},"benchmark":{"fingerprint":"217c8890012510e5b11e3e20d63fd799993dec0ff02b90c7ffe3d3bba9122158","id":"bench_sorting.time_plain"},"block":0,"host":"bench-host","position":1,"started":"2026-11-20T22:19:14.07Z"}
    summary {"centre":3.7170500036154405e-7,"ci_99_a":1.8569e-7,"ci_99_b":5.5538e-7,"metric":"wall_time","n":6,"q_25":2.6528e-7,"q_75":4.3742e-7,"spread":1.7214e-7,"statistic":"median/iqr"}
    instance_end {"ended":"2026-11-20T22:19:14.36775Z","outcome":"ok"}
    instance {"attempt":0,"benchmark":{"fingerprint":"f1a9f77c4457e50710487dae715b474223a7cabfefebb97e142b6a6c2dda9729","id":"bench_sorting.time_skipped"},"block":0,"host":"bench-host","position":2,"started":"2026-11-20T22:19:14.242Z"}
    instance_end {"ended":"2026-11-20T22:19:14.51569Z","message":"asv skipped it, or it gave no number (NaN)","outcome":"skipped"}
    instance {"attempt":0,"benchmark":{"fingerprint":"0b47fca03cb3e3dac1c897e00777453b2d163c4e7d97461d3230d74c8465208f","id":"bench_sorting.timeraw_import"},"block":0,"host":"bench-host","position":3,"started":"2026-11-20T22:19:14.398Z"}
    summary {"centre":0.000303683500533225,"ci_99_a":0.00019502,"ci_99_b":0.00038254,"metric":"wall_time","n":4,"q_25":0.00027694,"q_75":0.00031552,"spread":0.00003858000000000003,"statistic":"median/iqr"}
    instance_end {"ended":"2026-11-20T22:19:15.00479Z","outcome":"ok"}
    instance {"attempt":0,"attributes":{"duration":0.49576,"number":20},"benchmark":{"fingerprint":"97dbf8ae72ddf5fe396083693912a2043372983bad50672a44f563ea6da29da9","id":"bench_sorting.Insertion.time_sort(10, 'up')","params":{"order":"up","size":10}},"block":0,"host":"bench-host","position":4,"started":"2026-11-20T22:19:12.83Z"}
    summary {"centre":7.984750482137315e-7,"ci_99_a":-1.8795e-6,"ci_99_b":5.2106e-6,"metric":"wall_time","n":4,"q_25":7.9254e-7,"q_75":1.6715e-6,"spread":8.7896e-7,"statistic":"median/iqr"}
    instance_end {"outcome":"ok"}
    instance {"attempt":0,"attributes":{"duration":0.49576,"number":20},"benchmark":{"fingerprint":"97dbf8ae72ddf5fe396083693912a2043372983bad50672a44f563ea6da29da9","id":"bench_sorting.Insertion.time_sort(10, 'down')","params":{"order":"down","size":10}},"block":0,"host":"bench-host","position":5,"started":"2026-11-20T22:19:12.83Z"}
    summary {"centre":1.8163998902309684e-6,"ci_99_a":1.3474e-6,"ci_99_b":2.5499e-6,"metric":"wall_time","n":4,"q_25":1.7885e-6,"q_75":1.9765e-6,"spread":1.8800000000000015e-7,"statistic":"median/iqr"}
    instance_end {"outcome":"ok"}
    instance {"attempt":0,"attributes":{"duration":0.49576},"benchmark":{"fingerprint":"97dbf8ae72ddf5fe396083693912a2043372983bad50672a44f563ea6da29da9","id":"bench_sorting.Insertion.time_sort(100, 'up')","params":{"order":"up","size":100}},"block":0,"host":"bench-host","position":6,"started":"2026-11-20T22:19:12.83Z"}
    instance_end {"message":"asv skipped it, or it gave no number (NaN)","outcome":"skipped"}
    instance {"attempt":0,"attributes":{"duration":0.49576,"number":20},"benchmark":{"fingerprint":"97dbf8ae72ddf5fe396083693912a2043372983bad50672a44f563ea6da29da9","id":"bench_sorting.Insertion.time_sort(100, 'down')","params":{"order":"down","size":100}},"block":0,"host":"bench-host","position":7,"started":"2026-11-20T22:19:12.83Z"}
    summary {"centre":0.00011332475000926933,"ci_99_a":0.00011089,"ci_99_b":0.00011684,"metric":"wall_time","n":4,"q_25":0.00011308,"q_75":0.00011411,"spread":1.0300000000000088e-6,"statistic":"median/iqr"}
    instance_end {"outcome":"ok"}
    instance {"attempt":0,"attributes":{"duration":0.50666},"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(10, 'up')","params":{"order":"up","size":10}},"block":0,"host":"bench-host","position":8,"started":"2026-11-20T22:19:13.327Z"}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"value (swaps)":0.0},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"duration":0.50666},"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(10, 'down')","params":{"order":"down","size":10}},"block":0,"host":"bench-host","position":9,"started":"2026-11-20T22:19:13.327Z"}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"value (swaps)":45.0},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"duration":0.50666},"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(100, 'up')","params":{"order":"up","size":100}},"block":0,"host":"bench-host","position":10,"started":"2026-11-20T22:19:13.327Z"}
    instance_end {"message":"asv skipped it, or it gave no number (NaN)","outcome":"skipped"}
    instance {"attempt":0,"attributes":{"duration":0.50666},"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(100, 'down')","params":{"order":"down","size":100}},"block":0,"host":"bench-host","position":11,"started":"2026-11-20T22:19:13.327Z"}
    instance_end {"message":"asv has no result for it (null)","outcome":"failed"}
    instance {"attempt":0,"benchmark":{"fingerprint":"b4b157764f5aaa71b2d00cb8f08e0154601c9597f5653ebfbaa73741cb786ca3","id":"bench_sorting.mem_list"},"block":0,"host":"bench-host","position":12,"started":"2026-11-20T22:19:13.834Z"}
    instance_end {"ended":"2026-11-20T22:19:13.94537Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"memory":856.0},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"fingerprint":"d3abe3537363a1f6f49048f968e8aa88326a03b3045ae3e1c42b534edf23a29c","id":"bench_sorting.peakmem_list"},"block":0,"host":"bench-host","position":13,"started":"2026-11-20T22:19:13.946Z"}
    instance_end {"ended":"2026-11-20T22:19:14.06984Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"peak_memory":27451392.0},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"fingerprint":"7516faf1cf99a23579b92f9967ed38a2f5c428717faad20984bbf8f3c313e4e8","id":"bench_sorting.track_nothing"},"block":0,"host":"bench-host","position":14,"started":"2026-11-20T22:19:14.75Z"}
    instance_end {"ended":"2026-11-20T22:19:14.88943Z","message":"asv skipped it, or it gave no number (NaN)","outcome":"skipped"}
    "#);
}

#[test]
fn without_its_folder_a_file_lacks_units_and_names() {
    let file = format!("{NEW}/results/bench-host/3533aad3-virtualenv-py3.11-LC_ALLC.json");
    let alone = imported(&file);
    let tracked: Vec<String> = lines(&alone)
        .lines()
        .filter(|line| line.starts_with("run") || line.contains("track_swaps"))
        .map(str::to_owned)
        .collect();
    insta::assert_snapshot!(tracked.join("\n"), @r#"
    run {"environment":{"arch":"x86_64","cpu":"AMD EPYC","env_name":"virtualenv-py3.11-LC_ALLC","env_vars":{"LC_ALL":"C"},"num_cpu":"2","os":"Linux 6.1.0","python":"3.11"},"metrics":{"memory":{"better":"lower","unit":"B"},"peak_memory":{"better":"lower","unit":"B"},"value":{"unit":"1"},"wall_time":{"better":"lower","unit":"s"}},"variant":"virtualenv-py3.11-LC_ALLC","version":{"commit":"3533aad3d9b803e37c0f33bc8ec6d44fd85e5de6","date":"2026-01-03T02:04:05Z"}}
    instance {"attempt":0,"attributes":{"duration":0.50666},"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(10, 'up')","params":{"param1":10,"param2":"up"}},"block":0,"host":"bench-host","position":8,"started":"2026-11-20T22:19:13.327Z"}
    instance {"attempt":0,"attributes":{"duration":0.50666},"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(10, 'down')","params":{"param1":10,"param2":"down"}},"block":0,"host":"bench-host","position":9,"started":"2026-11-20T22:19:13.327Z"}
    instance {"attempt":0,"attributes":{"duration":0.50666},"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(100, 'up')","params":{"param1":100,"param2":"up"}},"block":0,"host":"bench-host","position":10,"started":"2026-11-20T22:19:13.327Z"}
    instance {"attempt":0,"attributes":{"duration":0.50666},"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(100, 'down')","params":{"param1":100,"param2":"down"}},"block":0,"host":"bench-host","position":11,"started":"2026-11-20T22:19:13.327Z"}
    "#);
    insta::assert_snapshot!(notes(&alone), @"left units, parameter names: there is no benchmarks.json in the directory above");
}

#[test]
fn the_first_version_of_the_format_says_the_same() {
    let with_samples = in_place(&format!(
        "{OLD}/results/bench-host/4d7b9087-virtualenv-py3.7.json"
    ));
    insta::assert_snapshot!(lines(&with_samples), @r#"
    session {"attributes":{"source":{"format":"asv"}},"name":"4d7b9087-virtualenv-py3.7","started":"2026-11-20T22:20:01.682Z","suite":"asv","tool":"asv"}
    run {"environment":{"arch":"x86_64","cpu":"AMD EPYC","env_name":"virtualenv-py3.7","num_cpu":"2","os":"Linux 6.1.0","python":"3.7"},"metrics":{"memory":{"better":"lower","unit":"B"},"peak_memory":{"better":"lower","unit":"B"},"value (swaps)":{"unit":"swaps"},"wall_time":{"better":"lower","unit":"s"}},"variant":"virtualenv-py3.7","version":{"commit":"4d7b90875906760000581778e643235bdcdb406d","date":"2026-01-02T02:04:05Z"}}
    instance {"attempt":0,"benchmark":{"fingerprint":"97dbf8ae72ddf5fe396083693912a2043372983bad50672a44f563ea6da29da9","id":"bench_sorting.Insertion.time_sort(10, 'up')","params":{"order":"up","size":10}},"block":0,"host":"bench-host","position":0,"started":"2026-11-20T22:20:01.841Z"}
    instance_end {"ended":"2026-11-20T22:20:02.056Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":20,"metrics":{"wall_time":2.8202000066812618e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":20,"metrics":{"wall_time":2.616399979160633e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":20,"metrics":{"wall_time":2.5888500204018785e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"loops":20,"metrics":{"wall_time":2.564300029916922e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":4,"loops":20,"metrics":{"wall_time":1.6589499864494428e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":5,"loops":20,"metrics":{"wall_time":1.4406499758479185e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":6,"loops":20,"metrics":{"wall_time":1.3961000149720348e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":7,"loops":20,"metrics":{"wall_time":1.4016000022820663e-6},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"fingerprint":"97dbf8ae72ddf5fe396083693912a2043372983bad50672a44f563ea6da29da9","id":"bench_sorting.Insertion.time_sort(10, 'down')","params":{"order":"down","size":10}},"block":0,"host":"bench-host","position":1,"started":"2026-11-20T22:20:01.841Z"}
    instance_end {"ended":"2026-11-20T22:20:02.056Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":20,"metrics":{"wall_time":3.414049933780916e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":20,"metrics":{"wall_time":3.098599972872762e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":20,"metrics":{"wall_time":3.0811000215180682e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"loops":20,"metrics":{"wall_time":3.129700053250417e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":4,"loops":20,"metrics":{"wall_time":3.450149961281568e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":5,"loops":20,"metrics":{"wall_time":3.3254500522161834e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":6,"loops":20,"metrics":{"wall_time":6.649899933108827e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":7,"loops":20,"metrics":{"wall_time":5.201749991101678e-6},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"fingerprint":"97dbf8ae72ddf5fe396083693912a2043372983bad50672a44f563ea6da29da9","id":"bench_sorting.Insertion.time_sort(100, 'up')","params":{"order":"up","size":100}},"block":0,"host":"bench-host","position":2,"started":"2026-11-20T22:20:01.841Z"}
    instance_end {"ended":"2026-11-20T22:20:02.056Z","message":"asv skipped it, or it gave no number (NaN)","outcome":"skipped"}
    instance {"attempt":0,"benchmark":{"fingerprint":"97dbf8ae72ddf5fe396083693912a2043372983bad50672a44f563ea6da29da9","id":"bench_sorting.Insertion.time_sort(100, 'down')","params":{"order":"down","size":100}},"block":0,"host":"bench-host","position":3,"started":"2026-11-20T22:20:01.841Z"}
    instance_end {"ended":"2026-11-20T22:20:02.056Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":20,"metrics":{"wall_time":0.00020912390000376034},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":20,"metrics":{"wall_time":0.0002034970000750036},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":20,"metrics":{"wall_time":0.0002118759999575559},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"loops":20,"metrics":{"wall_time":0.00020112294996579294},"outcome":"ok"}
    iteration {"burn_in":false,"index":4,"loops":20,"metrics":{"wall_time":0.0003509228499751771},"outcome":"ok"}
    iteration {"burn_in":false,"index":5,"loops":20,"metrics":{"wall_time":0.0003519754999615543},"outcome":"ok"}
    iteration {"burn_in":false,"index":6,"loops":20,"metrics":{"wall_time":0.0003482609499769751},"outcome":"ok"}
    iteration {"burn_in":false,"index":7,"loops":20,"metrics":{"wall_time":0.00034336714998062234},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"fingerprint":"098378841d0a80e6c33753cf4b94487bc6d67cee97f692a5939dd273d037340e","id":"bench_sorting.time_fails"},"block":0,"host":"bench-host","position":4,"started":"2026-11-20T22:20:01.682Z"}
    instance_end {"ended":"2026-11-20T22:20:01.735Z","message":"asv has no result for it (null)","outcome":"failed"}
    instance {"attempt":0,"benchmark":{"fingerprint":"217c8890012510e5b11e3e20d63fd799993dec0ff02b90c7ffe3d3bba9122158","id":"bench_sorting.time_plain"},"block":0,"host":"bench-host","position":5,"started":"2026-11-20T22:20:02.378Z"}
    instance_end {"ended":"2026-11-20T22:20:02.431Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":100,"metrics":{"wall_time":5.918899842072279e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":100,"metrics":{"wall_time":5.523299842025153e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":100,"metrics":{"wall_time":5.571299880102743e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"loops":100,"metrics":{"wall_time":1.0488600128155668e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":4,"loops":100,"metrics":{"wall_time":1.0306399963155854e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":5,"loops":100,"metrics":{"wall_time":1.0291299986420198e-6},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"fingerprint":"41d4da7be5cd7f1383ee247bed5c6fece9413b30e5a449188da38203d9bee82e","id":"bench_sorting.time_skipped"},"block":0,"host":"bench-host","position":6,"started":"2026-11-20T22:20:01.788Z"}
    instance_end {"ended":"2026-11-20T22:20:01.841Z","message":"asv has no result for it (null)","outcome":"failed"}
    instance {"attempt":0,"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(10, 'up')","params":{"order":"up","size":10}},"block":0,"host":"bench-host","position":7,"started":"2026-11-20T22:20:02.057Z"}
    instance_end {"ended":"2026-11-20T22:20:02.27Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"value (swaps)":0.0},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(10, 'down')","params":{"order":"down","size":10}},"block":0,"host":"bench-host","position":8,"started":"2026-11-20T22:20:02.057Z"}
    instance_end {"ended":"2026-11-20T22:20:02.27Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"value (swaps)":45.0},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(100, 'up')","params":{"order":"up","size":100}},"block":0,"host":"bench-host","position":9,"started":"2026-11-20T22:20:02.057Z"}
    instance_end {"ended":"2026-11-20T22:20:02.27Z","message":"asv skipped it, or it gave no number (NaN)","outcome":"skipped"}
    instance {"attempt":0,"benchmark":{"fingerprint":"64c01a6092189bfae3d1e4822a6ff728922f6794a576e34feb5df0613078b5a3","id":"bench_sorting.Insertion.track_swaps(100, 'down')","params":{"order":"down","size":100}},"block":0,"host":"bench-host","position":10,"started":"2026-11-20T22:20:02.057Z"}
    instance_end {"ended":"2026-11-20T22:20:02.27Z","message":"asv has no result for it (null)","outcome":"failed"}
    instance {"attempt":0,"benchmark":{"fingerprint":"b4b157764f5aaa71b2d00cb8f08e0154601c9597f5653ebfbaa73741cb786ca3","id":"bench_sorting.mem_list"},"block":0,"host":"bench-host","position":11,"started":"2026-11-20T22:20:02.27Z"}
    instance_end {"ended":"2026-11-20T22:20:02.324Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"memory":872.0},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"fingerprint":"5417fb83527278115c2ae8a920e4b6280c7fb85deda977f27bdeb53139202348","id":"bench_sorting.peakmem_list"},"block":0,"host":"bench-host","position":12,"started":"2026-11-20T22:20:02.324Z"}
    instance_end {"ended":"2026-11-20T22:20:02.377Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"peak_memory":15876096.0},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"fingerprint":"7516faf1cf99a23579b92f9967ed38a2f5c428717faad20984bbf8f3c313e4e8","id":"bench_sorting.track_nothing"},"block":0,"host":"bench-host","position":13,"started":"2026-11-20T22:20:02.432Z"}
    instance_end {"ended":"2026-11-20T22:20:02.485Z","message":"asv skipped it, or it gave no number (NaN)","outcome":"skipped"}
    "#);
    let summaries = in_place(&format!(
        "{OLD}/results/bench-host/3533aad3-virtualenv-py3.7.json"
    ));
    assert_eq!(counts(&summaries), [1, 1, 14, 4, 8]);
}

#[test]
fn files_that_go_with_results_are_no_results() {
    for name in ["results/benchmarks.json", "results/bench-host/machine.json"] {
        let path = fixture(&format!("{NEW}/{name}"));
        let source = Source::open(&path, Path::new(".")).expect("it is there");
        let error = import(&source).expect_err("no results").to_string();
        assert!(
            error.ends_with(
                "goes with the results beside it and holds none itself: import its directory"
            ),
            "{error}"
        );
    }
}

#[test]
fn bad_files_are_refused_with_line_and_reason() {
    insta::assert_snapshot!(error(&format!("{NEW}/truncated.json")), @"truncated.json:1: the JSON is cut off (byte 1490)");
    insta::assert_snapshot!(error(&format!("{NEW}/negative.json")), @"negative.json:1: `wall_time` of `bench_sorting.time_plain` is negative: -0.00000032779000321170314 (byte 696)");
    insta::assert_snapshot!(error(&format!("{NEW}/wrong.json")), @r#"wrong.json:1: `bench_sorting.mem_list`: `result` is "much", expected a number (byte 2456)"#);
    insta::assert_snapshot!(error(&format!("{OLD}/truncated.json")), @"truncated.json:1: the JSON is cut off (byte 3000)");
    insta::assert_snapshot!(error(&format!("{OLD}/wrong.json")), @r#"wrong.json:1: `bench_sorting.mem_list`: `result` is "much", expected a number (byte 2333)"#);
}
