//! Spellings of arguments beside those of the help: an index by name, and options of earlier versions.
//!
//! ```text
//! search --index DIR WORDS     search DIR WORDS        everywhere the first argument is INDEX;
//! index FILE --into DIR        index DIR FILE          --into and --in are earlier names of it
//! serve DIR --timeout-ms 20    serve DIR --timeout 20ms
//! ```
//!
//! Arguments are rewritten before they are parsed, so that each command describes one form alone, and whatever refuses an
//! argument speaks of that form. What follows `--` stays as it is.

use clap::Command;
use std::ffi::{OsStr, OsString};

/// Options that had a unit in their name: the earlier name, the name, and the unit of numbers without one.
const RENAMED: [(&str, &str, &str); 10] = [
    ("--answer-kib", "--answer-max", "KiB"),
    ("--cache-mib", "--cache", "MiB"),
    ("--cut-off-ms", "--cut-off", "ms"),
    ("--file-seconds-max", "--file-time-max", "s"),
    ("--head-timeout-ms", "--head-timeout", "ms"),
    ("--index-gb", "--index-size", "GB"),
    ("--output-mib", "--output-max", "MiB"),
    ("--page-bytes", "--page-size", "B"),
    ("--timeout-ms", "--timeout", "ms"),
    ("--verify-mib-s", "--verify-rate", "MiB"),
];

/// Names of the option for which the first argument stands.
const INDEX: [&str; 3] = ["index", "into", "in"];

/// The hidden flag of commands that distinguish an index that was named from one that stands first.
const NAMED: &str = "named";

/// Returns the arguments, of which the first is the program, in the form that `program` describes.
pub(crate) fn current(arguments: Vec<OsString>, program: &Command) -> Vec<OsString> {
    let (command, first) = command_of(&arguments, program);
    let names: Vec<String> = match takes_index(command) {
        true => INDEX
            .into_iter()
            .filter(|name| !has_option(command, name))
            .map(|name| format!("--{name}"))
            .collect(),
        false => Vec::new(),
    };
    let mut index = None;
    let mut rewritten: Vec<OsString> = Vec::with_capacity(arguments.len());
    let mut left = arguments.into_iter();
    rewritten.extend(left.by_ref().take(first));
    while let Some(argument) = left.next() {
        if argument == "--" {
            rewritten.push(argument);
            break;
        }
        let (name, value) = split(&argument);
        if index.is_none() && names.iter().any(|known| known == name) {
            index = value.map(OsString::from).or_else(|| left.next());
            continue;
        }
        let Some((_, name, unit)) = RENAMED.iter().find(|(old, ..)| *old == name) else {
            rewritten.push(argument);
            continue;
        };
        let value = value.map(OsString::from).or_else(|| left.next());
        rewritten.push(OsString::from(name));
        rewritten.extend(value.map(|value| with_unit(value, unit)));
    }
    rewritten.extend(left);
    if let Some(index) = index {
        let mut at_first = vec![as_argument(index, command)];
        if command.get_arguments().any(|one| one.get_id() == NAMED) {
            at_first.push(format!("--{NAMED}").into());
        }
        rewritten.splice(first..first, at_first);
    }
    rewritten
}

/// Returns the subcommand that is asked for, and the position of the first argument after its name.
fn command_of<'a>(arguments: &[OsString], program: &'a Command) -> (&'a Command, usize) {
    let mut command = program;
    let mut first = 1.min(arguments.len());
    while let Some(next) = arguments
        .get(first)
        .and_then(|name| command.find_subcommand(name))
    {
        command = next;
        first += 1;
    }
    (command, first)
}

fn takes_index(command: &Command) -> bool {
    let first = command.get_positionals().next();
    let names = first.and_then(|first| first.get_value_names());
    names.is_some_and(|names| names.first().is_some_and(|name| name == "INDEX"))
}

fn has_option(command: &Command, name: &str) -> bool {
    let mut options = command.get_arguments();
    options.any(|option| option.get_long() == Some(name))
}

