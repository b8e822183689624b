//! Measurements of a server by `load`, and its errors.

use crate::serving::Serving;
use crate::support::{Bench, command, finished, shorttail, small_corpus};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::Command;

const QUERIES: &str = "1\tice\n2\tmilk sugar\n3\tnothing of that kind\n4\tice\n";

struct Loading {
    bench: Bench,
    url: String,
    _server: Serving,
}

fn loading() -> Loading {
    let bench = Bench::indexed(&small_corpus());
    bench.file("queries.txt", QUERIES);
    let server = Serving::start(&bench);
    Loading {
        url: format!("http://{}", server.address),
        bench,
        _server: server,
    }
}

impl Loading {
    fn arguments<'a>(&'a self, queries: &'a str, options: &[&'a str]) -> Vec<&'a str> {
        let fixed = [
            "load",
            &self.url,
            "--queries",
            queries,
            "--warm-up",
            "100ms",
            // Tests run beside others, which may make the client late.
            "--despite",
            "client-limited,unstable",
        ];
        [&fixed, options].concat()
    }

    fn path(&self, name: &str) -> String {
        self.bench.path(name).to_str().unwrap().to_owned()
    }
}

#[test]
fn a_run_is_measured_saved_and_compared() {
    let loading = loading();
    let (queries, run) = (loading.path("queries.txt"), loading.path("deep/run"));
    let options = [
        "--rate",
        "300",
        "--duration",
        "1s",
        "--save",
        &run,
        "--json",
    ];
    let measured = shorttail(loading.arguments(&queries, &options)).ends(0);
    let all = measured.json_lines().remove(0);
    let one = &all["repetitions"][0];
    let count = one["endings"]["200"].as_u64().unwrap();
    assert!((200..400).contains(&count), "{one}");
    assert_eq!(one["endings"].as_object().unwrap().len(), 1, "{one}");
    for figure in ["response", "service", "lag", "server"] {
        assert_eq!(one[figure]["count"], count, "{figure}");
        assert!(one[figure]["p50_us"].as_f64().is_some(), "{figure}");
        assert_eq!(
            one[figure]["p99_us"],
            Value::Null,
            "{figure}: too few samples"
        );
    }
    assert!(one["response"]["mean_us"].as_f64() >= one["service"]["mean_us"].as_f64());
    assert!(one["phases"]["index_search"]["count"] == count, "{one}");
    assert!(
        one["answers"]["whole_count"] == count && one["answers"]["empty_count"].as_u64() > Some(0)
    );
    assert!(
        one["run"]["self_check"]["offered_qps"].as_f64() > Some(400.0),
        "{one}"
    );

    let saved: Value =
        serde_json::from_str(&std::fs::read_to_string(format!("{run}/run.json")).unwrap()).unwrap();
    assert_eq!(saved, one["run"]);
    assert!(
        std::fs::metadata(format!("{run}/samples.parquet"))
            .unwrap()
            .len()
            > 1000
    );
    shorttail(loading.arguments(&queries, &options)).fails_saying(&["holds a run already"]);

    // A run does not differ from itself, and its interval is a point; an invalid one has neither.
    let labels = one["run"]["labels"].as_array().unwrap();
    let is_stolen = |share: &Value| share.as_f64().is_some_and(|share| share > 0.005);
    let is_valid =
        !labels.contains(&"client-limited".into()) && !is_stolen(&one["run"]["noise"]["steal"]);
    let (verdict, said, code) = match is_valid {
        true => ("no_difference", ["1.000 to 1.000", "no difference"], 0),
        false => ("invalid", ["invalid runs", "left out"], 1),
    };
    let compared = shorttail(["lab", "compare", &run, &run, "--json"]).ends(code);
    let compared = compared.json_lines().remove(0);
    for comparison in compared["comparisons"].as_array().unwrap() {
        assert_eq!(comparison["ratio"], 1.0);
        assert_eq!(comparison["verdict"], verdict);
    }
    let table = shorttail(["lab", "compare", &run, &run]).ends(code).stdout;
    assert!(said.iter().all(|part| table.contains(part)), "{table}");
    shorttail(["lab", "compare", &run, &queries]).fails_saying(&["run.json"]);
}

