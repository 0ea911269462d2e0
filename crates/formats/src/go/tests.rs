use serde_json::Value;

use crate::go::stream::MOST_SETTINGS;
use crate::shared::testing::{brief, imported, options, read_text, refusal, shown};
use crate::{BadLines, Source, import};
use lapwing_analyse::sample::each_benchmark;
use lapwing_model::{Object, Outcome, Record, RecordKind};
use lapwing_record::{Filter, Store, StoreError};

#[test]
fn count_gives_iterations_of_one_instance_for_each_benchmark() {
    insta::assert_snapshot!(shown(&imported("go-1.19/count.txt")), @r##"
    go because it has a line `Benchmark… <iterations> <value> <unit>`
    {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"count","attributes":{"source":{"file":"count.txt","format":"go","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"B/op":{"unit":"B","better":"lower"},"allocs/op":{"unit":"allocs","better":"lower"},"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"},"words/op":{"unit":"words"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=8/kind=same-2","params":{"gomaxprocs":2,"kind":"same","size":"8"}},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":128.0,"allocs/op":1.0,"bytes_per_second":177400000.0,"wall_time":2.1980000000000002e-7,"words/op":1.0}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":128.0,"allocs/op":1.0,"bytes_per_second":233170000.0,"wall_time":1.6730000000000002e-7,"words/op":1.0}}
    {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":128.0,"allocs/op":1.0,"bytes_per_second":196480000.0,"wall_time":1.985e-7,"words/op":1.0}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=8/kind=different-2","params":{"gomaxprocs":2,"kind":"different","size":"8"}},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":128.0,"allocs/op":1.0,"bytes_per_second":162710000.0,"wall_time":2.889e-7,"words/op":8.0}}
    {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":128.0,"allocs/op":1.0,"bytes_per_second":136520000.0,"wall_time":3.4430000000000003e-7,"words/op":8.0}}
    {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":128.0,"allocs/op":1.0,"bytes_per_second":112560000.0,"wall_time":4.175e-7,"words/op":8.0}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=64/kind=same-2","params":{"gomaxprocs":2,"kind":"same","size":"64"}},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":1024.0,"allocs/op":1.0,"bytes_per_second":137200000.0,"wall_time":2.325e-6,"words/op":1.0}}
    {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":1024.0,"allocs/op":1.0,"bytes_per_second":325760000.0,"wall_time":9.792e-7,"words/op":1.0}}
    {"v":1,"kind":"iteration","instance":"#4","index":2,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":1024.0,"allocs/op":1.0,"bytes_per_second":317200000.0,"wall_time":1.006e-6,"words/op":1.0}}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=64/kind=different-2","params":{"gomaxprocs":2,"kind":"different","size":"64"}},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":8776.0,"allocs/op":8.0,"bytes_per_second":63230000.0,"wall_time":6.911e-6,"words/op":64.0}}
    {"v":1,"kind":"iteration","instance":"#5","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":8780.0,"allocs/op":8.0,"bytes_per_second":72350000.0,"wall_time":6.04e-6,"words/op":64.0}}
    {"v":1,"kind":"iteration","instance":"#5","index":2,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":8778.0,"allocs/op":8.0,"bytes_per_second":67300000.0,"wall_time":6.493e-6,"words/op":64.0}}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":4,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":48.0,"allocs/op":1.0,"wall_time":1.257e-7}}
    {"v":1,"kind":"iteration","instance":"#6","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":48.0,"allocs/op":1.0,"wall_time":1.146e-7}}
    {"v":1,"kind":"iteration","instance":"#6","index":2,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":48.0,"allocs/op":1.0,"wall_time":1.439e-7}}
    "##);
}

#[test]
fn processors_and_packages_make_benchmarks() {
    insta::assert_snapshot!(shown(&imported("go-1.19/packages.txt")), @r##"
    go because it has a line `Benchmark… <iterations> <value> <unit>`
    {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"packages","attributes":{"source":{"file":"packages.txt","format":"go","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/16"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":1557100000.0,"wall_time":1.028e-8}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/16-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":1498690000.0,"wall_time":1.068e-8}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/4096"},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":14875020000.0,"wall_time":2.754e-7}}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/4096-2","params":{"gomaxprocs":2}},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":14567980000.0,"wall_time":2.812e-7}}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain"},"block":0,"position":4,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":8.290999999999999e-8}}
    {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":5,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#7","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.365e-7}}
    "##);
}

#[test]
fn failures_are_iterations_that_failed() {
    insta::assert_snapshot!(shown(&imported("go-1.19/failures.txt")), @r##"
    go because it has a line `Benchmark… <iterations> <value> <unit>`
    {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"failures","attributes":{"source":{"file":"failures.txt","format":"go","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"queue-ns":{"unit":"s","better":"lower"},"ratio":{"unit":"ratio"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.665e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":2.1569999999999998e-7}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkBroken-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:48: about to fail\nwords_test.go:49: the input is missing"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/good-2","params":{"gomaxprocs":2}},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":5.97e-8}}
    {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":5.917e-8}}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/bad-2","params":{"gomaxprocs":2}},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:58: wrong answer"}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkNoTime-2","params":{"gomaxprocs":2}},"block":0,"position":4,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"queue-ns":0.003,"ratio":12.5}}
    {"v":1,"kind":"iteration","instance":"#6","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"queue-ns":0.003,"ratio":12.5}}
    left, as a part of it says why: the failure of BenchmarkHalfBroken
    "##);
}

#[test]
fn verbose_text_says_the_same() {
    insta::assert_snapshot!(shown(&imported("go-1.19/verbose.txt")), @r##"
    go because it has a line `Benchmark… <iterations> <value> <unit>`
    {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"verbose","attributes":{"source":{"file":"verbose.txt","format":"go","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":9.912e-8}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkParallel-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":8.366e-8}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkBroken-2","params":{"gomaxprocs":2}},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:48: about to fail\nwords_test.go:49: the input is missing"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/good-2","params":{"gomaxprocs":2}},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":6.858e-8}}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/bad-2","params":{"gomaxprocs":2}},"block":0,"position":4,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:58: wrong answer"}
    {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkSkipped-2","params":{"gomaxprocs":2}},"block":0,"position":5,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#7","index":0,"burn_in":false,"outcome":"skipped","message":"words_test.go:62: needs a large machine"}
    left, as a part of it says why: the failure of BenchmarkHalfBroken
    "##);
    insta::assert_snapshot!(shown(&imported("go-1.24/verbose.txt")), @r##"
    go because it has a line `Benchmark… <iterations> <value> <unit>`
    {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"verbose","attributes":{"source":{"file":"verbose.txt","format":"go","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":2.395e-7}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkParallel-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.258e-7}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkBroken-2","params":{"gomaxprocs":2}},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:48: about to fail\nwords_test.go:49: the input is missing"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/good-2","params":{"gomaxprocs":2}},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":7.418999999999999e-8}}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/bad-2","params":{"gomaxprocs":2}},"block":0,"position":4,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:58: wrong answer"}
    {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkSkipped-2","params":{"gomaxprocs":2}},"block":0,"position":5,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#7","index":0,"burn_in":false,"outcome":"skipped","message":"words_test.go:62: needs a large machine"}
    left, as a part of it says why: the failure of BenchmarkHalfBroken
    "##);
}

