//! `shorttail hurry`: long requests of any program move from little cores to big ones.

mod journal;
mod mapping;
mod output;
mod threads;

use anyhow::{Context, ensure};
use console::failure::note;
use console::interrupt::Interrupt;
use journal::Journal;
use mapping::{Mapping, Options};
use output::Output;
use schedule::hurry::{Mapper, MapperSettings, Rule};
use schedule::{CpuSet, CpuTopology};
use std::path::PathBuf;
use std::process::ExitCode;
use threads::Threads;
use units::{Time, TimeUnit, Times};
use vfs::platform::SystemTree;

const EXAMPLES: &str = "\
The program writes a line TID;RID;ms into the pipe when a request begins on a thread, and the same
line when it ends: the id of the thread in the kernel, any name of the request, the Unix time in
milliseconds. Every 25 ms the requests over 50 ms on little cores move to big ones, the longest
first; the thread that was there takes the little core. All threads get their CPUs back at the end
(Ctrl-C, SIGTERM), and after a crash when the command starts again with the same journal.

EXAMPLES:
    shorttail hurry --pipe /run/app.pipe --big 0-1 --little 2-5
        Until Ctrl-C, on a machine with two big cores
    shorttail hurry --pipe app.pipe --big 0 --pid 4711 --json > moves.jsonl
        Only threads of one program, each move as a line of JSON; all other CPUs are little
    shorttail hurry --pipe app.pipe --big 0 --dry-run
        What would be moved";

/// Move long requests of any program from little cores to big ones
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct HurryArguments {
    /// The FIFO that the program writes its lines into; made where nothing is
    #[arg(long, value_name = "PATH")]
    pipe: PathBuf,
    /// Big cores [default: the fastest of the machine, or all that are not little]
    #[arg(long, value_name = "CPUS", help_heading = "Cores and threads")]
    big: Option<CpuSet>,
    /// Little cores [default: all that are not big]
    #[arg(long, value_name = "CPUS", help_heading = "Cores and threads")]
    little: Option<CpuSet>,
    /// Move threads of this process alone, and end with it
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..=4_194_304), help_heading = "Cores and threads")]
    pid: Option<u32>,
    /// Time between two decisions
    #[arg(long, value_name = "TIME", default_value = "25ms", value_parser = within(1.0, 10_000.0), help_heading = "When requests move")]
    sampling: Time,
    /// Age from which on a request moves
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = within(0.0, 600_000.0), help_heading = "When requests move")]
    threshold: Time,
    /// Age at which the last line of a request is taken for lost
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = within(1.0, 86_400_000.0), help_heading = "When requests move")]
    age_max: Time,
    /// Algorithm 1 as published: decide only when a line arrives, demote older requests, one core a thread
    #[arg(long, help_heading = "When requests move")]
    as_published: bool,
    /// File that keeps the CPUs of moved threads [default: PIPE.journal]
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Move nothing; print what would be moved
    #[arg(long)]
    dry_run: bool,
    /// Print each move as a line of JSON
    #[arg(long)]
    json: bool,
}

/// Returns a reader of times between two limits in ms; plain numbers are milliseconds.
fn within(
    least_ms: f64,
    most_ms: f64,
) -> impl Fn(&str) -> Result<Time, String> + Clone + Send + Sync + 'static {
    let ms = |number| Time::new(number, TimeUnit::Milliseconds);
    let times = Times::ANY.plain(TimeUnit::Milliseconds);
    times.within(ms(least_ms), ms(most_ms)).reader()
}

