use crate::shared::testing::{brief, imported, read_text, refusal, refusal_of, shown};

#[test]
fn repetitions_are_iterations_of_one_instance() {
    insta::assert_snapshot!(shown(&imported("google-benchmark-1.7.1/repetitions.json")), @r##"
    google-benchmark because it has `benchmarks` with `real_time`
    {"v":1,"kind":"session","id":"#0","suite":"google-benchmark","started":"2026-11-20T22:10:08Z","tool":"Google Benchmark","name":"repetitions","attributes":{"executable":"./demo","source":{"file":"repetitions.json","format":"google-benchmark","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","version":{"commit":"0123abc"},"metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"cpu_time":{"unit":"s","better":"lower"},"items_per_second":{"unit":"1/s","better":"higher"},"rows":{"unit":""},"rows_rate":{"unit":""},"wall_time":{"unit":"s","better":"lower"}},"environment":{"caches":[{"level":1,"num_sharing":1,"size":49152,"type":"Data"},{"level":1,"num_sharing":1,"size":32768,"type":"Instruction"},{"level":2,"num_sharing":1,"size":1048576,"type":"Unified"},{"level":3,"num_sharing":2,"size":33554432,"type":"Unified"}],"compiler":"gcc","cpu_scaling_enabled":false,"library_build_type":"debug","load_avg":[3.60938,1.99609,1.59766],"mhz_per_cpu":2596,"num_cpus":2}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"BM_Copy/size:64/iterations:1000","params":{"size":64,"threads":1}},"block":0,"position":0,"attempt":0,"host":"demo","attributes":{"family_index":0,"per_family_instance_index":0,"repetitions":3}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":1000,"outcome":"ok","metrics":{"bytes_per_second":2055498458.376144,"cpu_time":3.113600000000019e-8,"items_per_second":32117163.41212725,"wall_time":5.158154001037474e-6}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":1000,"outcome":"ok","metrics":{"bytes_per_second":22268615170.49461,"cpu_time":2.873999999999932e-9,"items_per_second":347947112.0389783,"wall_time":2.9749990062555297e-9}}
    {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"loops":1000,"outcome":"ok","metrics":{"bytes_per_second":21447721179.623615,"cpu_time":2.9840000000001464e-9,"items_per_second":335120643.431619,"wall_time":2.9439997888403013e-9}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"BM_Counters/iterations:100","params":{"threads":1}},"block":0,"position":1,"attempt":0,"host":"demo","attributes":{"family_index":1,"label":"a label","per_family_instance_index":0,"repetitions":3}}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":100,"outcome":"ok","metrics":{"cpu_time":1.4019999999997402e-8,"rows":12.0,"rows_rate":8559201.141228404,"wall_time":2.1930009097559377e-8}}
    {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"loops":100,"outcome":"ok","metrics":{"cpu_time":6.310000000000691e-9,"rows":12.0,"rows_rate":19017432.64659063,"wall_time":6.509999366244301e-9}}
    {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"loops":100,"outcome":"ok","metrics":{"cpu_time":5.909999999998729e-9,"rows":12.0,"rows_rate":20304568.527923148,"wall_time":6.310001481324434e-9}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"BM_Threads/1/2/iterations:50/real_time/threads:2","params":{"threads":2}},"block":0,"position":2,"attempt":0,"host":"demo","attributes":{"family_index":2,"per_family_instance_index":0,"repetitions":3}}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":100,"outcome":"ok","metrics":{"cpu_time":1.3630000000001494e-8,"wall_time":8.414999683736823e-9}}
    {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"loops":100,"outcome":"ok","metrics":{"cpu_time":1.0319999999997954e-8,"wall_time":5.404999683378264e-9}}
    {"v":1,"kind":"iteration","instance":"#4","index":2,"burn_in":false,"loops":100,"outcome":"ok","metrics":{"cpu_time":1.042000000000229e-8,"wall_time":5.460005922941491e-9}}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"BM_Fails","params":{"threads":1}},"block":0,"position":3,"attempt":0,"host":"demo","attributes":{"family_index":3,"per_family_instance_index":0,"repetitions":3}}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"outcome":"failed","message":"no such file"}
    {"v":1,"kind":"iteration","instance":"#5","index":1,"burn_in":false,"outcome":"failed","message":"no such file"}
    {"v":1,"kind":"iteration","instance":"#5","index":2,"burn_in":false,"outcome":"failed","message":"no such file"}
    left, as some of their values are NaN or infinite: limit, ratio
    left, as they follow from the samples: aggregates beside repetitions
    "##);
}