#[test]
fn a_panic_is_a_failure_of_the_benchmark_under_way() {
    insta::assert_snapshot!(shown(&imported("go-1.19/panic.txt")), @r##"
    go because it has a line `Benchmark… <iterations> <value> <unit>`
    {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"panic","attributes":{"source":{"file":"panic.txt","format":"go","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"total":{"unit":"total"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/crash.BenchmarkFine-2","params":{"gomaxprocs":2}},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"total":1999000.0,"wall_time":1.077e-9}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/crash.BenchmarkPanics-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"failed","message":"panic: no such table"}
    "##);
}

#[test]
fn each_process_is_an_instance() {
    insta::assert_snapshot!(shown(&imported("go-1.19/processes.txt")), @r##"
    go because it has a line `Benchmark… <iterations> <value> <unit>`
    {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"processes","attributes":{"source":{"file":"processes.txt","format":"go","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.019e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.459e-7}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/16-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":976230000.0,"wall_time":1.639e-8}}
    {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":982530000.0,"wall_time":1.628e-8}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/4096-2","params":{"gomaxprocs":2}},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":12231810000.0,"wall_time":3.3489999999999996e-7}}
    {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":12843910000.0,"wall_time":3.189e-7}}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":1,"position":3,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.878e-7}}
    {"v":1,"kind":"iteration","instance":"#5","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.294e-7}}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/16-2","params":{"gomaxprocs":2}},"block":1,"position":4,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":1548810000.0,"wall_time":1.033e-8}}
    {"v":1,"kind":"iteration","instance":"#6","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":1574800000.0,"wall_time":1.016e-8}}
    {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/4096-2","params":{"gomaxprocs":2}},"block":1,"position":5,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#7","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":10047760000.0,"wall_time":4.077e-7}}
    {"v":1,"kind":"iteration","instance":"#7","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":14601820000.0,"wall_time":2.805e-7}}
    {"v":1,"kind":"instance","id":"#8","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":2,"position":6,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#8","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#8","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":2.09e-7}}
    {"v":1,"kind":"iteration","instance":"#8","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.241e-7}}
    {"v":1,"kind":"instance","id":"#9","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/16-2","params":{"gomaxprocs":2}},"block":2,"position":7,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#9","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#9","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":996330000.0,"wall_time":1.606e-8}}
    {"v":1,"kind":"iteration","instance":"#9","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":1517880000.0,"wall_time":1.0539999999999999e-8}}
    {"v":1,"kind":"instance","id":"#10","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/4096-2","params":{"gomaxprocs":2}},"block":2,"position":8,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#10","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#10","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":13104640000.0,"wall_time":3.1260000000000003e-7}}
    {"v":1,"kind":"iteration","instance":"#10","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":13131990000.0,"wall_time":3.119e-7}}
    "##);
}

