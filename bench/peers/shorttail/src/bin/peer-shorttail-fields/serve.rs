//! Conversation with the driver.

use crate::Result;
use crate::check::check;
use crate::engine::{Answer, Engine};
use std::hint::black_box;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

/// Answers the driver until it says `quit`.
pub(crate) fn serve(engine: &Engine, queries: &Path) -> Result<()> {
    let queries = std::fs::read_to_string(queries)?;
    let queries: Vec<&str> = queries.lines().collect();
    let mut times_ns: Vec<u128> = Vec::with_capacity(queries.len());
    let mut answers: Vec<Answer> = Vec::with_capacity(queries.len());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(out, "READY {}", queries.len())?;
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        match line?.trim() {
            "pass" => {
                times_ns.clear();
                answers.clear();
                for query in &queries {
                    let started = Instant::now();
                    let answer = engine.answer(black_box(query))?;
                    times_ns.push(started.elapsed().as_nanos());
                    answers.push(answer);
                }
                write!(out, "P")?;
                for time_ns in &times_ns {
                    write!(out, " {time_ns}")?;
                }
                writeln!(out)?;
            }
            "results" => {
                for answer in &answers {
                    let (score, url) = match &answer.best {
                        Some(hit) => (hit.score.to_string(), engine.url(hit)?),
                        None => Default::default(),
                    };
                    let (count, check) = (answer.count, check(answer));
                    writeln!(out, "R\t{count}\t{score}\t{url}\t{check}")?;
                }
                writeln!(out, "END")?;
            }
            "quit" => break,
            other => return Err(format!("there is no command `{other}`").into()),
        }
        out.flush()?;
    }
    Ok(())
}
