use crate::shared::testing::{imported, read_text, refusal, refusal_of, shown};

#[test]
fn run_and_show_have_the_same_values() {
    insta::assert_snapshot!(shown(&imported("asv-text-0.6/run.txt")), @r##"
    asv-text because it has the progress of `asv run`
    {"v":1,"kind":"session","id":"#0","suite":"asv","started":"2026-01-01T00:00:00Z","tool":"asv","name":"run","attributes":{"source":{"file":"run.txt","format":"asv-text","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"existing-py_usr_bin_python","version":{"commit":"faed8703"},"metrics":{"memory":{"unit":"B","better":"lower"},"peak_memory":{"unit":"B","better":"lower"},"value":{"unit":"1"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"b.Sort.time_sort(10, 'up')"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","centre":4.66e-7,"statistic":"median","error":4e-8}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"b.Sort.time_sort(10, 'down')"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":5.11e-7,"statistic":"median","error":9e-8}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"b.Sort.time_sort(1000, 'up')"},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","centre":4.69e-6,"statistic":"median","error":1.0000000000000001e-7}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"b.Sort.time_sort(1000, 'down')"},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"summary","instance":"#5","metric":"wall_time","centre":4.9000000000000005e-6,"statistic":"median","error":8e-8}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"b.mem_list"},"block":0,"position":4,"attempt":0}
    {"v":1,"kind":"summary","instance":"#6","metric":"memory","centre":8060.000000000001,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"b.peakmem_list"},"block":0,"position":5,"attempt":0}
    {"v":1,"kind":"summary","instance":"#7","metric":"peak_memory","centre":28000000.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#8","run":"#1","benchmark":{"id":"b.time_fails"},"block":0,"position":6,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#8","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#9","run":"#1","benchmark":{"id":"b.time_one(10)"},"block":0,"position":7,"attempt":0}
    {"v":1,"kind":"summary","instance":"#9","metric":"wall_time","centre":4.74e-7,"statistic":"median","error":2e-7}
    {"v":1,"kind":"instance_end","instance":"#9","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#10","run":"#1","benchmark":{"id":"b.time_one(100)"},"block":0,"position":8,"attempt":0}
    {"v":1,"kind":"summary","instance":"#10","metric":"wall_time","centre":9.47e-7,"statistic":"median","error":2e-7}
    {"v":1,"kind":"instance_end","instance":"#10","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#11","run":"#1","benchmark":{"id":"b.time_range"},"block":0,"position":9,"attempt":0}
    {"v":1,"kind":"summary","instance":"#11","metric":"wall_time","centre":0.0000125,"statistic":"median","error":2e-6}
    {"v":1,"kind":"instance_end","instance":"#11","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#12","run":"#1","benchmark":{"id":"b.time_skipped"},"block":0,"position":10,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#12","outcome":"skipped"}
    {"v":1,"kind":"instance","id":"#13","run":"#1","benchmark":{"id":"b.track_size"},"block":0,"position":11,"attempt":0}
    {"v":1,"kind":"summary","instance":"#13","metric":"value","centre":42.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#13","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#14","run":"#1","benchmark":{"id":"b.track_three(1, 'x', 3)"},"block":0,"position":12,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#14","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#15","run":"#1","benchmark":{"id":"b.track_three(1, 'x', 4)"},"block":0,"position":13,"attempt":0}
    {"v":1,"kind":"summary","instance":"#15","metric":"value","centre":6.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#15","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#16","run":"#1","benchmark":{"id":"b.track_three(1, 'yy', 3)"},"block":0,"position":14,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#16","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#17","run":"#1","benchmark":{"id":"b.track_three(1, 'yy', 4)"},"block":0,"position":15,"attempt":0}
    {"v":1,"kind":"summary","instance":"#17","metric":"value","centre":7.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#17","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#18","run":"#1","benchmark":{"id":"b.track_three(2, 'x', 3)"},"block":0,"position":16,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#18","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#19","run":"#1","benchmark":{"id":"b.track_three(2, 'x', 4)"},"block":0,"position":17,"attempt":0}
    {"v":1,"kind":"summary","instance":"#19","metric":"value","centre":7.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#19","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#20","run":"#1","benchmark":{"id":"b.track_three(2, 'yy', 3)"},"block":0,"position":18,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#20","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#21","run":"#1","benchmark":{"id":"b.track_three(2, 'yy', 4)"},"block":0,"position":19,"attempt":0}
    {"v":1,"kind":"summary","instance":"#21","metric":"value","centre":8.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#21","outcome":"ok"}
    "##);
    insta::assert_snapshot!(shown(&imported("asv-text-0.6/show.txt")), @r##"
    asv-text because it has results of `asv show`
    {"v":1,"kind":"session","id":"#0","suite":"asv","started":"2026-01-01T00:00:00Z","tool":"asv","name":"show","attributes":{"source":{"file":"show.txt","format":"asv-text","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"existing-py_usr_bin_python","version":{"commit":"faed8703"},"metrics":{"memory":{"unit":"B","better":"lower"},"peak_memory":{"unit":"B","better":"lower"},"value":{"unit":"1"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"b.Sort.time_sort(10, 'up')"},"block":0,"position":0,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","centre":4.66e-7,"statistic":"median","error":4e-8}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"b.Sort.time_sort(10, 'down')"},"block":0,"position":1,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":5.11e-7,"statistic":"median","error":9e-8}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"b.Sort.time_sort(1000, 'up')"},"block":0,"position":2,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","centre":4.69e-6,"statistic":"median","error":1.0000000000000001e-7}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"b.Sort.time_sort(1000, 'down')"},"block":0,"position":3,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#5","metric":"wall_time","centre":4.9000000000000005e-6,"statistic":"median","error":8e-8}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"b.mem_list"},"block":0,"position":4,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#6","metric":"memory","centre":8060.000000000001,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"b.peakmem_list"},"block":0,"position":5,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#7","metric":"peak_memory","centre":28000000.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#8","run":"#1","benchmark":{"id":"b.time_fails"},"block":0,"position":6,"attempt":0,"host":"vm"}
    {"v":1,"kind":"instance_end","instance":"#8","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#9","run":"#1","benchmark":{"id":"b.time_one(10)"},"block":0,"position":7,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#9","metric":"wall_time","centre":4.74e-7,"statistic":"median","error":2e-7}
    {"v":1,"kind":"instance_end","instance":"#9","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#10","run":"#1","benchmark":{"id":"b.time_one(100)"},"block":0,"position":8,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#10","metric":"wall_time","centre":9.47e-7,"statistic":"median","error":2e-7}
    {"v":1,"kind":"instance_end","instance":"#10","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#11","run":"#1","benchmark":{"id":"b.time_range"},"block":0,"position":9,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#11","metric":"wall_time","centre":0.0000125,"statistic":"median","error":2e-6}
    {"v":1,"kind":"instance_end","instance":"#11","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#12","run":"#1","benchmark":{"id":"b.time_skipped"},"block":0,"position":10,"attempt":0,"host":"vm"}
    {"v":1,"kind":"instance_end","instance":"#12","outcome":"skipped"}
    {"v":1,"kind":"instance","id":"#13","run":"#1","benchmark":{"id":"b.track_size"},"block":0,"position":11,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#13","metric":"value","centre":42.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#13","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#14","run":"#1","benchmark":{"id":"b.track_three(1, 'x', 3)"},"block":0,"position":12,"attempt":0,"host":"vm"}
    {"v":1,"kind":"instance_end","instance":"#14","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#15","run":"#1","benchmark":{"id":"b.track_three(1, 'x', 4)"},"block":0,"position":13,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#15","metric":"value","centre":6.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#15","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#16","run":"#1","benchmark":{"id":"b.track_three(1, 'yy', 3)"},"block":0,"position":14,"attempt":0,"host":"vm"}
    {"v":1,"kind":"instance_end","instance":"#16","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#17","run":"#1","benchmark":{"id":"b.track_three(1, 'yy', 4)"},"block":0,"position":15,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#17","metric":"value","centre":7.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#17","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#18","run":"#1","benchmark":{"id":"b.track_three(2, 'x', 3)"},"block":0,"position":16,"attempt":0,"host":"vm"}
    {"v":1,"kind":"instance_end","instance":"#18","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#19","run":"#1","benchmark":{"id":"b.track_three(2, 'x', 4)"},"block":0,"position":17,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#19","metric":"value","centre":7.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#19","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#20","run":"#1","benchmark":{"id":"b.track_three(2, 'yy', 3)"},"block":0,"position":18,"attempt":0,"host":"vm"}
    {"v":1,"kind":"instance_end","instance":"#20","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#21","run":"#1","benchmark":{"id":"b.track_three(2, 'yy', 4)"},"block":0,"position":19,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#21","metric":"value","centre":8.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#21","outcome":"ok"}
    "##);
}

#[test]
fn a_comparison_has_a_run_of_each_side() {
    insta::assert_snapshot!(shown(&imported("asv-text-0.6/compare.txt")), @r##"
    asv-text because it has the table of `asv compare`
    {"v":1,"kind":"session","id":"#0","suite":"asv","started":"2026-01-01T00:00:00Z","tool":"asv","name":"compare","attributes":{"source":{"file":"compare.txt","format":"asv-text","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","version":{"commit":"44076bef"},"metrics":{"memory":{"unit":"B","better":"lower"},"peak_memory":{"unit":"B","better":"lower"},"value":{"unit":"1"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"b.Sort.time_sort(10, 'down')"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","centre":4.91e-7,"statistic":"median","error":6e-8}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"run","id":"#3","session":"#0","variant":"default","version":{"commit":"faed8703"},"metrics":{"memory":{"unit":"B","better":"lower"},"peak_memory":{"unit":"B","better":"lower"},"value":{"unit":"1"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#4","run":"#3","benchmark":{"id":"b.Sort.time_sort(10, 'down')"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","centre":5.11e-7,"statistic":"median","error":9e-8}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"b.Sort.time_sort(10, 'up')"},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"summary","instance":"#5","metric":"wall_time","centre":5.06e-7,"statistic":"median","error":8e-8}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#6","run":"#3","benchmark":{"id":"b.Sort.time_sort(10, 'up')"},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"summary","instance":"#6","metric":"wall_time","centre":4.66e-7,"statistic":"median","error":4e-8}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"b.Sort.time_sort(1000, 'down')"},"block":0,"position":4,"attempt":0}
    {"v":1,"kind":"summary","instance":"#7","metric":"wall_time","centre":4.87e-6,"statistic":"median","error":3e-7}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#8","run":"#3","benchmark":{"id":"b.Sort.time_sort(1000, 'down')"},"block":0,"position":5,"attempt":0}
    {"v":1,"kind":"summary","instance":"#8","metric":"wall_time","centre":4.9000000000000005e-6,"statistic":"median","error":8e-8}
    {"v":1,"kind":"instance_end","instance":"#8","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#9","run":"#1","benchmark":{"id":"b.Sort.time_sort(1000, 'up')"},"block":0,"position":6,"attempt":0}
    {"v":1,"kind":"summary","instance":"#9","metric":"wall_time","centre":4.54e-6,"statistic":"median","error":5.0000000000000004e-8}
    {"v":1,"kind":"instance_end","instance":"#9","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#10","run":"#3","benchmark":{"id":"b.Sort.time_sort(1000, 'up')"},"block":0,"position":7,"attempt":0}
    {"v":1,"kind":"summary","instance":"#10","metric":"wall_time","centre":4.69e-6,"statistic":"median","error":1.0000000000000001e-7}
    {"v":1,"kind":"instance_end","instance":"#10","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#11","run":"#1","benchmark":{"id":"b.mem_list"},"block":0,"position":8,"attempt":0}
    {"v":1,"kind":"summary","instance":"#11","metric":"memory","centre":8060.000000000001,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#11","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#12","run":"#3","benchmark":{"id":"b.mem_list"},"block":0,"position":9,"attempt":0}
    {"v":1,"kind":"summary","instance":"#12","metric":"memory","centre":8060.000000000001,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#12","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#13","run":"#1","benchmark":{"id":"b.peakmem_list"},"block":0,"position":10,"attempt":0}
    {"v":1,"kind":"summary","instance":"#13","metric":"peak_memory","centre":28100000.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#13","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#14","run":"#3","benchmark":{"id":"b.peakmem_list"},"block":0,"position":11,"attempt":0}
    {"v":1,"kind":"summary","instance":"#14","metric":"peak_memory","centre":28000000.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#14","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#15","run":"#1","benchmark":{"id":"b.time_fails"},"block":0,"position":12,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#15","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#16","run":"#3","benchmark":{"id":"b.time_fails"},"block":0,"position":13,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#16","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#17","run":"#1","benchmark":{"id":"b.time_one(10)"},"block":0,"position":14,"attempt":0}
    {"v":1,"kind":"summary","instance":"#17","metric":"wall_time","centre":3.93e-7,"statistic":"median","error":5e-8}
    {"v":1,"kind":"instance_end","instance":"#17","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#18","run":"#3","benchmark":{"id":"b.time_one(10)"},"block":0,"position":15,"attempt":0}
    {"v":1,"kind":"summary","instance":"#18","metric":"wall_time","centre":4.74e-7,"statistic":"median","error":2e-7}
    {"v":1,"kind":"instance_end","instance":"#18","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#19","run":"#1","benchmark":{"id":"b.time_one(100)"},"block":0,"position":16,"attempt":0}
    {"v":1,"kind":"summary","instance":"#19","metric":"wall_time","centre":9.38e-7,"statistic":"median","error":2e-7}
    {"v":1,"kind":"instance_end","instance":"#19","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#20","run":"#3","benchmark":{"id":"b.time_one(100)"},"block":0,"position":17,"attempt":0}
    {"v":1,"kind":"summary","instance":"#20","metric":"wall_time","centre":9.47e-7,"statistic":"median","error":2e-7}
    {"v":1,"kind":"instance_end","instance":"#20","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#21","run":"#1","benchmark":{"id":"b.time_range"},"block":0,"position":18,"attempt":0}
    {"v":1,"kind":"summary","instance":"#21","metric":"wall_time","centre":0.0000195,"statistic":"median","error":4e-6}
    {"v":1,"kind":"instance_end","instance":"#21","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#22","run":"#3","benchmark":{"id":"b.time_range"},"block":0,"position":19,"attempt":0}
    {"v":1,"kind":"summary","instance":"#22","metric":"wall_time","centre":0.0000125,"statistic":"median","error":2e-6}
    {"v":1,"kind":"instance_end","instance":"#22","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#23","run":"#1","benchmark":{"id":"b.time_skipped"},"block":0,"position":20,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#23","outcome":"skipped"}
    {"v":1,"kind":"instance","id":"#24","run":"#3","benchmark":{"id":"b.time_skipped"},"block":0,"position":21,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#24","outcome":"skipped"}
    {"v":1,"kind":"instance","id":"#25","run":"#1","benchmark":{"id":"b.track_size"},"block":0,"position":22,"attempt":0}
    {"v":1,"kind":"summary","instance":"#25","metric":"value","centre":42.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#25","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#26","run":"#3","benchmark":{"id":"b.track_size"},"block":0,"position":23,"attempt":0}
    {"v":1,"kind":"summary","instance":"#26","metric":"value","centre":42.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#26","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#27","run":"#1","benchmark":{"id":"b.track_three(1, 'x', 3)"},"block":0,"position":24,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#27","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#28","run":"#3","benchmark":{"id":"b.track_three(1, 'x', 3)"},"block":0,"position":25,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#28","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#29","run":"#1","benchmark":{"id":"b.track_three(1, 'x', 4)"},"block":0,"position":26,"attempt":0}
    {"v":1,"kind":"summary","instance":"#29","metric":"value","centre":6.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#29","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#30","run":"#3","benchmark":{"id":"b.track_three(1, 'x', 4)"},"block":0,"position":27,"attempt":0}
    {"v":1,"kind":"summary","instance":"#30","metric":"value","centre":6.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#30","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#31","run":"#1","benchmark":{"id":"b.track_three(1, 'yy', 3)"},"block":0,"position":28,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#31","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#32","run":"#3","benchmark":{"id":"b.track_three(1, 'yy', 3)"},"block":0,"position":29,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#32","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#33","run":"#1","benchmark":{"id":"b.track_three(1, 'yy', 4)"},"block":0,"position":30,"attempt":0}
    {"v":1,"kind":"summary","instance":"#33","metric":"value","centre":7.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#33","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#34","run":"#3","benchmark":{"id":"b.track_three(1, 'yy', 4)"},"block":0,"position":31,"attempt":0}
    {"v":1,"kind":"summary","instance":"#34","metric":"value","centre":7.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#34","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#35","run":"#1","benchmark":{"id":"b.track_three(2, 'x', 3)"},"block":0,"position":32,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#35","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#36","run":"#3","benchmark":{"id":"b.track_three(2, 'x', 3)"},"block":0,"position":33,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#36","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#37","run":"#1","benchmark":{"id":"b.track_three(2, 'x', 4)"},"block":0,"position":34,"attempt":0}
    {"v":1,"kind":"summary","instance":"#37","metric":"value","centre":7.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#37","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#38","run":"#3","benchmark":{"id":"b.track_three(2, 'x', 4)"},"block":0,"position":35,"attempt":0}
    {"v":1,"kind":"summary","instance":"#38","metric":"value","centre":7.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#38","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#39","run":"#1","benchmark":{"id":"b.track_three(2, 'yy', 3)"},"block":0,"position":36,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#39","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#40","run":"#3","benchmark":{"id":"b.track_three(2, 'yy', 3)"},"block":0,"position":37,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#40","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#41","run":"#1","benchmark":{"id":"b.track_three(2, 'yy', 4)"},"block":0,"position":38,"attempt":0}
    {"v":1,"kind":"summary","instance":"#41","metric":"value","centre":8.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#41","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#42","run":"#3","benchmark":{"id":"b.track_three(2, 'yy', 4)"},"block":0,"position":39,"attempt":0}
    {"v":1,"kind":"summary","instance":"#42","metric":"value","centre":8.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#42","outcome":"ok"}
    "##);
}

#[test]
fn a_broken_file_is_named() {
    let broken = [
        refusal_of("asv-text", "Commit: abcdef12 <main>\n"),
        refusal_of("asv-text", "nothing of asv\n"),
        refusal("asv-text-0.6/wrong.txt"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @"
    made-up holds no results
    made-up holds no results
    wrong.txt holds no results
    ");
    insta::assert_snapshot!(shown(&imported("asv-text-0.6/truncated.txt")), @r##"
    asv-text because it has results of `asv show`
    {"v":1,"kind":"session","id":"#0","suite":"asv","started":"2026-01-01T00:00:00Z","tool":"asv","name":"truncated","attributes":{"source":{"file":"truncated.txt","format":"asv-text","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"existing-py_usr_bin_python","version":{"commit":"faed8703"},"metrics":{"memory":{"unit":"B","better":"lower"},"peak_memory":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"b.Sort.time_sort(10, 'up')"},"block":0,"position":0,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","centre":4.66e-7,"statistic":"median","error":4e-8}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"b.Sort.time_sort(10, 'down')"},"block":0,"position":1,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":5.11e-7,"statistic":"median","error":9e-8}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"b.Sort.time_sort(1000, 'up')"},"block":0,"position":2,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#4","metric":"wall_time","centre":4.69e-6,"statistic":"median","error":1.0000000000000001e-7}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"b.Sort.time_sort(1000, 'down')"},"block":0,"position":3,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#5","metric":"wall_time","centre":4.9000000000000005e-6,"statistic":"median","error":8e-8}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"b.mem_list"},"block":0,"position":4,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#6","metric":"memory","centre":8060.000000000001,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"b.peakmem_list"},"block":0,"position":5,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#7","metric":"peak_memory","centre":28000000.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#8","run":"#1","benchmark":{"id":"b.time_fails"},"block":0,"position":6,"attempt":0,"host":"vm"}
    {"v":1,"kind":"instance_end","instance":"#8","outcome":"failed"}
    {"v":1,"kind":"instance","id":"#9","run":"#1","benchmark":{"id":"b.time_one(10)"},"block":0,"position":7,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#9","metric":"wall_time","centre":4.74e-7,"statistic":"median","error":2e-7}
    {"v":1,"kind":"instance_end","instance":"#9","outcome":"ok"}
    {"v":1,"kind":"instance","id":"#10","run":"#1","benchmark":{"id":"b.time_one(100)"},"block":0,"position":8,"attempt":0,"host":"vm"}
    {"v":1,"kind":"summary","instance":"#10","metric":"wall_time","centre":9.47e-7,"statistic":"median","error":2e-7}
    {"v":1,"kind":"instance_end","instance":"#10","outcome":"ok"}
    without a result: b.time_range (line 37): it has no value of asv
    "##);
    let text = "Commit: v1.2\n\na.time_b [h/e]\n  3 parsecs\n\na.time_c [h/e]\n  2.5m\n";
    insta::assert_snapshot!(shown(&read_text("asv-text", text)), @r##"
    asv-text because it was said
    {"v":1,"kind":"session","id":"#0","suite":"asv","started":"2026-01-01T00:00:00Z","tool":"asv","name":"made-up","attributes":{"source":{"file":"made-up","format":"asv-text","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"e","version":{"name":"v1.2"},"metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"a.time_c"},"block":0,"position":0,"attempt":0,"host":"h"}
    {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","centre":150.0,"statistic":"median"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    without a result: a.time_b (line 3): it has no value of asv
    "##);
}
