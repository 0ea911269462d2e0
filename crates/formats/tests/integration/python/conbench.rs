use super::reading::{error, imported, lines, notes};

const FOLDER: &str = "conbench-benchadapt-2024.3.20";

#[test]
fn a_posted_result_is_an_instance_of_its_batch() {
    let result = imported(&format!("{FOLDER}/result.json"));
    assert_eq!(result.format.name, "conbench");
    assert_eq!(
        result.because,
        Some("it has `batch_id`, `run_id` and `tags`")
    );
    insta::assert_snapshot!(lines(&result), @r#"
    session {"attributes":{"source":{"format":"conbench"}},"name":"result","started":"2026-01-02T03:04:05Z","suite":"conbench","tool":"conbench"}
    run {"attributes":{"github":{"repository":"https://github.com/example/demo"},"run_id":"nightly-7","run_name":"nightly: 7db8ea953293f3118540f746be75f37e6dbdf563","run_reason":"nightly","run_tags":{"build":"release"}},"environment":{"architecture_name":"x86_64","cpu_core_count":"2","cpu_frequency_max_hz":"0","cpu_l1d_cache_bytes":"98304","cpu_l1i_cache_bytes":"65536","cpu_l2_cache_bytes":"2097152","cpu_l3_cache_bytes":"33554432","cpu_model_name":"AMD EPYC","cpu_thread_count":"2","gpu_count":"0","gpu_product_names":[],"kernel_name":"6.1.0","memory_bytes":"24696061952","os_name":"Linux","os_version":"6.1.0-x86_64-with-glibc2.36"},"metrics":{"wall_time":{"better":"lower","unit":"s"}},"variant":"default","version":{"branch":"example:faster","commit":"7db8ea953293f3118540f746be75f37e6dbdf563"}}
    instance {"attempt":0,"attributes":{"optional_benchmark_info":{"log":"https://example.org/log/1"},"validation":{"success":true,"type":"pandas.testing"}},"benchmark":{"id":"sort[order=up,size=1000]","params":{"order":"up","size":1000}},"block":0,"environment":{"context":{"arguments":["-O"],"benchmark_language":"Python"},"info":{"demo_version":"1.4.0"}},"host":"bench-host","job":{"batch_id":"batch-1","run_id":"nightly-7"},"position":0,"started":"2026-01-02T03:04:05Z"}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"wall_time":1.25},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"metrics":{"wall_time":1.5},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"metrics":{"wall_time":1.75},"outcome":"ok"}
    "#);
    insta::assert_snapshot!(notes(&result), @"left mean, median, stdev, min, max, q1, q3, iqr: they follow from the samples");
}

#[test]
fn units_errors_clusters_and_missing_values_are_understood() {
    let results = imported(&format!("{FOLDER}/results.json"));
    insta::assert_snapshot!(lines(&results), @r#"
    session {"attributes":{"source":{"format":"conbench"}},"name":"results","started":"2026-01-02T03:05:00Z","suite":"conbench","tool":"conbench"}
    run {"attributes":{"github":{"repository":"https://github.com/example/demo"},"run_id":"nightly-7","run_name":"nightly: 7db8ea953293f3118540f746be75f37e6dbdf563","run_reason":"nightly","run_tags":{"build":"release"}},"environment":{"architecture_name":"x86_64","cpu_core_count":"2","cpu_frequency_max_hz":"0","cpu_l1d_cache_bytes":"98304","cpu_l1i_cache_bytes":"65536","cpu_l2_cache_bytes":"2097152","cpu_l3_cache_bytes":"33554432","cpu_model_name":"AMD EPYC","cpu_thread_count":"2","gpu_count":"0","gpu_product_names":[],"kernel_name":"6.1.0","memory_bytes":"24696061952","os_name":"Linux","os_version":"6.1.0-x86_64-with-glibc2.36"},"metrics":{"bytes":{"better":"lower","unit":"B"},"bytes_per_second":{"better":"higher","unit":"B/s"},"throughput":{"better":"higher","unit":"1/s"},"wall_time":{"better":"lower","unit":"s"}},"variant":"default","version":{"branch":"example:faster","commit":"7db8ea953293f3118540f746be75f37e6dbdf563"}}
    instance {"attempt":0,"benchmark":{"id":"scan[size=10]","params":{"size":10}},"block":0,"host":"bench-host","job":{"batch_id":"batch-1","run_id":"nightly-7"},"position":0,"started":"2026-01-02T03:05:00Z"}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"bytes_per_second":2500000000.0,"wall_time":0.4},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"metrics":{"bytes_per_second":2250000000.0,"wall_time":0.45},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"error":{"command":"scan 20","stack_trace":"Traceback (most recent call last): ..."}},"benchmark":{"id":"scan[size=20]","params":{"size":20}},"block":0,"host":"bench-host","job":{"batch_id":"batch-2","run_id":"nightly-7"},"position":1,"started":"2026-01-02T03:06:00Z"}
    instance_end {"message":"Traceback (most recent call last): ...","outcome":"failed"}
    iteration {"burn_in":false,"index":0,"metrics":{"bytes_per_second":2000000000.0},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"message":"it has no value: it did not complete","outcome":"failed"}
    instance {"attempt":0,"benchmark":{"id":"requests"},"block":0,"host":"bench-host","job":{"batch_id":"batch-1","run_id":"nightly-7"},"position":2,"started":"2026-01-02T03:07:00Z"}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"throughput":1000.0},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"metrics":{"throughput":1010.5},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"id":"lookup"},"block":0,"host":"bench-host","job":{"batch_id":"batch-1","run_id":"nightly-7"},"position":3,"started":"2026-01-02T03:08:00Z"}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"wall_time":1.2e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"metrics":{"wall_time":1.255e-7},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"id":"footprint"},"block":0,"host":"bench-host","job":{"batch_id":"batch-1","run_id":"nightly-7"},"position":4,"started":"2026-01-02T03:09:00Z"}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"bytes":1048576.0},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"error":{"message":"out of memory"}},"benchmark":{"id":"join"},"block":0,"host":"bench-host","job":{"batch_id":"batch-1","run_id":"nightly-7"},"position":5,"started":"2026-01-02T03:10:00Z"}
    instance_end {"message":"out of memory","outcome":"failed"}
    run {"attributes":{"github":{"repository":"https://github.com/example/demo"},"run_id":"nightly-8","run_reason":"nightly","run_tags":{"build":"release"}},"environment":{"info":{"nodes":4},"optional_info":{"spot":true}},"metrics":{"wall_time":{"better":"lower","unit":"s"}},"variant":"default"}
    instance {"attempt":0,"benchmark":{"id":"merge"},"block":0,"host":"four-nodes","job":{"batch_id":"batch-1","run_id":"nightly-8"},"position":6,"started":"2026-01-03T03:10:00Z"}
    summary {"centre":30.5,"metric":"wall_time","n":12,"spread":1.5,"statistic":"mean/sd"}
    summary {"centre":30.0,"metric":"wall_time","n":12,"q1":29.5,"q3":31.0,"spread":1.5,"statistic":"median/iqr"}
    instance_end {"outcome":"ok"}
    "#);
    insta::assert_snapshot!(notes(&results), @"");
}

