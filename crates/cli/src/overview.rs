//! The help of the program itself: its subcommands by use.

use clap::Command;

/// Headings, and the subcommands below each.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Documents", &["index", "add", "delete", "sync", "crawl"]),
    ("Search", &["search", "analyze", "fields", "rules", "demo"]),
    (
        "Servers",
        &[
            "serve",
            "index-server",
            "document-server",
            "front-end",
            "top",
        ],
    ),
    (
        "Index",
        &["optimize", "check", "recover", "snapshot", "restore"],
    ),
    (
        "Measure, predict and plan",
        &["load", "lab", "bench", "model", "plan", "hurry"],
    ),
    ("Program", &["completions", "man", "help"]),
];

/// Columns of the text.
const WIDTH: usize = 100;

/// Returns the program with a help that lists the subcommands under headings.
pub(crate) fn grouped(program: Command) -> Command {
    let mut built = program.clone();
    built.build();
    let lists = GROUPS.map(|(heading, names)| format!("{heading}:\n{}", list(&built, names)));
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\nOptions:\n{{options}}{{after-help}}",
        lists.join("\n")
    ))
}

/// Returns the lines of the subcommands of these names, those of features that are left out excepted.
fn list(program: &Command, names: &[&str]) -> String {
    let all = GROUPS.iter().flat_map(|(_, names)| *names);
    let indent = all.map(|name| name.len()).max().unwrap_or(0) + 4;
    let known = names
        .iter()
        .filter_map(|name| program.find_subcommand(name));
    known
        .map(|subcommand| {
            let about = subcommand.get_about().map(ToString::to_string);
            let text = wrapped(&about.unwrap_or_default(), indent);
            let name = format!("  {}", subcommand.get_name());
            format!("{name:<indent$}{text}\n")
        })
        .collect()
}

/// Breaks a text into lines that fit beside an indent, and indents all but the first.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if indent + line.len() + 1 + word.len() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join(&format!("\n{:indent$}", ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    #[test]
    fn every_subcommand_stands_in_one_group() {
        let mut program = crate::Arguments::command();
        program.build();
        let shown = program.get_subcommands().filter(|one| !one.is_hide_set());
        let shown: BTreeSet<&str> = shown.map(Command::get_name).collect();
        let grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let groups: BTreeSet<&str> = grouped.iter().copied().collect();
        assert_eq!(groups.len(), grouped.len());
        assert!(shown.is_subset(&groups), "{shown:?}");
    }

    #[test]
    fn lines_fit() {
        let help = grouped(crate::Arguments::command())
            .render_long_help()
            .to_string();
        let said = "Searches documents, and shows where the time goes";
        assert!(help.starts_with(said) && !help.contains("{"), "{help}");
        assert!(
            help.lines().all(|line| line.chars().count() <= WIDTH),
            "{help}"
        );
    }

    /// Longer ones would be broken once more, which leaves single words on lines.
    #[test]
    fn lines_of_notes_fit() {
        fn check(command: &Command) {
            let notes = command.get_after_help().map(ToString::to_string);
            for line in notes.unwrap_or_default().lines() {
                let fits = line.starts_with(' ') || line.chars().count() <= WIDTH;
                assert!(fits, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&crate::Arguments::command());
    }
}
