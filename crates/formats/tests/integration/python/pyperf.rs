use super::reading::{counts, error, imported, lines, notes};

const NEW: &str = "pyperf-2.10.0";

#[test]
fn a_process_is_an_instance_and_its_warm_ups_are_burn_in() {
    let copy = imported(&format!("{NEW}/copy.json"));
    assert_eq!(copy.format.name, "pyperf");
    assert_eq!(copy.because, Some("it has `benchmarks` with `runs`"));
    insta::assert_snapshot!(lines(&copy), @r#"
    session {"attributes":{"source":{"format":"pyperf"}},"name":"copy","started":"2026-11-20T22:19:54.950303Z","suite":"pyperf","tool":"pyperf 2.10.0"}
    run {"environment":{"aslr":"Full randomization","boot_time":"2026-11-20 18:49:18","cpu_config":"idle:haltpoll","cpu_count":2,"cpu_freq":"0-1=2596 MHz","cpu_model_name":"AMD EPYC","load_avg_1min":2.13,"perf_version":"2.10.0","platform":"Linux-6.1.0-x86_64-with-glibc2.36","python_cflags":"-Wsign-compare -DNDEBUG -g -fwrapv -O2 -Wall -g -fstack-protector-strong -Wformat -Werror=format-security -g -fwrapv -O2","python_compiler":"GCC 12.2.0","python_config_args":"'--enable-shared' '--prefix=/usr' '--libdir=/usr/lib/x86_64-linux-gnu' '--enable-ipv6' '--enable-loadable-sqlite-extensions' '--with-dbmliborder=bdb:gdbm' '--with-computed-gotos' '--without-ensurepip' '--with-system-expat' '--with-dtrace' '--with-wheel-pkg-dir=/usr/share/python-wheels/' '--with-ssl-default-suites=openssl' 'MKDIR_P=/bin/mkdir -p' '--with-system-ffi' 'CC=x86_64-linux-gnu-gcc' 'CFLAGS=-g -fstack-protector-strong -Wformat -Werror=format-security ' 'LDFLAGS= -g -fwrapv -O2 ' 'CPPFLAGS=-Wdate-time -D_FORTIFY_SOURCE=2'","python_executable":"/tmp/demo/v-deb/bin/python","python_implementation":"cpython","python_version":"3.11.2 (64-bit)","runnable_threads":1,"timer":"clock_gettime(CLOCK_MONOTONIC), resolution: 1.00 ns"},"metrics":{"peak_memory":{"better":"lower","unit":"B"},"wall_time":{"better":"lower","unit":"s"}},"variant":"default"}
    instance {"attempt":0,"attributes":{"calibrate_loops":1024,"corpus":"numbers","inner_loops":2,"size":500},"benchmark":{"id":"copy"},"block":0,"environment":{"uptime":12636.952342510223},"host":"bench-host","position":0,"started":"2026-11-20T22:19:54.950303Z"}
    summary {"centre":18857984.0,"metric":"peak_memory","statistic":"max"}
    instance_end {"ended":"2026-11-20T22:19:54.976126265Z","outcome":"ok"}
    iteration {"burn_in":true,"index":0,"loops":2,"metrics":{"wall_time":1.6025005606934428e-6},"outcome":"ok"}
    iteration {"burn_in":true,"index":1,"loops":4,"metrics":{"wall_time":5.25750238011824e-7},"outcome":"ok"}
    iteration {"burn_in":true,"index":2,"loops":8,"metrics":{"wall_time":5.858748863829533e-7},"outcome":"ok"}
    iteration {"burn_in":true,"index":3,"loops":16,"metrics":{"wall_time":4.1062492073251633e-7},"outcome":"ok"}
    iteration {"burn_in":true,"index":4,"loops":32,"metrics":{"wall_time":3.9121874806369306e-7},"outcome":"ok"}
    iteration {"burn_in":true,"index":5,"loops":64,"metrics":{"wall_time":3.861874802169041e-7},"outcome":"ok"}
    iteration {"burn_in":true,"index":6,"loops":128,"metrics":{"wall_time":5.480781339883833e-7},"outcome":"ok"}
    iteration {"burn_in":true,"index":7,"loops":256,"metrics":{"wall_time":6.054726569004742e-7},"outcome":"ok"}
    iteration {"burn_in":true,"index":8,"loops":512,"metrics":{"wall_time":6.043789078091777e-7},"outcome":"ok"}
    iteration {"burn_in":true,"index":9,"loops":1024,"metrics":{"wall_time":6.41083007124621e-7},"outcome":"ok"}
    iteration {"burn_in":true,"index":10,"loops":2048,"metrics":{"wall_time":7.179506837928784e-7},"outcome":"ok"}
    iteration {"burn_in":true,"index":11,"loops":2048,"metrics":{"wall_time":7.372812502737247e-7},"outcome":"ok"}
    iteration {"burn_in":true,"index":12,"loops":2048,"metrics":{"wall_time":7.028452149171471e-7},"outcome":"ok"}
    iteration {"burn_in":true,"index":13,"loops":2048,"metrics":{"wall_time":7.061459958990213e-7},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"corpus":"numbers","inner_loops":2,"size":500},"benchmark":{"id":"copy"},"block":0,"environment":{"uptime":12637.070344924927},"host":"bench-host","position":1,"started":"2026-11-20T22:19:55.068274Z"}
    summary {"centre":18698240.0,"metric":"peak_memory","statistic":"max"}
    instance_end {"ended":"2026-11-20T22:19:55.087759423Z","outcome":"ok"}
    iteration {"burn_in":true,"index":0,"loops":2048,"metrics":{"wall_time":7.154321286506615e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":2048,"metrics":{"wall_time":6.976127933100429e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":2048,"metrics":{"wall_time":6.852114253774744e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"loops":2048,"metrics":{"wall_time":7.300634772278158e-7},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"corpus":"numbers","inner_loops":2,"size":500},"benchmark":{"id":"copy"},"block":0,"environment":{"uptime":12637.198733091354},"host":"bench-host","position":2,"started":"2026-11-20T22:19:55.196456Z"}
    summary {"centre":18792448.0,"metric":"peak_memory","statistic":"max"}
    instance_end {"ended":"2026-11-20T22:19:55.21678452Z","outcome":"ok"}
    iteration {"burn_in":true,"index":0,"loops":2048,"metrics":{"wall_time":7.009282221304147e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":2048,"metrics":{"wall_time":6.725849610589307e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":2048,"metrics":{"wall_time":7.066352543105836e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"loops":2048,"metrics":{"wall_time":7.233251952953879e-7},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"corpus":"numbers","inner_loops":2,"size":500},"benchmark":{"id":"copy"},"block":0,"environment":{"uptime":12637.324182271957},"host":"bench-host","position":3,"started":"2026-11-20T22:19:55.321978Z"}
    summary {"centre":18710528.0,"metric":"peak_memory","statistic":"max"}
    instance_end {"ended":"2026-11-20T22:19:55.341967725Z","outcome":"ok"}
    iteration {"burn_in":true,"index":0,"loops":2048,"metrics":{"wall_time":6.762524416004112e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":2048,"metrics":{"wall_time":7.113735351893524e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":2048,"metrics":{"wall_time":7.292270511882748e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":3,"loops":2048,"metrics":{"wall_time":7.265869141903636e-7},"outcome":"ok"}
    "#);
    insta::assert_snapshot!(notes(&copy), @"kept corpus, size: attributes of the instance");
}

#[test]
fn loops_are_counted_with_the_inner_ones_also_in_a_compressed_file() {
    let timeit = imported(&format!("{NEW}/timeit.json.gz"));
    let measured: Vec<String> = lines(&timeit)
        .lines()
        .filter(|line| line.starts_with("iteration") && line.contains("\"burn_in\":false"))
        .map(str::to_owned)
        .collect();
    insta::assert_snapshot!(measured.join("\n"), @r#"
    iteration {"burn_in":false,"index":1,"loops":4096,"metrics":{"wall_time":5.547851560372408e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":4096,"metrics":{"wall_time":5.320339355741055e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":4096,"metrics":{"wall_time":3.74599121055752e-7},"outcome":"ok"}
    iteration {"burn_in":false,"index":2,"loops":4096,"metrics":{"wall_time":3.808391113580001e-7},"outcome":"ok"}
    "#);
}

#[test]
fn bytes_and_integers_are_metrics_of_their_own() {
    let units = imported(&format!("{NEW}/units.json"));
    insta::assert_snapshot!(lines(&units), @r#"
    session {"attributes":{"source":{"format":"pyperf"}},"name":"units","started":"2026-11-20T10:00:00Z","suite":"pyperf","tool":"pyperf"}
    run {"metrics":{"bytes":{"better":"lower","unit":"B"},"value":{"unit":"1"}},"variant":"default"}
    instance {"attempt":0,"benchmark":{"id":"pages"},"block":0,"position":0}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"bytes":4096.0},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"metrics":{"bytes":8192.0},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"id":"pages"},"block":0,"position":1}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"bytes":4096.0},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"metrics":{"bytes":4096.0},"outcome":"ok"}
    instance {"attempt":0,"benchmark":{"id":"letters"},"block":0,"position":2}
    instance_end {"outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"value":26.0},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"metrics":{"value":27.0},"outcome":"ok"}
    "#);
    let memory = imported(&format!("{NEW}/memory.json"));
    insta::assert_snapshot!(lines(&memory), @r#"
    session {"attributes":{"source":{"format":"pyperf"}},"name":"memory","started":"2026-11-20T22:19:55.942166Z","suite":"pyperf","tool":"pyperf 2.10.0"}
    run {"environment":{"aslr":"Full randomization","boot_time":"2026-11-20 18:49:18","cpu_config":"idle:haltpoll","cpu_count":2,"cpu_freq":"0-1=2596 MHz","cpu_model_name":"AMD EPYC","load_avg_1min":2.13,"perf_version":"2.10.0","platform":"Linux-6.1.0-x86_64-with-glibc2.36","python_cflags":"-Wsign-compare -DNDEBUG -g -fwrapv -O2 -Wall -g -fstack-protector-strong -Wformat -Werror=format-security -g -fwrapv -O2","python_compiler":"GCC 12.2.0","python_config_args":"'--enable-shared' '--prefix=/usr' '--libdir=/usr/lib/x86_64-linux-gnu' '--enable-ipv6' '--enable-loadable-sqlite-extensions' '--with-dbmliborder=bdb:gdbm' '--with-computed-gotos' '--without-ensurepip' '--with-system-expat' '--with-dtrace' '--with-wheel-pkg-dir=/usr/share/python-wheels/' '--with-ssl-default-suites=openssl' 'MKDIR_P=/bin/mkdir -p' '--with-system-ffi' 'CC=x86_64-linux-gnu-gcc' 'CFLAGS=-g -fstack-protector-strong -Wformat -Werror=format-security ' 'LDFLAGS= -g -fwrapv -O2 ' 'CPPFLAGS=-Wdate-time -D_FORTIFY_SOURCE=2'","python_executable":"/tmp/demo/v-deb/bin/python","python_implementation":"cpython","python_version":"3.11.2 (64-bit)","runnable_threads":1,"timer":"clock_gettime(CLOCK_MONOTONIC), resolution: 1.00 ns"},"metrics":{"bytes":{"better":"lower","unit":"B"},"peak_memory":{"better":"lower","unit":"B"}},"variant":"default"}
    instance {"attempt":0,"attributes":{"timeit_stmt":"'[str(i) for i in range(100)]'","values":2,"warmups":0},"benchmark":{"id":"strings"},"block":0,"environment":{"uptime":12637.944479703903},"host":"bench-host","position":0,"started":"2026-11-20T22:19:55.942166Z"}
    summary {"centre":19226624.0,"metric":"peak_memory","statistic":"max"}
    instance_end {"ended":"2026-11-20T22:19:55.962509286Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":16,"metrics":{"bytes":15286272.0},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"timeit_stmt":"'[str(i) for i in range(100)]'","values":2,"warmups":0},"benchmark":{"id":"strings"},"block":0,"environment":{"uptime":12638.052802562714},"host":"bench-host","position":1,"started":"2026-11-20T22:19:56.050434Z"}
    summary {"centre":19197952.0,"metric":"peak_memory","statistic":"max"}
    instance_end {"ended":"2026-11-20T22:19:56.070942228Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":16,"metrics":{"bytes":15204352.0},"outcome":"ok"}
    "#);
}

#[test]
fn a_command_s_memory_is_that_of_the_command() {
    let command = imported(&format!("{NEW}/command.json"));
    insta::assert_snapshot!(lines(&command), @r#"
    session {"attributes":{"source":{"format":"pyperf"}},"name":"command","started":"2026-11-20T22:19:56.53639Z","suite":"pyperf","tool":"pyperf 2.10.0"}
    run {"environment":{"aslr":"Full randomization","boot_time":"2026-11-20 18:49:18","cpu_config":"idle:haltpoll","cpu_count":2,"cpu_freq":"0-1=2596 MHz","cpu_model_name":"AMD EPYC","load_avg_1min":2.13,"perf_version":"2.10.0","platform":"Linux-6.1.0-x86_64-with-glibc2.36","runnable_threads":1},"metrics":{"peak_memory":{"better":"lower","unit":"B"},"wall_time":{"better":"lower","unit":"s"}},"variant":"default"}
    instance {"attempt":0,"attributes":{"command":"true"},"benchmark":{"id":"true"},"block":0,"environment":{"uptime":12638.537979125977},"host":"bench-host","position":0,"started":"2026-11-20T22:19:56.53639Z"}
    summary {"centre":11886592.0,"metric":"peak_memory","statistic":"max"}
    instance_end {"ended":"2026-11-20T22:19:56.603838884Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":2,"metrics":{"wall_time":0.0009129640002356609},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":2,"metrics":{"wall_time":0.0009305680005127215},"outcome":"ok"}
    instance {"attempt":0,"attributes":{"command":"true"},"benchmark":{"id":"true"},"block":0,"environment":{"uptime":12638.69337105751},"host":"bench-host","position":1,"started":"2026-11-20T22:19:56.691349Z"}
    summary {"centre":11956224.0,"metric":"peak_memory","statistic":"max"}
    instance_end {"ended":"2026-11-20T22:19:56.765473761Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"loops":2,"metrics":{"wall_time":0.001181722500405158},"outcome":"ok"}
    iteration {"burn_in":false,"index":1,"loops":2,"metrics":{"wall_time":0.0011204540005564922},"outcome":"ok"}
    "#);
}

#[test]
fn one_value_alone_has_its_metadata_on_top() {
    let single = imported(&format!("{NEW}/single.json"));
    insta::assert_snapshot!(lines(&single), @r#"
    session {"attributes":{"source":{"format":"pyperf"}},"name":"single","started":"2026-11-20T22:19:56.262854Z","suite":"pyperf","tool":"pyperf 2.10.0"}
    run {"environment":{"aslr":"Full randomization","boot_time":"2026-11-20 18:49:18","cpu_config":"idle:haltpoll","cpu_count":2,"cpu_freq":"0-1=2596 MHz","cpu_model_name":"AMD EPYC","load_avg_1min":2.13,"perf_version":"2.10.0","platform":"Linux-6.1.0-x86_64-with-glibc2.36","python_cflags":"-Wsign-compare -DNDEBUG -g -fwrapv -O2 -Wall -g -fstack-protector-strong -Wformat -Werror=format-security -g -fwrapv -O2","python_compiler":"GCC 12.2.0","python_config_args":"'--enable-shared' '--prefix=/usr' '--libdir=/usr/lib/x86_64-linux-gnu' '--enable-ipv6' '--enable-loadable-sqlite-extensions' '--with-dbmliborder=bdb:gdbm' '--with-computed-gotos' '--without-ensurepip' '--with-system-expat' '--with-dtrace' '--with-wheel-pkg-dir=/usr/share/python-wheels/' '--with-ssl-default-suites=openssl' 'MKDIR_P=/bin/mkdir -p' '--with-system-ffi' 'CC=x86_64-linux-gnu-gcc' 'CFLAGS=-g -fstack-protector-strong -Wformat -Werror=format-security ' 'LDFLAGS= -g -fwrapv -O2 ' 'CPPFLAGS=-Wdate-time -D_FORTIFY_SOURCE=2'","python_executable":"/tmp/demo/v-deb/bin/python","python_implementation":"cpython","python_version":"3.11.2 (64-bit)","runnable_threads":1,"timer":"clock_gettime(CLOCK_MONOTONIC), resolution: 1.00 ns","uptime":12638.264871835709},"metrics":{"peak_memory":{"better":"lower","unit":"B"},"wall_time":{"better":"lower","unit":"s"}},"variant":"default"}
    instance {"attempt":0,"attributes":{"timeit_stmt":"'str(1)'"},"benchmark":{"id":"single"},"block":0,"host":"bench-host","position":0,"started":"2026-11-20T22:19:56.262854Z"}
    summary {"centre":19144704.0,"metric":"peak_memory","statistic":"max"}
    instance_end {"ended":"2026-11-20T22:19:56.277107208Z","outcome":"ok"}
    iteration {"burn_in":false,"index":0,"metrics":{"wall_time":1.2519994925241917e-6},"outcome":"ok"}
    "#);
}

#[test]
fn a_suite_is_the_same_however_it_is_written() {
    let suite = imported(&format!("{NEW}/suite.json"));
    let indented = imported(&format!("{NEW}/indented.json"));
    assert_eq!(counts(&suite), [1, 1, 7, 49, 7]);
    assert_eq!(
        lines(&suite).replace("\"suite\"", "\"indented\""),
        lines(&indented).replace("\"suite\"", "\"indented\"")
    );
}

#[test]
fn bad_files_are_refused_with_line_and_reason() {
    insta::assert_snapshot!(error(&format!("{NEW}/truncated.json")), @"truncated.json:61: the JSON is cut off");
    insta::assert_snapshot!(error(&format!("{NEW}/negative.json")), @"negative.json:79: `wall_time` of `copy` is negative: -0.0000006976127933100429");
    insta::assert_snapshot!(error(&format!("{NEW}/wrong.json")), @r#"wrong.json:21: `warmups[0]`: invalid type: string "warm", expected a tuple of size 2"#);
}
