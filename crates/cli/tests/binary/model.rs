//! Contract of the output of `model` and `plan`.

use crate::serving::Serving;
use crate::support::{Bench, Run, shorttail, small_corpus};
use serde_json::Value;

pub(crate) fn model(arguments: &str) -> Run {
    shorttail(["model"].into_iter().chain(arguments.split(' ')))
}

#[track_caller]
fn close(got: &Value, expected: f64) {
    let got = got.as_f64().unwrap_or_else(|| panic!("{got} is no number"));
    assert!((got / expected - 1.0).abs() < 1e-6, "{got} {expected}");
}

/// Search times of two partitions, as a file of each kind.
fn times(bench: &Bench) -> [String; 3] {
    let path = |name: &str, text: String| bench.file(name, text).to_str().unwrap().to_owned();
    let rows: Vec<(f64, f64)> = (0..500)
        .map(|n| (f64::from(n % 7) + 1.0, f64::from(n % 5) + 1.0))
        .collect();
    let numbers = rows.iter().map(|(a, b)| format!("{a},{b}\n")).collect();
    let lines = rows
        .iter()
        .map(|(a, b)| format!("{{\"times_ms\":[{a},{b}]}}\n"))
        .collect();
    let bench_lines = rows
        .iter()
        .map(|(a, _)| format!("{{\"query\":\"x\",\"min_us\":{}}}\n", a * 1e3));
    let bench_lines = bench_lines
        .chain(["{\"queries\":500,\"mean_us\":1}\n".to_owned()])
        .collect();
    [
        path("times.csv", numbers),
        path("times.jsonl", lines),
        path("bench.jsonl", bench_lines),
    ]
}

#[test]
fn mmc_keys_are_the_contract() {
    let run = model("mmc --rate 150 --service 20 --servers 8 --json").ends(0);
    let line = &run.json_lines()[0];
    for (key, expected) in [
        ("utilisation", 0.9375),
        ("p_wait", 0.807252546),
        ("wait_ms", 80.7252546),
        ("service_ms", 50.0),
        ("response_ms", 130.7252546),
        ("queue_length", 12.10878819),
        ("in_system", 19.60878819),
        ("response_p50_ms", 102.5404900),
        ("response_p90_ms", 275.7158607),
        ("response_p95_ms", 346.2759329),
        ("response_p99_ms", 508.1832798),
        ("wait_p99_ms", 439.1051470),
        ("wait_constant_arrivals_ms", 36.1380471),
    ] {
        close(&line[key], expected);
    }
    assert!(line["assumptions"].as_str().unwrap().contains("Poisson"));
    let table = model("mmc --rate 150 --service 20 --servers 8 --variation 4")
        .ends(0)
        .stdout;
    for part in [
        "130.7 ms",
        "508.2 ms",
        "93.8 %",
        "assumed: Poisson",
        "an approximation",
    ] {
        assert!(table.contains(part), "{part:?} is missing: {table}");
    }
}

#[test]
fn curves_and_closed_loops() {
    let lines = model("mmc --service 20 --servers 8 --curve --json")
        .ends(0)
        .json_lines();
    let waits: Vec<f64> = lines
        .iter()
        .map(|line| line["wait_ms"].as_f64().unwrap())
        .collect();
    assert!(waits.len() > 10 && waits.is_sorted(), "{waits:?}");
    let line = &model("mmc --clients 64 --think 500 --service 20 --servers 8 --json")
        .ends(0)
        .json_lines()[0];
    close(&line["throughput_per_s"], 115.38243759);
    close(&line["response_ms"], 54.67713576);
}

#[test]
fn overload_and_nonsense_are_said() {
    model("mmc --rate 160 --service 20 --servers 8")
        .fails_saying(&["160 queries/s", "lower the rate"]);
    model("mmc --rate 1 --service 20 --servers 0").fails_saying(&["number of servers is 0"]);
    model("scenarios --rate 1 --service 20 --cores 8 --partitions 3")
        .fails_saying(&["partitions is 3", "divisor"]);
    model("simulate --mean 50 --rate 1 --cores 8 --partitions 3 --layout pinned")
        .fails_saying(&["pinned evenly"]);
    for (arguments, said) in [
        ("mmc --rate 0 --service 20 --servers 8", "above 0"),
        ("mmc --service 20 --servers 8", "--rate"),
        ("simulate", "TIMES"),
        ("simulate --mean 5 --rate 5..1", "20..400"),
        ("fly", "fly"),
    ] {
        let run = model(arguments).ends(2);
        assert!(run.stderr.contains(said), "{said:?} is missing: {run:#?}");
    }
}

