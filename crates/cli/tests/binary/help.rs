//! Contract of subcommands, options and exit codes.

use crate::support::{Bench, golden, shorttail};

#[test]
fn help_of_every_subcommand() {
    golden("help.txt", &shorttail(["--help"]).ends(0).stdout);
    for subcommand in [
        "index",
        "add",
        "delete",
        "sync",
        "recover",
        "snapshot",
        "restore",
        "optimize",
        "fields",
        "rules",
        "search",
        "analyze",
        "serve",
        "index-server",
        "document-server",
        "front-end",
        "top",
        "bench",
        "check",
        "demo",
        "load",
        "lab",
        "model",
        "plan",
        "hurry",
        "completions",
        "man",
    ] {
        let help = shorttail([subcommand, "--help"]).ends(0).stdout;
        assert!(help.contains("EXAMPLES:"), "{help}");
        golden(&format!("help-{subcommand}.txt"), &help);
    }
}

#[test]
fn help_of_every_question_to_the_model() {
    for question in [
        "mmc",
        "scenarios",
        "crossing",
        "simulate",
        "fan-out",
        "tco",
        "figures",
    ] {
        let help = shorttail(["model", question, "--help"]).ends(0).stdout;
        assert!(help.contains("EXAMPLES:"), "{help}");
        golden(&format!("help-model-{question}.txt"), &help);
    }
}

#[test]
fn help_of_a_crawl() {
    let help = shorttail(["crawl", "--help"]).ends(0).stdout;
    let lists_frontier = help.contains("\n  frontier  ");
    assert_eq!(lists_frontier, cfg!(feature = "urlfrontier"), "{help}");
    if lists_frontier {
        golden("help-crawl.txt", &help);
    }
}

#[test]
fn help_of_every_question_to_a_crawl() {
    let mut questions = vec!["status", "explain", "stop", "ping", "replay", "web"];
    if cfg!(feature = "urlfrontier") {
        questions.push("frontier");
    }
    for question in questions {
        let help = shorttail(["crawl", question, "--help"]).ends(0).stdout;
        assert!(help.contains("EXAMPLES:"), "{help}");
        golden(&format!("help-crawl-{question}.txt"), &help);
    }
}

#[test]
fn help_of_the_laboratory() {
    for subcommand in [
        "doctor", "list", "run", "report", "compare", "balance", "restore",
    ] {
        let help = shorttail(["lab", subcommand, "--help"]).ends(0).stdout;
        assert!(help.contains("EXAMPLES:"), "{help}");
        golden(&format!("help-lab-{subcommand}.txt"), &help);
    }
}

/// Names of the subcommands that a help text lists.
fn listed(help: &str) -> Vec<String> {
    let (_, lists) = help.split_once("Usage: ").unwrap_or_default();
    let lines = lists.lines().take_while(|&line| line != "Options:");
    let named = lines.filter_map(|line| line.strip_prefix("  "));
    named
        .filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|&name| name != "help")
        .map(str::to_owned)
        .collect()
}

/// Every command line of the program, without options: `index`, `lab run`, `model mmc` and so on.
pub(crate) fn every_command() -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut to_list: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(path) = to_list.pop() {
        let help = shorttail(path.iter().map(String::as_str).chain(["--help"]));
        for name in listed(&help.ends(0).stdout) {
            to_list.push([&path[..], &[name]].concat());
        }
        found.push(path);
    }
    found
}

#[test]
fn every_command_shows_an_example_of_itself() {
    let commands = every_command();
    assert!(commands.len() > 25, "{commands:?}");
    for path in commands {
        let help = shorttail(path.iter().map(String::as_str).chain(["--help"]));
        let help = help.ends(0).stdout;
        let (_, examples) = help.split_once("EXAMPLES:\n").unwrap_or_default();
        let wanted = format!("shorttail {}", path.join(" "));
        assert!(examples.contains(wanted.trim()), "{wanted}: {help}");
    }
}