#[test]
fn repetitions_give_an_interval_and_clients_may_wait() {
    let loading = loading();
    let (queries, run) = (loading.path("queries.txt"), loading.path("runs"));
    let closed = [
        "--clients",
        "2",
        "--think",
        "exp:2ms",
        "--duration",
        "300ms",
    ];
    let repeated = [&closed[..], &["--repeat", "3", "--save", &run]].concat();
    let table = shorttail(loading.arguments(&queries, &repeated))
        .ends(0)
        .stdout;
    assert!(
        table.contains("over 3 repetitions") && table.contains("response time"),
        "{table}"
    );
    assert!(
        !table.contains("self-check"),
        "a closed loop has no rate: {table}"
    );
    for n in 1..=3 {
        assert!(loading.bench.path(&format!("runs/{n}/run.json")).exists());
    }
    // On a busy machine all runs may be invalid, which is exit code 1.
    let compared = shorttail(["lab", "compare", &run, &run]).stdout;
    assert!(compared.contains("p50"), "{compared}");
    assert!(
        !compared.contains("noise within"),
        "three pairs: {compared}"
    );
}

#[test]
fn the_highest_rate_is_searched() {
    let loading = loading();
    let queries = loading.path("queries.txt");
    let options = [
        "--search",
        "p50=500ms",
        "--rate",
        "4000",
        "--duration",
        "200ms",
        "--json",
    ];
    let run = shorttail(loading.arguments(&queries, &options));
    let found = run.json_lines().remove(0);
    let probes = found["probes"].as_array().unwrap();
    assert!(probes.len() > 1, "{found}");
    let kept = probes.iter().filter(|probe| probe["kept"] == true);
    let highest = kept
        .filter_map(|probe| probe["rate_qps"].as_f64())
        .fold(0.0, f64::max);
    assert_eq!(found["highest_qps"].as_f64().unwrap_or(0.0), highest);
    let impossible = [
        "--search",
        "p50=1us",
        "--rate",
        "4000",
        "--duration",
        "100ms",
    ];
    let run = shorttail(loading.arguments(&queries, &impossible)).ends(1);
    assert!(run.stdout.contains("no rate was found"), "{run:#?}");
}

