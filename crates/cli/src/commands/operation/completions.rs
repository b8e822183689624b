//! `shorttail completions`: the script that completes subcommands and options in a shell.

use clap_complete::Shell;
use std::io::Write;
use std::process::ExitCode;

const EXAMPLES: &str = "\
The packages install these scripts; a program that was built or unpacked by hand needs them once.

EXAMPLES:
    shorttail completions bash > ~/.local/share/bash-completion/completions/shorttail
    shorttail completions zsh > ~/.zfunc/_shorttail
        The folder must be in $fpath before compinit runs
    shorttail completions fish > ~/.config/fish/completions/shorttail.fish";

/// Print a script that completes subcommands and options in a shell
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Runs the subcommand. `program` describes the whole command line.
pub(crate) fn run(
    arguments: CompletionsArguments,
    mut program: clap::Command,
) -> anyhow::Result<ExitCode> {
    let name = program.get_name().to_owned();
    // Into memory first: the generator panics where its output is a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, name, &mut script);
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&script)?;
    stdout.flush()?;
    Ok(ExitCode::SUCCESS)
}
