//! `shorttail model`: predictions by queueing theory and simulation, one file a question.

pub(crate) mod checked;
mod crossing;
mod fan_out;
mod figures;
mod mmc;
mod rates;
mod scenarios;
mod simulate;
pub(crate) mod table;
mod tco;

pub(crate) use rates::parse_positive;
pub(crate) use tco::read_costs;

use std::process::ExitCode;

const EXAMPLES: &str = "\
Rates are queries a second; --service is the queries a second that one server (a core) serves. Every
answer names its assumptions. `shorttail model QUESTION --help` shows the options of a question.

EXAMPLES:
    shorttail model mmc --rate 150 --service 20 --servers 8
        Waits and response times on 8 cores
    shorttail model scenarios --rate 150 --service 20 --cores 8 --smt-slowdown 1.5 --partitions 2
        The same with SMT, with partitions, and with both
    shorttail model crossing --cores 8 --service 20 --partitions 2 --speed-up 1.8
        The rates at which partitions begin or cease to pay
    shorttail model simulate times.csv --cores 16 --partitions 4 --rate 20..400
        The same by simulation, from measured search times";

/// Predict waits and response times, and the effect of SMT, partitions and more servers
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ModelArguments {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, clap::Subcommand)]
enum Question {
    Mmc(mmc::MmcArguments),
    Scenarios(scenarios::ScenariosArguments),
    Crossing(crossing::CrossingArguments),
    Simulate(Box<simulate::SimulateArguments>),
    FanOut(fan_out::FanOutArguments),
    Tco(tco::TcoArguments),
    Figures(figures::FiguresArguments),
}

/// Runs the subcommand.
pub fn run(arguments: ModelArguments) -> anyhow::Result<ExitCode> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    match arguments.question {
        Question::Mmc(arguments) => mmc::run(&arguments, &mut out)?,
        Question::Scenarios(arguments) => scenarios::run(&arguments, &mut out)?,
        Question::Crossing(arguments) => crossing::run(&arguments, &mut out)?,
        Question::Simulate(arguments) => return simulate::run(&arguments, &mut out),
        Question::FanOut(arguments) => fan_out::run(&arguments, &mut out)?,
        Question::Tco(arguments) => tco::run(&arguments, &mut out)?,
        Question::Figures(arguments) => figures::run(&arguments, &mut out)?,
    }
    std::io::Write::flush(&mut out)?;
    Ok(ExitCode::SUCCESS)
}