#[test]
fn settings_that_vary_make_runs() {
    insta::assert_snapshot!(shown(&imported("go-1.19/settings.txt")), @r##"
    go because it has a line `Benchmark… <iterations> <value> <unit>`
    {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"settings","attributes":{"source":{"file":"settings.txt","format":"go","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"table=map","factors":{"table":"map"},"version":{"commit":"1f0c3a5d7e9b2468ace013579bdf02468ace1357","date":"2026-01-02T03:04:05Z"},"metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"},"words/op":{"unit":"words","better":"higher"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"},"attributes":{"units":{"words/op":{"assume":"exact"}}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=8/kind=same-2","params":{"gomaxprocs":2,"kind":"same","size":"8"}},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":114770000.0,"wall_time":3.398e-7,"words/op":1.0}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":155280000.0,"wall_time":2.5119999999999997e-7,"words/op":1.0}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.306e-7}}
    {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.6930000000000001e-7}}
    {"v":1,"kind":"run","id":"#4","session":"#0","variant":"table=slice","factors":{"table":"slice"},"version":{"commit":"1f0c3a5d7e9b2468ace013579bdf02468ace1357","date":"2026-01-02T03:04:05Z"},"metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"},"words/op":{"unit":"words","better":"higher"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"},"attributes":{"units":{"words/op":{"assume":"exact"}}}}
    {"v":1,"kind":"instance","id":"#5","run":"#4","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=8/kind=same-2","params":{"gomaxprocs":2,"kind":"same","size":"8"}},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":220270000.0,"wall_time":1.771e-7,"words/op":1.0}}
    {"v":1,"kind":"iteration","instance":"#5","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":139860000.0,"wall_time":2.7880000000000003e-7,"words/op":1.0}}
    {"v":1,"kind":"instance","id":"#6","run":"#4","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.5119999999999998e-7}}
    {"v":1,"kind":"iteration","instance":"#6","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.736e-7}}
    {"v":1,"kind":"run","id":"#7","session":"#0","variant":"table=map","factors":{"table":"map"},"version":{"commit":"2e1d4b6c8fa0357913579bdf02468ace13579bdf","date":"2026-02-02T03:04:05Z"},"metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"},"words/op":{"unit":"words","better":"higher"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"},"attributes":{"units":{"words/op":{"assume":"exact"}}}}
    {"v":1,"kind":"instance","id":"#8","run":"#7","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=8/kind=same-2","params":{"gomaxprocs":2,"kind":"same","size":"8"}},"block":0,"position":4,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#8","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#8","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":125660000.0,"wall_time":3.104e-7,"words/op":1.0}}
    {"v":1,"kind":"iteration","instance":"#8","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":58120000.0,"wall_time":6.711e-7,"words/op":1.0}}
    {"v":1,"kind":"instance","id":"#9","run":"#7","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":5,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#9","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#9","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":2.743e-7}}
    {"v":1,"kind":"iteration","instance":"#9","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.889e-7}}
    {"v":1,"kind":"run","id":"#10","session":"#0","variant":"table=slice","factors":{"table":"slice"},"version":{"commit":"2e1d4b6c8fa0357913579bdf02468ace13579bdf","date":"2026-02-02T03:04:05Z"},"metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"},"words/op":{"unit":"words","better":"higher"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"},"attributes":{"units":{"words/op":{"assume":"exact"}}}}
    {"v":1,"kind":"instance","id":"#11","run":"#10","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=8/kind=same-2","params":{"gomaxprocs":2,"kind":"same","size":"8"}},"block":0,"position":6,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#11","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#11","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":102270000.0,"wall_time":3.813e-7,"words/op":1.0}}
    {"v":1,"kind":"iteration","instance":"#11","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":106220000.0,"wall_time":3.672e-7,"words/op":1.0}}
    {"v":1,"kind":"instance","id":"#12","run":"#10","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":7,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#12","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#12","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.805e-7}}
    {"v":1,"kind":"iteration","instance":"#12","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":2.29e-7}}
    kept in attributes of the run: Unit words/op
    "##);
}

#[test]
fn events_hold_the_same_text() {
    insta::assert_snapshot!(shown(&imported("go-1.24/events.jsonl")), @r##"
    go because its first line is an event of `go test -json`
    {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-11-20T22:20:10.661768272Z","tool":"go test","name":"events","attributes":{"source":{"file":"events.jsonl","format":"go","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.0559999999999999e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.397e-7}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkBroken-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:48: about to fail\nwords_test.go:49: the input is missing"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/good-2","params":{"gomaxprocs":2}},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":4.4079999999999995e-8}}
    {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.895e-7}}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/bad-2","params":{"gomaxprocs":2}},"block":0,"position":3,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:58: wrong answer"}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/16-2","params":{"gomaxprocs":2}},"block":0,"position":4,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":1257960000.0,"wall_time":1.272e-8}}
    {"v":1,"kind":"iteration","instance":"#6","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":1231760000.0,"wall_time":1.2990000000000001e-8}}
    {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/4096-2","params":{"gomaxprocs":2}},"block":0,"position":5,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#7","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":12648490000.0,"wall_time":3.2380000000000003e-7}}
    {"v":1,"kind":"iteration","instance":"#7","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"bytes_per_second":13016830000.0,"wall_time":3.147e-7}}
    left, as a part of it says why: the failure of BenchmarkHalfBroken
    "##);
}

#[test]
fn no_more_settings_hold_than_memory_has_room_for() {
    let mut text: String = (0..MOST_SETTINGS)
        .map(|number| format!("k{number}: 1\n"))
        .collect();
    text.push_str("BenchmarkA 1 2 ns/op\nmore: 1\nk0: 2\nBenchmarkB 1 2 ns/op\n");
    let read = read_text("go", &text);
    let left: Vec<_> = read.notes.iter().map(|it| (&it.what[..], it.why)).collect();
    assert_eq!(
        left,
        [(&["more".to_owned()][..], "there are more than 200 settings")]
    );
    let environments: Vec<_> = read
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Instance(it) => Some(it.environment.clone()),
            _other => None,
        })
        .collect();
    let of = |value: &str| Object::from_iter([("k0".to_owned(), Value::from(value))]);
    assert_eq!(environments, [of("1"), of("2")]);
}