/// Splits `--name=value`.
fn split(argument: &OsStr) -> (&str, Option<&str>) {
    let Some(text) = argument.to_str() else {
        return ("", None);
    };
    match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    }
}

/// Returns a value with its unit, which a number of an earlier version lacks.
fn with_unit(value: OsString, unit: &str) -> OsString {
    match value.to_str().map(str::parse::<f64>) {
        Some(Ok(number)) if number.is_finite() => format!("{number}{unit}").into(),
        _ => value,
    }
}

/// Returns the path so that it is not taken for the name of a subcommand.
fn as_argument(index: OsString, command: &Command) -> OsString {
    match command.find_subcommand(&index) {
        Some(_) => OsString::from(std::path::Path::new(".").join(index)),
        None => index,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn check(given: &str, expected: &str) {
        let words = |text: &str| -> Vec<OsString> { text.split(' ').map(Into::into).collect() };
        let program = crate::Arguments::command();
        let rewritten = current(words(&format!("shorttail {given}")), &program);
        assert_eq!(
            rewritten,
            words(&format!("shorttail {expected}")),
            "{given}"
        );
    }

    #[test]
    fn an_index_may_be_named() {
        check("search --index d -k 5 words", "search d -k 5 words");
        check("search words --index=d", "search d words");
        check("check --index d", "check d");
        check("index a b --into d --json", "index d --named a b --json");
        check("sync --index d f", "sync d --named f");
        check("delete --index d --url u", "delete d --url u");
        check("demo --exit --into d", "demo d --exit");
        #[cfg(feature = "lab")]
        check("lab balance --index d", "lab balance d");
        check("bench --queries q --index d", "bench d --queries q");
        check("serve --index d --listen a", "serve d --listen a");
    }

    #[test]
    fn other_options_of_these_names_stay() {
        for same in [
            "snapshot d --into b",
            "restore b --into d",
            "man --into d",
            "lab run smt --index d --into results",
            "analyze text --index d",
            "search d -- --index e",
            "--help",
            "",
        ] {
            check(same, same);
        }
        check("snapshot --index d --into b", "snapshot d --into b");
    }

    #[cfg(feature = "crawler")]
    #[test]
    fn an_index_of_a_crawl_may_be_named() {
        check("crawl u --into d --serve", "crawl d --named u --serve");
        check("crawl explain u --in d", "crawl explain d u");
        check("crawl ping --index d u v", "crawl ping d u v");
        check("crawl --index web u", "crawl ./web --named u");
        check("crawl replay a b --into d", "crawl replay a b --into d");
    }

    #[test]
    fn options_of_earlier_versions_have_their_unit() {
        check("serve d --timeout-ms 2000", "serve d --timeout 2000ms");
        check("serve d --cache-mib=64", "serve d --cache 64MiB");
        check("serve d --timeout-ms 1e3", "serve d --timeout 1000ms");
        check("serve d --timeout-ms 2s", "serve d --timeout 2s");
        check("serve d --verify-mib-s 0", "serve d --verify-rate 0MiB");
        check(
            "index d f --file-seconds-max 5",
            "index d f --file-time-max 5s",
        );
        check("plan t --index-gb 1.5", "plan t --index-size 1.5GB");
        check("search d -- --cache-mib 3", "search d -- --cache-mib 3");
        check("serve d --timeout-ms", "serve d --timeout");
    }

    #[test]
    fn renamed_options_are_described() {
        fn options(command: &Command, found: &mut Vec<String>) {
            let longs = command.get_arguments().filter_map(|one| one.get_long());
            found.extend(longs.map(|long| format!("--{long}")));
            for subcommand in command.get_subcommands() {
                options(subcommand, found);
            }
        }
        let mut found = Vec::new();
        options(&crate::Arguments::command(), &mut found);
        for (old, name, _) in &RENAMED {
            // Of a program without the crawler.
            let is_left_out = *name == "--page-size" && !cfg!(feature = "crawler");
            assert!(is_left_out || found.iter().any(|one| one == name), "{name}");
            assert!(!found.iter().any(|one| one == old), "{old}");
        }
    }
}
