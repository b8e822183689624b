//! One grammar of the command line: the place of the index, times and sizes with units, and earlier spellings.

use crate::support::{Bench, document, json_lines, shorttail, small_corpus};
use crate::{help::every_command, model::model};

/// Options whose value is a factor that the literature calls s.
const FACTORS: [&str; 1] = ["--speed-up <S>"];

#[test]
fn an_index_stands_first_or_is_named() {
    let bench = Bench::new();
    let corpus = bench.file("corpus.jsonl", json_lines(&small_corpus()));
    let corpus = corpus.to_str().unwrap();
    let directory = bench.directory();
    let directory = directory.to_str().unwrap();
    let found = |arguments: &[&str]| shorttail(arguments).ends(0).stdout;
    let indexed = |arguments: &[&str]| {
        let printed = found(arguments);
        assert!(printed.contains("documents  6\n"), "{printed}");
        std::fs::remove_dir_all(directory).unwrap();
    };
    indexed(&["index", directory, corpus]);
    indexed(&["index", "--index", directory, corpus]);
    indexed(&["index", corpus, "--into", directory]);
    found(&["index", directory, corpus]);
    let first = found(&["fields", directory]);
    assert_eq!(found(&["fields", "--index", directory]), first);
    let named = format!("--index={directory}");
    assert_eq!(found(&["fields", &named]), first);
    for same in [["--index", directory, "ice"], ["ice", "--into", directory]] {
        let hits = found(&[&["search"], &same[..]].concat());
        assert_eq!(
            hits.lines().next(),
            found(&["search", directory, "ice"]).lines().next()
        );
    }
}

#[test]
fn a_forgotten_index_is_not_made_among_the_sources() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("notes")).unwrap();
    bench.file("notes/one.txt", "alpha one");
    std::fs::create_dir(bench.path("more")).unwrap();
    bench.file("more/two.txt", "alpha two");
    let [notes, more] = ["notes", "more"].map(|name| bench.path(name).display().to_string());
    for subcommand in ["index", "sync"] {
        let run = shorttail([subcommand, &notes, &more]);
        run.fails_saying(&["the index comes first", "--index"]);
        assert_eq!(std::fs::read_dir(bench.path("notes")).unwrap().count(), 1);
    }
    shorttail(["index", "--index", &notes, &more]).ends(0);
}

#[test]
fn earlier_spellings_are_read_as_before() {
    let bench = Bench::indexed(&small_corpus());
    let refuses = |arguments: &[&str], said: &str| {
        let run = bench.run("serve", arguments).ends(2);
        assert!(run.stderr.contains(said), "{run:#?}");
    };
    refuses(
        &["--timeout", "2000"],
        "`2000` has no unit of time; write 300ms",
    );
    refuses(&["--cache", "64"], "`64` has no unit of size; write 64KiB");
    refuses(&["--timeout-ms", "2x"], "'2x' for '--timeout <TIME>'");
    refuses(&["--refresh", "25h"], "from 0s to 24h");
    let json = |command: &str| model(command).ends(0).json_lines();
    for (earlier, now) in [
        (
            "mmc --clients 64 --think 500 --service 20 --servers 8 --json",
            "mmc --clients 64 --think 0.5s --service 20 --servers 8 --json",
        ),
        (
            "simulate --mean 0.3 --max 20 --handlers 2 --range 115 --wake 32 --loads 0.5 --queries 200 --runs 2 --json",
            "simulate --mean 300us --max 20ms --handlers 2 --range 115us --wake 0.032ms --loads 0.5 --queries 200 \
             --runs 2 --json",
        ),
        (
            "crossing --cores 8 --service 20 --partitions 2 --speed-up 1.8 --share 0.99 --json",
            "crossing --cores 8 --service 20 --partitions 2 --speed-up 1.8 --quantile 0.99 --json",
        ),
    ] {
        assert_eq!(json(earlier), json(now), "{earlier}");
    }
    let long = document("http://a.example/", "Title", &"body ".repeat(100));
    let source = bench.file("long.jsonl", json_lines(&[long]));
    let limited = |option: &str, value: &str| bench.index(&source, &[option, value]).ends(1).stderr;
    for limit in [["--file-bytes-max", "100"], ["--file-size-max", "100B"]] {
        let said = limited(limit[0], limit[1]);
        assert!(said.contains("--file-size-max takes more"), "{said}");
    }
}

/// No option is counted in a unit that its name or its help tells: a time or a size has its unit with it.
#[test]
fn times_and_sizes_have_their_units_with_them() {
    for path in every_command() {
        let help = shorttail(path.iter().map(String::as_str).chain(["--help"]));
        let help = help.ends(0).stdout;
        let options = help
            .lines()
            .filter(|line| line.trim_start().starts_with("-"));
        for line in options.filter(|line| FACTORS.iter().all(|one| !line.contains(one))) {
            let (option, _) = line.split_once('>').unwrap_or((line, ""));
            for unit in [
                "<S", "<MS", "<US", "<SECONDS", "<BYTES", "<KIB", "<MIB", "<GB",
            ] {
                assert!(
                    !format!("{option}>").contains(&format!("{unit}>")),
                    "{path:?}: {line}"
                );
            }
            let name = option
                .split_whitespace()
                .find(|word| word.starts_with("--"));
            for unit in [
                "-ms", "-us", "-s", "-seconds", "-bytes", "-kib", "-mib", "-gb",
            ] {
                assert!(
                    !name.is_some_and(|name| name.ends_with(unit)),
                    "{path:?}: {line}"
                );
            }
        }
    }
}
