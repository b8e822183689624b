//! `shorttail top`: live metrics of a running server.

use crate::top::{Exposition, Target, View, fetch, line, screen};
use anyhow::Context;
use console::failure::note;
use console::interrupt::Interrupt;
use console::terminal::print;
use console::terminal::{Screen, Style};
use serve::AdminToken;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use units::{Time, TimeUnit, Times};

const EXAMPLES: &str = "\
Rates and times are those between two readings of URL/metrics. A quantile is known to the bucket of
a histogram, so its upper bound is shown (`over`: above the last bound). A dash stands for a metric
that the server does not report.

If standard output is not a terminal, each reading is one line.

EXAMPLES:
    shorttail top
        Watch the server on this machine, once a second, until Ctrl-C
    shorttail top 127.0.0.1:7701 --every 10s > log.txt
        Write a line every ten seconds
    shorttail top http://127.0.0.1:7701 --once --json
        Print the rates and times of one second as JSON";

/// Watch a running server: rates, queues, busy handlers, times of each phase
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TopArguments {
    /// The admin address of the server, or the --metrics of one of its processes
    #[arg(value_name = "URL", default_value = "http://127.0.0.1:7701")]
    url: String,
    /// File with the token of the server's --admin-token-file
    #[arg(long, value_name = "FILE")]
    admin_token_file: Option<PathBuf>,
    /// Time between two readings
    #[arg(long, alias = "interval", value_name = "TIME", default_value = "1s", value_parser = EVERY.durations())]
    every: Duration,
    /// Stop after two readings
    #[arg(long)]
    once: bool,
    /// Print one line of JSON for each reading after the first
    #[arg(long)]
    json: bool,
}

/// Times between two readings.
const EVERY: Times = Times::ANY.plain(TimeUnit::Seconds).within(
    Time::new(100.0, TimeUnit::Milliseconds),
    Time::new(1.0, TimeUnit::Hours),
);

/// Runs the subcommand.
pub(crate) fn run(arguments: TopArguments) -> anyhow::Result<ExitCode> {
    let token = arguments.admin_token_file.as_deref().map(AdminToken::read);
    let target = Target::parse(&arguments.url)?.with_token(token.transpose()?);
    let interrupt = Interrupt::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .context("cannot start reading")?;
    runtime.block_on(async {
        tokio::select! {
            () = interrupt.asked() => Ok(ExitCode::SUCCESS),
            watched = watch(&arguments, &target) => watched,
        }
    })
}

/// Reads and shows metrics until a signal asks for the end. A first reading that fails is an error; after later
/// failures it keeps trying.
async fn watch(arguments: &TopArguments, target: &Target) -> anyhow::Result<ExitCode> {
    let interval = arguments.every;
    // A later answer would describe the past.
    let limit = interval.max(Duration::from_secs(2));
    let url = target.url();
    let mut out = Output::new(arguments);
    let mut before = read(target, limit).await?;
    if out.is_live() {
        out.show(&View::of(&url, &before.0, None))?;
    }
    let mut ticks = tokio::time::interval_at((before.1 + interval).into(), interval);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match read(target, limit).await {
            Ok(now) => {
                out.show(&View::of(&url, &now.0, Some((&before.0, now.1 - before.1))))?;
                before = now;
            }
            Err(error) if arguments.once => return Err(error),
            Err(error) => out.show_failure(&format!("{error:#}"))?,
        }
        if arguments.once {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// Takes a reading; returns it with its instant.
async fn read(target: &Target, limit: Duration) -> anyhow::Result<(Exposition, Instant)> {
    let text = fetch(target, limit).await?;
    Ok((Exposition::parse(&text), Instant::now()))
}

/// Form of the output of readings.
enum Output {
    Live(Screen),
    /// The contents of the screen as plain text, once.
    Whole,
    Lines,
    Json,
}

impl Output {
    fn new(arguments: &TopArguments) -> Output {
        if arguments.json {
            Output::Json
        } else if arguments.once {
            Output::Whole
        } else {
            Screen::take().map_or(Output::Lines, Output::Live)
        }
    }

    fn is_live(&self) -> bool {
        matches!(self, Output::Live(_))
    }

    fn show(&mut self, view: &View) -> anyhow::Result<()> {
        match self {
            Output::Live(taken) => taken.draw(&screen(view, Style::of_stdout()))?,
            Output::Whole => print_line(&screen(view, Style::of_stdout()).join("\n"))?,
            Output::Lines => print_line(&line(view))?,
            Output::Json => print_line(&serde_json::to_string(view)?)?,
        }
        Ok(())
    }

    fn show_failure(&mut self, error: &str) -> anyhow::Result<()> {
        match self {
            Output::Live(taken) => taken.draw(&[console::terminal::printable(error)])?,
            _ => note(error),
        }
        Ok(())
    }
}

fn print_line(line: &str) -> std::io::Result<()> {
    print(&format!("{line}\n"))
}
