//! Does the laboratory run experiments on a real server, and say what it cannot do?

use crate::support::{Bench, command, finished, shorttail, small_corpus};
use std::collections::HashSet;

#[test]
fn the_doctor_knows_a_state_and_a_reason_for_everything() {
    let lines = shorttail(["lab", "doctor", "--json"]).ends(0).json_lines();
    let states: HashSet<&str> = HashSet::from([
        "available",
        "degraded",
        "unavailable",
        "forbidden",
        "invalid",
        "untested",
    ]);
    for line in &lines {
        assert!(states.contains(line["state"].as_str().unwrap()), "{line}");
        assert!(!line["reason"].as_str().unwrap().is_empty(), "{line}");
    }
    let table = shorttail(["lab", "doctor"]).ends(0).stdout;
    for line in &lines {
        assert!(table.contains(line["id"].as_str().unwrap()), "{table}");
    }
    // A recorded machine that has nothing: everything is missing, and nothing is made up.
    let nothing = Bench::new();
    let root = nothing.path("");
    let root = root.to_str().unwrap();
    let recorded = shorttail(["lab", "doctor", "--json", "--root", root])
        .ends(0)
        .json_lines();
    assert_eq!(recorded.len(), lines.len());
    for line in recorded.iter().filter(|line| line["id"] != "bare-metal") {
        assert_eq!(line["state"], "unavailable", "{line}");
    }
    shorttail(["lab", "doctor", "--root", "absent"]).fails_saying(&["absent", "no such folder"]);
}

#[test]
fn experiments_are_listed_with_what_they_lack() {
    let list = shorttail(["lab", "list", "--json"]).ends(0).json_lines();
    let names: Vec<&str> = list
        .iter()
        .map(|line| line["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"partitions") && names.contains(&"smt"),
        "{names:?}"
    );
    let people = shorttail(["lab", "list"]).ends(0).stdout;
    assert!(names.iter().all(|name| people.contains(name)), "{people}");
}

#[test]
fn experiments_are_run_and_reported() {
    let bench = Bench::indexed(&small_corpus());
    let queries = bench.file(
        "queries.txt",
        "ice\nmilk sugar\nice cream\nthin ice skating\n",
    );
    let (state, results) = (bench.path("state"), bench.path("results"));
    let lab = |arguments: &[&str]| {
        let mut lab = command(["lab"]);
        lab.args(arguments).env("XDG_STATE_HOME", &state);
        finished(lab.output().unwrap())
    };
    let corpus = bench.path("corpus.jsonl");
    let corpus = ["--corpus", corpus.to_str().unwrap()];
    // Two partitions need two chunks.
    let directory = bench.path("chunks");
    let [index, queries, into] =
        [&directory, &queries, &results].map(|path| path.to_str().unwrap());
    shorttail(["index", corpus[1], "--into", index, "--chunks", "2"]).ends(0);
    let options = [
        "--index",
        index,
        "--queries",
        queries,
        "--into",
        into,
        "--duration",
        "200ms",
    ];
    let experiments = [
        "query-lengths",
        "terms-and-time",
        "tail-by-terms",
        "query-locality",
        "smt",
        "phases-and-size",
        "documents-and-size",
        "model-figures",
        "prediction",
    ];
    let run = lab(&[&["run"], &experiments[..], &options, &corpus].concat()).ends(0);
    assert!(run.stderr.contains("query-locality: 9 runs"), "{run:#?}");
    let result = |name: &str| -> serde_json::Value {
        let text = std::fs::read_to_string(results.join(name).join("result.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    assert!(
        result("query-lengths")["reading"]
            .as_str()
            .unwrap()
            .contains("2.00 words")
    );
    let locality = result("query-locality");
    let arms = locality["panels"][0]["series"].as_array().unwrap();
    let names: Vec<&str> = arms
        .iter()
        .map(|arm| arm["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["unique", "real", "sorted"]);
    assert!(
        arms.iter()
            .all(|arm| arm["points"][0]["y"].as_f64() > Some(0.0)),
        "{locality}"
    );
    assert!(results.join("query-locality/1-1/run.json").exists());

    let sizes = result("documents-and-size");
    let points = sizes["panels"][0]["series"][0]["points"]
        .as_array()
        .unwrap();
    let documents: Vec<f64> = points
        .iter()
        .filter_map(|point| point["y"].as_f64())
        .collect();
    let total = small_corpus().len() as f64;
    let expected = [0.25, 0.5, 0.75, 1.0].map(|share: f64| (total * share).round());
    assert_eq!(documents, expected, "{sizes}");
    assert!(
        result("phases-and-size")["reading"]
            .as_str()
            .unwrap()
            .contains("index search")
    );
    assert!(!results.join("scratch").exists());

    // Figure 15 is of the search times of the one client that other experiments asked.
    let figures = result("model-figures");
    assert_eq!(figures["panels"].as_array().unwrap().len(), 5, "{figures}");
    assert_eq!(figures["tables"][0]["rows"][3][5], "88.9");
    assert!(results.join("one-client/run.json").exists());
    let prediction = result("prediction");
    let rows = prediction["tables"][0]["rows"].as_array().unwrap();
    let served: Vec<&str> = rows.iter().map(|row| row[0].as_str().unwrap()).collect();
    assert_eq!(served, [["I1"; 4], ["I2"; 4]].concat());
    let foreseen = |row: &serde_json::Value| row[6].as_str().unwrap().ends_with('%');
    assert!(rows.iter().any(foreseen), "{prediction}");
    assert!(results.join("prediction/I2-4-3/run.json").exists());

    let page = lab(&["report", into]).ends(0).stdout;
    let html = std::fs::read_to_string(page.trim()).unwrap();
    assert!(html.matches("<svg").count() >= 4, "{}", html.len());
    for name in experiments {
        assert!(html.contains(&format!("id=\"{name}\"")), "{name}");
    }

    assert_eq!(lab(&["restore"]).ends(0).stdout, "nothing to put back\n");
    lab(&[&["run", "flying"], &options[..]].concat()).fails_saying(&["flying", "lab list"]);
    // Settings that a killed run left behind stop the next one until they are put back.
    let setting = bench.file("setting", "new");
    std::fs::create_dir_all(state.join("shorttail")).unwrap();
    let file = setting.to_str().unwrap().trim_start_matches('/');
    let change = serde_json::json!({ "file": file, "old": "old", "new": "new" });
    std::fs::write(
        state.join("shorttail/settings.journal"),
        format!("{change}\n"),
    )
    .unwrap();
    lab(&[&["run", "query-locality"], &options[..]].concat()).fails_saying(&["lab restore"]);
    assert!(lab(&["restore"]).ends(0).stdout.contains("old again"));
    assert_eq!(std::fs::read_to_string(setting).unwrap(), "old");
}