/// Runs the subcommand.
pub fn run(arguments: HurryArguments) -> anyhow::Result<ExitCode> {
    let tree = SystemTree::default();
    let topology = CpuTopology::read(|path| tree.read(path).map_err(|error| error.to_string()));
    let (big, little) = cores(arguments.big.clone(), arguments.little.clone(), &topology)?;
    let rule = if arguments.as_published {
        Rule::AsPublished
    } else {
        Rule::Mended
    };
    let settings = MapperSettings {
        rule,
        threshold_ms: arguments.threshold.milliseconds(),
        age_max_ms: arguments.age_max.milliseconds() as u64,
        ..MapperSettings::default()
    };
    let mapper = Mapper::new(&big, &little, settings)?;
    let interrupt = Interrupt::listen()?;
    let threads = Threads::new(tree, arguments.pid)?;
    let journal = match arguments.dry_run {
        true => None,
        false => Some(open_journal(&arguments, &threads)?),
    };
    let (pipe, _) = vfs::platform::open_fifo(&arguments.pipe)?;
    note(&format!(
        "reading {}; big {big}, little {little}",
        arguments.pipe.display()
    ));
    let options = Options {
        rule,
        sampling_ms: arguments.sampling.milliseconds() as u64,
        little,
    };
    let output = Output::new(arguments.json, arguments.dry_run);
    let mut mapping = Mapping::new(options, mapper, threads, journal, output);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .context("cannot start reading")?;
    let ended = runtime.block_on(mapping.run(pipe, interrupt.asked()));
    // Whatever ended it, threads get their CPUs back first.
    let finished = mapping.finish();
    ended?;
    finished?;
    Ok(ExitCode::SUCCESS)
}

/// Opens the journal, and gives back what an earlier run that crashed has left in it.
fn open_journal(arguments: &HurryArguments, threads: &Threads) -> anyhow::Result<Journal> {
    let path = arguments.journal.clone().unwrap_or_else(|| {
        let mut path = arguments.pipe.clone().into_os_string();
        path.push(".journal");
        path.into()
    });
    let mut journal = Journal::open(&path, threads.boot_id())?;
    let left = journal.entries().len();
    if left > 0 {
        let restored = journal.restore(threads)?;
        note(&format!(
            "an earlier run did not end: {restored} of its {left} threads have their CPUs back, the others have ended"
        ));
    }
    Ok(journal)
}

/// Returns the big and the little cores: those given, else the rest of the online ones, else the classes of
/// the machine.
fn cores(
    big: Option<CpuSet>,
    little: Option<CpuSet>,
    topology: &CpuTopology,
) -> anyhow::Result<(CpuSet, CpuSet)> {
    let online = topology.online();
    for given in [&big, &little].into_iter().flatten() {
        let absent = given.difference(&online);
        ensure!(
            absent.is_empty(),
            "CPU {absent} is not online here; {online} are"
        );
    }
    Ok(match (big, little) {
        (Some(big), Some(little)) => (big, little),
        (Some(big), None) => {
            let rest = online.difference(&big);
            (big, rest)
        }
        (None, Some(little)) => (online.difference(&little), little),
        (None, None) => {
            let fastest = topology.contexts.iter().filter(|cpu| cpu.speed_class == 0);
            let big: CpuSet = fastest.map(|cpu| cpu.cpu).collect();
            let little = online.difference(&big);
            ensure!(
                !little.is_empty(),
                "the cores of this machine are not known to differ; give --big and --little"
            );
            (big, little)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedule::topology::Context;

    fn machine(classes: &[u32]) -> CpuTopology {
        let contexts = (0..).zip(classes).map(|(cpu, &speed_class)| Context {
            cpu,
            core: cpu,
            socket: None,
            node: None,
            capacity: None,
            speed_class,
        });
        CpuTopology {
            contexts: contexts.collect(),
            ..CpuTopology::default()
        }
    }

    #[test]
    fn cores_are_given_or_known() {
        let check =
            |big: &str, little: &str, classes: &[u32], expected: Result<[&str; 2], &str>| {
                let given = |list: &str| (!list.is_empty()).then(|| list.parse().unwrap());
                let found = cores(given(big), given(little), &machine(classes));
                match (found, expected) {
                    (Ok((big, little)), Ok(expected)) => {
                        assert_eq!([big.to_string(), little.to_string()], expected);
                    }
                    (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
                    (found, expected) => panic!("{found:?} is not {expected:?}"),
                }
            };
        check("0-1", "2-5", &[0; 6], Ok(["0-1", "2-5"]));
        check("1", "", &[0; 3], Ok(["1", "0,2"]));
        check("", "1", &[0; 3], Ok(["0,2", "1"]));
        check("", "", &[1, 0, 0, 1], Ok(["1-2", "0,3"]));
        check("", "", &[0; 4], Err("--big"));
        check("0-8", "", &[0; 4], Err("4-8 is not online"));
        check("0", "9", &[0; 4], Err("9 is not online"));
    }
}
