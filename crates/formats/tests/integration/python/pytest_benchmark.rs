use lapwing_formats::Source;

use super::reading::{counts, error, fixture, import, imported, lines, notes};

const NEW: &str = "pytest-benchmark-5.3.1";
const OLD: &str = "pytest-benchmark-3.4.1";
const STORAGE: &str = "storage/Linux-CPython-3.11-64bit";

#[test]
fn rounds_are_iterations_of_one_instance_a_benchmark() {
    let data = imported(&format!("{NEW}/data.json"));
    assert_eq!(data.format.name, "pytest-benchmark");
    assert_eq!(data.because, Some("it has `benchmarks` and `machine_info`"));
    insta::assert_snapshot!(lines(&data), @r#"
    session {"attributes":{"source":{"format":"pytest-benchmark"}},"name":"data","started":"2026-11-20T22:16:55.853093Z","suite":"pytest-benchmark","tool":"pytest-benchmark 5.3.1"}
    run {"attributes":{"commit_info":{"author_time":"2026-01-02T03:04:05+01:00","project":"wordcount"}},"environment":{"cpu":{"arch":"X86_64","arch_string_raw":"x86_64","bits":64,"brand_raw":"AMD EPYC","count":2,"cpuinfo_version":[10,1,1],"cpuinfo_version_string":"10.1.1","family":26,"hz_actual":[2596122000,0],"hz_actual_friendly":"2.5961 GHz","hz_advertised":[2596122000,0],"hz_advertised_friendly":"2.5961 GHz","l1_data_cache_size":98304,"l1_instruction_cache_size":65536,"l2_cache_associativity":8,"l2_cache_line_size":1024,"l2_cache_size":2097152,"l3_cache_size":1048576,"model":2,"python_version":"3.11.7.final.0 (64 bit)","stepping":1,"vendor_id_raw":"AuthenticAMD"},"machine":"x86_64","processor":"","python_build":["main","May  9 2026 07:35:25"],"python_compiler":"GCC 12.2.0","python_implementation":"CPython","python_implementation_version":"3.11.7","python_version":"3.11.7","release":"6.1.0","system":"Linux"},"metrics":{"cpu_time":{"better":"lower","unit":"s"},"wall_time":{"better":"lower","unit":"s"}},"variant":"default","version":{"branch":"main","commit":"7db8ea953293f3118540f746be75f37e6dbdf563","date":"2026-01-02T03:05:06+01:00","dirty":false}}
    instance {"attempt":0,"attributes":{"extra_info":{"corpus":"foxes","words":40},"options":{"confidence":null,"disable_gc":false,"max_time":1.0,"min_rounds":5,"min_time":5e-6,"precision":null,"timer":"perf_counter","warmup":2}},"benchmark":{"id":"test_words.py::test_count[10]","params":{"repeats":10},"tags":["words"]},"block":0,"host":"bench-host","position":0}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":5,"metrics":{"wall_time":5.698400127585046e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":5,"metrics":{"wall_time":5.524199877982028e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":5,"metrics":{"wall_time":5.696600055671297e-6},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"loops":5,"metrics":{"wall_time":5.620400042971596e-6},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"extra_info":{"corpus":"foxes","words":400},"options":{"confidence":null,"disable_gc":false,"max_time":1.0,"min_rounds":5,"min_time":5e-6,"precision":null,"timer":"perf_counter","warmup":2}},"benchmark":{"id":"test_words.py::test_count[100]","params":{"repeats":100},"tags":["words"]},"block":0,"host":"bench-host","position":1}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":5,"metrics":{"wall_time":0.00005263659986667335},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":5,"metrics":{"wall_time":0.00005218779988354072},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":5,"metrics":{"wall_time":0.000051671199980773966},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"loops":5,"metrics":{"wall_time":0.00005257640004856512},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"options":{"confidence":null,"disable_gc":false,"max_time":1.0,"min_rounds":5,"min_time":5e-6,"precision":null,"timer":"perf_counter","warmup":false}},"benchmark":{"id":"test_words.py::test_split"},"block":0,"host":"bench-host","position":2}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":20,"metrics":{"wall_time":2.4084993128781206e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":20,"metrics":{"wall_time":1.156499820353929e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":20,"metrics":{"wall_time":1.1565007298486308e-7},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"options":{"confidence":null,"disable_gc":true,"max_time":0.001,"min_rounds":3,"min_time":5e-6,"precision":null,"timer":"process_time","warmup":false}},"benchmark":{"id":"test_words.py::test_sorted"},"block":0,"host":"bench-host","position":3}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"cpu_time":0.000019468999999994185},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"metrics":{"cpu_time":0.00001838700000000859},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"metrics":{"cpu_time":0.0000178359999999933},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"metrics":{"cpu_time":0.00001844800000000424},"outcome":"ok"}
    iteration {"burn_in":false,"index":4,"metrics":{"cpu_time":0.00001792700000002867},"outcome":"ok"}
    iteration {"burn_in":false,"index":5,"metrics":{"cpu_time":0.000018117000000039685},"outcome":"ok"}
    iteration {"burn_in":false,"index":6,"metrics":{"cpu_time":0.000018206999999992313},"outcome":"ok"}
    iteration {"burn_in":false,"index":7,"metrics":{"cpu_time":0.00001829800000002768},"outcome":"ok"}
    iteration {"burn_in":false,"index":8,"metrics":{"cpu_time":0.00001818700000000284},"outcome":"ok"}
    iteration {"burn_in":false,"index":9,"metrics":{"cpu_time":0.000018026999999976034},"outcome":"ok"}
    iteration {"burn_in":false,"index":10,"metrics":{"cpu_time":0.00001896800000000809},"outcome":"ok"}
    iteration {"burn_in":false,"index":11,"metrics":{"cpu_time":0.000018207000000047824},"outcome":"ok"}
    iteration {"burn_in":false,"index":12,"metrics":{"cpu_time":0.000018106999999989437},"outcome":"ok"}
    iteration {"burn_in":false,"index":13,"metrics":{"cpu_time":0.000018106999999989437},"outcome":"ok"}
    iteration {"burn_in":false,"index":14,"metrics":{"cpu_time":0.000018057000000015755},"outcome":"ok"}
    iteration {"burn_in":false,"index":15,"metrics":{"cpu_time":0.000018206999999992313},"outcome":"ok"}
    iteration {"burn_in":false,"index":16,"metrics":{"cpu_time":0.000018116999999984174},"outcome":"ok"}
    iteration {"burn_in":false,"index":17,"metrics":{"cpu_time":0.00001846799999999371},"outcome":"ok"}
    iteration {"burn_in":false,"index":18,"metrics":{"cpu_time":0.00001783700000002053},"outcome":"ok"}
    iteration {"burn_in":false,"index":19,"metrics":{"cpu_time":0.000017766000000030147},"outcome":"ok"}
    iteration {"burn_in":false,"index":20,"metrics":{"cpu_time":0.000017535999999984675},"outcome":"ok"}
    iteration {"burn_in":false,"index":21,"metrics":{"cpu_time":0.000018196999999997576},"outcome":"ok"}
    iteration {"burn_in":false,"index":22,"metrics":{"cpu_time":0.000017685999999961233},"outcome":"ok"}
    iteration {"burn_in":false,"index":23,"metrics":{"cpu_time":0.000018797999999986548},"outcome":"ok"}
    iteration {"burn_in":false,"index":24,"metrics":{"cpu_time":0.000018206999999992313},"outcome":"ok"}
    iteration {"burn_in":false,"index":25,"metrics":{"cpu_time":0.00001775600000003541},"outcome":"ok"}
    iteration {"burn_in":false,"index":26,"metrics":{"cpu_time":0.000017676000000022007},"outcome":"ok"}
    iteration {"burn_in":false,"index":27,"metrics":{"cpu_time":0.00001792700000002867},"outcome":"ok"}
    iteration {"burn_in":false,"index":28,"metrics":{"cpu_time":0.000017806000000009092},"outcome":"ok"}
    iteration {"burn_in":false,"index":29,"metrics":{"cpu_time":0.00001815699999996312},"outcome":"ok"}
    iteration {"burn_in":false,"index":30,"metrics":{"cpu_time":0.00001781600000000383},"outcome":"ok"}
    iteration {"burn_in":false,"index":31,"metrics":{"cpu_time":0.000018026999999976034},"outcome":"ok"}
    iteration {"burn_in":false,"index":32,"metrics":{"cpu_time":0.000018406999999998064},"outcome":"ok"}
    iteration {"burn_in":false,"index":33,"metrics":{"cpu_time":0.00001728600000000524},"outcome":"ok"}
    iteration {"burn_in":false,"index":34,"metrics":{"cpu_time":0.000017506000000000466},"outcome":"ok"}
    iteration {"burn_in":false,"index":35,"metrics":{"cpu_time":0.0000178359999999933},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"options":{"confidence":null,"disable_gc":false,"max_time":1.0,"min_rounds":5,"min_time":5e-6,"precision":null,"timer":"perf_counter","warmup":false}},"benchmark":{"id":"test_words.py::TestJoin::test_join[list]","params":{"pieces":["a","b"]}},"block":0,"host":"bench-host","position":4}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"wall_time":1.2019991117995232e-6},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"options":{"confidence":null,"disable_gc":false,"max_time":1.0,"min_rounds":5,"min_time":5e-6,"precision":null,"timer":"perf_counter","warmup":false}},"benchmark":{"id":"test_words.py::TestJoin::test_join[set]","params":{"pieces":"UNSERIALIZABLE[{'d', 'c'}]"}},"block":0,"host":"bench-host","position":5}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"wall_time":3.956000000471249e-6},"outcome":"ok"}
    "#);
    insta::assert_snapshot!(notes(&data), @"
    left param: it stands in the benchmark's name and in `params`
    left min, max, q1, q3, iqr_outliers, stddev_outliers, outliers, ld15iqr, hd15iqr, ops, total, mean, stddev, median, iqr: they follow from the samples
    ");
}