#[test]
fn scenarios_and_crossings() {
    let lines = model(
        "scenarios --rate 150 --service 20 --cores 8 --smt-slowdown 1.5 --partitions 2 --json",
    )
    .ends(0)
    .json_lines();
    let saved: Vec<f64> = lines
        .iter()
        .map(|line| line["saved_ms"].as_f64().unwrap().round())
        .collect();
    assert_eq!(saved, [0.0, 54.0, 19.0, 89.0]);
    let lines = model("scenarios --rate 170 --service 20 --cores 8 --json")
        .ends(0)
        .json_lines();
    assert_eq!(
        (&lines[0]["overloaded"], &lines[1]["overloaded"]),
        (&true.into(), &false.into())
    );
    assert!(lines[0].get("response_ms").is_none() && lines[0]["saved_ms"].is_null());
    let lines = model("crossing --cores 8 --service 20 --partitions 2 --speed-up 1.8 --json")
        .ends(0)
        .json_lines();
    close(&lines[0]["crossing_per_s"], 122.7715674);
    assert_eq!(lines[0]["better_below"], "noSMT-Part");
    let by_tail =
        "crossing --cores 8 --service 20 --partitions 2 --speed-up 1.8 --share 0.99 --json";
    let tail = model(by_tail).ends(0).json_lines()[0]["crossing_per_s"]
        .as_f64()
        .unwrap();
    assert!(tail > 122.8, "the tail gains more: {tail}");
}

#[test]
fn simulations_of_files() {
    let bench = Bench::new();
    let [numbers, lines, measured] = times(&bench);
    let simulate = |file: &str, more: &str| {
        let fixed =
            format!("simulate {file} --cores 2 --rate 100,200 --queries 2000 --runs 3 --json");
        model(&format!("{fixed}{more}")).ends(0)
    };
    let run = simulate(&numbers, "");
    assert_eq!(
        run.stdout,
        simulate(&lines, "").stdout,
        "the kind of file does not matter"
    );
    assert_eq!(
        run.stdout,
        simulate(&numbers, "").stdout,
        "a seed decides everything"
    );
    assert_ne!(run.stdout, simulate(&numbers, " --seed 2").stdout);
    let found = run.json_lines();
    assert_eq!(found.len(), 2);
    let (p50, p99) = (&found[0]["response_p50_ms"], &found[0]["response_p99_ms"]);
    assert!(
        p50.as_f64() < p99.as_f64() && found[0]["response_p999_ms"].is_null(),
        "5400 answers have no p99.9"
    );
    // 3.988 ms of one core on average.
    close(
        &simulate(&measured, "").json_lines()[0]["load"],
        100.0 * 3.988e-3 / 2.0,
    );
    let overloaded = &simulate(&measured, " --partitions 2 --speed-up 0.5").json_lines()[1];
    assert_eq!(overloaded["overloaded"], true);
    assert!(overloaded["response_ms"].is_null(), "{overloaded}");
    let bounded = &simulate(&measured, " --partitions 2 --speed-up 0.5 --queue 2").json_lines()[1];
    assert!(bounded["refused"].as_u64().unwrap() > 0 && bounded["response_ms"].is_number());
    for layout in ["gang", "pinned", "per-core"] {
        assert_eq!(
            simulate(&numbers, &format!(" --layout {layout}"))
                .json_lines()
                .len(),
            2
        );
    }
    let smt = simulate(
        &numbers,
        " --smt-slowdown 1.5 --policy idle-share --deadline 50 --arrivals constant",
    );
    assert_eq!(smt.json_lines().len(), 2);
    simulate(&numbers, " --little 1 --contention 0.1");
    let unasked = format!("simulate {numbers} --cores 2 --queries 1000 --runs 2 --json");
    let unasked = model(&unasked).ends(0).json_lines();
    assert_eq!(unasked.len(), 10);
    // 6.988 ms a query on two cores.
    let last = &unasked[9];
    close(
        &last["load"],
        last["rate_per_s"].as_f64().unwrap() * 6.988e-3 / 2.0,
    );
    assert!((0.94..0.96).contains(&last["load"].as_f64().unwrap()));
    let table = model(&format!(
        "simulate {numbers} --cores 2 --rate 100 --queries 2000 --runs 2"
    ))
    .ends(0)
    .stdout;
    assert!(
        table.contains("2 parts a query") && table.contains(" ± "),
        "{table}"
    );
}

