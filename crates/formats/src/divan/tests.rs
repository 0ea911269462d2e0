use crate::shared::testing::{brief, fixture, imported, options, refusal, refusal_of, shown};
use crate::{BadLines, Source, read};

#[test]
fn figures_are_found_behind_output_of_the_benchmark() {
    let figures = "1.2 ns        │ 1.3 ns        │ 1.2 ns        │ 1.2 ns        │ 100     │ 100";
    let text = format!(
        "x           fastest       │ slowest       │ median        │ mean          │ samples │ iters\n\
         ├─ a        {figures}\n\
         hello from user\n\
         ├─ b        hello\n\
         and again\n\
         {figures}\n\
         ├─ group\n\
         │  ├─ d     hello\n\
         │  ├─ e     {figures}\n\
         ╰─ c        hello\n\
         {figures}\n\
         ├─ src\n"
    );
    let source = Source::from_bytes("made-up.txt", text.into_bytes()).expect("bytes");
    let imported = read(&source, &options(BadLines::Skip)).expect("good in part");
    insta::assert_snapshot!(brief(&imported), @"
    x::a 
      wall_time ~ 0.0000000012
    x::b 
      wall_time ~ 0.0000000012
    x::group::e 
      wall_time ~ 0.0000000012
    x::c 
      wall_time ~ 0.0000000012
    without a result: x::group::d (line 8): it is invalid
    bad line 8: the row is cut off: it has 1 of 6 columns
    ");
}

#[test]
fn a_table_becomes_summaries() {
    insta::assert_snapshot!(shown(&imported("divan-0.1.21/table.txt")), @r##"
    divan because it has a table with `fastest │ slowest │ median`
    {"v":1,"kind":"session","id":"#0","suite":"divan","started":"2026-01-01T00:00:00Z","tool":"divan","name":"table","attributes":{"source":{"file":"table.txt","format":"divan","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"alloc_bytes":{"unit":"B","better":"lower"},"alloc_count":{"unit":"1","better":"lower"},"bytes_per_second":{"unit":"B/s","better":"higher"},"chars_per_second":{"unit":"1/s","better":"higher"},"items_per_second":{"unit":"1/s","better":"higher"},"max_alloc_bytes":{"unit":"B","better":"lower"},"max_alloc_count":{"unit":"1","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"table::copy::100","params":{"argument":100}},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":5,"centre":2.254e-8,"statistic":"median","fastest":1.92e-8,"iters":15,"mean":7.473999999999999e-8,"slowest":2.862e-7}
    {"v":1,"kind":"summary","instance":"#2","metric":"bytes_per_second","n":5,"centre":4436000000.0,"statistic":"median","fastest":5206000000.0,"mean":1337000000.0,"slowest":349300000.0}
    {"v":1,"kind":"summary","instance":"#2","metric":"chars_per_second","n":5,"centre":4436000000.0,"statistic":"median","fastest":5206000000.0,"mean":1337000000.0,"slowest":349300000.0}
    {"v":1,"kind":"summary","instance":"#2","metric":"items_per_second","n":5,"centre":88730000.0,"statistic":"median","fastest":104100000.0,"mean":26750000.0,"slowest":6987000.0}
    {"v":1,"kind":"summary","instance":"#2","metric":"max_alloc_count","n":5,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#2","metric":"max_alloc_bytes","n":5,"centre":100.0,"statistic":"median","fastest":100.0,"mean":100.0,"slowest":100.0}
    {"v":1,"kind":"summary","instance":"#2","metric":"alloc_count","n":5,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#2","metric":"alloc_bytes","n":5,"centre":100.0,"statistic":"median","fastest":100.0,"mean":100.0,"slowest":100.0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"table::copy::2000","params":{"argument":2000}},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","n":5,"centre":5.92e-8,"statistic":"median","fastest":5.254e-8,"iters":15,"mean":1.18e-7,"slowest":3.362e-7}
    {"v":1,"kind":"summary","instance":"#3","metric":"bytes_per_second","n":5,"centre":33770000000.000004,"statistic":"median","fastest":38060000000.0,"mean":16930000000.0,"slowest":5948000000.0}
    {"v":1,"kind":"summary","instance":"#3","metric":"chars_per_second","n":5,"centre":33770000000.000004,"statistic":"median","fastest":38060000000.0,"mean":16930000000.0,"slowest":5948000000.0}
    {"v":1,"kind":"summary","instance":"#3","metric":"items_per_second","n":5,"centre":33770000.0,"statistic":"median","fastest":38060000.0,"mean":16930000.0,"slowest":5948000.0}
    {"v":1,"kind":"summary","instance":"#3","metric":"max_alloc_count","n":5,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#3","metric":"max_alloc_bytes","n":5,"centre":2000.0,"statistic":"median","fastest":2000.0,"mean":2000.0,"slowest":2000.0}
    {"v":1,"kind":"summary","instance":"#3","metric":"alloc_count","n":5,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#3","metric":"alloc_bytes","n":5,"centre":2000.0,"statistic":"median","fastest":2000.0,"mean":2000.0,"slowest":2000.0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"table::nothing"},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","n":5,"centre":9.731999999999999e-9,"statistic":"median","fastest":6.398e-9,"iters":15,"mean":1.1060000000000001e-8,"slowest":1.9730000000000002e-8}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"table::sum::10","params":{"argument":10}},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"summary","instance":"#5","metric":"wall_time","n":5,"centre":1.306e-8,"statistic":"median","fastest":9.731999999999999e-9,"iters":15,"mean":2.1059999999999998e-8,"slowest":4.639e-8}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"table::sum::1000","params":{"argument":1000}},"block":0,"position":4,"attempt":0}
    {"v":1,"kind":"summary","instance":"#6","metric":"wall_time","n":5,"centre":1.7330000000000002e-7,"statistic":"median","fastest":1.63e-7,"iters":15,"mean":1.765e-7,"slowest":2.067e-7}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"table::array::1","params":{"argument":1}},"block":0,"position":5,"attempt":0}
    {"v":1,"kind":"summary","instance":"#7","metric":"wall_time","n":5,"centre":9.731999999999999e-9,"statistic":"median","fastest":9.731999999999999e-9,"iters":15,"mean":1.706e-8,"slowest":3.973e-8}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#8","run":"#1","benchmark":{"id":"table::array::4","params":{"argument":4}},"block":0,"position":6,"attempt":0}
    {"v":1,"kind":"summary","instance":"#8","metric":"wall_time","n":5,"centre":9.731999999999999e-9,"statistic":"median","fastest":6.398e-9,"iters":15,"mean":1.439e-8,"slowest":2.973e-8}
    {"v":1,"kind":"instance_end","instance":"#8","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#9","run":"#1","benchmark":{"id":"table::inner::left_out"},"block":0,"position":7,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#9","outcome":"skipped","message":"ignored"}
    {"v":1,"kind":"instance","id":"#10","run":"#1","benchmark":{"id":"table::inner::shared::t=1","params":{"threads":1}},"block":0,"position":8,"attempt":0}
    {"v":1,"kind":"summary","instance":"#10","metric":"wall_time","n":5,"centre":1.587e-8,"statistic":"median","fastest":1.587e-8,"iters":15,"mean":2.387e-8,"slowest":4.254e-8}
    {"v":1,"kind":"summary","instance":"#10","metric":"max_alloc_count","n":5,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#10","metric":"max_alloc_bytes","n":5,"centre":50.0,"statistic":"median","fastest":50.0,"mean":50.0,"slowest":50.0}
    {"v":1,"kind":"summary","instance":"#10","metric":"alloc_count","n":5,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#10","metric":"alloc_bytes","n":5,"centre":50.0,"statistic":"median","fastest":50.0,"mean":50.0,"slowest":50.0}
    {"v":1,"kind":"instance_end","instance":"#10","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#11","run":"#1","benchmark":{"id":"table::inner::shared::t=2","params":{"threads":2}},"block":0,"position":9,"attempt":0}
    {"v":1,"kind":"summary","instance":"#11","metric":"wall_time","n":6,"centre":5.92e-8,"statistic":"median","fastest":2.254e-8,"iters":18,"mean":1.021e-7,"slowest":3.832e-7}
    {"v":1,"kind":"summary","instance":"#11","metric":"max_alloc_count","n":6,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#11","metric":"max_alloc_bytes","n":6,"centre":50.0,"statistic":"median","fastest":50.0,"mean":50.0,"slowest":50.0}
    {"v":1,"kind":"summary","instance":"#11","metric":"alloc_count","n":6,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#11","metric":"alloc_bytes","n":6,"centre":50.0,"statistic":"median","fastest":50.0,"mean":50.0,"slowest":50.0}
    {"v":1,"kind":"instance_end","instance":"#11","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#12","run":"#1","benchmark":{"id":"table::inner::deep::slow"},"block":0,"position":10,"attempt":0}
    {"v":1,"kind":"summary","instance":"#12","metric":"wall_time","n":5,"centre":0.0003714,"statistic":"median","fastest":0.0003703,"iters":15,"mean":0.0003739,"slowest":0.0003834}
    {"v":1,"kind":"instance_end","instance":"#12","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#13","run":"#1","benchmark":{"id":"table::make::String","params":{"argument":"String"}},"block":0,"position":11,"attempt":0}
    {"v":1,"kind":"summary","instance":"#13","metric":"wall_time","n":5,"centre":9.731999999999999e-9,"statistic":"median","fastest":6.732e-9,"iters":15,"mean":1.1789999999999998e-8,"slowest":2.306e-8}
    {"v":1,"kind":"instance_end","instance":"#13","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#14","run":"#1","benchmark":{"id":"table::make::Vec<u8>","params":{"argument":"Vec<u8>"}},"block":0,"position":12,"attempt":0}
    {"v":1,"kind":"summary","instance":"#14","metric":"wall_time","n":5,"centre":9.731999999999999e-9,"statistic":"median","fastest":6.398e-9,"iters":15,"mean":1.3730000000000001e-8,"slowest":2.306e-8}
    {"v":1,"kind":"instance_end","instance":"#14","outcome":"ok"}
    "##);
}

#[test]
fn sizes_may_be_binary() {
    insta::assert_snapshot!(shown(&imported("divan-0.1.21/binary.txt")), @r##"
    divan because it has a table with `fastest │ slowest │ median`
    {"v":1,"kind":"session","id":"#0","suite":"divan","started":"2026-01-01T00:00:00Z","tool":"divan","name":"binary","attributes":{"source":{"file":"binary.txt","format":"divan","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"alloc_bytes":{"unit":"B","better":"lower"},"alloc_count":{"unit":"1","better":"lower"},"bytes_per_second":{"unit":"B/s","better":"higher"},"chars_per_second":{"unit":"1/s","better":"higher"},"items_per_second":{"unit":"1/s","better":"higher"},"max_alloc_bytes":{"unit":"B","better":"lower"},"max_alloc_count":{"unit":"1","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"table::copy::100","params":{"argument":100}},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":4,"centre":2.423e-8,"statistic":"median","fastest":1.923e-8,"iters":8,"mean":9.936e-8,"slowest":3.297e-7}
    {"v":1,"kind":"summary","instance":"#2","metric":"bytes_per_second","n":4,"centre":4125316087.808,"statistic":"median","fastest":5197984169.984,"mean":1006423244.8,"slowest":303248179.2}
    {"v":1,"kind":"summary","instance":"#2","metric":"chars_per_second","n":4,"centre":4126000000.0000005,"statistic":"median","fastest":5198000000.0,"mean":1006000000.0,"slowest":303200000.0}
    {"v":1,"kind":"summary","instance":"#2","metric":"items_per_second","n":4,"centre":82520000.0,"statistic":"median","fastest":103900000.0,"mean":20120000.0,"slowest":6065000.0}
    {"v":1,"kind":"summary","instance":"#2","metric":"max_alloc_count","n":4,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#2","metric":"max_alloc_bytes","n":4,"centre":100.0,"statistic":"median","fastest":100.0,"mean":100.0,"slowest":100.0}
    {"v":1,"kind":"summary","instance":"#2","metric":"alloc_count","n":4,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#2","metric":"alloc_bytes","n":4,"centre":100.0,"statistic":"median","fastest":100.0,"mean":100.0,"slowest":100.0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"table::copy::2000","params":{"argument":2000}},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","n":4,"centre":1.0670000000000001e-7,"statistic":"median","fastest":5.4229999999999997e-8,"iters":8,"mean":1.943e-7,"slowest":5.097e-7}
    {"v":1,"kind":"summary","instance":"#3","metric":"bytes_per_second","n":4,"centre":18736794828.8,"statistic":"median","fastest":36872294236.16,"mean":10289667899.392,"slowest":3923452624.896}
    {"v":1,"kind":"summary","instance":"#3","metric":"chars_per_second","n":4,"centre":18730000000.0,"statistic":"median","fastest":36870000000.0,"mean":10290000000.0,"slowest":3923000000.0}
    {"v":1,"kind":"summary","instance":"#3","metric":"items_per_second","n":4,"centre":18730000.0,"statistic":"median","fastest":36870000.0,"mean":10290000.0,"slowest":3923000.0}
    {"v":1,"kind":"summary","instance":"#3","metric":"max_alloc_count","n":4,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#3","metric":"max_alloc_bytes","n":4,"centre":1999.872,"statistic":"median","fastest":1999.872,"mean":1999.872,"slowest":1999.872}
    {"v":1,"kind":"summary","instance":"#3","metric":"alloc_count","n":4,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#3","metric":"alloc_bytes","n":4,"centre":1999.872,"statistic":"median","fastest":1999.872,"mean":1999.872,"slowest":1999.872}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    "##);
}

#[test]
fn what_cargo_says_before_the_table_is_passed_over() {
    insta::assert_snapshot!(shown(&imported("divan-0.1.21/terminal.txt")), @r##"
    divan because it has a table with `fastest │ slowest │ median`
    {"v":1,"kind":"session","id":"#0","suite":"divan","started":"2026-01-01T00:00:00Z","tool":"divan","name":"terminal","attributes":{"source":{"file":"terminal.txt","format":"divan","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"alloc_bytes":{"unit":"B","better":"lower"},"alloc_count":{"unit":"1","better":"lower"},"max_alloc_bytes":{"unit":"B","better":"lower"},"max_alloc_count":{"unit":"1","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"table::nothing"},"block":0,"position":0,"attempt":0,"attributes":{"timer_precision":"20 ns"}}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":2,"centre":1.2230000000000001e-8,"statistic":"median","fastest":9.739e-9,"iters":4,"mean":1.2230000000000001e-8,"slowest":1.473e-8}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"table::inner::left_out"},"block":0,"position":1,"attempt":0,"attributes":{"timer_precision":"20 ns"}}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"skipped","message":"ignored"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"table::inner::shared::t=1","params":{"threads":1}},"block":0,"position":2,"attempt":0,"attributes":{"timer_precision":"20 ns"}}
    {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","n":2,"centre":8.697e-8,"statistic":"median","fastest":2.4219999999999998e-8,"iters":4,"mean":8.697e-8,"slowest":1.497e-7}
    {"v":1,"kind":"summary","instance":"#4","metric":"max_alloc_count","n":2,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#4","metric":"max_alloc_bytes","n":2,"centre":50.0,"statistic":"median","fastest":50.0,"mean":50.0,"slowest":50.0}
    {"v":1,"kind":"summary","instance":"#4","metric":"alloc_count","n":2,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#4","metric":"alloc_bytes","n":2,"centre":50.0,"statistic":"median","fastest":50.0,"mean":50.0,"slowest":50.0}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"table::inner::shared::t=2","params":{"threads":2}},"block":0,"position":3,"attempt":0,"attributes":{"timer_precision":"20 ns"}}
    {"v":1,"kind":"summary","instance":"#5","metric":"wall_time","n":2,"centre":7.947e-8,"statistic":"median","fastest":6.472e-8,"iters":4,"mean":7.947e-8,"slowest":9.421999999999999e-8}
    {"v":1,"kind":"summary","instance":"#5","metric":"max_alloc_count","n":2,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#5","metric":"max_alloc_bytes","n":2,"centre":50.0,"statistic":"median","fastest":50.0,"mean":50.0,"slowest":50.0}
    {"v":1,"kind":"summary","instance":"#5","metric":"alloc_count","n":2,"centre":1.0,"statistic":"median","fastest":1.0,"mean":1.0,"slowest":1.0}
    {"v":1,"kind":"summary","instance":"#5","metric":"alloc_bytes","n":2,"centre":50.0,"statistic":"median","fastest":50.0,"mean":50.0,"slowest":50.0}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"table::inner::deep::slow"},"block":0,"position":4,"attempt":0,"attributes":{"timer_precision":"20 ns"}}
    {"v":1,"kind":"summary","instance":"#6","metric":"wall_time","n":2,"centre":0.0003796,"statistic":"median","fastest":0.0003751,"iters":4,"mean":0.0003796,"slowest":0.0003842}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    "##);
}

#[test]
fn an_older_version_has_one_counter() {
    insta::assert_snapshot!(shown(&imported("divan-0.1.11/table.txt")), @r##"
    divan because it has a table with `fastest │ slowest │ median`
    {"v":1,"kind":"session","id":"#0","suite":"divan","started":"2026-01-01T00:00:00Z","tool":"divan","name":"table","attributes":{"source":{"file":"table.txt","format":"divan","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"table::copy::100","params":{"argument":100}},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":4,"centre":3.247e-8,"statistic":"median","fastest":2.472e-8,"iters":8,"mean":4.7340000000000006e-8,"slowest":9.972e-8}
    {"v":1,"kind":"summary","instance":"#2","metric":"bytes_per_second","n":4,"centre":3079000000.0,"statistic":"median","fastest":4043999999.9999995,"mean":2112000000.0,"slowest":1002000000.0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"table::copy::2000","params":{"argument":2000}},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","n":4,"centre":6.472e-8,"statistic":"median","fastest":5.972e-8,"iters":8,"mean":1.0090000000000001e-7,"slowest":2.1469999999999998e-7}
    {"v":1,"kind":"summary","instance":"#3","metric":"bytes_per_second","n":4,"centre":30900000000.0,"statistic":"median","fastest":33479999999.999996,"mean":19800000000.0,"slowest":9314000000.0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"table::nothing"},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","n":4,"centre":9.722e-9,"statistic":"median","fastest":9.722e-9,"iters":8,"mean":1.3470000000000001e-8,"slowest":2.472e-8}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"table::sum::10","params":{"argument":10}},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"summary","instance":"#5","metric":"wall_time","n":4,"centre":1.9719999999999997e-8,"statistic":"median","fastest":9.722e-9,"iters":8,"mean":2.7219999999999998e-8,"slowest":5.972e-8}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"table::sum::1000","params":{"argument":1000}},"block":0,"position":4,"attempt":0}
    {"v":1,"kind":"summary","instance":"#6","metric":"wall_time","n":4,"centre":1.899e-7,"statistic":"median","fastest":1.497e-7,"iters":8,"mean":1.8619999999999999e-7,"slowest":2.152e-7}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"table::array::1","params":{"argument":1}},"block":0,"position":5,"attempt":0}
    {"v":1,"kind":"summary","instance":"#7","metric":"wall_time","n":4,"centre":1.472e-8,"statistic":"median","fastest":9.722e-9,"iters":8,"mean":1.7219999999999998e-8,"slowest":2.9719999999999997e-8}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#8","run":"#1","benchmark":{"id":"table::array::4","params":{"argument":4}},"block":0,"position":6,"attempt":0}
    {"v":1,"kind":"summary","instance":"#8","metric":"wall_time","n":4,"centre":1.472e-8,"statistic":"median","fastest":9.722e-9,"iters":8,"mean":1.472e-8,"slowest":1.9719999999999997e-8}
    {"v":1,"kind":"instance_end","instance":"#8","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#9","run":"#1","benchmark":{"id":"table::inner::left_out"},"block":0,"position":7,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#9","outcome":"skipped","message":"ignored"}
    {"v":1,"kind":"instance","id":"#10","run":"#1","benchmark":{"id":"table::inner::shared::t=1","params":{"threads":1}},"block":0,"position":8,"attempt":0}
    {"v":1,"kind":"summary","instance":"#10","metric":"wall_time","n":4,"centre":2.472e-8,"statistic":"median","fastest":1.9719999999999997e-8,"iters":8,"mean":3.9840000000000005e-8,"slowest":9.022e-8}
    {"v":1,"kind":"instance_end","instance":"#10","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#11","run":"#1","benchmark":{"id":"table::inner::shared::t=2","params":{"threads":2}},"block":0,"position":9,"attempt":0}
    {"v":1,"kind":"summary","instance":"#11","metric":"wall_time","n":4,"centre":8.222e-8,"statistic":"median","fastest":5.4719999999999996e-8,"iters":8,"mean":8.109000000000001e-8,"slowest":1.052e-7}
    {"v":1,"kind":"instance_end","instance":"#11","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#12","run":"#1","benchmark":{"id":"table::inner::deep::slow"},"block":0,"position":10,"attempt":0}
    {"v":1,"kind":"summary","instance":"#12","metric":"wall_time","n":4,"centre":0.00039319999999999996,"statistic":"median","fastest":0.0003788,"iters":8,"mean":0.0003904,"slowest":0.0003962}
    {"v":1,"kind":"instance_end","instance":"#12","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#13","run":"#1","benchmark":{"id":"table::make::String","params":{"argument":"String"}},"block":0,"position":11,"attempt":0}
    {"v":1,"kind":"summary","instance":"#13","metric":"wall_time","n":4,"centre":1.7219999999999998e-8,"statistic":"median","fastest":1.472e-8,"iters":8,"mean":2.109e-8,"slowest":3.522e-8}
    {"v":1,"kind":"instance_end","instance":"#13","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#14","run":"#1","benchmark":{"id":"table::make::Vec<u8>","params":{"argument":"Vec<u8>"}},"block":0,"position":12,"attempt":0}
    {"v":1,"kind":"summary","instance":"#14","metric":"wall_time","n":4,"centre":1.472e-8,"statistic":"median","fastest":1.472e-8,"iters":8,"mean":1.859e-8,"slowest":3.022e-8}
    {"v":1,"kind":"instance_end","instance":"#14","outcome":"ok"}
    "##);
}

#[test]
fn a_broken_table_says_where() {
    let head = "a        fastest │ slowest │ median │ mean │ samples │ iters";
    let row = |row: &str| refusal_of("divan", &format!("{head}\n{row}\n"));
    let tested = std::fs::read_to_string(fixture("divan-0.1.21/tested.txt")).expect("a fixture");
    let broken = [
        refusal("divan-0.1.11/truncated.txt"),
        refusal("divan-0.1.11/wrong.txt"),
        refusal("divan-0.1.21/truncated.txt"),
        refusal("divan-0.1.21/wrong.txt"),
        row("│        1 ns │ 1 ns │ 1 ns │ 1 ns │ 1 │ 1"),
        row("│  ├─ b   1 ns │ 1 ns │ 1 ns │ 1 ns │ 1 │ 1"),
        row("├─ b     1 ns │ 1 ns │ 1 ns │ -1 ns │ 1 │ 1"),
        row("├─ b     1 ns │ 1 ns │ 1 ns │ 1 ns │ 1.5 │ 1"),
        row("├─ b     1 B │ 1 ns │ 1 ns │ 1 ns │ 1 │ 1"),
        row("├─ b     1 ns │ 1 ns"),
        row(""),
        refusal_of("divan", &tested),
    ];
    insta::assert_snapshot!(broken.join("\n"), @r#"
    truncated.txt:12: the row is cut off: it has 3 of 6 columns
    wrong.txt:5: `median` is not what it should be: "64.72 lb"
    truncated.txt:9: the row is cut off: it has 3 of 4 columns
    wrong.txt:3: `slowest` is not what it should be: "286.2 xx"
    made-up:2: there are figures without a name
    made-up:2: `b` hangs below nothing
    made-up:2: `mean` is negative: -1 ns
    made-up:2: `samples` is not a whole number: "1.5"
    made-up:2: `fastest` is not what it should be: "1 B"
    made-up:2: the row is cut off: it has 2 of 6 columns
    made-up holds no results
    made-up holds no results
    "#);
}