#[test]
fn aggregates_alone_are_summaries_and_failures_are_kept() {
    insta::assert_snapshot!(shown(&imported("google-benchmark-1.7.1/aggregates.json")), @r##"
    google-benchmark because it has `benchmarks` with `real_time`
    {"v":1,"kind":"session","id":"#0","suite":"google-benchmark","started":"2026-11-20T22:10:08Z","tool":"Google Benchmark","name":"aggregates","attributes":{"executable":"./demo","source":{"file":"aggregates.json","format":"google-benchmark","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"cpu_time":{"unit":"s","better":"lower"},"items_per_second":{"unit":"1/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"caches":[{"level":1,"num_sharing":1,"size":49152,"type":"Data"},{"level":1,"num_sharing":1,"size":32768,"type":"Instruction"},{"level":2,"num_sharing":1,"size":1048576,"type":"Unified"},{"level":3,"num_sharing":2,"size":33554432,"type":"Unified"}],"cpu_scaling_enabled":false,"library_build_type":"debug","load_avg":[3.60938,1.99609,1.59766],"mhz_per_cpu":2596,"num_cpus":2}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"BM_Copy/size:64/iterations:1000","params":{"size":64,"threads":1}},"block":0,"position":0,"attempt":0,"host":"demo","attributes":{"family_index":0,"per_family_instance_index":0,"repetitions":4}}
    {"v":1,"kind":"summary","instance":"#2","metric":"bytes_per_second","n":4,"centre":22921644228.128696,"spread":14102362446.972836,"statistic":"mean/sd","median":28892771934.674606}
    {"v":1,"kind":"summary","instance":"#2","metric":"cpu_time","n":4,"centre":9.211000000000072e-9,"spread":1.4103993382490417e-8,"statistic":"mean/sd","median":2.2330000000001394e-9}
    {"v":1,"kind":"summary","instance":"#2","metric":"items_per_second","n":4,"centre":358150691.0645109,"spread":220349413.23395056,"statistic":"mean/sd","median":451449561.4792907}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":4,"centre":1.1053990001528291e-6,"spread":2.206156700551822e-6,"statistic":"mean/sd","median":2.464000317559112e-9}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"BM_Fails","params":{"threads":1}},"block":0,"position":1,"attempt":0,"host":"demo","attributes":{"family_index":1,"per_family_instance_index":0,"repetitions":4}}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"failed","message":"no such file"}
    {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"outcome":"failed","message":"no such file"}
    {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"outcome":"failed","message":"no such file"}
    {"v":1,"kind":"iteration","instance":"#3","index":3,"burn_in":false,"outcome":"failed","message":"no such file"}
    left, as it follows from the mean and the standard deviation: cv
    "##);
}

#[test]
fn a_fit_over_sizes_stands_with_the_run() {
    insta::assert_snapshot!(shown(&imported("google-benchmark-1.7.1/complexity.json")), @r##"
    google-benchmark because it has `benchmarks` with `real_time`
    {"v":1,"kind":"session","id":"#0","suite":"google-benchmark","started":"2026-11-20T22:10:08Z","tool":"Google Benchmark","name":"complexity","attributes":{"executable":"./demo","source":{"file":"complexity.json","format":"google-benchmark","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"cpu_time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"caches":[{"level":1,"num_sharing":1,"size":49152,"type":"Data"},{"level":1,"num_sharing":1,"size":32768,"type":"Instruction"},{"level":2,"num_sharing":1,"size":1048576,"type":"Unified"},{"level":3,"num_sharing":2,"size":33554432,"type":"Unified"}],"cpu_scaling_enabled":false,"library_build_type":"debug","load_avg":[3.60938,1.99609,1.59766],"mhz_per_cpu":2596,"num_cpus":2},"attributes":{"complexity":{"BM_Linear/iterations:200":{"big_o":"N","cpu_coefficient":0.006960100446428197,"real_coefficient":0.007446986519507195,"rms":0.5256993721822221,"time_unit":"ns"}}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"BM_Linear/1024/iterations:200","params":{"threads":1}},"block":0,"position":0,"attempt":0,"host":"demo","attributes":{"family_index":0,"per_family_instance_index":0,"repetitions":1}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":200,"outcome":"ok","metrics":{"cpu_time":2.5990000000000473e-8,"wall_time":3.4550002965261226e-8}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"BM_Linear/2048/iterations:200","params":{"threads":1}},"block":0,"position":1,"attempt":0,"host":"demo","attributes":{"family_index":0,"per_family_instance_index":1,"repetitions":1}}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":200,"outcome":"ok","metrics":{"cpu_time":1.4769999999999455e-8,"wall_time":1.5324994819820857e-8}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"BM_Linear/4096/iterations:200","params":{"threads":1}},"block":0,"position":2,"attempt":0,"host":"demo","attributes":{"family_index":0,"per_family_instance_index":2,"repetitions":1}}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":200,"outcome":"ok","metrics":{"cpu_time":2.353499999999814e-8,"wall_time":2.373500137764495e-8}}
    kept in attribute `complexity` of the run: BigO and RMS
    "##);
}

#[test]
fn interleaved_repetitions_find_their_benchmark() {
    insta::assert_snapshot!(shown(&imported("google-benchmark-1.7.1/interleaved.json")), @r##"
    google-benchmark because it has `benchmarks` with `real_time`
    {"v":1,"kind":"session","id":"#0","suite":"google-benchmark","started":"2026-11-20T22:10:08Z","tool":"Google Benchmark","name":"interleaved","attributes":{"executable":"./demo","source":{"file":"interleaved.json","format":"google-benchmark","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"cpu_time":{"unit":"s","better":"lower"},"items_per_second":{"unit":"1/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"caches":[{"level":1,"num_sharing":1,"size":49152,"type":"Data"},{"level":1,"num_sharing":1,"size":32768,"type":"Instruction"},{"level":2,"num_sharing":1,"size":1048576,"type":"Unified"},{"level":3,"num_sharing":2,"size":33554432,"type":"Unified"}],"cpu_scaling_enabled":false,"library_build_type":"debug","load_avg":[3.60938,1.99609,1.59766],"mhz_per_cpu":2596,"num_cpus":2},"attributes":{"complexity":{"BM_Linear/iterations:200":{"big_o":"N","cpu_coefficient":0.008454008556547599,"real_coefficient":0.009854910538414125,"rms":0.19889621417515813,"time_unit":"ns"}}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"BM_Linear/4096/iterations:200","params":{"threads":1}},"block":0,"position":0,"attempt":0,"host":"demo","attributes":{"family_index":1,"per_family_instance_index":2,"repetitions":2}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":200,"outcome":"ok","metrics":{"cpu_time":3.8310000000001466e-8,"wall_time":5.222999789111782e-8}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":200,"outcome":"ok","metrics":{"cpu_time":2.903999999999971e-8,"wall_time":2.9894999897805975e-8}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"BM_Copy/size:64/iterations:1000","params":{"size":64,"threads":1}},"block":0,"position":1,"attempt":0,"host":"demo","attributes":{"family_index":0,"per_family_instance_index":0,"repetitions":2}}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":1000,"outcome":"ok","metrics":{"bytes_per_second":31636183885.32089,"cpu_time":2.0229999999998686e-9,"items_per_second":494315373.2081389,"wall_time":2.053000571322627e-9}}
    {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"loops":1000,"outcome":"ok","metrics":{"bytes_per_second":23845007451.563114,"cpu_time":2.6840000000001934e-9,"items_per_second":372578241.43067366,"wall_time":2.684000719455071e-9}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"BM_Linear/1024/iterations:200","params":{"threads":1}},"block":0,"position":2,"attempt":0,"host":"demo","attributes":{"family_index":1,"per_family_instance_index":0,"repetitions":2}}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":200,"outcome":"ok","metrics":{"cpu_time":1.3969999999999868e-8,"wall_time":1.4170000213198364e-8}}
    {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"loops":200,"outcome":"ok","metrics":{"cpu_time":1.3420000000000967e-8,"wall_time":1.3469998521031812e-8}}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"BM_Linear/2048/iterations:200","params":{"threads":1}},"block":0,"position":3,"attempt":0,"host":"demo","attributes":{"family_index":1,"per_family_instance_index":1,"repetitions":2}}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":200,"outcome":"ok","metrics":{"cpu_time":1.4269999999998084e-8,"wall_time":1.452000105928164e-8}}
    {"v":1,"kind":"iteration","instance":"#5","index":1,"burn_in":false,"loops":200,"outcome":"ok","metrics":{"cpu_time":1.9129999999998713e-8,"wall_time":1.9330000213813038e-8}}
    left, as they follow from the samples: aggregates beside repetitions
    kept in attribute `complexity` of the run: BigO and RMS
    "##);
}