#[test]
fn arrivals_interference_and_energy() {
    let bench = Bench::new();
    let [numbers, ..] = times(&bench);
    let simulate = |more: &str| {
        let fixed = format!("simulate {numbers} --cores 2 --runs 3");
        model(&format!("{fixed} {more}"))
    };
    let line = |more: &str| {
        let lines = simulate(&format!("--json {more}")).ends(0).json_lines();
        assert_eq!(lines.len(), 1);
        lines.into_iter().next().unwrap()
    };
    let ramp = line("--arrivals ramp --from 50 --to 150 --queries 2000");
    close(&ramp["rate_per_s"], 100.0);
    // 200 queries at equal distances of 10 ms, as a recording; it says how many a run has.
    let instants: Vec<String> = (1..=200)
        .map(|n| format!("{}", f64::from(n) / 100.0))
        .collect();
    let trace = bench.file("trace.txt", instants.join("\n"));
    let trace = trace.to_str().unwrap();
    let traced = line(&format!("--arrivals trace --trace {trace}"));
    assert_eq!(traced["offered"], 3 * 180);
    close(&traced["rate_per_s"], 100.0);
    let constant = line("--arrivals constant --rate 100 --queries 200");
    close(
        &traced["response_p50_ms"],
        constant["response_p50_ms"].as_f64().unwrap(),
    );

    let plain = line("--rate 100 --queries 5000");
    assert!(plain["watts_estimated"].is_null());
    let disturbed = line("--rate 100 --queries 5000 --disturbances 2,100,4");
    assert!(disturbed["response_ms"].as_f64() > plain["response_ms"].as_f64());
    let energy = line("--rate 100 --queries 5000 --power 10,2,5");
    close(
        &energy["response_ms"],
        plain["response_ms"].as_f64().unwrap(),
    );
    // Two idle cores and the rest take 9 W, and each busy core 8 W more.
    let watts = energy["watts_estimated"].as_f64().unwrap();
    let expected = 9.0 + 16.0 * energy["utilisation"].as_f64().unwrap();
    assert!((watts / expected - 1.0).abs() < 0.02, "{energy}");
    let joules = energy["joules_per_query_above_idle_estimated"]
        .as_f64()
        .unwrap();
    assert!((joules / (6.988e-3 * 8.0) - 1.0).abs() < 0.05, "{energy}");
    let little = line("--rate 100 --queries 5000 --little 1 --power 10,2,5 --little-power 1,0.2");
    assert!(little["watts_estimated"].as_f64() < Some(watts), "{little}");
    let table = simulate("--rate 100 --queries 2000 --power 10,2,5")
        .ends(0)
        .stdout;
    assert!(
        table.contains("energy is estimated, not measured"),
        "{table}"
    );

    let refused = [
        ("--arrivals ramp", "--from PER_S and --to"),
        (
            "--arrivals ramp --from 1 --to 2 --rate 5",
            "--rate belongs to",
        ),
        ("--arrivals trace", "--trace FILE"),
        ("--from 1 --to 2", "belong to --arrivals ramp"),
        ("--arrivals trace --trace absent", "absent"),
    ];
    for (more, said) in refused {
        simulate(more).fails_saying(&[said]);
    }
    for (more, said) in [
        ("--power 1,2", "3 numbers"),
        ("--disturbances 1,0,2", "above 0"),
    ] {
        assert!(simulate(more).ends(2).stderr.contains(said), "{more}");
    }
}

#[test]
fn searches_are_replayed_in_their_order() {
    let bench = Bench::new();
    // 60 queries take 1 ms each and 60 others 9 ms: replayed at equal distances of 10 ms, no query waits.
    let times: Vec<&str> = (0..120)
        .map(|n| if n % 2 == 0 { "1" } else { "9" })
        .collect();
    let file = bench.file("times.csv", times.join("\n"));
    let file = file.to_str().unwrap();
    let replay = |more: &str| {
        let fixed =
            format!("simulate {file} --replay --arrivals constant --rate 100 --runs 2 --json");
        model(&format!("{fixed} {more}")).ends(0).json_lines()
    };
    let line = &replay("--cores 1")[0];
    assert_eq!(line["offered"], 2 * 108);
    close(&line["response_ms"], 5.0);
    let line = &replay("--handlers 1 --wake 0 --policy fifo")[0];
    assert_eq!(line["counted"], 2 * 108);
    close(&line["response_ms"], 5.0);
}

