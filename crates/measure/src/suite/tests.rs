use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::*;
use lapwing_model::{Level, Metric};

fn parse(text: &str) -> Result<Suite, SuiteError> {
    Suite::parse(Path::new("lapwing.toml"), text, Path::new("/bench"))
}

fn error(text: &str) -> String {
    let error = parse(text).expect_err("something is wrong");
    match error.suggestion() {
        Some(name) => format!("{error}; did you mean `{name}`?"),
        None => error.to_string(),
    }
}

const FULL: &str = r#"
suite = "compressors"
[version]
repository = "../dask"
[defaults]
instances = 10
time_limit = "200s"
cpus = "1"
env = { LC_ALL = "C" }
[environment]
numpy = "python3 -c 'import numpy; print(numpy.__version__)'"

[benchmark.zstd]
command = ["zstd", "-{level}", "-T{threads}", "{file}"]
params = { level = [1, 19], threads = [1, 2], file = "corpus.bin" }
tags = ["io"]
setup = "rm -f {file}.zst"
burn_in = "auto"
iterations = 7
work = { bytes = 104857600 }
env = { OMP_NUM_THREADS = 2 }

[benchmark.perf]
command = "parsl-perf --config c.py"
metrics = "json"
exit_codes = [0, 3]
metric.rate = { regex = 'Tasks per second: ([0-9.]+)', unit = "1/s", better = "higher", take = "max" }
metric.depth = { unit = "1" }

[factor.threads]
levels = [1, 4]
apply.env = { OMP_NUM_THREADS = "{level}" }
[factor.safe]
apply.arguments = ["--safe"]
[variant.baseline]
[variant.fast]
factors = { threads = 4, safe = true }
"#;

#[test]
fn a_suite_becomes_a_plan_with_every_default_filled_in() {
    let plan = parse(FULL).expect("correct").plan(&Settings::default(), 7);
    let ids: Vec<&str> = plan
        .cases
        .iter()
        .map(|case| case.benchmark.id.as_str())
        .collect();
    assert_eq!(
        ids,
        [
            "zstd[level=1,threads=1]",
            "zstd[level=1,threads=2]",
            "zstd[level=19,threads=1]",
            "zstd[level=19,threads=2]",
            "perf",
        ]
    );
    let zstd = &plan.cases[3];
    assert_eq!(
        zstd.command,
        CommandLine::Words(vec![
            "zstd".to_owned(),
            "-19".to_owned(),
            "-T2".to_owned(),
            "corpus.bin".to_owned()
        ])
    );
    assert_eq!(
        zstd.setup,
        Some(CommandLine::Shell("rm -f corpus.bin.zst".to_owned()))
    );
    assert_eq!(
        (
            zstd.instances,
            zstd.burn_in,
            zstd.iterations,
            zstd.max_failures
        ),
        (10, BurnIn::Auto, 7, 3)
    );
    assert_eq!(zstd.time_limit, Some(Duration::from_secs(200)));
    assert_eq!(zstd.directory.as_deref(), Some("/bench"));
    assert_eq!(zstd.environment["LC_ALL"], "C");
    assert_eq!(zstd.environment["OMP_NUM_THREADS"], "2");
    assert_eq!(
        json!(zstd.benchmark.params),
        json!({"level": 19, "threads": 2, "file": "corpus.bin"})
    );
    let perf = &plan.cases[4];
    assert_eq!(perf.metrics["rate"], Metric::higher("1/s"));
    assert_eq!(perf.metrics["depth"], Metric::undirected("1"));
    assert_eq!(perf.patterns["rate"].take, MatchChoice::Max);
    assert_eq!(perf.exit_codes, ExitCodes::These(vec![0, 3]));
    assert_eq!(plan.variants[0].environment.len(), 0);
    assert_eq!(plan.variants[1].environment["OMP_NUM_THREADS"], "4");
    assert_eq!(plan.variants[1].arguments, ["--safe"]);
    assert_eq!(plan.variants[1].factors["threads"], Level::Integer(4));
    assert_eq!(
        (plan.cpus.as_deref(), plan.seed, plan.suite.as_str()),
        (Some("1"), 7, "compressors")
    );
    assert_eq!(
        plan.version,
        VersionSource::Repository("/bench/../dask".to_owned())
    );
}

