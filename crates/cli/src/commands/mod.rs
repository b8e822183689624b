//! The subcommands, by use. Those of the laboratory are of the crate `lab_commands`.

#[cfg(feature = "crawler")]
mod crawl;
mod documents;
mod operation;
mod query;
mod servers;

use documents::{add, delete, index, optimize, recover, rules, sync};
use lab_commands::{hurry, model, plan};
#[cfg(feature = "lab")]
use lab_commands::{lab, load};
use operation::{backup, check, completions, demo, man};
use query::{analyze, bench, fields, search};
use servers::{document_server, front_end, index_server, serve, top};
use std::process::ExitCode;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Index(index::IndexArguments),
    Add(add::AddArguments),
    Delete(delete::DeleteArguments),
    Sync(sync::SyncArguments),
    #[cfg(feature = "crawler")]
    Crawl(Box<crawl::CrawlArguments>),
    Rules(rules::RulesArguments),
    Recover(recover::RecoverArguments),
    Snapshot(backup::SnapshotArguments),
    Restore(backup::RestoreArguments),
    Optimize(optimize::OptimizeArguments),
    Fields(fields::FieldsArguments),
    Search(search::SearchArguments),
    Analyze(analyze::AnalyzeArguments),
    Serve(serve::ServeArguments),
    IndexServer(index_server::IndexServerArguments),
    DocumentServer(document_server::DocumentServerArguments),
    FrontEnd(front_end::FrontEndCommandArguments),
    Top(top::TopArguments),
    #[cfg(feature = "lab")]
    Load(load::LoadArguments),
    #[cfg(feature = "lab")]
    Lab(lab::LabArguments),
    Bench(bench::BenchArguments),
    Check(check::CheckArguments),
    Model(model::ModelArguments),
    Plan(plan::PlanArguments),
    Hurry(hurry::HurryArguments),
    Demo(demo::DemoArguments),
    Completions(completions::CompletionsArguments),
    Man(man::ManArguments),
}

impl Command {
    /// Runs the subcommand to its end. `program` makes the description of the whole command line.
    pub(crate) fn run(self, program: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        match self {
            Command::Index(arguments) => index::run(arguments),
            Command::Add(arguments) => add::run(arguments),
            Command::Delete(arguments) => delete::run(arguments),
            Command::Sync(arguments) => sync::run(arguments),
            #[cfg(feature = "crawler")]
            Command::Crawl(arguments) => crawl::run(*arguments),
            Command::Rules(arguments) => rules::run(arguments),
            Command::Recover(arguments) => recover::run(arguments),
            Command::Snapshot(arguments) => backup::run_snapshot(arguments),
            Command::Restore(arguments) => backup::run_restore(arguments),
            Command::Optimize(arguments) => optimize::run(arguments),
            Command::Fields(arguments) => fields::run(arguments),
            Command::Search(arguments) => search::run(arguments),
            Command::Analyze(arguments) => analyze::run(arguments),
            Command::Serve(arguments) => serve::run(arguments),
            Command::IndexServer(arguments) => index_server::run(arguments),
            Command::DocumentServer(arguments) => document_server::run(arguments),
            Command::FrontEnd(arguments) => front_end::run(arguments),
            Command::Top(arguments) => top::run(arguments),
            #[cfg(feature = "lab")]
            Command::Load(arguments) => load::run(arguments),
            #[cfg(feature = "lab")]
            Command::Lab(arguments) => lab::run(arguments, servers::spin::spun),
            Command::Bench(arguments) => bench::run(arguments),
            Command::Check(arguments) => check::run(arguments),
            Command::Model(arguments) => model::run(arguments),
            Command::Plan(arguments) => plan::run(arguments),
            Command::Hurry(arguments) => hurry::run(arguments),
            Command::Demo(arguments) => demo::run(arguments),
            Command::Completions(arguments) => completions::run(arguments, program()),
            Command::Man(arguments) => man::run(arguments, program()),
        }
    }
}