#[test]
fn simulations_of_load_runs() {
    let bench = Bench::indexed(&small_corpus());
    let server = Serving::start(&bench);
    let queries = bench.file("queries.txt", "ice\nmilk\nice cream\n");
    let folder = bench.path("run");
    let (queries, folder) = (queries.to_str().unwrap(), folder.to_str().unwrap());
    let url = format!("http://{}", server.address);
    let load = [
        "load",
        &url,
        "--queries",
        queries,
        "--rate",
        "200",
        "--duration",
        "1s",
        "--warm-up",
        "0s",
    ];
    // On a busy machine the run has labels, and its percentiles are what they are.
    let taken = ["--despite", "client-limited,unstable", "--save", folder];
    shorttail(load.into_iter().chain(taken)).ends(0);
    let simulate = format!(
        "simulate {folder} --cores 1 --rate 100 --queries 1000 --runs 2 --json \
         --despite contended,client-limited,unstable,contradicted"
    );
    let line = &model(&simulate).ends(0).json_lines()[0];
    assert!(line["load"].as_f64().unwrap() > 0.0, "{line}");
}

#[test]
fn bad_files_are_named() {
    let bench = Bench::new();
    let file = bench.file("odd.csv", "1,2\n3\n");
    let simulate = |path: &str| model(&format!("simulate {path} --rate 1"));
    simulate(file.to_str().unwrap()).fails_saying(&["odd.csv", "line 2 has 1 times"]);
    let empty = bench.file("empty.csv", "# nothing\n");
    simulate(empty.to_str().unwrap()).fails_saying(&["empty.csv", "no search times"]);
    simulate(bench.path("absent").to_str().unwrap()).fails_saying(&["absent", "cannot read"]);
    simulate(bench.path("").to_str().unwrap()).fails_saying(&["run.json", "load --save"]);
}

#[test]
fn fan_outs() {
    let lines = model("fan-out --servers 100,2000 --slow 0.01 --json")
        .ends(0)
        .json_lines();
    close(&lines[0]["slow_queries"], 0.633967658);
    // Hedged requests help where the query is not what makes an answer slow.
    let hedged = "fan-out --servers 1,50 --mean 10 --cores 2 --rate 50 --hedge 20 --queries 5000 \
                  --independent --json";
    let lines = model(hedged).ends(0).json_lines();
    let figure = |line: &Value, key: &str| line[key].as_f64().unwrap();
    assert!(figure(&lines[1], "response_p50_ms") > 2.0 * figure(&lines[0], "response_p50_ms"));
    assert!(figure(&lines[1], "hedged_p50_ms") < figure(&lines[1], "response_p50_ms"));
    assert!(figure(&lines[1], "extra_requests") > 0.05);
    model("fan-out --servers 1 --mean 10 --rate 200").fails_saying(&["200.0 %", "add cores"]);
    // A query's own time is common to all servers, unless said otherwise.
    let of = |more: &str| {
        let fixed = "fan-out --servers 1,100 --mean 10 --cores 2 --rate 50 --queries 5000 --json";
        let lines = model(&format!("{fixed}{more}")).ends(0).json_lines();
        figure(&lines[1], "response_p99_ms") / figure(&lines[0], "response_p99_ms")
    };
    let (alike, apart) = (of(""), of(" --independent"));
    assert!((1.05..1.35).contains(&alike), "{alike}");
    assert!(apart > 1.7 && of(" --imbalance 0.2") > alike, "{apart}");
    assert!((of(" --imbalance 0") - 1.0).abs() < 1e-9);
    model("fan-out --servers 2 --mean 1 --rate 1 --imbalance 3").fails_saying(&["from 0 to 2"]);
    model("fan-out --servers 2 --mean 1 --rate 1 --imbalance 0.1 --independent").ends(2);
}

#[test]
fn costs_are_compared_and_can_be_changed() {
    let printed = model("tco --print").ends(0).stdout;
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/costs.toml");
    assert_eq!(
        printed,
        std::fs::read_to_string(example).unwrap(),
        "the example is what --print gives"
    );
    let bench = Bench::new();
    let file = bench.file("costs.toml", &printed);
    let lines = model(&format!("tco {} --json", file.display()))
        .ends(0)
        .json_lines();
    let by_name = |name: &str| lines.iter().find(|line| line["server"] == name).unwrap();
    close(&by_name("conventional")["relative"], 1.0);
    assert!(by_name("slow-dual")["relative"].as_f64().unwrap() < 1.0);
    assert_eq!(lines, model("tco --json").ends(0).json_lines());
    let dear = bench.file(
        "dear.toml",
        "[servers.mine]\nprocessor_price = 1e6\n[servers.conventional]\n",
    );
    let lines = model(&format!("tco {} --json", dear.display()))
        .ends(0)
        .json_lines();
    assert!(
        lines
            .iter()
            .any(|line| line["relative"].as_f64().unwrap() > 100.0)
    );
    let wrong = bench.file("wrong.toml", "[site]\npeu = 1\n");
    model(&format!("tco {}", wrong.display())).fails_saying(&["wrong.toml", "peu"]);
}