#[test]
fn memory_of_a_manager_is_a_metric() {
    insta::assert_snapshot!(shown(&imported("google-benchmark-1.7.1/memory.json")), @r##"
    google-benchmark because it has `benchmarks` with `real_time`
    {"v":1,"kind":"session","id":"#0","suite":"google-benchmark","started":"2026-11-20T22:10:08Z","tool":"Google Benchmark","name":"memory","attributes":{"executable":"./memory","source":{"file":"memory.json","format":"google-benchmark","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"allocs_per_iter":{"unit":"1","better":"lower"},"cpu_time":{"unit":"s","better":"lower"},"max_bytes_used":{"unit":"B","better":"lower"},"net_heap_growth":{"unit":"B","better":"lower"},"total_allocated_bytes":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"caches":[{"level":1,"num_sharing":1,"size":49152,"type":"Data"},{"level":1,"num_sharing":1,"size":32768,"type":"Instruction"},{"level":2,"num_sharing":1,"size":1048576,"type":"Unified"},{"level":3,"num_sharing":2,"size":33554432,"type":"Unified"}],"cpu_scaling_enabled":false,"library_build_type":"debug","load_avg":[3.60938,1.99609,1.59766],"mhz_per_cpu":2596,"num_cpus":2}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"BM_New/iterations:100","params":{"threads":1}},"block":0,"position":0,"attempt":0,"host":"demo","attributes":{"family_index":0,"per_family_instance_index":0,"repetitions":1}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":100,"outcome":"ok","metrics":{"allocs_per_iter":1.0625,"cpu_time":3.996000000000034e-8,"max_bytes_used":464.0,"net_heap_growth":0.0,"total_allocated_bytes":464.0,"wall_time":6.348998795147054e-8}}
    "##);
}

#[test]
fn a_newer_version_says_which_it_is() {
    insta::assert_snapshot!(shown(&imported("google-benchmark-1.9.5/repetitions.json")), @r##"
    google-benchmark because it has `benchmarks` with `real_time`
    {"v":1,"kind":"session","id":"#0","suite":"google-benchmark","started":"2026-11-20T22:13:17Z","tool":"Google Benchmark 1.9.5","name":"repetitions","attributes":{"executable":"demo.py","json_schema_version":1,"source":{"file":"repetitions.json","format":"google-benchmark","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","version":{"branch":"main"},"metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"cpu_time":{"unit":"s","better":"lower"},"items_per_second":{"unit":"1/s","better":"higher"},"rate":{"unit":""},"rows":{"unit":""},"wall_time":{"unit":"s","better":"lower"}},"environment":{"aslr_enabled":true,"caches":[{"level":1,"num_sharing":1,"size":49152,"type":"Data"},{"level":1,"num_sharing":1,"size":32768,"type":"Instruction"},{"level":2,"num_sharing":1,"size":1048576,"type":"Unified"},{"level":3,"num_sharing":2,"size":33554432,"type":"Unified"}],"cpu_scaling_enabled":false,"library_build_type":"release","load_avg":[0.975586,1.91455,1.68115],"mhz_per_cpu":2596,"num_cpus":2}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sum/size:100/iterations:20","params":{"size":100,"threads":1}},"block":0,"position":0,"attempt":0,"host":"demo","attributes":{"family_index":0,"per_family_instance_index":0,"repetitions":2}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":20,"outcome":"ok","metrics":{"bytes_per_second":805639476.3343397,"cpu_time":9.93000000000001e-7,"items_per_second":100704934.54179247,"wall_time":1.0609626770019532e-6}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":20,"outcome":"ok","metrics":{"bytes_per_second":1272973188.0021803,"cpu_time":6.284500000000235e-7,"items_per_second":159121648.50027254,"wall_time":6.198883056640625e-7}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sum/size:1000/iterations:20","params":{"size":1000,"threads":1}},"block":0,"position":1,"attempt":0,"host":"demo","attributes":{"family_index":0,"per_family_instance_index":1,"repetitions":2}}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":20,"outcome":"ok","metrics":{"bytes_per_second":759319459.9340459,"cpu_time":0.000010535749999999836,"items_per_second":94914932.49175574,"wall_time":0.000010991096496582032}}
    {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"loops":20,"outcome":"ok","metrics":{"bytes_per_second":927875108.0104752,"cpu_time":8.621849999999874e-6,"items_per_second":115984388.5013094,"wall_time":8.618831634521484e-6}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"counters/iterations:10","params":{"threads":1}},"block":0,"position":2,"attempt":0,"host":"demo","attributes":{"family_index":1,"label":"first","per_family_instance_index":0,"repetitions":2}}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":10,"outcome":"ok","metrics":{"cpu_time":0.000017565100000000236,"rate":683172.8825910379,"rows":12.0,"wall_time":0.00017464160919189453}}
    {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"loops":10,"outcome":"ok","metrics":{"cpu_time":0.00001662990000000017,"rate":721591.8315804591,"rows":12.0,"wall_time":0.0001798868179321289}}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"fails","params":{"threads":1}},"block":0,"position":3,"attempt":0,"host":"demo","attributes":{"family_index":2,"per_family_instance_index":0,"repetitions":2}}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"outcome":"failed","message":"out of \"luck\""}
    {"v":1,"kind":"iteration","instance":"#5","index":1,"burn_in":false,"outcome":"failed","message":"out of \"luck\""}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"manual/iterations:3/manual_time","params":{"threads":1}},"block":0,"position":4,"attempt":0,"host":"demo","attributes":{"family_index":3,"per_family_instance_index":0,"repetitions":2}}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":3,"outcome":"ok","metrics":{"cpu_time":6.20999999999261e-7,"wall_time":0.5}}
    {"v":1,"kind":"iteration","instance":"#6","index":1,"burn_in":false,"loops":3,"outcome":"ok","metrics":{"cpu_time":2.869999999992786e-7,"wall_time":0.5}}
    left, as some of their values are NaN or infinite: unknown
    left, as they follow from the samples: aggregates beside repetitions
    "##);
}

