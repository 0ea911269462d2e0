use crate::shared::testing::{fate_of_a_key, imported, refusal, refusal_of, shown};

#[test]
fn forks_are_instances_and_their_iterations_iterations() {
    insta::assert_snapshot!(shown(&imported("jmh-1.37/modes.json")), @r##"
    jmh because it is an array of results with `jmhVersion`
    {"v":1,"kind":"session","id":"#0","suite":"jmh","started":"2026-01-01T00:00:00Z","tool":"JMH 1.37","name":"modes","attributes":{"source":{"file":"modes.json","format":"jmh","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"gc.alloc.rate":{"unit":"B/s"},"gc.alloc.rate.norm":{"unit":"B","better":"lower"},"gc.count":{"unit":"counts"},"gc.time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"jdkVersion":"17.0.15","jmhVersion":"1.37","jvm":"/usr/lib/jvm/java-17/bin/java","jvmArgs":["-Xmx1g"],"vmName":"OpenJDK 64-Bit Server VM","vmVersion":"17.0.15+6"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"org.example.Demo.sort[n=1000,order=random]","params":{"n":"1000","order":"random"}},"block":0,"position":0,"attempt":0,"attributes":{"forks":2,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"avgt","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"gc.alloc.rate":536870912.0,"gc.alloc.rate.norm":4016.0,"gc.count":1.0,"gc.time":0.002,"wall_time":0.00001025}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"gc.alloc.rate":536346624.0,"gc.alloc.rate.norm":4016.0,"gc.count":0.0,"gc.time":0.0,"wall_time":0.0000105}}
    {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"gc.alloc.rate":535035904.0,"gc.alloc.rate.norm":4016.0,"gc.count":1.0,"gc.time":0.003,"wall_time":0.00001075}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"org.example.Demo.sort[n=1000,order=random]","params":{"n":"1000","order":"random"}},"block":1,"position":1,"attempt":0,"attributes":{"forks":2,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"avgt","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"gc.alloc.rate":537395200.0,"gc.alloc.rate.norm":4016.0,"gc.count":0.0,"gc.time":0.0,"wall_time":0.000011}}
    {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"outcome":"ok","metrics":{"gc.alloc.rate":537919488.0,"gc.alloc.rate.norm":4016.0,"gc.count":1.0,"gc.time":0.001,"wall_time":0.000010125}}
    {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"outcome":"ok","metrics":{"gc.alloc.rate":537657344.0,"gc.alloc.rate.norm":4016.0,"gc.count":0.0,"gc.time":0.0,"wall_time":0.000010375}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"org.example.Demo.sort[n=100000,order=random]","params":{"n":"100000","order":"random"}},"block":0,"position":2,"attempt":0,"attributes":{"forks":2,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"avgt","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.0012505}}
    {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.001249}}
    {"v":1,"kind":"iteration","instance":"#4","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.00125125}}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"org.example.Demo.sort[n=100000,order=random]","params":{"n":"100000","order":"random"}},"block":1,"position":3,"attempt":0,"attributes":{"forks":2,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"avgt","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.00126}}
    {"v":1,"kind":"iteration","instance":"#5","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.0012595}}
    {"v":1,"kind":"iteration","instance":"#5","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.001258}}
    {"v":1,"kind":"run","id":"#6","session":"#0","variant":"default","metrics":{"throughput":{"unit":"1/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"jdkVersion":"17.0.15","jmhVersion":"1.37","jvm":"/usr/lib/jvm/java-17/bin/java","jvmArgs":[],"vmName":"OpenJDK 64-Bit Server VM","vmVersion":"17.0.15+6"}}
    {"v":1,"kind":"instance","id":"#7","run":"#6","benchmark":{"id":"org.example.Demo.hash"},"block":0,"position":4,"attempt":0,"attributes":{"forks":1,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"thrpt","threads":4,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#7","index":0,"burn_in":false,"outcome":"ok","metrics":{"throughput":52000250.0}}
    {"v":1,"kind":"iteration","instance":"#7","index":1,"burn_in":false,"outcome":"ok","metrics":{"throughput":51999500.0}}
    {"v":1,"kind":"iteration","instance":"#7","index":2,"burn_in":false,"outcome":"ok","metrics":{"throughput":52010000.0}}
    {"v":1,"kind":"instance","id":"#8","run":"#6","benchmark":{"id":"org.example.Demo.start"},"block":0,"position":5,"attempt":0,"attributes":{"forks":3,"measurementBatchSize":10,"measurementIterations":1,"measurementTime":"single-shot","mode":"ss","threads":1,"warmupBatchSize":1,"warmupIterations":0,"warmupTime":"single-shot"}}
    {"v":1,"kind":"instance_end","instance":"#8","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#8","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.0125}}
    {"v":1,"kind":"instance","id":"#9","run":"#6","benchmark":{"id":"org.example.Demo.start"},"block":1,"position":6,"attempt":0,"attributes":{"forks":3,"measurementBatchSize":10,"measurementIterations":1,"measurementTime":"single-shot","mode":"ss","threads":1,"warmupBatchSize":1,"warmupIterations":0,"warmupTime":"single-shot"}}
    {"v":1,"kind":"instance_end","instance":"#9","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#9","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.013}}
    {"v":1,"kind":"instance","id":"#10","run":"#6","benchmark":{"id":"org.example.Demo.start"},"block":2,"position":7,"attempt":0,"attributes":{"forks":3,"measurementBatchSize":10,"measurementIterations":1,"measurementTime":"single-shot","mode":"ss","threads":1,"warmupBatchSize":1,"warmupIterations":0,"warmupTime":"single-shot"}}
    {"v":1,"kind":"instance_end","instance":"#10","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#10","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.01275}}
    {"v":1,"kind":"instance","id":"#11","run":"#6","benchmark":{"id":"org.example.Demo.look"},"block":0,"position":8,"attempt":0,"attributes":{"forks":2,"histogram of wall_time":{"iterations":[[[40.0,5],[50.0,20],[900.0,1]],[[40.0,7],[60.0,10]]],"unit":"ns/op"},"measurementBatchSize":1,"measurementIterations":2,"measurementTime":"100 ms","mode":"sample","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
    {"v":1,"kind":"summary","instance":"#11","metric":"wall_time","n":43,"centre":6.930232558139535e-8,"spread":1.2989731015282454e-7,"statistic":"mean/sd","percentiles":{"0":4e-8,"100":9e-7,"50":5e-8,"90":6e-8,"95":6e-8,"99":9e-7,"99.9":9e-7,"99.99":9e-7}}
    {"v":1,"kind":"instance_end","instance":"#11","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#12","run":"#6","benchmark":{"id":"org.example.Demo.look"},"block":1,"position":9,"attempt":0,"attributes":{"forks":2,"histogram of wall_time":{"iterations":[[[45.0,12],[1200.0,2]],[[44.0,9]]],"unit":"ns/op"},"measurementBatchSize":1,"measurementIterations":2,"measurementTime":"100 ms","mode":"sample","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
    {"v":1,"kind":"summary","instance":"#12","metric":"wall_time","n":23,"centre":1.4504347826086955e-7,"spread":3.328840199694004e-7,"statistic":"mean/sd","percentiles":{"0":4.4e-8,"100":1.2e-6,"50":4.5e-8,"90":4.5e-8,"95":1.2e-6,"99":1.2e-6,"99.9":1.2e-6,"99.99":1.2e-6}}
    {"v":1,"kind":"instance_end","instance":"#12","outcome":"ok"}
    left, as they follow from the samples: score, scoreError, scoreConfidence, scorePercentiles
    "##);
}

#[test]
fn what_is_missing_stays_missing() {
    insta::assert_snapshot!(shown(&imported("jmh-1.37/gaps.json")), @r##"
    jmh because it is an array of results with `jmhVersion`
    {"v":1,"kind":"session","id":"#0","suite":"jmh","started":"2026-01-01T00:00:00Z","tool":"JMH 1.37","name":"gaps","attributes":{"source":{"file":"gaps.json","format":"jmh","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"get":{"unit":"1/s","better":"higher"},"put":{"unit":"1/s","better":"higher"},"throughput":{"unit":"1/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"jdkVersion":"17.0.15","jmhVersion":"1.37","jvm":"/usr/lib/jvm/java-17/bin/java","jvmArgs":[],"vmName":"OpenJDK 64-Bit Server VM","vmVersion":"17.0.15+6"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"org.example.Demo.queue"},"block":0,"position":0,"attempt":0,"attributes":{"forks":1,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"thrpt","threads":2,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"get":1500000.0,"put":2000000.0,"throughput":3500000.0}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"get":1250000.0}}
    {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"get":1750000.0,"put":2000000.0,"throughput":3750000.0}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"org.example.Demo.both[mode=thrpt]"},"block":0,"position":1,"attempt":0,"attributes":{"forks":1,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"thrpt","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"throughput":120.0}}
    {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"outcome":"ok","metrics":{"throughput":121.0}}
    {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"outcome":"ok","metrics":{"throughput":122.0}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"org.example.Demo.both[mode=avgt]"},"block":0,"position":2,"attempt":0,"attributes":{"forks":1,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"avgt","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.0083}}
    {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.0082}}
    {"v":1,"kind":"iteration","instance":"#4","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.0081}}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"org.example.Demo.once"},"block":0,"position":3,"attempt":0,"attributes":{"forks":1,"measurementBatchSize":1,"measurementIterations":1,"measurementTime":"100 ms","mode":"avgt","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
    {"v":1,"kind":"summary","instance":"#5","metric":"wall_time","centre":0.00025,"statistic":"mean"}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    left, as it has no values: stack
    left, as they follow from the samples: score, scoreError, scoreConfidence, scorePercentiles
    "##);
}

#[test]
fn an_unknown_key_is_kept() {
    let fate = |pointer: &str| fate_of_a_key("jmh-1.37/modes.json", pointer);
    assert_eq!(fate("/0"), "kept in attributes of the instance");
    assert_eq!(
        fate("/0/primaryMetric"),
        "kept in attributes of the instance, under `primaryMetric`"
    );
    assert_eq!(
        fate("/0/secondaryMetrics/gc.time"),
        "kept in attributes of the instance, under `secondaryMetrics`"
    );
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("jmh-1.37/truncated.json"), @"truncated.json:140: the JSON is cut off");
    insta::assert_snapshot!(refusal("jmh-1.37/wrong.json"), @r#"wrong.json:48: `primaryMetric.rawData[0][1]`: invalid type: string "quick", expected a number"#);
    insta::assert_snapshot!(refusal("jmh-1.37/negative.json"), @"negative.json:193: `wall_time` of `org.example.Demo.sort[n=100000,order=random]` is negative: -0.00125125");
    insta::assert_snapshot!(refusal_of("jmh", r#"[{"benchmark": "a"}]"#), @"made-up:1: `primaryMetric` is missing");
    insta::assert_snapshot!(
        refusal_of("jmh", r#"[{"primaryMetric": {"score": 1, "scoreUnit": "s/op"}}]"#),
        @"made-up:1: `benchmark` is missing"
    );
}
