//! `shorttail search`: one query at the terminal, or a run file from a file of topics.

use super::explain_schedule::explain_schedule;
use super::topics::TopicsRun;
use crate::facets::write_facets;
use crate::hits::{write_hits, write_phases};
use crate::schedules::write_schedules;
use clap::builder::RangedU64ValueParser;
use console::failure::note;
use console::opened::{open_index, open_verified};
use console::ranking::RankingArguments;
use console::terminal::Style;
use engine::{Engine, HitContents, Returned, SearchOptions};
use index::Index;
use schedule::board::PolicyChoice;
use search::{Least, Operator, Ranking};
use serve::{AddressMap, parse_address_map, show_mapped};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

const EXAMPLES: &str = "\
QUERY: good documents with all words come first, then the others. +word is required, -word
excludes, OR stands between alternatives; \"a phrase\", \"a phrase\"~2 (words may move by 2),
title:word, site:name, wor* w?rd (any letters), word~ (one or two letters differ), /regex/ (of a
whole word), parentheses. Fields of the documents filter: lang:en, lang:(en OR de), date:2024-05,
date:>=2024, price:10..20, price:* (any value); see shorttail fields. Quote it for the shell; a
query that starts with - comes after --.

EXAMPLES:
    shorttail search my-index 'release notes'
        Show the ten best documents
    shorttail search my-index 'title:changelog -breaking' -k 20 --start 20
        Show the second twenty
    shorttail search my-index 'how to free unused memory' --most 75%
        Show documents with three quarters of the words
    shorttail search my-index '\"out of memory\"' --explain
        Also explain each score
    shorttail search my-index 'thread pool' --explain-schedule --handlers 4
        Search on four threads, as a server does, and show how they shared the work
    shorttail search my-index 'thread pool' --facet site --sort site
        Count the matches of each site and sort by it; fields of the documents likewise: 'lynx date:>=2024',
        --facet lang,date:month, --sort date:desc
    shorttail search my-index 'thread pool' --per-site 0 --all --after '*'
        The first of pages that go on at any depth: the answer names the cursor of the next one
    shorttail search my-index --topics topics.tsv --run bm25.run
        Answer a file of id<TAB>query lines, matching any word, into a TREC run file";

const HITS_DEFAULT: usize = 10;
const RUN_HITS_DEFAULT: usize = 1000;

