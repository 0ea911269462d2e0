use std::path::Path;

use super::is_at;
use crate::shared::testing::{
    fate_of_a_key, fixture, imported, options, refusal, refusal_of, shown,
};
use crate::{BadLines, ImportError, Imported, Source, import, places_at, read};
use lapwing_model::RecordKind;
use lapwing_record::Store;

fn of_folder(path: &Path, bad_lines: BadLines) -> Result<Imported, ImportError> {
    read(&Source::open(path, path)?, &options(bad_lines))
}

/// Returns what a folder gives, without the times at which this checkout was written.
fn shown_folder(name: &str) -> String {
    let imported = of_folder(&fixture(name), BadLines::Refuse).expect("good");
    let text = shown(&imported);
    let place = fixture("").display().to_string();
    let time = regex::Regex::new(r#""(started|ended)":"[^"]*""#).expect("a pattern");
    time.replace_all(&text, "\"$1\":\"…\"").replace(&place, "")
}

#[test]
fn an_unknown_key_is_kept_with_its_message() {
    let fate = |pointer: &str| fate_of_a_key("cargo-criterion-1.1.0/messages.json", pointer);
    assert_eq!(fate("/2"), "kept in attributes of the instance");
    assert_eq!(
        fate("/2/throughput/0"),
        "kept in attributes of the instance, under `throughput`"
    );
}

#[test]
fn each_kept_measurement_is_an_instance_and_copies_count_once() {
    insta::assert_snapshot!(shown_folder("criterion-0.8.2/baselines"), @r##"
    criterion because it has folders with `benchmark.json` and `sample.json`
    {"v":1,"kind":"session","id":"#0","suite":"criterion","started":"…","tool":"Criterion","name":"baselines base","attributes":{"source":{"file":"criterion-0.8.2/baselines","format":"criterion","sha256":"…","started_from":"file_time"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"base","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"flat/5000","params":{"group":"flat","value":5000}},"block":0,"position":0,"attempt":0,"attributes":{"sampling_mode":"Flat"}}
    {"v":1,"kind":"instance_end","instance":"#2","ended":"…","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":1284,"outcome":"ok","metrics":{"wall_time":1.0111269470404983e-6}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":1284,"outcome":"ok","metrics":{"wall_time":7.737165109034268e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"loops":1284,"outcome":"ok","metrics":{"wall_time":7.635451713395638e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":3,"burn_in":false,"loops":1284,"outcome":"ok","metrics":{"wall_time":7.816331775700935e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":4,"burn_in":false,"loops":1284,"outcome":"ok","metrics":{"wall_time":8.760334890965733e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":5,"burn_in":false,"loops":1284,"outcome":"ok","metrics":{"wall_time":7.977235202492212e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":6,"burn_in":false,"loops":1284,"outcome":"ok","metrics":{"wall_time":7.918348909657321e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":7,"burn_in":false,"loops":1284,"outcome":"ok","metrics":{"wall_time":8.62142523364486e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":8,"burn_in":false,"loops":1284,"outcome":"ok","metrics":{"wall_time":8.268014018691589e-7}}
    {"v":1,"kind":"iteration","instance":"#2","index":9,"burn_in":false,"loops":1284,"outcome":"ok","metrics":{"wall_time":8.272390965732087e-7}}
    {"v":1,"kind":"session","id":"#3","suite":"criterion","started":"…","tool":"Criterion","name":"baselines before","attributes":{"source":{"file":"criterion-0.8.2/baselines","format":"criterion","sha256":"…","started_from":"file_time"}}}
    {"v":1,"kind":"run","id":"#4","session":"#3","variant":"before","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#5","run":"#4","benchmark":{"id":"flat/5000","params":{"group":"flat","value":5000}},"block":0,"position":0,"attempt":0,"attributes":{"sampling_mode":"Flat"}}
    {"v":1,"kind":"instance_end","instance":"#5","ended":"…","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":1128,"outcome":"ok","metrics":{"wall_time":8.944893617021277e-7}}
    {"v":1,"kind":"iteration","instance":"#5","index":1,"burn_in":false,"loops":1128,"outcome":"ok","metrics":{"wall_time":1.0553953900709222e-6}}
    {"v":1,"kind":"iteration","instance":"#5","index":2,"burn_in":false,"loops":1128,"outcome":"ok","metrics":{"wall_time":8.991507092198582e-7}}
    {"v":1,"kind":"iteration","instance":"#5","index":3,"burn_in":false,"loops":1128,"outcome":"ok","metrics":{"wall_time":8.921019503546099e-7}}
    {"v":1,"kind":"iteration","instance":"#5","index":4,"burn_in":false,"loops":1128,"outcome":"ok","metrics":{"wall_time":8.800531914893616e-7}}
    {"v":1,"kind":"iteration","instance":"#5","index":5,"burn_in":false,"loops":1128,"outcome":"ok","metrics":{"wall_time":9.339902482269504e-7}}
    {"v":1,"kind":"iteration","instance":"#5","index":6,"burn_in":false,"loops":1128,"outcome":"ok","metrics":{"wall_time":9.114210992907801e-7}}
    {"v":1,"kind":"iteration","instance":"#5","index":7,"burn_in":false,"loops":1128,"outcome":"ok","metrics":{"wall_time":8.780026595744681e-7}}
    {"v":1,"kind":"iteration","instance":"#5","index":8,"burn_in":false,"loops":1128,"outcome":"ok","metrics":{"wall_time":8.750992907801418e-7}}
    {"v":1,"kind":"iteration","instance":"#5","index":9,"burn_in":false,"loops":1128,"outcome":"ok","metrics":{"wall_time":2.5132881205673755e-6}}
    {"v":1,"kind":"instance","id":"#6","run":"#4","benchmark":{"id":"plain sum"},"block":0,"position":1,"attempt":0,"attributes":{"sampling_mode":"Linear"}}
    {"v":1,"kind":"instance_end","instance":"#6","ended":"…","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":51670,"outcome":"ok","metrics":{"wall_time":3.1890071608283334e-9}}
    {"v":1,"kind":"iteration","instance":"#6","index":1,"burn_in":false,"loops":103340,"outcome":"ok","metrics":{"wall_time":4.6859202632088245e-9}}
    {"v":1,"kind":"iteration","instance":"#6","index":2,"burn_in":false,"loops":155010,"outcome":"ok","metrics":{"wall_time":3.214134571963099e-9}}
    {"v":1,"kind":"iteration","instance":"#6","index":3,"burn_in":false,"loops":206680,"outcome":"ok","metrics":{"wall_time":3.199177472421134e-9}}
    {"v":1,"kind":"iteration","instance":"#6","index":4,"burn_in":false,"loops":258350,"outcome":"ok","metrics":{"wall_time":3.2574608089800658e-9}}
    {"v":1,"kind":"iteration","instance":"#6","index":5,"burn_in":false,"loops":310020,"outcome":"ok","metrics":{"wall_time":3.464182310818657e-8}}
    {"v":1,"kind":"iteration","instance":"#6","index":6,"burn_in":false,"loops":361690,"outcome":"ok","metrics":{"wall_time":3.4082197461914896e-9}}
    {"v":1,"kind":"iteration","instance":"#6","index":7,"burn_in":false,"loops":413360,"outcome":"ok","metrics":{"wall_time":3.0099816140894138e-9}}
    {"v":1,"kind":"iteration","instance":"#6","index":8,"burn_in":false,"loops":465030,"outcome":"ok","metrics":{"wall_time":3.354658839214674e-9}}
    {"v":1,"kind":"iteration","instance":"#6","index":9,"burn_in":false,"loops":516700,"outcome":"ok","metrics":{"wall_time":3.2372440487710474e-9}}
    {"v":1,"kind":"session","id":"#7","suite":"criterion","started":"…","tool":"Criterion","name":"baselines","attributes":{"source":{"file":"criterion-0.8.2/baselines","format":"criterion","sha256":"…","started_from":"file_time"}}}
    {"v":1,"kind":"run","id":"#8","session":"#7","variant":"default","metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"elements_per_second":{"unit":"1/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#9","run":"#8","benchmark":{"id":"plain sum"},"block":0,"position":0,"attempt":0,"attributes":{"sampling_mode":"Linear"}}
    {"v":1,"kind":"instance_end","instance":"#9","ended":"…","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#9","index":0,"burn_in":false,"loops":62715,"outcome":"ok","metrics":{"wall_time":3.361938930080523e-9}}
    {"v":1,"kind":"iteration","instance":"#9","index":1,"burn_in":false,"loops":125430,"outcome":"ok","metrics":{"wall_time":2.9905843896994337e-9}}
    {"v":1,"kind":"iteration","instance":"#9","index":2,"burn_in":false,"loops":188145,"outcome":"ok","metrics":{"wall_time":7.441648728374391e-9}}
    {"v":1,"kind":"iteration","instance":"#9","index":3,"burn_in":false,"loops":250860,"outcome":"ok","metrics":{"wall_time":2.810017539663557e-9}}
    {"v":1,"kind":"iteration","instance":"#9","index":4,"burn_in":false,"loops":313575,"outcome":"ok","metrics":{"wall_time":2.9820138722793592e-9}}
    {"v":1,"kind":"iteration","instance":"#9","index":5,"burn_in":false,"loops":376290,"outcome":"ok","metrics":{"wall_time":3.065563793882378e-9}}
    {"v":1,"kind":"iteration","instance":"#9","index":6,"burn_in":false,"loops":439005,"outcome":"ok","metrics":{"wall_time":3.3426247992619676e-9}}
    {"v":1,"kind":"iteration","instance":"#9","index":7,"burn_in":false,"loops":501720,"outcome":"ok","metrics":{"wall_time":3.0302519333492784e-9}}
    {"v":1,"kind":"iteration","instance":"#9","index":8,"burn_in":false,"loops":564435,"outcome":"ok","metrics":{"wall_time":3.3479638930966365e-9}}
    {"v":1,"kind":"iteration","instance":"#9","index":9,"burn_in":false,"loops":627150,"outcome":"ok","metrics":{"wall_time":3.222281750777326e-9}}
    {"v":1,"kind":"instance","id":"#10","run":"#8","benchmark":{"id":"sums/of: numbers/bytes","params":{"function":"bytes","group":"sums/of: numbers"}},"block":0,"position":1,"attempt":0,"attributes":{"sampling_mode":"Linear","work":{"bytes":800.0}}}
    {"v":1,"kind":"instance_end","instance":"#10","ended":"…","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#10","index":0,"burn_in":false,"loops":10337,"outcome":"ok","metrics":{"bytes_per_second":43163905504.57758,"wall_time":1.853400406307439e-8}}
    {"v":1,"kind":"iteration","instance":"#10","index":1,"burn_in":false,"loops":20674,"outcome":"ok","metrics":{"bytes_per_second":45119173302.56134,"wall_time":1.7730821321466574e-8}}
    {"v":1,"kind":"iteration","instance":"#10","index":2,"burn_in":false,"loops":31011,"outcome":"ok","metrics":{"bytes_per_second":42354339096.943375,"wall_time":1.8888265454193673e-8}}
    {"v":1,"kind":"iteration","instance":"#10","index":3,"burn_in":false,"loops":41348,"outcome":"ok","metrics":{"bytes_per_second":33519788575.96835,"wall_time":2.3866498984231403e-8}}
    {"v":1,"kind":"iteration","instance":"#10","index":4,"burn_in":false,"loops":51685,"outcome":"ok","metrics":{"bytes_per_second":46493636754.12615,"wall_time":1.720665570281513e-8}}
    {"v":1,"kind":"iteration","instance":"#10","index":5,"burn_in":false,"loops":62022,"outcome":"ok","metrics":{"bytes_per_second":51269291494.79636,"wall_time":1.5603882493308826e-8}}
    {"v":1,"kind":"iteration","instance":"#10","index":6,"burn_in":false,"loops":72359,"outcome":"ok","metrics":{"bytes_per_second":41371433962.23718,"wall_time":1.9337014054920605e-8}}
    {"v":1,"kind":"iteration","instance":"#10","index":7,"burn_in":false,"loops":82696,"outcome":"ok","metrics":{"bytes_per_second":49030351225.78101,"wall_time":1.6316424010834866e-8}}
    {"v":1,"kind":"iteration","instance":"#10","index":8,"burn_in":false,"loops":93033,"outcome":"ok","metrics":{"bytes_per_second":45602623426.532295,"wall_time":1.754285038642202e-8}}
    {"v":1,"kind":"iteration","instance":"#10","index":9,"burn_in":false,"loops":103370,"outcome":"ok","metrics":{"bytes_per_second":46633301848.22297,"wall_time":1.7155122375931122e-8}}
    {"v":1,"kind":"instance","id":"#11","run":"#8","benchmark":{"id":"sums/of: numbers/fold/100","params":{"function":"fold","group":"sums/of: numbers","value":100}},"block":0,"position":2,"attempt":0,"attributes":{"sampling_mode":"Linear","work":{"elements":100.0}}}
    {"v":1,"kind":"instance_end","instance":"#11","ended":"…","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#11","index":0,"burn_in":false,"loops":10706,"outcome":"ok","metrics":{"elements_per_second":5856577846.096617,"wall_time":1.7074817859144407e-8}}
    {"v":1,"kind":"iteration","instance":"#11","index":1,"burn_in":false,"loops":21412,"outcome":"ok","metrics":{"elements_per_second":6040925492.807146,"wall_time":1.6553754903792266e-8}}
    {"v":1,"kind":"iteration","instance":"#11","index":2,"burn_in":false,"loops":32118,"outcome":"ok","metrics":{"elements_per_second":4544824209.629627,"wall_time":2.200305124852108e-8}}
    {"v":1,"kind":"iteration","instance":"#11","index":3,"burn_in":false,"loops":42824,"outcome":"ok","metrics":{"elements_per_second":5914181938.709276,"wall_time":1.690850924715113e-8}}
    {"v":1,"kind":"iteration","instance":"#11","index":4,"burn_in":false,"loops":53530,"outcome":"ok","metrics":{"elements_per_second":5912042763.739177,"wall_time":1.6914627311787782e-8}}
    {"v":1,"kind":"iteration","instance":"#11","index":5,"burn_in":false,"loops":64236,"outcome":"ok","metrics":{"elements_per_second":5985240952.629422,"wall_time":1.6707765116134253e-8}}
    {"v":1,"kind":"iteration","instance":"#11","index":6,"burn_in":false,"loops":74942,"outcome":"ok","metrics":{"elements_per_second":6112679433.837762,"wall_time":1.6359437965359878e-8}}
    {"v":1,"kind":"iteration","instance":"#11","index":7,"burn_in":false,"loops":85648,"outcome":"ok","metrics":{"elements_per_second":6093661732.33366,"wall_time":1.6410494115449282e-8}}
    {"v":1,"kind":"iteration","instance":"#11","index":8,"burn_in":false,"loops":96354,"outcome":"ok","metrics":{"elements_per_second":5850713714.936644,"wall_time":1.7091931834692904e-8}}
    {"v":1,"kind":"iteration","instance":"#11","index":9,"burn_in":false,"loops":107060,"outcome":"ok","metrics":{"elements_per_second":6103672351.493079,"wall_time":1.638357930132636e-8}}
    {"v":1,"kind":"instance","id":"#12","run":"#8","benchmark":{"id":"sums/of: numbers/fold/1000","params":{"function":"fold","group":"sums/of: numbers","value":1000}},"block":0,"position":3,"attempt":0,"attributes":{"sampling_mode":"Linear","work":{"elements":1000.0}}}
    {"v":1,"kind":"instance_end","instance":"#12","ended":"…","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#12","index":0,"burn_in":false,"loops":1191,"outcome":"ok","metrics":{"elements_per_second":6851561016.861399,"wall_time":1.459521410579345e-7}}
    {"v":1,"kind":"iteration","instance":"#12","index":1,"burn_in":false,"loops":2382,"outcome":"ok","metrics":{"elements_per_second":6698349315.2611,"wall_time":1.4929051217464317e-7}}
    {"v":1,"kind":"iteration","instance":"#12","index":2,"burn_in":false,"loops":3573,"outcome":"ok","metrics":{"elements_per_second":5602500035.280227,"wall_time":1.7849174363280156e-7}}
    {"v":1,"kind":"iteration","instance":"#12","index":3,"burn_in":false,"loops":4764,"outcome":"ok","metrics":{"elements_per_second":6405119793.487322,"wall_time":1.561251049538203e-7}}
    {"v":1,"kind":"iteration","instance":"#12","index":4,"burn_in":false,"loops":5955,"outcome":"ok","metrics":{"elements_per_second":6565875968.342664,"wall_time":1.5230260285474393e-7}}
    {"v":1,"kind":"iteration","instance":"#12","index":5,"burn_in":false,"loops":7146,"outcome":"ok","metrics":{"elements_per_second":6380926868.4704,"wall_time":1.567170445004198e-7}}
    {"v":1,"kind":"iteration","instance":"#12","index":6,"burn_in":false,"loops":8337,"outcome":"ok","metrics":{"elements_per_second":5805136260.898992,"wall_time":1.7226124505217704e-7}}
    {"v":1,"kind":"iteration","instance":"#12","index":7,"burn_in":false,"loops":9528,"outcome":"ok","metrics":{"elements_per_second":6317380753.470979,"wall_time":1.582934508816121e-7}}
    {"v":1,"kind":"iteration","instance":"#12","index":8,"burn_in":false,"loops":10719,"outcome":"ok","metrics":{"elements_per_second":5723873180.885392,"wall_time":1.7470687564138447e-7}}
    {"v":1,"kind":"iteration","instance":"#12","index":9,"burn_in":false,"loops":11910,"outcome":"ok","metrics":{"elements_per_second":6089526780.8798065,"wall_time":1.6421637279596977e-7}}
    left, as it follows from the benchmark's name: directory_name
    left, as they are copies of other measurements: new, base
    left, as they follow from the samples: estimates.json, tukey.json, change
    "##);
}

#[test]
fn a_quick_run_has_few_samples() {
    insta::assert_snapshot!(shown_folder("criterion-0.8.2/quick"), @r##"
    criterion because it has folders with `benchmark.json` and `sample.json`
    {"v":1,"kind":"session","id":"#0","suite":"criterion","started":"…","tool":"Criterion","name":"quick","attributes":{"source":{"file":"criterion-0.8.2/quick","format":"criterion","sha256":"…","started_from":"file_time"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"elements_per_second":{"unit":"1/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sums/of: numbers/fold/100","params":{"function":"fold","group":"sums/of: numbers","value":100}},"block":0,"position":0,"attempt":0,"attributes":{"sampling_mode":"Linear","work":{"elements":100.0}}}
    {"v":1,"kind":"instance_end","instance":"#2","ended":"…","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":262144,"outcome":"ok","metrics":{"elements_per_second":5394400066.837355,"wall_time":1.8537742614746093e-8}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":524288,"outcome":"ok","metrics":{"elements_per_second":5339098021.077038,"wall_time":1.872975540161133e-8}}
    left, as it follows from the benchmark's name: directory_name
    left, as they are copies of other measurements: base
    left, as they follow from the samples: estimates.json, tukey.json
    "##);
}

#[test]
fn an_old_version_wrote_two_lists() {
    insta::assert_snapshot!(shown_folder("criterion-0.3.0/results"), @r##"
    criterion because it has folders with `benchmark.json` and `sample.json`
    {"v":1,"kind":"session","id":"#0","suite":"criterion","started":"…","tool":"Criterion","name":"results","attributes":{"source":{"file":"criterion-0.3.0/results","format":"criterion","sha256":"…","started_from":"file_time"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"elements_per_second":{"unit":"1/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sums/fold","params":{"function":"fold","group":"sums"}},"block":0,"position":0,"attempt":0,"attributes":{"work":{"elements":100.0}}}
    {"v":1,"kind":"instance_end","instance":"#2","ended":"…","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":11427,"outcome":"ok","metrics":{"elements_per_second":6760658375.832732,"wall_time":1.4791458825588518e-8}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":22854,"outcome":"ok","metrics":{"elements_per_second":6761458444.278766,"wall_time":1.4789708584930429e-8}}
    {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"loops":34281,"outcome":"ok","metrics":{"elements_per_second":6751324918.712717,"wall_time":1.4811907470610542e-8}}
    {"v":1,"kind":"iteration","instance":"#2","index":3,"burn_in":false,"loops":45708,"outcome":"ok","metrics":{"elements_per_second":6743980169.971671,"wall_time":1.4828038855342611e-8}}
    {"v":1,"kind":"iteration","instance":"#2","index":4,"burn_in":false,"loops":57135,"outcome":"ok","metrics":{"elements_per_second":6738849671.815014,"wall_time":1.4839327907587293e-8}}
    {"v":1,"kind":"iteration","instance":"#2","index":5,"burn_in":false,"loops":68562,"outcome":"ok","metrics":{"elements_per_second":4930659233.497588,"wall_time":2.0281263673755142e-8}}
    {"v":1,"kind":"iteration","instance":"#2","index":6,"burn_in":false,"loops":79989,"outcome":"ok","metrics":{"elements_per_second":6983383373.245948,"wall_time":1.43197064596382e-8}}
    {"v":1,"kind":"iteration","instance":"#2","index":7,"burn_in":false,"loops":91416,"outcome":"ok","metrics":{"elements_per_second":6934143237.056129,"wall_time":1.442139231644351e-8}}
    {"v":1,"kind":"iteration","instance":"#2","index":8,"burn_in":false,"loops":102843,"outcome":"ok","metrics":{"elements_per_second":6708142354.056175,"wall_time":1.4907256692239626e-8}}
    {"v":1,"kind":"iteration","instance":"#2","index":9,"burn_in":false,"loops":114270,"outcome":"ok","metrics":{"elements_per_second":6753414383.762018,"wall_time":1.480732475715411e-8}}
    left, as it follows from the benchmark's name: directory_name
    left, as they are copies of other measurements: base
    left, as they follow from the samples: estimates.json, tukey.json, raw.csv
    "##);
}

#[test]
fn messages_of_cargo_criterion_are_read_too() {
    insta::assert_snapshot!(shown(&imported("cargo-criterion-1.1.0/messages.json")), @r##"
    criterion because it has messages with `reason` and `measured_values`
    {"v":1,"kind":"session","id":"#0","suite":"criterion","started":"2026-01-01T00:00:00Z","tool":"cargo-criterion","name":"messages","attributes":{"source":{"file":"messages.json","format":"criterion","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes_per_second":{"unit":"B/s","better":"higher"},"elements_per_second":{"unit":"1/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"plain sum"},"block":0,"position":0,"attempt":0,"attributes":{"report_directory":"/tmp/demo/rs/target/criterion/reports/plain sum"}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":65374,"outcome":"ok","metrics":{"wall_time":2.5292471012940927e-9}}
    {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":130748,"outcome":"ok","metrics":{"wall_time":2.5343714626609967e-9}}
    {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"loops":196122,"outcome":"ok","metrics":{"wall_time":2.712867500841313e-9}}
    {"v":1,"kind":"iteration","instance":"#2","index":3,"burn_in":false,"loops":261496,"outcome":"ok","metrics":{"wall_time":2.702198121577386e-9}}
    {"v":1,"kind":"iteration","instance":"#2","index":4,"burn_in":false,"loops":326870,"outcome":"ok","metrics":{"wall_time":2.5429344999541103e-9}}
    {"v":1,"kind":"iteration","instance":"#2","index":5,"burn_in":false,"loops":392244,"outcome":"ok","metrics":{"wall_time":2.594963849032745e-9}}
    {"v":1,"kind":"iteration","instance":"#2","index":6,"burn_in":false,"loops":457618,"outcome":"ok","metrics":{"wall_time":2.5236376191495962e-9}}
    {"v":1,"kind":"iteration","instance":"#2","index":7,"burn_in":false,"loops":522992,"outcome":"ok","metrics":{"wall_time":2.8877535411631534e-9}}
    {"v":1,"kind":"iteration","instance":"#2","index":8,"burn_in":false,"loops":588366,"outcome":"ok","metrics":{"wall_time":3.1903611017631885e-9}}
    {"v":1,"kind":"iteration","instance":"#2","index":9,"burn_in":false,"loops":653740,"outcome":"ok","metrics":{"wall_time":3.154948450454309e-9}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sums/of: numbers/fold/100"},"block":0,"position":1,"attempt":0,"attributes":{"report_directory":"/tmp/demo/rs/target/criterion/reports/sums_of_ numbers/fold/100","work":{"elements":100.0}}}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":4806,"outcome":"ok","metrics":{"elements_per_second":5172246795.596164,"wall_time":1.9333957553058677e-8}}
    {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"loops":9612,"outcome":"ok","metrics":{"elements_per_second":5271123979.994736,"wall_time":1.8971285892634207e-8}}
    {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"loops":14418,"outcome":"ok","metrics":{"elements_per_second":5400647268.586497,"wall_time":1.8516299070606186e-8}}
    {"v":1,"kind":"iteration","instance":"#3","index":3,"burn_in":false,"loops":19224,"outcome":"ok","metrics":{"elements_per_second":5372924084.808577,"wall_time":1.8611839367457345e-8}}
    {"v":1,"kind":"iteration","instance":"#3","index":4,"burn_in":false,"loops":24030,"outcome":"ok","metrics":{"elements_per_second":5513870723.480416,"wall_time":1.8136079900124843e-8}}
    {"v":1,"kind":"iteration","instance":"#3","index":5,"burn_in":false,"loops":28836,"outcome":"ok","metrics":{"elements_per_second":5211309604.489142,"wall_time":1.9189034540158136e-8}}
    {"v":1,"kind":"iteration","instance":"#3","index":6,"burn_in":false,"loops":33642,"outcome":"ok","metrics":{"elements_per_second":4578288986.630667,"wall_time":2.184222103323227e-8}}
    {"v":1,"kind":"iteration","instance":"#3","index":7,"burn_in":false,"loops":38448,"outcome":"ok","metrics":{"elements_per_second":5292048163.58441,"wall_time":1.889627548897212e-8}}
    {"v":1,"kind":"iteration","instance":"#3","index":8,"burn_in":false,"loops":43254,"outcome":"ok","metrics":{"elements_per_second":5216057459.357707,"wall_time":1.9171567947473064e-8}}
    {"v":1,"kind":"iteration","instance":"#3","index":9,"burn_in":false,"loops":48060,"outcome":"ok","metrics":{"elements_per_second":5859589316.67386,"wall_time":1.7066042446941324e-8}}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"sums/of: numbers/fold/1000"},"block":0,"position":2,"attempt":0,"attributes":{"report_directory":"/tmp/demo/rs/target/criterion/reports/sums_of_ numbers/fold/1000","work":{"elements":1000.0}}}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":1079,"outcome":"ok","metrics":{"elements_per_second":5910644638.240063,"wall_time":1.6918628359592215e-7}}
    {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"loops":2158,"outcome":"ok","metrics":{"elements_per_second":5701995434.176038,"wall_time":1.7537720111214087e-7}}
    {"v":1,"kind":"iteration","instance":"#4","index":2,"burn_in":false,"loops":3237,"outcome":"ok","metrics":{"elements_per_second":4702638387.882679,"wall_time":2.1264658634538154e-7}}
    {"v":1,"kind":"iteration","instance":"#4","index":3,"burn_in":false,"loops":4316,"outcome":"ok","metrics":{"elements_per_second":5735151856.615889,"wall_time":1.7436329935125115e-7}}
    {"v":1,"kind":"iteration","instance":"#4","index":4,"burn_in":false,"loops":5395,"outcome":"ok","metrics":{"elements_per_second":5706699951.342318,"wall_time":1.7523262279888786e-7}}
    {"v":1,"kind":"iteration","instance":"#4","index":5,"burn_in":false,"loops":6474,"outcome":"ok","metrics":{"elements_per_second":5876997012.481129,"wall_time":1.7015492740191536e-7}}
    {"v":1,"kind":"iteration","instance":"#4","index":6,"burn_in":false,"loops":7553,"outcome":"ok","metrics":{"elements_per_second":5634679126.173393,"wall_time":1.7747239507480473e-7}}
    {"v":1,"kind":"iteration","instance":"#4","index":7,"burn_in":false,"loops":8632,"outcome":"ok","metrics":{"elements_per_second":5370306658.694988,"wall_time":1.8620910565338275e-7}}
    {"v":1,"kind":"iteration","instance":"#4","index":8,"burn_in":false,"loops":9711,"outcome":"ok","metrics":{"elements_per_second":5518761287.858726,"wall_time":1.8120008238080527e-7}}
    {"v":1,"kind":"iteration","instance":"#4","index":9,"burn_in":false,"loops":10790,"outcome":"ok","metrics":{"elements_per_second":5514079299.512626,"wall_time":1.8135393883225207e-7}}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"sums/of: numbers/bytes"},"block":0,"position":3,"attempt":0,"attributes":{"report_directory":"/tmp/demo/rs/target/criterion/reports/sums_of_ numbers/bytes","work":{"bytes":800.0}}}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":8485,"outcome":"ok","metrics":{"bytes_per_second":36676824655.81707,"wall_time":2.1812139068945198e-8}}
    {"v":1,"kind":"iteration","instance":"#5","index":1,"burn_in":false,"loops":16970,"outcome":"ok","metrics":{"bytes_per_second":37310848618.43226,"wall_time":2.1441484973482617e-8}}
    {"v":1,"kind":"iteration","instance":"#5","index":2,"burn_in":false,"loops":25455,"outcome":"ok","metrics":{"bytes_per_second":32250043947.098778,"wall_time":2.4806167747004518e-8}}
    {"v":1,"kind":"iteration","instance":"#5","index":3,"burn_in":false,"loops":33940,"outcome":"ok","metrics":{"bytes_per_second":36820265249.11177,"wall_time":2.1727165586328815e-8}}
    {"v":1,"kind":"iteration","instance":"#5","index":4,"burn_in":false,"loops":42425,"outcome":"ok","metrics":{"bytes_per_second":36480188484.55665,"wall_time":2.1929711255156157e-8}}
    {"v":1,"kind":"iteration","instance":"#5","index":5,"burn_in":false,"loops":50910,"outcome":"ok","metrics":{"bytes_per_second":36400068281.40878,"wall_time":2.1977980750343743e-8}}
    {"v":1,"kind":"iteration","instance":"#5","index":6,"burn_in":false,"loops":59395,"outcome":"ok","metrics":{"bytes_per_second":32820606334.38531,"wall_time":2.4374930549709572e-8}}
    {"v":1,"kind":"iteration","instance":"#5","index":7,"burn_in":false,"loops":67880,"outcome":"ok","metrics":{"bytes_per_second":36013977434.22959,"wall_time":2.2213597525044195e-8}}
    {"v":1,"kind":"iteration","instance":"#5","index":8,"burn_in":false,"loops":76365,"outcome":"ok","metrics":{"bytes_per_second":36113789293.667206,"wall_time":2.215220323446605e-8}}
    {"v":1,"kind":"iteration","instance":"#5","index":9,"burn_in":false,"loops":84850,"outcome":"ok","metrics":{"bytes_per_second":35588364051.97746,"wall_time":2.2479257513258693e-8}}
    {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"flat/5000"},"block":0,"position":4,"attempt":0,"attributes":{"report_directory":"/tmp/demo/rs/target/criterion/reports/flat/5000"}}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":1409,"outcome":"ok","metrics":{"wall_time":7.792604684173173e-7}}
    {"v":1,"kind":"iteration","instance":"#6","index":1,"burn_in":false,"loops":1409,"outcome":"ok","metrics":{"wall_time":7.11764371894961e-7}}
    {"v":1,"kind":"iteration","instance":"#6","index":2,"burn_in":false,"loops":1409,"outcome":"ok","metrics":{"wall_time":7.318651525904898e-7}}
    {"v":1,"kind":"iteration","instance":"#6","index":3,"burn_in":false,"loops":1409,"outcome":"ok","metrics":{"wall_time":7.763037615330021e-7}}
    {"v":1,"kind":"iteration","instance":"#6","index":4,"burn_in":false,"loops":1409,"outcome":"ok","metrics":{"wall_time":8.106628814762242e-7}}
    {"v":1,"kind":"iteration","instance":"#6","index":5,"burn_in":false,"loops":1409,"outcome":"ok","metrics":{"wall_time":9.906117814052519e-7}}
    {"v":1,"kind":"iteration","instance":"#6","index":6,"burn_in":false,"loops":1409,"outcome":"ok","metrics":{"wall_time":9.035479063165366e-7}}
    {"v":1,"kind":"iteration","instance":"#6","index":7,"burn_in":false,"loops":1409,"outcome":"ok","metrics":{"wall_time":8.995961674946771e-7}}
    {"v":1,"kind":"iteration","instance":"#6","index":8,"burn_in":false,"loops":1409,"outcome":"ok","metrics":{"wall_time":8.138396025550035e-7}}
    {"v":1,"kind":"iteration","instance":"#6","index":9,"burn_in":false,"loops":1409,"outcome":"ok","metrics":{"wall_time":8.63168204400284e-7}}
    left, as these messages hold no measurement: group-complete
    left, as they follow from the samples: change, mean, median, median_abs_dev, slope, typical
    kept in attributes of the instance: report_directory
    "##);
}

#[test]
fn the_root_and_what_is_below_it_is_one_result_and_what_is_above_is_not() {
    let found = |name: &str| is_at(&fixture(name)).is_some();
    assert!(found("criterion-0.8.2/baselines"));
    assert!(found("criterion-0.8.2/baselines/flat"));
    assert!(found("criterion-0.8.2/baselines/flat/5000"));
    assert!(found("criterion-0.8.2/baselines/flat/5000/before"));
    assert!(!found("criterion-0.8.2"));
    assert!(!found("divan-0.1.21"));
    let places = places_at(&fixture("criterion-0.8.2"))
        .expect("places")
        .places;
    let folders: Vec<String> = places
        .iter()
        .filter(|place| place.path.is_dir())
        .filter_map(|place| Some(place.path.file_name()?.to_str()?.to_owned()))
        .collect();
    assert_eq!(folders, ["baselines", "quick", "truncated", "wrong"]);
}

#[test]
fn a_sample_file_brings_its_folder() {
    let file = fixture("criterion-0.8.2/baselines/flat/5000/before/sample.json");
    let imported = of_folder(&file, BadLines::Refuse).expect("good");
    let alone = of_folder(file.parent().expect("a folder"), BadLines::Refuse).expect("good");
    assert_eq!(imported.records, alone.records);
    let root = fixture("criterion-0.3.0/results");
    let old = root.join("sums/fold/new/sample.json");
    let imported = of_folder(&old, BadLines::Refuse).expect("good");
    assert_eq!(
        imported.because,
        Some("it is called `sample.json` and has `benchmark.json` beside it")
    );
    assert_eq!(imported.appended.of(RecordKind::Instance).new, 1);
}

#[test]
fn what_is_broken_is_named_with_its_file_and_may_be_left_out() {
    let place = fixture("").display().to_string();
    let broken = |name: &str| {
        let error = of_folder(&fixture(name), BadLines::Refuse).expect_err("bad on purpose");
        error.to_string().replace(&place, "")
    };
    let results = tempfile::tempdir().expect("a folder");
    copy(&fixture("criterion-0.8.2/quick"), results.path());
    copy(&fixture("criterion-0.8.2/wrong"), results.path());
    let skipped = of_folder(results.path(), BadLines::Skip).expect("kept going");
    let results = format!("{}/", results.path().display());
    let nothing_good = of_folder(&fixture("criterion-0.8.2/wrong"), BadLines::Skip);
    let nothing_good = nothing_good.expect_err("nothing is left").to_string();
    let all = [
        broken("criterion-0.3.0/truncated"),
        broken("criterion-0.3.0/wrong"),
        refusal("cargo-criterion-1.1.0/truncated.json"),
        refusal("cargo-criterion-1.1.0/wrong.json"),
        broken("criterion-0.8.2/truncated"),
        broken("criterion-0.8.2/wrong"),
        nothing_good.replace(&place, ""),
        skipped.bad_lines[0]
            .in_source("the folder")
            .replace(&results, ""),
        refusal("criterion-0.8.2/baselines/flat/5000/new/sample.json"),
        refusal_of(
            "criterion",
            r#"{"reason":"benchmark-complete","measured_values":[1]}"#,
        ),
        refusal_of(
            "criterion",
            r#"{"reason":"benchmark-complete","id":"a","iteration_count":[1],"measured_values":["fast"]}"#,
        ),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    criterion-0.3.0/truncated/sums/fold/new/sample.json:1: the JSON is cut off
    criterion-0.3.0/wrong/sums/fold/new/sample.json:1: `[1][0]`: invalid type: string "169022 ns", expected a number
    truncated.json:4: the JSON is cut off
    wrong.json:3: invalid type: string "many", expected a number
    criterion-0.8.2/truncated/flat/5000/new/sample.json:1: the JSON is cut off
    criterion-0.8.2/wrong/flat/5000/new/sample.json:1: `times` has a negative one: -1006291
    nothing good in criterion-0.8.2/wrong: criterion-0.8.2/wrong/flat/5000/new/sample.json:1: `times` has a negative one: -1006291
    flat/5000/new/sample.json:1: `times` has a negative one: -1006291
    sample.json:1: the name of the benchmark is missing, which stands in a `benchmark.json` beside it: import its directory
    made-up:1: `id` is missing
    made-up:1: invalid type: string "fast", expected a number
    "#);
}

/// Copies a folder with everything in it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).expect("it copies");
        }
    }
}

#[test]
fn importing_again_adds_what_was_measured_since() {
    let place = tempfile::tempdir().expect("a folder");
    let results = place.path().join("criterion");
    copy(&fixture("criterion-0.8.2/baselines"), &results);
    let mut store = Store::open(&place.path().join("a.db")).expect("a store");
    let mut new = || {
        let source = Source::open(&results, place.path()).expect("it opens");
        let imported = import(&mut store, &source, &options(BadLines::Refuse)).expect("good");
        let of = |kind| imported.appended.of(kind).new;
        (of(RecordKind::Session), of(RecordKind::Instance))
    };
    assert_eq!(new(), (3, 7));
    assert_eq!(new(), (0, 0));
    let benchmark = results.join("plain sum");
    let samples = r#"{"sampling_mode":"Flat","iters":[2,2],"times":[10,12]}"#;
    std::fs::write(benchmark.join("new/sample.json"), samples).expect("it writes");
    std::fs::write(benchmark.join("base/sample.json"), samples).expect("it writes");
    assert_eq!(new(), (1, 1));
    // What was the latest is saved as a baseline now: it is in the store already.
    copy(&benchmark.join("new"), &benchmark.join("saved"));
    assert_eq!(new(), (0, 0));
}
