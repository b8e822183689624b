//! `shorttail lab co-run`: sweep of memory beside a server until standard input ends. For the laboratory alone.

use anyhow::Context;
use std::hint::black_box;
use std::io::{Read, Write};
use std::process::ExitCode;

/// Size of a cache line in bytes.
const LINE_BYTES: usize = 64;

/// Sweep memory until standard input ends
#[derive(Debug, clap::Args)]
pub(super) struct CoRunArguments {
    /// Size of the memory in bytes
    #[arg(long, value_name = "BYTES")]
    bytes: usize,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &CoRunArguments) -> anyhow::Result<ExitCode> {
    let words = arguments.bytes.div_ceil(8).max(1);
    let mut memory: Vec<u64> = Vec::new();
    memory
        .try_reserve_exact(words)
        .with_context(|| format!("{} bytes are not to be had", arguments.bytes))?;
    memory.resize(words, 1);
    let mut stdout = std::io::stdout();
    writeln!(stdout, "sweeping {} bytes", memory.len() * 8)?;
    stdout.flush()?;
    // The end of standard input tells that the parent process ended, even if it was killed.
    std::thread::spawn(|| {
        let mut rest = Vec::new();
        let _ = std::io::stdin().read_to_end(&mut rest);
        std::process::exit(0);
    });
    loop {
        sweep(black_box(&mut memory));
    }
}

/// Writes to every cache line, so that other caches must give it up.
fn sweep(memory: &mut [u64]) {
    for word in memory.iter_mut().step_by(LINE_BYTES / 8) {
        *word = word.wrapping_add(1);
    }
}
