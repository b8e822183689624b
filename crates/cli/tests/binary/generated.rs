//! Manual pages and shell completions: complete, and usable as they are.

use crate::help::every_command;
use crate::support::{Bench, shorttail};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn pages(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// The text of a line of a page, without escapes; none for a request.
fn text(line: &str) -> Option<String> {
    if line.starts_with('.') || line.starts_with('\'') {
        return None;
    }
    let text = line
        .replace("\\(aq", "'")
        .replace("\\(ga", "`")
        .replace("\\(ti", "~")
        .replace("\\(ha", "^")
        .replace("\\&", "")
        .replace("\\-", "-")
        .replace("\\e", "\\");
    Some(text)
}

#[test]
fn every_command_has_a_page_with_all_of_its_examples() {
    let bench = Bench::new();
    let folder = bench.path("made/man1");
    let into = folder.to_str().unwrap();
    shorttail(["man", "--into", into]).ends(0);
    let mut expected = BTreeSet::new();
    for path in every_command() {
        let name = [&["shorttail".to_owned()], &path[..]].concat().join("-") + ".1";
        let page = std::fs::read_to_string(folder.join(&name)).unwrap();
        assert!(page.contains(".TH shorttail"), "{name}: {page}");
        assert!(page.contains("\n.SH EXAMPLES\n"), "{name}: {page}");
        let lines: Vec<String> = page.lines().filter_map(text).collect();
        let help = shorttail(path.iter().map(String::as_str).chain(["--help"]));
        let help = help.ends(0).stdout;
        let (_, examples) = help.split_once("EXAMPLES:\n").unwrap();
        // Lines of up to 100 characters are not wrapped by the help.
        for example in examples
            .lines()
            .filter(|line| line.starts_with("    shorttail"))
        {
            let whole = lines.iter().any(|line| line.starts_with(example));
            assert!(whole, "{name}: {example:?} is missing: {page}");
        }
        expected.insert(name);
    }
    assert_eq!(pages(&folder), expected);
}

#[test]
fn pages_replace_those_of_an_earlier_version() {
    let bench = Bench::new();
    let stale = bench.file("shorttail.1", "old");
    let folder = stale.parent().unwrap().to_str().unwrap();
    shorttail(["man", "--into", folder]).ends(0);
    assert_ne!(std::fs::read_to_string(&stale).unwrap(), "old");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let bench = Bench::new();
    let file = bench.file("file", "");
    let below = file.join("pages");
    let below = below.to_str().unwrap();
    shorttail(["man", "--into", below]).fails_saying(&["cannot make the folder", below]);
}

#[test]
fn completions_know_every_subcommand() {
    for shell in ["bash", "zsh", "fish"] {
        let script = shorttail(["completions", shell]).ends(0).stdout;
        for path in every_command() {
            for name in &path {
                assert!(script.contains(name), "{shell}: {name}");
            }
        }
        for option in ["into", "partitions", "per-site", "trusted-proxy"] {
            assert!(script.contains(option), "{shell}: {option}");
        }
    }
    let wrong = shorttail(["completions", "cmd"]).ends(2);
    assert!(wrong.stderr.contains("bash"), "{wrong:?}");
}

/// What bash offers for the last of `words`.
fn completed(script: &Path, words: &str) -> BTreeSet<String> {
    let asked = format!(
        "source '{}'
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_shorttail shorttail \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"
printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display()
    );
    let run = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", &asked])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success(), "{said}");
    let offered = String::from_utf8(run.stdout).unwrap();
    offered.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_subcommands_options_and_values() {
    let bench = Bench::new();
    let script = bench.file(
        "completions.bash",
        shorttail(["completions", "bash"]).ends(0).stdout,
    );
    let check = |words: &str, expected: &[&str]| {
        let expected: BTreeSet<String> = expected.iter().map(|&one| one.to_owned()).collect();
        assert_eq!(completed(&script, words), expected, "{words}");
    };
    check("shorttail opt", &["optimize"]);
    check("shorttail serve my-index --trus", &["--trusted-proxy"]);
    check("shorttail lab re", &["report", "restore"]);
    check("shorttail index x --codec ''", &["packed", "vint"]);
}