#[test]
fn a_result_is_the_same_as_it_was_sent_when_it_comes_back() {
    let page = imported(&format!("{FOLDER}/get.json"));
    insta::assert_snapshot!(lines(&page), @r#"
    session {"attributes":{"source":{"format":"conbench"}},"name":"get","started":"2026-01-02T03:04:05Z","suite":"conbench","tool":"conbench"}
    run {"attributes":{"commit":{"id":"commit-1","message":"Faster sorting","parent_sha":"4d7b90875906760000581778e643235bdcdb406d","repository":"https://github.com/example/demo","url":"https://github.com/example/demo/commit/7db8ea953293f3118540f746be75f37e6dbdf563"},"run_id":"nightly-7","run_reason":"nightly","run_tags":{"build":"release"}},"environment":{"cpu_core_count":2,"id":"hardware-1","memory_bytes":24696061952,"type":"machine"},"metrics":{"wall_time":{"better":"lower","unit":"s"}},"variant":"default","version":{"branch":"example:faster","commit":"7db8ea953293f3118540f746be75f37e6dbdf563","date":"2026-01-02T02:04:05Z"}}
    instance {"attempt":0,"attributes":{"id":"0657c2b1a2f87f5d8000b2d4c7e6f001"},"benchmark":{"id":"sort[order=up,size=1000]","params":{"order":"up","size":1000}},"block":0,"host":"bench-host","job":{"batch_id":"batch-1","run_id":"nightly-7"},"position":0,"started":"2026-01-02T03:04:05Z"}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"wall_time":1.25},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"metrics":{"wall_time":1.5},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"metrics":{"wall_time":1.75},"outcome":"ok"}
    "#);
    insta::assert_snapshot!(notes(&page), @"
    left z_regression, z_improvement: they are Conbench's judgement, and no measurements
    left links: they are addresses within Conbench
    left mean, median, stdev, min, max, q1, q3, iqr: they follow from the samples
    kept commit: attributes of the run
    ");
}

#[test]
fn a_comparison_has_one_figure_of_each_side() {
    let comparison = imported(&format!("{FOLDER}/compare.json"));
    insta::assert_snapshot!(lines(&comparison), @r#"
    session {"attributes":{"source":{"format":"conbench"}},"name":"compare","started":"2026-11-20T10:00:00Z","suite":"conbench","tool":"conbench"}
    run {"attributes":{"run_id":"nightly-7"},"metrics":{"bytes_per_second":{"better":"higher","unit":"B/s"}},"variant":"default"}
    instance {"attempt":0,"attributes":{"benchmark_name":"scan","benchmark_result_id":"result-1","case_permutation":"size=10","language":"Python"},"benchmark":{"id":"scan[size=10]","params":{"size":10}},"block":0,"job":{"batch_id":"batch-1","run_id":"nightly-7"},"position":0}
    summary {"centre":2375000000.0,"metric":"bytes_per_second","statistic":"unstated"}
    instance_end {"outcome":"ok"}
    run {"attributes":{"run_id":"nightly-8"},"metrics":{},"variant":"default"}
    instance {"attempt":0,"attributes":{"benchmark_name":"scan","benchmark_result_id":"result-2","case_permutation":"size=10","error":{"stack_trace":"Traceback (most recent call last): ..."},"language":"Python"},"benchmark":{"id":"scan[size=10]","params":{"size":10}},"block":0,"job":{"batch_id":"batch-9","run_id":"nightly-8"},"position":1}
    instance_end {"message":"Traceback (most recent call last): ...","outcome":"failed"}
    "#);
    insta::assert_snapshot!(notes(&comparison), @"left analysis: they are Conbench's judgement, and no measurements");
}

#[test]
fn bad_files_are_refused_with_line_and_reason() {
    insta::assert_snapshot!(error(&format!("{FOLDER}/wrong.json")), @r#"wrong.json:13: `stats.data[1]`: invalid type: string "1.5 s", expected a number"#);
    insta::assert_snapshot!(error(&format!("{FOLDER}/truncated.json")), @"truncated.json:47: the JSON is cut off");
    insta::assert_snapshot!(error(&format!("{FOLDER}/negative.json")), @"negative.json:1: `wall_time` of `sort[order=up,size=1000]` is negative: -1.75");
}