#[test]
fn the_command_line_overrides_the_suite() {
    let overrides = Settings {
        instances: Some(2),
        burn_in: Some(BurnIn::Fixed(0)),
        ..Settings::default()
    };
    let plan = parse(FULL).expect("correct").plan(&overrides, 1);
    assert!(
        plan.cases
            .iter()
            .all(|case| case.instances == 2 && case.burn_in == BurnIn::Fixed(0))
    );
}

#[test]
fn a_plan_survives_its_json_form() {
    let plan = parse(FULL).expect("correct").plan(&Settings::default(), 7);
    let text = serde_json::to_string(&plan).expect("writable");
    assert_eq!(serde_json::from_str::<Plan>(&text).expect("readable"), plan);
}

#[test]
fn the_fingerprint_is_of_the_meaning_and_not_of_the_number_of_repeats() {
    let fingerprint = |text: &str| {
        let plan = parse(text).expect("correct").plan(&Settings::default(), 1);
        plan.cases[0].benchmark.fingerprint.clone()
    };
    let once = fingerprint("[benchmark.a]\ncommand = 'true'");
    assert_eq!(
        once,
        fingerprint("[benchmark.a]\ncommand = 'true'\niterations = 99")
    );
    assert_ne!(once, fingerprint("[benchmark.a]\ncommand = 'false'"));
}

#[test]
fn a_fingerprint_does_not_depend_on_what_is_hidden() {
    let fingerprint = |text: &str| {
        let plan = parse(text).expect("correct").plan(&Settings::default(), 1);
        plan.cases[0].benchmark.fingerprint.clone()
    };
    let secret = |value: &str| {
        let command = format!(
            "[benchmark.a]\ncommand = ['login', '--password', '{value}']\nenv = {{API_TOKEN = '{value}'}}"
        );
        fingerprint(&command)
    };
    assert_eq!(secret("hunter2"), secret("hunter3"));
    let variable = |value: u32| {
        fingerprint(&format!(
            "[record]\nhide = ['env.*']\n[benchmark.a]\ncommand = 'true'\nenv = {{PIN = '{value}'}}"
        ))
    };
    assert_eq!(variable(1), variable(2));
    let shown = |value: u32| {
        fingerprint(&format!(
            "[benchmark.a]\ncommand = 'true'\nenv = {{PIN = '{value}'}}"
        ))
    };
    assert_ne!(shown(1), shown(2));
}

#[test]
fn factors_without_variants_are_crossed() {
    let plan = parse(
        "[benchmark.a]\ncommand = 'true'\n[factor.x]\nlevels = [1, 2]\napply.env = { X = '{level}' }\n\
         [factor.y]\napply.arguments = ['-y']",
    )
    .expect("correct")
    .plan(&Settings::default(), 1);
    let names: Vec<&str> = plan.variants.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        names,
        ["x=1,y=false", "x=1,y=true", "x=2,y=false", "x=2,y=true"]
    );
}

#[test]
fn factors_have_constraints_tags_and_a_base() {
    let text = "[benchmark.a]\ncommand = 'true'\n[factor.a]\nlevels = [1, 2]\nbase = 2\ntags = ['config']\nnice = -1\n\
                apply.env.A = '{level}'\n[factor.b]\nrequires = ['a']\napply.setup = 'prepare {level}'\n\
                apply.cpus = '0'\n[factor.c]\nexcludes = ['b']\napply.arguments = ['-c']\napply.worktree = 'v1'\n\
                apply.python = ['dask']\napply.python_version = '3.12'";
    let suite = parse(text).expect("correct");
    let a = &suite.factors()[0];
    assert_eq!(
        (&a.base, a.tags.as_slice(), a.nice),
        (
            &Level::Integer(2),
            ["config".to_owned()].as_slice(),
            Some(-1)
        )
    );
    let variants = suite.variants();
    let names: Vec<&str> = variants.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "a=1,b=false,c=false",
            "a=1,b=false,c=true",
            "a=1,b=true,c=false",
            "a=2,b=false,c=false",
            "a=2,b=false,c=true"
        ]
    );
    let (of_c, of_b) = (&variants[1], &variants[2]);
    assert_eq!(
        of_b.factor_setups,
        [CommandLine::Shell("prepare true".to_owned())]
    );
    assert_eq!(
        (of_b.cpus.as_deref(), of_b.worktree.as_deref()),
        (Some("0"), None)
    );
    assert_eq!(of_c.worktree.as_deref(), Some("v1"));
    let python = of_c.python.as_ref().and_then(|it| it.version.as_deref());
    assert_eq!(python, Some("3.12"));
}