#[test]
fn what_was_skipped_says_why() {
    insta::assert_snapshot!(shown(&imported("google-benchmark-1.9.5/skipped.json")), @r##"
    google-benchmark because it has `benchmarks` with `real_time`
    {"v":1,"kind":"session","id":"#0","suite":"google-benchmark","started":"2026-11-20T22:13:17Z","tool":"Google Benchmark 1.9.5","name":"skipped","attributes":{"executable":"demo.py","json_schema_version":1,"source":{"file":"skipped.json","format":"google-benchmark","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"cpu_time":{"unit":"s","better":"lower"},"items_per_second":{"unit":"1/s","better":"higher"},"rate":{"unit":""},"rows":{"unit":""},"wall_time":{"unit":"s","better":"lower"}},"environment":{"aslr_enabled":true,"caches":[{"level":1,"num_sharing":1,"size":49152,"type":"Data"},{"level":1,"num_sharing":1,"size":32768,"type":"Instruction"},{"level":2,"num_sharing":1,"size":1048576,"type":"Unified"},{"level":3,"num_sharing":2,"size":33554432,"type":"Unified"}],"cpu_scaling_enabled":false,"library_build_type":"release","load_avg":[0.975586,1.91455,1.68115],"mhz_per_cpu":2596,"num_cpus":2}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sum/size:100/iterations:20","params":{"size":100,"threads":1}},"block":0,"position":0,"attempt":0,"host":"demo","attributes":{"family_index":0,"per_family_instance_index":0,"repetitions":1}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":20,"outcome":"ok","metrics":{"bytes_per_second":460670275.2505011,"cpu_time":1.7365999999999562e-6,"items_per_second":57583784.40631264,"wall_time":1.811981201171875e-6}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sum/size:1000/iterations:20","params":{"size":1000,"threads":1}},"block":0,"position":1,"attempt":0,"host":"demo","attributes":{"family_index":0,"per_family_instance_index":1,"repetitions":1}}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":20,"outcome":"ok","metrics":{"bytes_per_second":453455615.1975689,"cpu_time":0.000017642299999999846,"items_per_second":56681951.89969611,"wall_time":0.000017642974853515625}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"counters/iterations:10","params":{"threads":1}},"block":0,"position":2,"attempt":0,"host":"demo","attributes":{"family_index":1,"label":"first","per_family_instance_index":0,"repetitions":1}}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":10,"outcome":"ok","metrics":{"cpu_time":0.00002534479999999999,"rate":473469.9030964934,"rows":12.0,"wall_time":0.00018556118011474608}}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"fails","params":{"threads":1}},"block":0,"position":3,"attempt":0,"host":"demo","attributes":{"family_index":2,"per_family_instance_index":0,"repetitions":1}}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"outcome":"skipped","message":"needs a GPU"}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"manual/iterations:3/manual_time","params":{"threads":1}},"block":0,"position":4,"attempt":0,"host":"demo","attributes":{"family_index":3,"per_family_instance_index":0,"repetitions":1}}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":3,"outcome":"ok","metrics":{"cpu_time":5.809999999994985e-7,"wall_time":0.5}}
    left, as some of their values are NaN or infinite: unknown
    "##);
}