#[test]
fn a_search_keeps_the_samples_of_every_rate() {
    let loading = loading();
    let (queries, folder) = (loading.path("queries.txt"), loading.path("search"));
    let options = [
        "--search",
        "p50=500ms",
        "--rate",
        "4000",
        "--duration",
        "200ms",
        "--json",
        "--save",
        &folder,
    ];
    let run = shorttail(loading.arguments(&queries, &options));
    let found = run.json_lines().remove(0);
    let saved = std::fs::read_to_string(format!("{folder}/search.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&saved).unwrap(), found);
    let probes = found["probes"].as_array().unwrap();
    for (idx, probe) in probes.iter().enumerate() {
        let record = format!("{folder}/probe-{}/run.json", idx + 1);
        let record: Value =
            serde_json::from_str(&std::fs::read_to_string(record).unwrap()).unwrap();
        let rate_qps = &record["load"]["open"]["arrivals"]["poisson"]["rate_qps"];
        assert_eq!(*rate_qps, probe["rate_qps"], "{record}");
        assert_eq!(record["labels"], probe["labels"]);
    }
    shorttail(loading.arguments(&queries, &options)).fails_saying(&["holds a search already"]);
    let plan = format!("plan {folder} --rate 10 --target p99=1s");
    shorttail(plan.split(' ')).fails_saying(&["give one of them", "probe-1"]);
}

/// Answers every second request with 503, and the others with an empty page of hits.
fn refusing_server() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let number = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        for stream in listener.incoming().flatten() {
            let number = number.clone();
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let mut stream = stream;
                while let Some(Ok(line)) = lines.next() {
                    if !line.is_empty() {
                        continue;
                    }
                    let is_odd = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 2 == 1;
                    let status = if is_odd { "503 Busy" } else { "200 OK" };
                    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{{}}");
                    if std::io::Write::write_all(&mut stream, answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    url
}

#[test]
fn requests_without_an_answer_have_no_mean_a_label_and_an_exit_code() {
    let bench = Bench::new();
    let queries = bench.file("queries.txt", QUERIES);
    let url = refusing_server();
    let run = |more: &[&str]| {
        let fixed = [
            "load",
            &url,
            "--queries",
            queries.to_str().unwrap(),
            "--rate",
            "200",
            "--duration",
            "1s",
            "--warm-up",
            "0s",
            "--no-self-check",
        ];
        shorttail(fixed.iter().chain(more))
    };
    let table = run(&[]).ends(3).stdout;
    let row = table.lines().find(|line| line.contains("unanswered last"));
    let mean = row.unwrap().split("unanswered last").nth(1).unwrap();
    assert!(mean.trim_start().starts_with('–'), "{table}");
    assert!(
        table.contains("warning: unanswered:") && table.contains("`503`"),
        "{table}"
    );
    let json = run(&["--json"]).ends(3).json_lines().remove(0);
    let one = &json["repetitions"][0];
    assert_eq!(one["response_of_all"]["mean_us"], Value::Null);
    assert!(one["response"]["mean_us"].as_f64().is_some());
    assert_eq!(one["unanswered"], one["endings"]["503"]);
    let labels = one["run"]["labels"].as_array().unwrap();
    assert!(labels.contains(&"unanswered".into()), "{labels:?}");
    run(&["--despite", "unanswered,client-limited,unstable"]).ends(0);
    run(&["--despite", "contended"]).ends(2);
}

#[test]
fn the_cpu_time_of_a_local_server_is_recorded() {
    let loading = loading();
    let queries = loading.path("queries.txt");
    let options = [
        "--rate",
        "200",
        "--duration",
        "1s",
        "--no-self-check",
        "--json",
    ];
    let run = shorttail(loading.arguments(&queries, &options)).ends(0);
    let record = &run.json_lines().remove(0)["repetitions"][0]["run"];
    let cpu_s = record["server_cpu_s"].as_f64().unwrap();
    assert!(cpu_s > 0.0, "{record}");
}

#[test]
fn queries_are_made_for_a_search_time() {
    let loading = loading();
    let queries = loading.path("queries.txt");
    let options = [
        "--search-time",
        "200us",
        "--rate",
        "100",
        "--duration",
        "300ms",
        "--no-self-check",
        "--json",
    ];
    let run = shorttail(loading.arguments(&queries, &options)).ends(0);
    assert!(run.stderr.contains("given ones on average"), "{run:#?}");
    let record = &run.json_lines().remove(0)["repetitions"][0]["run"];
    let made = &record["notes"]["search_time"];
    assert_eq!(made["wanted_mean_ms"], 0.2);
    let figure = |name: &str| made[name].as_f64().unwrap();
    assert!(figure("joined") >= 1.0 && figure("mean_ms") > 0.0, "{made}");
    // No mean is below a hundredth of its p99; of queries that all take the same, one slow one lifts it above.
    assert!(
        figure("p99_ms") > 0.0 && figure("p99_ms") <= 100.0 * figure("mean_ms"),
        "{made}"
    );
    assert_eq!(record["queries_count"], 10_000);
    let wrong = ["--search-time", "1ms,50ms", "--rate", "1"];
    shorttail(loading.arguments(&queries, &wrong)).ends(2);
}

#[test]
fn what_cannot_be_measured_is_said() {
    let loading = loading();
    let queries = loading.path("queries.txt");
    let fails = |url: &str, queries: &str, options: &[&str], parts: &[&str]| {
        let fixed = [
            "load",
            url,
            "--queries",
            queries,
            "--duration",
            "200ms",
            "--no-self-check",
        ];
        shorttail(fixed.iter().chain(options)).fails_saying(parts);
    };
    let rate = ["--rate", "50"];
    fails("127.0.0.1:1", &queries, &rate, &["not an http:// URL"]);
    fails(
        "http://127.0.0.1:1",
        &queries,
        &rate,
        &["no connection", "is the server running?"],
    );
    fails(
        "http://127.0.0.1:1/{query}x{query}",
        &queries,
        &rate,
        &["twice"],
    );
    let empty = loading.bench.file("empty.txt", "\n \n");
    fails(
        &loading.url,
        empty.to_str().unwrap(),
        &rate,
        &["no queries in it"],
    );
    fails(
        &loading.url,
        "absent.txt",
        &rate,
        &["absent.txt", "cannot read"],
    );
    let wrong_path = format!("{}/nowhere/{{query}}", loading.url);
    fails(
        &wrong_path,
        &queries,
        &rate,
        &["nothing was answered", "`404`"],
    );
    fails(
        &loading.url,
        &queries,
        &["--rate", "0"],
        &["number above 0"],
    );
    let beneath_a_file = format!("{queries}/run");
    fails(
        &loading.url,
        &queries,
        &["--rate", "5", "--save", &beneath_a_file],
        &["save to another"],
    );
    let trace = loading.bench.file("trace.txt", "0.01\nlater\n");
    let trace = ["--arrivals", "trace", "--trace", trace.to_str().unwrap()];
    fails(
        &loading.url,
        &queries,
        &trace,
        &["trace.txt:2", "number of seconds"],
    );

    let binary = loading.bench.file("binary.txt", b"\xff\x00\xfe\nice\n");
    let options = ["--rate", "100", "--duration", "300ms", "--no-self-check"];
    let run = shorttail(loading.arguments(binary.to_str().unwrap(), &options)).ends(0);
    assert!(run.stderr.contains("not UTF-8"), "{run:#?}");
}

/// The device of a full disk stands in for the file of samples, and for that of the record.
#[test]
fn a_full_disk_is_said_and_the_figures_are_shown() {
    let loading = loading();
    let queries = loading.path("queries.txt");
    for (run, file) in [("one", "samples.partial"), ("two", "run.partial")] {
        let run = loading.path(run);
        std::fs::create_dir(&run).unwrap();
        std::os::unix::fs::symlink("/dev/full", format!("{run}/{file}")).unwrap();
        let options = [
            "--rate",
            "100",
            "--duration",
            "300ms",
            "--no-self-check",
            "--repeat",
            "1",
            "--save",
            &run,
        ];
        let ended = shorttail(loading.arguments(&queries, &options))
            .fails_saying(&[&run, "No space left on device"]);
        assert!(ended.stdout.contains("response time"), "{ended:#?}");
        // A folder without a record is no run.
        shorttail(["lab", "compare", &run, &run]).fails_saying(&["run.json"]);
    }
}

#[test]
fn an_interrupted_run_is_kept_and_marked() {
    let loading = loading();
    let (queries, run) = (loading.path("queries.txt"), loading.path("run"));
    let options = [
        "--rate",
        "50",
        "--duration",
        "10m",
        "--save",
        &run,
        "--no-self-check",
    ];
    let mut child = command(loading.arguments(&queries, &options))
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    // Without a terminal, a line of progress comes every few seconds.
    while !line.contains("offered") {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "ended too early");
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    let ended = finished(child.wait_with_output().unwrap()).ends(1);
    assert!(rest.contains("error: stopped before the end"), "{rest}");
    assert!(ended.stdout.contains("incomplete"), "{ended:#?}");
    let saved = std::fs::read_to_string(format!("{run}/run.json")).unwrap();
    let saved: Value = serde_json::from_str(&saved).unwrap();
    assert_eq!(saved["is_complete"], false);
    assert!(saved["measured_s"].as_f64() < Some(60.0), "{saved}");
}
