//! Cost of a search of two words before postings are read. `fixed INDEX QUERIES`
//!
//! Times planning (dictionary look-ups, weights) and searching apart, for all queries of two words in a file,
//! one a line. The searches of those without a match show what setting up costs.

#[path = "measured/clock.rs"]
mod clock;

use clock::time_us;
use index::Index;
use search::{Operator, Plan, Query, Ranking, bag_of_words, top_of_partition};
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use vfs::RealStorage;

const PASSES: usize = 31;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, queries] = arguments.as_slice() else {
        return Err("usage: fixed INDEX QUERIES".into());
    };
    let index = Index::open(Arc::new(RealStorage::open(Path::new(directory))?))?;
    let segments: Vec<_> = index.segments(0..index.chunks_count()).cloned().collect();
    let queries: Vec<Query> = std::fs::read_to_string(queries)?
        .lines()
        .map(|line| line.split_once('\t').map_or(line, |(_, text)| text))
        .filter(|text| text.split_whitespace().count() == 2)
        .map(|text| bag_of_words(text, index.analyzer(), Operator::And))
        .collect();
    let mut times = [const { Vec::new() }; 3];
    for query in &queries {
        let (mut planning, mut searching) = (Vec::new(), Vec::new());
        let mut found = 0;
        for _ in 0..PASSES {
            let mut plan = None;
            planning.push(time_us(|| {
                plan = Some(Plan::new(query, Ranking::default(), index.statistics())?);
                Ok(())
            })?);
            let plan = plan.ok_or("planned")?;
            searching.push(time_us(|| {
                found = black_box(top_of_partition(&plan, &segments, 10)?).len();
                Ok(())
            })?);
        }
        times[0].push(median(&mut planning));
        times[if found == 0 { 1 } else { 2 }].push(median(&mut searching));
    }
    println!("                        queries    mean     p50     p99  (us)");
    let names = ["plan", "search, nothing found", "search, something found"];
    for (name, times) in names.iter().zip(&mut times) {
        let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
        let (middle, late) = (median(times), times.get(times.len() * 99 / 100));
        let late = late.copied().unwrap_or(0.0);
        println!(
            "{name:24}{:7} {mean:7.2} {middle:7.2} {late:7.2}",
            times.len()
        );
    }
    Ok(())
}

/// Sorts times and returns the median; 0 if there are none.
fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}