#[test]
fn version() {
    let expected = format!("shorttail {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(shorttail(["--version"]).ends(0).stdout, expected);
}

#[test]
fn wrong_usage_ends_with_two() {
    let check = |arguments: &[&str], said: &str| {
        let run = shorttail(arguments).ends(2);
        assert!(run.stderr.contains(said), "{said:?} is missing: {run:#?}");
        assert_eq!(run.stdout, "");
    };
    check(&[], "Usage: shorttail");
    check(&["fly"], "fly");
    check(&["index", "--into", "x"], "SOURCE");
    check(&["index", "-"], "SOURCE");
    check(&["index", "x", "-", "--memory", "1M"], "16M");
    check(&["index", "x", "-", "--memory", "many"], "512M");
    check(&["index", "x", "-", "--chunks", "0"], "--chunks");
    check(&["index", "x", "-", "--threads", "0"], "--threads");
    check(&["index", "x", "-", "--codec", "zip"], "packed");
    check(&["optimize"], "INDEX");
    check(&["optimize", "x", "--order", "size"], "bisection");
    check(&["optimize", "x", "--memory", "1M"], "16M");
    check(&["search", "x"], "QUERY");
    check(&["search", "x", "word", "-k", "ten"], "ten");
    check(&["search", "x", "--topics", "y"], "--run");
    check(
        &["search", "x", "word", "--topics", "y", "--run", "z"],
        "cannot be used with",
    );
    check(
        &[
            "search", "x", "--topics", "y", "--run", "z", "--facet", "site",
        ],
        "cannot be used with",
    );
    check(&["bench", "x", "--queries", "y"], "--mode");
    check(
        &[
            "bench",
            "x",
            "--queries",
            "y",
            "--mode",
            "and",
            "--passes",
            "0",
        ],
        "--passes",
    );
    check(&["bench", "x", "--preload", "disk"], "tmpfs or hugepages");
    check(&["serve"], "INDEX");
    check(&["top", "x", "--every", "0"], "from 100ms to 1h");
    check(&["load", "x"], "--queries");
    check(&["load", "x", "--queries", "y"], "--rate");
    check(
        &[
            "load",
            "x",
            "--queries",
            "y",
            "--rate",
            "1",
            "--duration",
            "5",
        ],
        "300ms",
    );
    check(
        &["load", "x", "--queries", "y", "--clients", "0"],
        "--clients",
    );
    check(
        &[
            "load",
            "x",
            "--queries",
            "y",
            "--clients",
            "1",
            "--think",
            "long",
        ],
        "300ms",
    );
    check(
        &[
            "load",
            "x",
            "--queries",
            "y",
            "--clients",
            "1",
            "--rate",
            "1",
        ],
        "cannot be used with",
    );
    check(
        &["load", "x", "--queries", "y", "--search", "fast"],
        "p99=300ms",
    );
    check(&["hurry"], "--pipe");
    check(&["hurry", "--pipe", "x", "--big", "0-"], "--big");
    check(&["hurry", "--pipe", "x", "--pid", "0"], "--pid");
    check(&["lab"], "Usage: shorttail lab");
    check(&["lab", "run"], "--index");
    check(&["lab", "compare", "x"], "RUN");
}

#[test]
fn a_directory_without_an_index_is_said_to_be_so() {
    let bench = Bench::new();
    let queries = bench.file("queries.txt", "word\n");
    let queries = queries.to_str().unwrap();
    let absent = bench.directory();
    let check = |said: &str| {
        let parts = [said, absent.to_str().unwrap(), "shorttail index"];
        bench.run("search", &["word"]).fails_saying(&parts);
        bench
            .run("serve", &["--listen", "127.0.0.1:0"])
            .fails_saying(&parts);
        bench
            .run("bench", &["--mode", "and", "--queries", queries])
            .fails_saying(&parts);
        bench.run::<&str>("check", &[]).fails_saying(&parts);
        bench.run::<&str>("optimize", &[]).fails_saying(&parts);
    };
    check("no such directory");
    std::fs::create_dir(&absent).unwrap();
    check("no index here");
}