#[test]
fn without_the_rounds_there_are_summaries() {
    let saved = imported(&format!("{NEW}/{STORAGE}/0001_words.json"));
    insta::assert_snapshot!(lines(&saved), @r#"
    session {"attributes":{"source":{"format":"pytest-benchmark"}},"name":"0001_words","started":"2026-11-20T22:16:57.091449Z","suite":"pytest-benchmark","tool":"pytest-benchmark 5.3.1"}
    run {"attributes":{"commit_info":{"author_time":"2026-01-02T03:04:05+01:00","project":"wordcount"}},"environment":{"cpu":{"arch":"X86_64","arch_string_raw":"x86_64","bits":64,"brand_raw":"AMD EPYC","count":2,"cpuinfo_version":[10,1,1],"cpuinfo_version_string":"10.1.1","family":26,"hz_actual":[2596122000,0],"hz_actual_friendly":"2.5961 GHz","hz_advertised":[2596122000,0],"hz_advertised_friendly":"2.5961 GHz","l1_data_cache_size":98304,"l1_instruction_cache_size":65536,"l2_cache_associativity":8,"l2_cache_line_size":1024,"l2_cache_size":2097152,"l3_cache_size":1048576,"model":2,"python_version":"3.11.7.final.0 (64 bit)","stepping":1,"vendor_id_raw":"AuthenticAMD"},"machine":"x86_64","processor":"","python_build":["main","May  9 2026 07:35:25"],"python_compiler":"GCC 12.2.0","python_implementation":"CPython","python_implementation_version":"3.11.7","python_version":"3.11.7","release":"6.1.0","system":"Linux"},"metrics":{"wall_time":{"better":"lower","unit":"s"}},"variant":"default","version":{"branch":"main","commit":"7db8ea953293f3118540f746be75f37e6dbdf563","date":"2026-01-02T03:05:06+01:00","dirty":false}}
    instance {"attempt":0,"attributes":{"extra_info":{"corpus":"foxes","words":40},"iterations":5,"options":{"confidence":null,"disable_gc":false,"max_time":1.0,"min_rounds":5,"min_time":5e-6,"precision":null,"timer":"perf_counter","warmup":2}},"benchmark":{"id":"test_words.py::test_count[10]","params":{"repeats":10},"tags":["words"]},"block":0,"host":"bench-host","position":0}
    summary {"centre":5.879799937247299e-6,"max":6.2032002460910006e-6,"metric":"wall_time","min":5.6583998230053115e-6,"n":4,"spread":2.4764589525061906e-7,"statistic":"mean/sd","stddev_outliers":1}
    summary {"centre":5.8287998399464415e-6,"hd15iqr":6.2032002460910006e-6,"iqr_outliers":0,"ld15iqr":5.6583998230053115e-6,"metric":"wall_time","n":4,"q1":5.687499833584298e-6,"q3":6.0721000409102995e-6,"spread":3.846002073260019e-7,"statistic":"median/iqr"}
    instance_end {"outcome":"ok"}
    instance {"attempt":0,"attributes":{"extra_info":{"corpus":"foxes","words":400},"iterations":5,"options":{"confidence":null,"disable_gc":false,"max_time":1.0,"min_rounds":5,"min_time":5e-6,"precision":null,"timer":"perf_counter","warmup":2}},"benchmark":{"id":"test_words.py::test_count[100]","params":{"repeats":100},"tags":["words"]},"block":0,"host":"bench-host","position":1}
    summary {"centre":0.00006860280000182683,"max":0.00010790679989440833,"metric":"wall_time","min":0.00005410880003182683,"n":4,"spread":0.000026221187481069266,"statistic":"mean/sd","stddev_outliers":1}
    summary {"centre":0.000056197800040536096,"hd15iqr":0.00010790679989440833,"iqr_outliers":0,"ld15iqr":0.00005410880003182683,"metric":"wall_time","n":4,"q1":0.000055132300076365937,"q3":0.00008207329992728773,"spread":0.000026940999850921793,"statistic":"median/iqr"}
    instance_end {"outcome":"ok"}
    instance {"attempt":0,"attributes":{"options":{"confidence":null,"disable_gc":false,"max_time":1.0,"min_rounds":5,"min_time":5e-6,"precision":null,"timer":"perf_counter","warmup":false}},"benchmark":{"id":"test_words.py::TestJoin::test_join[list]","params":{"pieces":["a","b"]}},"block":0,"host":"bench-host","position":2}
    summary {"centre":1.1219999578315765e-6,"max":1.1219999578315765e-6,"metric":"wall_time","min":1.1219999578315765e-6,"n":1,"spread":0.0,"statistic":"mean/sd","stddev_outliers":0}
    summary {"centre":1.1219999578315765e-6,"hd15iqr":1.1219999578315765e-6,"iqr_outliers":0,"ld15iqr":1.1219999578315765e-6,"metric":"wall_time","n":1,"q1":1.1219999578315765e-6,"q3":1.1219999578315765e-6,"spread":0.0,"statistic":"median/iqr"}
    instance_end {"outcome":"ok"}
    instance {"attempt":0,"attributes":{"options":{"confidence":null,"disable_gc":false,"max_time":1.0,"min_rounds":5,"min_time":5e-6,"precision":null,"timer":"perf_counter","warmup":false}},"benchmark":{"id":"test_words.py::TestJoin::test_join[set]","params":{"pieces":"UNSERIALIZABLE[{'d', 'c'}]"}},"block":0,"host":"bench-host","position":3}
    summary {"centre":4.166000508121215e-6,"max":4.166000508121215e-6,"metric":"wall_time","min":4.166000508121215e-6,"n":1,"spread":0.0,"statistic":"mean/sd","stddev_outliers":0}
    summary {"centre":4.166000508121215e-6,"hd15iqr":4.166000508121215e-6,"iqr_outliers":0,"ld15iqr":4.166000508121215e-6,"metric":"wall_time","n":1,"q1":4.166000508121215e-6,"q3":4.166000508121215e-6,"spread":0.0,"statistic":"median/iqr"}
    instance_end {"outcome":"ok"}
    "#);
    insta::assert_snapshot!(notes(&saved), @"
    left param: it stands in the benchmark's name and in `params`
    left ops, total: they follow from the mean and the number of rounds
    ");
}

#[test]
fn saved_data_is_the_same_as_written_data() {
    let saved = imported(&format!(
        "{NEW}/{STORAGE}/0002_7db8ea953293f3118540f746be75f37e6dbdf563_20261120_221657.json"
    ));
    assert_eq!(counts(&saved), [1, 1, 4, 10, 0]);
}

#[test]
fn a_version_says_whether_the_working_tree_differed() {
    let dirty = imported(&format!("{NEW}/{STORAGE}/0003_dirty.json"));
    let run = lines(&dirty).lines().nth(1).map(str::to_owned);
    insta::assert_snapshot!(run.expect("a run"), @r#"run {"attributes":{"commit_info":{"author_time":"2026-01-03T09:00:00+01:00","project":"wordcount"}},"environment":{"cpu":{"arch":"X86_64","arch_string_raw":"x86_64","bits":64,"brand_raw":"AMD EPYC","count":2,"cpuinfo_version":[10,1,1],"cpuinfo_version_string":"10.1.1","family":26,"hz_actual":[2596122000,0],"hz_actual_friendly":"2.5961 GHz","hz_advertised":[2596122000,0],"hz_advertised_friendly":"2.5961 GHz","l1_data_cache_size":98304,"l1_instruction_cache_size":65536,"l2_cache_associativity":8,"l2_cache_line_size":1024,"l2_cache_size":2097152,"l3_cache_size":1048576,"model":2,"python_version":"3.11.7.final.0 (64 bit)","stepping":1,"vendor_id_raw":"AuthenticAMD"},"machine":"x86_64","processor":"","python_build":["main","May  9 2026 07:35:25"],"python_compiler":"GCC 12.2.0","python_implementation":"CPython","python_implementation_version":"3.11.7","python_version":"3.11.7","release":"6.1.0","system":"Linux"},"metrics":{"wall_time":{"better":"lower","unit":"s"}},"variant":"default","version":{"branch":"fast-split","commit":"e6a199bc74e228c9c1ec490f5757eb31f5e1bae6","date":"2026-01-03T09:00:00+01:00","dirty":true}}"#);
    let bare = imported(&format!("{NEW}/no-repository.json"));
    let run = lines(&bare).lines().nth(1).map(str::to_owned);
    insta::assert_snapshot!(run.expect("a run"), @r#"run {"attributes":{"commit_info":{"project":"bare"}},"environment":{"cpu":{"arch":"X86_64","arch_string_raw":"x86_64","bits":64,"brand_raw":"AMD EPYC","count":2,"cpuinfo_version":[10,1,1],"cpuinfo_version_string":"10.1.1","family":26,"hz_actual":[2596122000,0],"hz_actual_friendly":"2.5961 GHz","hz_advertised":[2596122000,0],"hz_advertised_friendly":"2.5961 GHz","l1_data_cache_size":98304,"l1_instruction_cache_size":65536,"l2_cache_associativity":8,"l2_cache_line_size":1024,"l2_cache_size":2097152,"l3_cache_size":1048576,"model":2,"python_version":"3.11.7.final.0 (64 bit)","stepping":1,"vendor_id_raw":"AuthenticAMD"},"machine":"x86_64","processor":"","python_build":["main","May  9 2026 07:35:25"],"python_compiler":"GCC 12.2.0","python_implementation":"CPython","python_implementation_version":"3.11.7","python_version":"3.11.7","release":"6.1.0","system":"Linux"},"metrics":{"wall_time":{"better":"lower","unit":"s"}},"variant":"default"}"#);
}

#[test]
fn a_profile_is_kept_and_said_to_be() {
    let profiled = imported(&format!("{NEW}/cprofile.json"));
    assert_eq!(counts(&profiled), [1, 1, 1, 3, 0]);
    insta::assert_snapshot!(notes(&profiled), @"
    left min, max, q1, q3, iqr_outliers, stddev_outliers, outliers, ld15iqr, hd15iqr, ops, total, mean, stddev, median, iqr: they follow from the samples
    kept cprofile: attributes of the instance
    ");
}

#[test]
fn old_files_say_the_same() {
    let data = imported(&format!("{OLD}/data.json"));
    assert_eq!(counts(&data), [1, 1, 5, 13, 0]);
    let session = lines(&data).lines().next().map(str::to_owned);
    insta::assert_snapshot!(session.expect("a session"), @r#"session {"attributes":{"source":{"format":"pytest-benchmark"}},"name":"data","started":"2026-11-20T22:17:00.271671Z","suite":"pytest-benchmark","tool":"pytest-benchmark 3.4.1"}"#);
    let saved = imported(&format!("{OLD}/{STORAGE}/0001_words.json"));
    assert_eq!(counts(&saved), [1, 1, 2, 0, 4]);
}

#[test]
fn what_is_not_finite_is_missing() {
    let file = imported(&format!("{NEW}/not-finite.json"));
    let empty: Vec<String> = lines(&file)
        .lines()
        .filter(|line| line.starts_with("iteration") && !line.contains("metrics"))
        .map(str::to_owned)
        .collect();
    insta::assert_snapshot!(empty.join("\n"), @r#"iteration {"burn_in":false,"index":0,"loops":5,"outcome":"ok"}"#);
}

#[test]
fn bad_files_are_refused_with_line_and_reason() {
    insta::assert_snapshot!(error(&format!("{NEW}/truncated.json")), @"truncated.json:95: the JSON is cut off");
    insta::assert_snapshot!(error(&format!("{NEW}/negative.json")), @"negative.json:60: `wall_time` of `test_words.py::test_count[10]` is negative: -0.000005698400127585046");
    insta::assert_snapshot!(error(&format!("{NEW}/wrong-type.json")), @r#"wrong-type.json:87: `stats.rounds`: invalid type: string "four", expected a whole number"#);
    insta::assert_snapshot!(error(&format!("{OLD}/truncated.json")), @"truncated.json:128: the JSON is cut off");
    insta::assert_snapshot!(error(&format!("{OLD}/wrong.json")), @"wrong.json:102: `stats.data`: invalid type: a text among numbers, expected a number");
}

#[test]
fn a_file_may_be_called_as_one_that_goes_with_other_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("benchmarks.json");
    std::fs::copy(fixture(&format!("{NEW}/no-repository.json")), &path).expect("a copy");
    let source = Source::open(&path, folder.path()).expect("it is there");
    let imported = import(&source).expect("a good fixture");
    assert_eq!(imported.format.name, "pytest-benchmark");
}