#[test]
fn values_that_are_no_finite_numbers_are_missing_and_counted() {
    // Of no iterations there is no mean: that is a failure, and said to be one.
    let text = "\
BenchmarkA 10 NaN ns/op 3 B/op
BenchmarkA 10 +Inf ns/op 3 B/op
BenchmarkB 10 2 ns/op NaN ratio
BenchmarkC 0 NaN ns/op
";
    insta::assert_snapshot!(shown(&read_text("go", text)), @r##"
    go because it was said
    {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"made-up","attributes":{"source":{"file":"made-up","format":"go","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"B/op":{"unit":"B","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"BenchmarkA"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":10,"outcome":"ok","metrics":{"B/op":3.0}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":10,"outcome":"ok","metrics":{"B/op":3.0}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"BenchmarkB"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":10,"outcome":"ok","metrics":{"wall_time":2e-9}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"BenchmarkC"},"block":0,"position":2,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"failed"}
    left, as they are NaN or infinite: 2 values of ns/op, 1 value of ratio
    "##);
}

#[test]
fn a_metric_has_one_unit_in_a_source() {
    let text = "BenchmarkA 10 2 wall_time\nBenchmarkB 10 3 ns/op\n";
    insta::assert_snapshot!(shown(&read_text("go", text)), @r##"
    go because it was said
    {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"made-up","attributes":{"source":{"file":"made-up","format":"go","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"wall_time"},"wall_time (s)":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"BenchmarkA"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":10,"outcome":"ok","metrics":{"wall_time":2.0}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"BenchmarkB"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":10,"outcome":"ok","metrics":{"wall_time (s)":3e-9}}
    "##);
}

/// More results than are held at a time, those of three benchmarks in turn, with failures.
#[test]
fn results_in_turn_come_together_whatever_their_number() {
    let turns = 30_000_u32;
    let mut text = String::new();
    for turn in 0..turns {
        text.push_str(&format!("BenchmarkA 10 {turn} ns/op\n"));
        text.push_str(&format!("BenchmarkB {} 7 ratio 5 B/op\n", turn % 2));
        if turn % 10_000 == 0 {
            text.push_str("--- FAIL: BenchmarkC\n    c_test.go:3: no\n");
        }
        text.push_str(&format!("BenchmarkC 3 {turn} ratio\n"));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("lapwing.db")).expect("a store");
    let source = Source::from_bytes("made-up", text.into_bytes()).expect("bytes");
    let options = options(BadLines::Refuse);
    let imported = import(&mut store, &source, &options).expect("good");
    assert_eq!(imported.appended.of(RecordKind::Instance).new, 3);
    let again = import(&mut store, &source, &options).expect("good");
    assert_eq!(again.appended.total().new, 0);
    let there = again.appended.of(RecordKind::Iteration).already_there;
    assert_eq!(there, u64::from(turns) * 3 + 3);
    let mut found = Vec::new();
    each_benchmark(&store, &Filter::default(), |data| {
        for instance in &data.instances {
            let of = &instance.iterations;
            let ends = |column: &[f64]| (column[0], column[column.len() - 1]);
            let values: Vec<_> = of.values.iter().map(|(it, all)| (it, ends(all))).collect();
            let failed = of
                .outcome
                .iter()
                .filter(|it| **it == Outcome::Failed)
                .count();
            found.push(format!(
                "{}: {} iterations, {failed} failed, {values:?}",
                data.benchmark.id,
                of.len(),
            ));
        }
        Ok::<(), StoreError>(())
    })
    .expect("a store");
    insta::assert_snapshot!(found.join("\n"), @r#"
    BenchmarkA: 30000 iterations, 0 failed, [("wall_time", (0.0, 2.9999e-5))]
    BenchmarkB: 30000 iterations, 0 failed, [("B/op", (5.0, 5.0)), ("ratio", (7.0, 7.0))]
    BenchmarkC: 30003 iterations, 3 failed, [("ratio", (NaN, 29999.0))]
    "#);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("go-1.19/truncated.txt"), @"truncated.txt:6: `1` of `BenchmarkCount/size=8/kind=same-2` has no unit");
    insta::assert_snapshot!(refusal("go-1.19/negative.txt"), @"negative.txt:5: `ns/op` of `BenchmarkCount/size=8/kind=same-2` is negative: -219.8");
    insta::assert_snapshot!(refusal("go-1.24/truncated.txt"), @"truncated.txt:13: `2458` of `BenchmarkCount/size=64/kind=same` has no unit");
    insta::assert_snapshot!(refusal("go-1.24/wrong.txt"), @"wrong.txt:6: `ns/op` of `BenchmarkCount/size=8/kind=same` is not a number: 278,8");
    insta::assert_snapshot!(refusal("go-1.19/wrong.txt"), @"wrong.txt:6: `ns/op` of `BenchmarkCount/size=8/kind=same-2` is not a number: fast");
}

#[test]
fn figures_on_the_line_after_the_name_are_its_result() {
    let text = "\
        pkg: example.net/srv\n\
        BenchmarkServe-8   \t2031/02/03 10:11:12 listening on :8080\n  100000\t     11034 ns/op\n\
        BenchmarkServe-8   \t2031/02/03 10:11:14 listening on :8080\n100000000\t     11.5 ns/op\n\
        BenchmarkIdle-8    ready 1000\t 25 ns/op\n\
        BenchmarkLost-8    \tpanic soon\n\
        BenchmarkParent\nBenchmarkParent/part\nBenchmarkParent/part-8 \t 10\t 3 ns/op\n\
        BenchmarkBegun\n\
        FAIL\texample.net/broken [build failed]\n";
    insta::assert_snapshot!(brief(&read_text("go", text)), @r#"
    example.net/srv.BenchmarkServe-8 {"gomaxprocs":8}
      Ok {"wall_time": 1.1034e-5}
      Ok {"wall_time": 1.15e-8}
    example.net/srv.BenchmarkIdle-8 {"gomaxprocs":8}
      Ok {"wall_time": 2.5e-8}
    example.net/srv.BenchmarkParent/part-8 {"gomaxprocs":8}
      Ok {"wall_time": 3e-9}
    without a result: example.net/broken (line 12): the package was not built
    without a result: example.net/srv.BenchmarkBegun (line 11): its figures are missing
    without a result: example.net/srv.BenchmarkLost-8 (line 7): its figures are missing
    "#);
}

#[test]
fn no_iterations_is_a_good_count_where_there_are_values() {
    let text = "\
        BenchmarkBuild-4\t0\t16418745564 ns/op\t 10902383 binary-size\n\
        BenchmarkFails-4\t0\tNaN ns/op\n";
    insta::assert_snapshot!(brief(&read_text("go", text)), @r#"
    BenchmarkBuild-4 {"gomaxprocs":4}
      Ok {"binary-size": 10902383.0, "wall_time": 16.418745564}
    BenchmarkFails-4 {"gomaxprocs":4}
      Failed {}
    "#);
}