#[test]
fn plans_say_servers_cost_and_what_if() {
    let bench = Bench::new();
    let [numbers, ..] = times(&bench);
    let plan = |more: &str| {
        let fixed = format!("plan {numbers} --rate 2000 --target p99=40ms");
        shorttail(format!("{fixed}{more}").split(' '))
    };
    let run = plan(" --json").ends(0);
    let lines = run.json_lines();
    assert_eq!(lines.len(), 2);
    let cost = |line: &Value| line["yearly_total"].as_f64().unwrap();
    assert!(cost(&lines[0]) <= cost(&lines[1]), "the cheapest first");
    for line in &lines {
        let number = |key: &str| line[key].as_u64().unwrap();
        assert_eq!(number("servers"), number("slices") * number("replicas"));
        assert!(line["response_ms"].as_f64().unwrap() <= 40.0);
        assert_eq!(line["what_if"].as_array().unwrap().len(), 5);
        assert!(line["assumptions"].as_array().unwrap().len() > 5);
    }
    let more = plan(" --measured 1M --documents 10M --json")
        .ends(0)
        .json_lines();
    assert!(cost(&more[0]) > 5.0 * cost(&lines[0]));
    let table = plan("").ends(0).stdout;
    for part in [
        "what if",
        "traffic × 2",
        "one server lost",
        "assumed:",
        "USD a year",
    ] {
        assert!(table.contains(part), "{part:?} is missing: {table}");
    }
    let never = format!("plan {numbers} --rate 10 --target p99=0.2ms --slices 2");
    shorttail(never.split(' ')).fails_saying(&["p99 = 0.2 ms", "more slices"]);
    for (more, said) in [(" --documents 5M", "--measured"), (" --measured x", "1.5G")] {
        let run = plan(more).ends(2);
        assert!(run.stderr.contains(said), "{run:#?}");
    }
}

#[test]
fn figures_stand_beside_the_published() {
    let lines = model("figures --queries 2000 --json").ends(0).json_lines();
    let of = |figure: &str| {
        lines
            .iter()
            .filter(|line| line["figure"].as_str().unwrap().ends_with(figure))
            .count()
    };
    assert_eq!(
        [of(" 2.2"), of(" 2.3"), of(" 2.4"), of(" 15"), of(" 19")],
        [3, 1, 1, 4, 4]
    );
    let waits = lines.iter().find(|line| line["name"] == "SMT-noPart");
    let waits = &waits.unwrap()["points"];
    for (cores, wait_ms) in [(8, 80.725), (12, 7.804), (16, 2.111)] {
        let point = &waits[cores - 8];
        assert_eq!(point["x"], cores as f64);
        assert!(
            (point["ours"].as_f64().unwrap() - wait_ms).abs() < 1e-3,
            "{point}"
        );
    }
    let saved = lines.iter().find(|line| line["name"] == "saved").unwrap();
    assert_eq!(saved["points"][3]["published"], 89.0);
    let table = model("figures --queries 2000").ends(0).stdout;
    assert!(
        table.contains("published") && table.contains("pays up to"),
        "{table}"
    );
}

#[test]
fn numbers_beyond_calculation_are_errors() {
    for command in [
        "mmc --rate 1e308 --service 1e308 --servers 8",
        "mmc --rate 1e-308 --service 1e-300 --servers 1",
        "scenarios --rate 1e308 --service 1e308 --cores 8",
        "simulate --mean 1e308 --cores 2 --rate 1 --queries 200 --runs 2",
        "simulate --mean 1 --cores 2 --rate 1e308 --queries 200 --runs 2",
    ] {
        let run = model(command);
        assert_ne!(run.code, 0, "{run:#?}");
        assert!(
            !run.stdout.contains("NaN") && !run.stdout.contains("inf"),
            "{run:#?}"
        );
        assert!(run.stderr.contains("1e"), "{run:#?}");
    }
}
