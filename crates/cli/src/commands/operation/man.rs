//! `shorttail man`: manual pages of the program and of each subcommand.

use anyhow::Context;
use clap_mangen::Man;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
The pages have the text of --help: shorttail.1, shorttail-index.1, shorttail-lab-run.1 and so on.
The packages install them.

EXAMPLES:
    shorttail man --into ~/.local/share/man/man1
        Write them where man finds them: man shorttail-search
    shorttail man --into pages && man ./pages/shorttail.1
        Read one without installing it";

/// Write the manual pages of the program into a folder
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArguments {
    /// The folder, made where it is missing; pages of the same names are replaced
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
}

/// Runs the subcommand. `program` describes the whole command line.
pub(crate) fn run(arguments: ManArguments, program: clap::Command) -> anyhow::Result<ExitCode> {
    let folder = arguments.into.as_path();
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut program = program.disable_help_subcommand(true);
    program.build();
    write_pages(&program, folder)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command and those of its subcommands. `command` is built.
fn write_pages(command: &clap::Command, folder: &Path) -> anyhow::Result<()> {
    for subcommand in command
        .get_subcommands()
        .filter(|found| !found.is_hide_set())
    {
        write_pages(subcommand, folder)?;
    }
    let source = concat!("shorttail ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).manual("Shorttail").source(source);
    let path = folder.join(man.get_filename());
    std::fs::write(&path, page(command, &man)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Renders the page of a command. Notes and examples are sections of their own, so that lines of examples stay lines.
fn page(command: &clap::Command, man: &Man) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command
        .get_arguments()
        .any(|argument| !argument.is_hide_set())
    {
        man.render_options_section(&mut page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let after = command.get_after_help().map(ToString::to_string);
    let after = after.unwrap_or_default();
    let (notes, examples) = after.split_once("EXAMPLES:").unwrap_or((&after, ""));
    for (heading, text) in [("NOTES", notes), ("EXAMPLES", examples)] {
        if !text.trim().is_empty() {
            write!(page, ".SH {heading}\n{}", roff(text.trim_matches('\n')))?;
        }
    }
    Ok(page)
}

/// Translates text of `--help` into roff: lines that are indented or are rows of a table stay lines, others are filled.
fn roff(text: &str) -> String {
    let mut roff = String::new();
    let mut filled = true;
    for line in text.lines() {
        let fill = !line.starts_with(' ') && !line.contains("   ");
        if line.is_empty() {
            roff.push_str(if filled { ".PP\n" } else { "\n" });
            continue;
        }
        if fill != filled {
            roff.push_str(if fill { ".fi\n" } else { ".nf\n" });
            filled = fill;
        }
        roff.push_str(&escaped(line));
        roff.push('\n');
    }
    if !filled {
        roff.push_str(".fi\n");
    }
    roff
}

/// Escapes a line of text: nothing of it is a request or an escape of roff, and hyphens can be pasted.
fn escaped(line: &str) -> String {
    let escaped = line
        .replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('\'', "\\(aq")
        .replace('`', "\\(ga")
        .replace('~', "\\(ti")
        .replace('^', "\\(ha");
    match escaped.starts_with('.') {
        true => format!("\\&{escaped}"),
        false => escaped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_stay_lines_and_prose_is_filled() {
        assert_eq!(
            roff("Some prose\nof two lines.\n\n    a --b 'c'\n    d\n\nMore."),
            "Some prose\nof two lines.\n.PP\n.nf\n    a \\-\\-b \\(aqc\\(aq\n    d\n\n.fi\nMore.\n"
        );
    }

    #[test]
    fn no_line_is_a_request() {
        assert_eq!(roff(".so x"), "\\&.so x\n");
        assert_eq!(roff("'so x"), "\\(aqso x\n");
        assert_eq!(roff("a\\fBb"), "a\\efBb\n");
    }
}