/// Search an index for one query, or for each query of a file of topics
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SearchArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// The query
    #[arg(
        value_name = "QUERY",
        required_unless_present_any = ["topics", "filters"],
        conflicts_with = "topics"
    )]
    query: Option<OsString>,
    /// Number of hits [default: 10, with --topics 1000]
    #[arg(short, value_name = "K", value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000), help_heading = "Hits")]
    k: Option<usize>,
    /// Number of hits to skip, for pages after the first
    #[arg(long, value_name = "N", default_value = "0",
          value_parser = RangedU64ValueParser::<usize>::new().range(0..=1_000_000), help_heading = "Hits")]
    start: usize,
    /// Match documents with all of the words only
    #[arg(long, conflicts_with = "any", help_heading = "Which documents match")]
    all: bool,
    /// Match documents with any of the words, by score alone, rather than those with all of them first
    #[arg(long, help_heading = "Which documents match")]
    any: bool,
    /// Match documents with at least a number of the words, as 3, or a share of them, as 75%
    #[arg(long, value_name = "N|P%", conflicts_with_all = ["any", "all"], help_heading = "Which documents match")]
    most: Option<Least>,
    #[command(flatten)]
    ranking: RankingArguments,
    /// Hits of one site before those of others; further ones of it follow. 0 for no limit
    #[arg(long, value_name = "N", default_value = "0", help_heading = "Hits")]
    per_site: u32,
    /// List of the hits with one value of a field, or of one site, only the best
    #[arg(long, value_name = "FIELD", help_heading = "Hits")]
    collapse: Option<String>,
    /// Fields of the documents to show with the hits; * for all
    #[arg(
        long,
        value_name = "FIELD,...",
        value_delimiter = ',',
        help_heading = "Hits"
    )]
    fields: Vec<String>,
    /// A clause that all hits match and that adds nothing to their scores; may be repeated
    #[arg(
        long = "filter",
        value_name = "CLAUSE",
        help_heading = "Which documents match"
    )]
    filters: Vec<String>,
    /// Facets to count over all matches: lang, lang:terms:20, lang:distinct, date:month, date:day:Europe/Berlin,
    /// price:stats, price:percentiles:50,99, price:step:10; and site. In braces, facets within each bucket:
    /// site:terms:5{date:year,price:stats}
    #[arg(long = "facet", value_name = "FACET,...", help_heading = "Facets")]
    facets: Vec<String>,
    /// Fields by which the hits are sorted: date:desc,price
    #[arg(
        long,
        value_name = "FIELD[:desc],...",
        default_value = "",
        hide_default_value = true,
        help_heading = "Hits"
    )]
    sort: String,
    /// Go on after the last hit of a page, by the cursor that the answer names; * for the first page. Exact at any depth
    /// with --per-site 0 and --all or --any
    #[arg(long, value_name = "CURSOR", conflicts_with_all = ["start", "topics"], help_heading = "Hits")]
    after: Option<String>,
    /// Take the query as one that is being typed: its last word is a beginning, and words may have typing errors
    #[arg(
        long,
        conflicts_with = "topics",
        help_heading = "Which documents match"
    )]
    as_you_type: bool,
    /// Take the query as it is written: where it finds nothing, show nothing, and not the hits of its correction
    #[arg(long, help_heading = "Which documents match")]
    verbatim: bool,
    /// Read the query without the rules of the index: its synonyms and stop words
    #[arg(long, help_heading = "Which documents match")]
    no_rules: bool,
    /// Show addresses that begin in one way as if they began in another: file:///srv/docs=https://intranet/docs; may be
    /// repeated, the longest beginning wins
    #[arg(long = "map", value_name = "FROM=TO", value_parser = parse_address_map, help_heading = "Hits")]
    maps: Vec<AddressMap>,
    /// Explain each score
    #[arg(long)]
    explain: bool,
    /// Run the query on search threads, as a server does, until its time can be predicted, and show how the threads shared
    /// the last run: ranges, helpers, predicted and true time
    #[arg(long, conflicts_with_all = ["topics", "sort"], help_heading = "Search threads")]
    explain_schedule: bool,
    /// Search threads [default: one a core]
    #[arg(long, value_name = "H", requires = "explain_schedule",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096), help_heading = "Search threads")]
    handlers: Option<usize>,
    /// Which thread works on which query, as in shorttail serve
    #[arg(
        long,
        value_name = "POLICY",
        requires = "explain_schedule",
        default_value_t,
        help_heading = "Search threads"
    )]
    policy: PolicyChoice,
    /// Print the answer as one JSON object
    #[arg(long, conflicts_with = "topics")]
    json: bool,
    /// Answer all queries of a file of id<TAB>query lines, without syntax, matching any word unless --all or --most says
    /// otherwise
    #[arg(
        long,
        value_name = "FILE",
        requires = "run",
        conflicts_with_all = ["start", "per_site", "collapse", "fields", "facets", "sort", "verbatim", "maps", "explain"],
        help_heading = "Files of topics"
    )]
    topics: Option<PathBuf>,
    /// The TREC run file to write
    #[arg(
        long,
        value_name = "OUT",
        requires = "topics",
        help_heading = "Files of topics"
    )]
    run: Option<PathBuf>,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: SearchArguments) -> anyhow::Result<ExitCode> {
    let ranking = arguments.ranking.ranking();
    if let (Some(topics), Some(run)) = (&arguments.topics, &arguments.run) {
        let options = SearchOptions {
            k: arguments.k.unwrap_or(RUN_HITS_DEFAULT),
            ranking,
            // Judged collections expect it, and runs of other engines are made so.
            operator: operator(&arguments).unwrap_or(Operator::Or),
            rules: !arguments.no_rules,
            filters: arguments.filters.clone(),
            returned: Returned {
                counted: false,
                hits: HitContents::Ids,
            },
            ..SearchOptions::default()
        };
        let engine = Engine::from_index(open_verified(&arguments.directory)?);
        TopicsRun { engine, options }.write(topics, run)?;
        return Ok(ExitCode::SUCCESS);
    }
    let typed = arguments
        .query
        .as_ref()
        .map(|query| query.to_string_lossy());
    if matches!(typed, Some(std::borrow::Cow::Owned(_))) {
        note("warning: the query is not UTF-8; unreadable bytes were replaced");
    }
    // Filters may stand alone.
    let query = typed.unwrap_or_default();
    let index = open_index(&arguments.directory)?;
    search_once(&arguments, index, ranking, &query)
}

