//! Recrawl law against the optimum, simulated.
//!
//! `cargo run --release -p shorttail-crawl --example recrawl -- [PAGES] [DAYS] [SEEDS] [MEAN_CHANGES_A_DAY]`
use crawl::recrawl::simulation::simulate;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let pages: usize = arguments.next().unwrap_or("6000".into()).parse()?;
    let days: u32 = arguments.next().unwrap_or("240".into()).parse()?;
    let seeds: u64 = arguments.next().unwrap_or("3".into()).parse()?;
    let rate_mean: f64 = arguments.next().unwrap_or("0.5".into()).parse()?;
    for seed in 0..seeds {
        let found = simulate(pages, 60, days, rate_mean, seed);
        let (law, uniform) = (found.law / found.optimum, found.uniform / found.optimum);
        println!(
            "seed {seed}: optimum {:.4}, law {:.1} %, uniform {:.1} %",
            found.optimum,
            100.0 * law,
            100.0 * uniform
        );
    }
    Ok(())
}