#[test]
fn errors_of_factors_name_their_line() {
    let a = "[benchmark.a]\ncommand = 'true'\n[factor.x]\napply.env.X = '1'\n";
    let errors: Vec<String> = [
        "requires = ['y']",
        "excludes = ['x']",
        "base = 3",
        "nice = 'very'",
        "tags = 'config'",
        "apply.patch = 'missing.patch'",
        "[factor.y]\napply.python_version = '3'",
        "[factor.y]\napply.worktree = 'v1'\n[factor.z]\napply.worktree = 'v2'",
        "[factor.y]\nrequires = ['x']\napply.env.Y = '1'\n[variant.v]\nfactors = { y = true }",
        "[factor.y]\nexcludes = ['x']\napply.env.Y = '1'\n[variant.v]\nfactors = { x = true, y = true }",
    ]
    .iter()
    .map(|text| error(&format!("{a}{text}")))
    .collect();
    insta::assert_snapshot!(errors.join("\n"), @"
    lapwing.toml:5: factor `y` is not defined; did you mean `x`?
    lapwing.toml:5: `excludes` names the factor itself
    lapwing.toml:5: `base` has no level `3`: its levels are false, true
    lapwing.toml:5: `nice` must be a whole number, not a text
    lapwing.toml:5: `tags` must be a list, not a text
    lapwing.toml:5: `patch` cannot be read: missing.patch: No such file or directory (os error 2)
    lapwing.toml:6: `python_version` needs `python` beside it, which names the packages
    lapwing.toml:7: `z` and `y` both set `worktree`, of which a command has one: make them levels of one factor
    lapwing.toml:9: `factors` cannot be: `y` requires `x`
    lapwing.toml:9: `factors` cannot be: `y` excludes `x`
    ");
}

#[test]
fn errors_name_the_line_the_key_and_what_was_perhaps_meant() {
    let a = "[benchmark.a]\ncommand = 'true'\n";
    let errors: Vec<String> = [
        String::new(),
        "suite = ".to_owned(),
        format!("{a}itertions = 3"),
        "[benchmark.a]\ncomand = 'true'".to_owned(),
        "[benchmark.a]\niterations = 2".to_owned(),
        format!("{a}[defualts]\n"),
        format!("{a}iterations = 0"),
        format!("{a}iterations = -1"),
        format!("{a}iterations = 'many'"),
        format!("{a}burn_in = 'manual'"),
        format!("{a}time_limit = '3O s'"),
        format!("{a}params.level = []"),
        "[benchmark.a]\ncommand = 'x {a}'\nparams = { a = '{b}', b = '{a}' }".to_owned(),
        "[benchmark.a]\ncommand = 'x {levle}'\nparams.level = [1]".to_owned(),
        "[benchmark.a]\ncommand = 'x'\nparams.n = [1, 1]".to_owned(),
        "[benchmark.a]\ncommand = []".to_owned(),
        format!("{a}metric.rate.regex = '('"),
        format!("{a}metric.rate.better = 'more'"),
        format!("{a}work.bytes = 0"),
        format!("{a}exit_codes = [256]"),
        format!("{a}[factor.x]\nlevels = [1]"),
        format!("{a}[factor.xylem]\napply.env.X = '1'\n[variant.v]\nfactors = {{ xylen = true }}"),
        format!(
            "{a}[factor.x]\nlevels = [1, 2]\napply.env.X = '1'\n[variant.v]\nfactors = {{ x = 3 }}"
        ),
        format!("{a}[version]\nname = '1'\ncommand = 'x'"),
    ]
    .iter()
    .map(|text| error(text))
    .collect();
    insta::assert_snapshot!(errors.join("\n"), @r#"
    lapwing.toml:1: no benchmark is defined: add a table such as [benchmark.name] with a `command`
    lapwing.toml:1: string values must be quoted, expected literal string
    lapwing.toml:3: unknown key `itertions` in [benchmark.a]; did you mean `iterations`?
    lapwing.toml:2: unknown key `comand` in [benchmark.a]; did you mean `command`?
    lapwing.toml:1: `a` has no `command`
    lapwing.toml:3: unknown key `defualts` in the suite; did you mean `defaults`?
    lapwing.toml:3: `iterations` must be 1 or more
    lapwing.toml:3: `iterations` must be 0 or more, not -1
    lapwing.toml:3: `iterations` must be a whole number, not a text
    lapwing.toml:3: `burn_in` must be a whole number or "auto", not a text
    lapwing.toml:3: `time_limit` must be a time such as `200s` or `1.5 min`, not `3O s`
    lapwing.toml:3: `level` is an empty list, so no benchmark would be left
    lapwing.toml:1: the parameters a → b → a refer to each other in a circle
    lapwing.toml:2: parameter `levle` in `command` of `a` is not defined; did you mean `level`?
    lapwing.toml:3: `n` lists 1 twice
    lapwing.toml:2: `command` is empty
    lapwing.toml:3: `regex` is not a regular expression: unclosed group
    lapwing.toml:3: `better` is "lower" or "higher", not "more"
    lapwing.toml:3: `bytes` must be above zero
    lapwing.toml:3: `exit_codes` are from 0 to 255, and 256 is not
    lapwing.toml:3: `x` changes nothing: say what under `apply`, such as `apply.env` or `apply.arguments`
    lapwing.toml:6: factor `xylen` is not defined; did you mean `xylem`?
    lapwing.toml:7: `x` has no level `3`: its levels are 1, 2
    lapwing.toml:3: [version] has both `command` and `name`; keep one
    "#);
}

#[test]
fn nothing_is_measured_more_often_than_the_limits_say() {
    let errors: Vec<String> = [
        "instances = 100001",
        "burn_in = 1000001",
        "iterations = 1000001",
    ]
    .iter()
    .flat_map(|key| {
        let of_all = format!("[defaults]\n{key}\n[benchmark.a]\ncommand = 'true'");
        let of_one = format!("[benchmark.a]\ncommand = 'true'\n{key}");
        [error(&of_all), error(&of_one)]
    })
    .collect();
    insta::assert_snapshot!(errors.join("\n"), @"
    lapwing.toml:2: `instances` must be at most 100000, not 100001
    lapwing.toml:3: `instances` must be at most 100000, not 100001
    lapwing.toml:2: `burn_in` must be at most 1000000, not 1000001
    lapwing.toml:3: `burn_in` must be at most 1000000, not 1000001
    lapwing.toml:2: `iterations` must be at most 1000000, not 1000001
    lapwing.toml:3: `iterations` must be at most 1000000, not 1000001
    ");
    parse("[defaults]\ninstances = 100000\niterations = 1000000\n[benchmark.a]\ncommand = 'true'")
        .expect("just allowed");
}

#[test]
fn commands_of_the_command_line_become_a_plan() {
    let ad_hoc = AdHoc {
        commands: vec![
            CommandLine::Shell("gzip -6".to_owned()),
            CommandLine::Shell("gzip -6".to_owned()),
            CommandLine::Words(vec!["echo".to_owned(), "it's".to_owned()]),
        ],
        ..AdHoc::default()
    };
    let plan = ad_hoc
        .plan(Path::new("/here"), &Settings::default(), 3)
        .expect("no parameters");
    let ids: Vec<&str> = plan
        .cases
        .iter()
        .map(|case| case.benchmark.id.as_str())
        .collect();
    assert_eq!(ids, ["gzip -6", "gzip -6 #2", "echo 'it'\\''s'"]);
}

#[test]
fn commands_of_the_command_line_take_the_parameters_that_they_mention() {
    let ad_hoc = AdHoc {
        commands: ["gzip -{level}", "true", "sort {file}"]
            .map(|it| CommandLine::Shell(it.to_owned()))
            .to_vec(),
        names: ["gzip", "nothing", "sort of {file}"]
            .map(str::to_owned)
            .to_vec(),
        prepare: ["sync", "rm {file}", "true"]
            .map(|it| CommandLine::Shell(it.to_owned()))
            .to_vec(),
        parameters: vec![
            ("level".to_owned(), vec![json!(1), json!(9)]),
            ("file".to_owned(), vec![json!("a b")]),
        ],
        ..AdHoc::default()
    };
    let plan = ad_hoc.plan(Path::new("/here"), &Settings::default(), 3);
    let cases = plan.expect("correct").cases.into_iter();
    let told: Vec<String> = cases
        .map(|it| {
            let prepare = it.prepare.expect("one for each");
            format!(
                "{} {} {}",
                it.benchmark.id,
                json!(it.benchmark.params),
                command_text(&prepare)
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            r#"gzip[level=1] {"level":1} sync"#,
            r#"gzip[level=9] {"level":9} sync"#,
            r#"nothing[file=a b] {"file":"a b"} rm a b"#,
            r#"sort of a b {"file":"a b"} true"#,
        ]
    );
}

#[test]
fn a_range_is_every_number_of_it() {
    let ids = |range: &str| {
        let text = format!("[benchmark.a]\ncommand = 'a {{n}}'\nparams.n = '{range}'");
        let suite = parse(&text)?;
        let cases = suite.plan(&Settings::default(), 1).cases.into_iter();
        Ok::<_, SuiteError>(cases.map(|it| it.benchmark.id).collect::<Vec<_>>())
    };
    assert_eq!(
        ids("-1..1").expect("a range"),
        ["a[n=-1]", "a[n=0]", "a[n=1]"]
    );
    assert_eq!(ids("main..next").expect("a text"), ["a"]);
    let error = ids("8..1").expect_err("empty").to_string();
    assert!(error.contains("`n` is an empty range"), "{error}");
}

#[test]
fn tests_stand_where_their_table_stands_and_no_id_comes_twice() {
    let suite = parse(
        "[benchmark.a]\ncommand = 'a'\n[benchmark.t]\npytest = ['x', 'y']\npython = './venv/bin/python'\n\
         pytest_arguments = ['-k', 'io']\ntime_limit = '1.5 min'\n[benchmark.b]\ncommand = 'b'",
    )
    .expect("correct");
    let table = &suite.pytest()[0];
    assert_eq!(
        (table.paths.as_slice(), table.directory.as_str()),
        (["x", "y"].map(str::to_owned).as_slice(), "/bench")
    );
    assert_eq!(table.python, "/bench/venv/bin/python");
    assert_eq!(
        table.all_arguments(),
        ["--lapwing-time-limit=90", "-k", "io"]
    );
    let test = |id: &str| {
        let mut case = suite.plan(&Settings::default(), 1).cases[0].clone();
        case.benchmark.id = id.to_owned();
        case
    };
    let planned = |tests| suite.plan_with_tests(vec![tests], &Settings::default(), 1);
    let plan = planned(vec![test("x::1"), test("x::2")]).expect("no twins");
    let ids: Vec<&str> = plan
        .cases
        .iter()
        .map(|it| it.benchmark.id.as_str())
        .collect();
    assert_eq!(ids, ["a", "x::1", "x::2", "b"]);
    let twins = planned(vec![test("b")]).expect_err("twins");
    assert_eq!(twins.to_string(), "two benchmarks are called `b`");
    let with = |id: &str, metric: Metric| {
        let mut case = test(id);
        case.metrics.insert("rate".to_owned(), metric);
        case
    };
    let rates = [Metric::higher("1/s"), Metric::higher("B/s")];
    let [one, same, other] = [&rates[0], &rates[0], &rates[1]].map(Metric::clone);
    assert!(planned(vec![with("x::1", one.clone()), with("x::2", same)]).is_ok());
    let unlike = planned(vec![with("x::1", one), with("x::2", other)]).expect_err("two units");
    assert_eq!(
        unlike.to_string(),
        "metric `rate` is not the same for `x::1` and `x::2`: give one of them another name"
    );
}

#[test]
fn wrong_tables_of_tests_are_refused() {
    let wrong = [
        "[benchmark.t]\npytest = 3",
        "[benchmark.t]\npytest = []",
        "[benchmark.t]\npytest = 'x'\ncommand = 'y'",
        "[benchmark.t]\npytest = 'x'\nmin_time = '1s'",
        "[benchmark.t]\npytest = 'x'\npytest_argument = []",
        "[version]\ninterleave = 3\n[benchmark.t]\npytest = 'x'",
    ];
    insta::assert_snapshot!(wrong.map(error).join("\n"), @"
    lapwing.toml:2: `pytest` must be a path or a list of paths, not a whole number
    lapwing.toml:2: `pytest` is empty
    lapwing.toml:3: `command` is for commands, and this table has `pytest`
    lapwing.toml:3: `min_time` is for commands, and this table has `pytest`
    lapwing.toml:3: unknown key `pytest_argument` in [benchmark.t]; did you mean `pytest_arguments`?
    lapwing.toml:2: `interleave` must be true or false, not a whole number
    ");
}

#[test]
fn a_build_needs_no_other_word_on_the_version() {
    let suite =
        parse("[version]\nbuild = 'make'\ninterleave = false\n[benchmark.a]\ncommand = 'a'");
    let plan = suite.expect("correct").plan(&Settings::default(), 1);
    assert_eq!(plan.version, VersionSource::WorkingDirectory);
    assert_eq!(
        (plan.build, plan.interleave),
        (Some(CommandLine::Shell("make".to_owned())), false)
    );
}