/// Returns the operator that the arguments name.
fn operator(arguments: &SearchArguments) -> Option<Operator> {
    match (arguments.all, arguments.any, arguments.most) {
        (true, ..) => Some(Operator::And),
        (_, true, _) => Some(Operator::Or),
        (.., least) => least.map(Operator::Most),
    }
}

fn search_once(
    arguments: &SearchArguments,
    index: Arc<Index>,
    ranking: Ranking,
    query: &str,
) -> anyhow::Result<ExitCode> {
    let options = SearchOptions {
        k: arguments.k.unwrap_or(HITS_DEFAULT),
        start: arguments.start,
        per_site: arguments.per_site,
        collapse: arguments.collapse.clone().unwrap_or_default(),
        operator: operator(arguments).unwrap_or(Operator::Auto),
        ranking,
        as_you_type: arguments.as_you_type,
        suggest: true,
        correct: !arguments.verbatim,
        rules: !arguments.no_rules,
        returned: Returned {
            hits: HitContents::default().with_fields(!arguments.fields.is_empty()),
            ..Returned::default()
        },
        explain: arguments.explain,
        filters: arguments.filters.clone(),
        facets: (arguments.facets.iter())
            .flat_map(|list| fields::facet::split_list(list))
            .collect(),
        sort: arguments.sort.clone(),
        after: arguments.after.clone(),
        ..SearchOptions::default()
    };
    let (mut answer, earlier_runs) = match arguments.explain_schedule {
        true => {
            let handlers = arguments
                .handlers
                .unwrap_or_else(console::opened::cores_count);
            let policy = arguments.policy.clone();
            explain_schedule(index, query, &options, handlers, policy)?
        }
        false => (Engine::from_index(index).search(query, &options)?, 0),
    };
    answer.keep_fields(&arguments.fields);
    show_mapped(&arguments.maps, &mut answer);
    let mut stdout = std::io::BufWriter::new(std::io::stdout().lock());
    if arguments.json {
        writeln!(stdout, "{}", answer.to_json()?)?;
    } else {
        if answer.moved {
            note(
                "note: the index has changed since the page before: hits may be repeated, or missing",
            );
        }
        for warning in &answer.warnings {
            note(&format!("note: {warning}"));
        }
        for rule in &answer.rules {
            note(&format!("rule: {rule}"));
        }
        write_hits(
            &mut stdout,
            &answer,
            arguments.start as u64,
            Style::of_stdout(),
        )?;
        write_facets(&mut stdout, &answer.facets, Style::of_stdout())?;
        if let Some(after) = &answer.after {
            writeln!(stdout, "next page: --after {after}")?;
        }
        writeln!(stdout)?;
        write_phases(&mut stdout, &answer.phases_us)?;
        if arguments.explain_schedule {
            writeln!(stdout)?;
            write_schedules(&mut stdout, &answer.schedule, earlier_runs)?;
        }
    }
    stdout.flush()?;
    Ok(ExitCode::SUCCESS)
}
