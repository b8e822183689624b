//! The binary `shorttail`: dispatch to subcommands, and exit codes.
//!
//! This crate has no logic: it parses arguments, calls the other crates and prints figures and hits. `commands` has one
//! file for each subcommand, but those of the laboratory, which are in the crate `lab_commands`; the other modules print.
//!
//! Exit codes: 0 done, 1 failed or damage found, 2 wrong usage. A closed pipe is not a failure.

mod commands;
mod facets;
mod hits;
mod indexing;
mod languages;
mod logs;
mod optimizing;
mod overview;
mod schedules;
mod spelling;
mod top;

use clap::{CommandFactory, FromArgMatches, Parser};
use std::process::ExitCode;

/// An answer makes some hundred small values, and indexing millions. Libraries leave the choice to their program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EXAMPLES: &str = "\
EXAMPLES:
    shorttail demo
        Index the documentation on this machine, ask five queries, serve the search page
    shorttail index my-index documents.jsonl
    shorttail search my-index 'release notes'
    shorttail serve my-index";

/// Searches documents, and shows where the time goes
///
/// An index is a directory: the first argument of the subcommands that take one, or --index DIR anywhere. Times and
/// sizes are numbers with units: 250ms, 5m, 64KiB, 2GiB. Exit codes: 0 done, 1 failed or damage found, 2 wrong usage.
#[derive(Debug, Parser)]
#[command(name = "shorttail", version, after_help = EXAMPLES, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    // Before anything else: the child that reads archives and the like confines itself first.
    let mut arguments = std::env::args_os().skip(1);
    if arguments
        .next()
        .is_some_and(|first| first == extract::child::SUBCOMMAND)
    {
        return extract::child::run(arguments.filter_map(|one| one.into_string().ok()));
    }
    vfs::platform::fail_writes_beyond_the_file_limit();
    vfs::survive_lost_pages();
    let program = Arguments::command();
    let arguments = spelling::current(std::env::args_os().collect(), &program);
    let matches = overview::grouped(program).try_get_matches_from(arguments);
    match matches.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => console::failure::report(arguments.command.run(Arguments::command)),
        Err(usage) => {
            // A closed pipe is no failure of --help (`shorttail --help | head -1`).
            let _ = usage.print();
            ExitCode::from(if usage.use_stderr() { 2 } else { 0 })
        }
    }
}
