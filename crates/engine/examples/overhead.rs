//! Cost of the coordinator over the bare kernel, for searches that return numbers, or counts alone.
//!
//! ```text
//! overhead PASSES                            prints microseconds of a query: the kernel, the engine, the difference
//! overhead PASSES kernel|engine MODE COUNT   runs one of them alone, for counting instructions
//! ```
//!
//! The collection is made up (`testkit::MadeUp`), in memory and verified; queries are of a few words. The kernel looks for one
//! hit more than the page has, as the coordinator does, so the difference is the coordinator's own.

use engine::{Engine, HitContents, QuerySource, Returned, SearchOptions};
use index::{BuildOptions, Index, Texts, Writer};
use search::{
    Operator, Plan, Ranking, bag_of_words, count_partition, search_partition, top_of_partition,
};
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use testkit::MadeUp;
use vfs::{MemoryStorage, SharedStorage};

const DOCUMENTS: usize = 20_000;
const QUERIES: usize = 64;
const K: usize = 10;
const MODES: [(&str, Operator); 2] = [("and", Operator::And), ("or", Operator::Or)];
const COUNTS: [&str; 3] = ["none", "exact", "only"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let measured = Measured::new()?;
    match arguments.as_slice() {
        [passes] => measured.print(passes.parse()?),
        [passes, way, mode, count] => {
            let mode = MODES.iter().find(|(name, _)| name == mode);
            let operator = mode.ok_or("no such mode")?.1;
            let run = |_| match *way {
                "kernel" => measured.kernel(operator, count),
                _ => measured.engine(operator, count),
            };
            (0..=passes.parse::<usize>()?).try_for_each(run)
        }
        _ => Err("usage: overhead PASSES [kernel|engine MODE COUNT]".into()),
    }
}

struct Measured {
    index: Arc<Index>,
    engine: Engine,
    queries: Vec<String>,
}

impl Measured {
    fn new() -> Result<Measured, Box<dyn Error>> {
        let storage: SharedStorage = Arc::new(MemoryStorage::default());
        let options = BuildOptions {
            chunks: Some(1),
            threads: 1,
            texts: Some(Texts::None),
            ..BuildOptions::default()
        };
        let mut writer = Writer::open(storage.clone(), options)?;
        for document in MadeUp::default().documents(DOCUMENTS) {
            writer.add(document)?;
        }
        writer.commit()?;
        let index = Arc::new(Index::open(storage)?);
        index.verify_whole()?;
        Ok(Measured {
            engine: Engine::from_index(Arc::clone(&index)),
            index,
            queries: MadeUp::default().queries(QUERIES).collect(),
        })
    }

    fn print(&self, passes: usize) -> Result<(), Box<dyn Error>> {
        println!(
            "{:<12} {:>9} {:>9} {:>9}",
            "us a query", "kernel", "engine", "more"
        );
        for (name, operator) in MODES {
            for count in COUNTS {
                let (mut kernel, mut engine) = (Vec::new(), Vec::new());
                // In turns, so that a disturbance affects both.
                for _ in 0..=passes {
                    kernel.push(timed(|| self.kernel(operator, count))?);
                    engine.push(timed(|| self.engine(operator, count))?);
                }
                let [kernel, engine] = [kernel, engine].map(median);
                let more = engine - kernel;
                let name = format!("{name} {count}");
                println!("{name:<12} {kernel:>9.2} {engine:>9.2} {more:>9.2}");
            }
        }
        Ok(())
    }

    fn kernel(&self, operator: Operator, count: &str) -> Result<(), Box<dyn Error>> {
        let segments = self.index.segments(0..self.index.chunks_count());
        let segments: Vec<_> = segments.cloned().collect();
        for text in &self.queries {
            let query = bag_of_words(text, self.index.analyzer(), operator);
            let plan = Plan::new(&query, Ranking::default(), self.index.statistics())?;
            black_box(match count {
                "none" => top_of_partition(&plan, &segments, K + 1)?.len() as u64,
                "exact" => search_partition(&plan, &segments, K + 1)?.1,
                _ => count_partition(&plan, &segments)?,
            });
        }
        Ok(())
    }

    fn engine(&self, operator: Operator, count: &str) -> Result<(), Box<dyn Error>> {
        let options = SearchOptions {
            k: if count == "only" { 0 } else { K },
            per_site: 0,
            operator,
            returned: Returned {
                counted: count != "none",
                hits: HitContents::Numbers,
            },
            ..SearchOptions::default()
        };
        for text in &self.queries {
            black_box(self.engine.search(QuerySource::Words(text), &options)?);
        }
        Ok(())
    }
}

/// Returns the time of a pass, in microseconds a query.
fn timed(pass: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let started = Instant::now();
    pass()?;
    Ok(started.elapsed().as_secs_f64() * 1e6 / QUERIES as f64)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