#[test]
fn a_broken_document_says_where() {
    let broken = [
        refusal("google-benchmark-1.9.5/truncated.json"),
        refusal("google-benchmark-1.9.5/wrong.json"),
        refusal("google-benchmark-1.7.1/truncated.json"),
        refusal("google-benchmark-1.7.1/negative.json"),
        refusal("google-benchmark-1.7.1/wrong-type.json"),
        refusal_of(
            "google-benchmark",
            r#"{"benchmarks": [{"real_time": 1, "time_unit": "ns"}]}"#,
        ),
        refusal_of(
            "google-benchmark",
            r#"{"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "furlong"}]}"#,
        ),
        refusal_of("google-benchmark", r#"{"context": {}, "benchmarks": []}"#),
    ];
    insta::assert_snapshot!(broken.join("\n"), @r#"
    truncated.json:66: the JSON is cut off
    wrong.json:53: `cpu_time`: invalid type: sequence, expected a number
    truncated.json:108: the JSON is cut off
    negative.json:39: `real_time` of `BM_Linear/1024/iterations:200` is negative: -12.5
    wrong-type.json:64: `cpu_time`: invalid type: string "fast", expected a number
    made-up:1: `name` is missing
    made-up:1: `time_unit` is not a unit of time: "furlong"
    made-up holds no results
    "#);
}

#[test]
fn runs_that_were_appended_to_one_file_are_all_read() {
    let run = |time: f64| {
        format!(
            r#"{{"context": {{"date": "2031-02-03T10:11:12+00:00"}}, "benchmarks": [
                {{"name": "BM_a", "run_name": "BM_a", "run_type": "iteration", "iterations": 10,
                  "real_time": {time}, "cpu_time": nan, "time_unit": "ns", "rate": -nan}},
                {{"name": "BM_a_RMS", "run_name": "BM_a", "rms": 2%}}]}}"#
        )
    };
    let text = format!("{}\n{}", run(1.5), run(2.5));
    insta::assert_snapshot!(brief(&read_text("google-benchmark", &text)), @r#"
    BM_a 
      Ok {"wall_time": 1.5e-9}
    BM_a 
      Ok {"wall_time": 2.5e-9}
    left, as some of their values are NaN or infinite: rate
    kept in attribute `complexity` of the run: BigO and RMS
    "#);
    let cut = format!("{}\n{}", run(1.5), &run(2.5)[..90]);
    insta::assert_snapshot!(refusal_of("google-benchmark", &cut), @"made-up (document 2):2: the JSON is cut off");
}
