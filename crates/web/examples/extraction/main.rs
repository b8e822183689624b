//! Score and speed of main-text extraction on a folder of pages with known article texts.
//!
//! `extraction FOLDER [ROUNDS] [WORST]`: FOLDER has `html/ID.html` and `ground-truth.json`. The score is that of
//! scrapinghub/article-extraction-benchmark: token 4-grams, averaged over pages. Speed is text to
//! text on one core, the best of ROUNDS. WORST pages are listed with what they lack and have too much.

mod score;

use std::time::Instant;

use score::{Score, f1, mean_score, score, shingles};
use web::page::{PageOptions, read};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = std::path::PathBuf::from(
        arguments
            .first()
            .expect("usage: extraction FOLDER [ROUNDS] [WORST]"),
    );
    let number = |i: usize| {
        arguments
            .get(i)
            .map_or(0, |text| text.parse::<usize>().expect("a number"))
    };
    let truth =
        std::fs::read_to_string(folder.join("ground-truth.json")).expect("ground-truth.json");
    let truth: serde_json::Value = serde_json::from_str(&truth).expect("JSON");
    let truth = truth.as_object().expect("object");
    let pages: Vec<(String, &str, String)> = truth
        .iter()
        .map(|(id, row)| {
            let bytes =
                std::fs::read(folder.join("html").join(format!("{id}.html"))).expect("page");
            let html = String::from_utf8_lossy(&bytes).into_owned();
            (
                html,
                row["articleBody"].as_str().unwrap_or_default(),
                id.clone(),
            )
        })
        .collect();
    let options = PageOptions::default();
    let mut scores = Vec::new();
    for (html, expected, id) in &pages {
        let found = read(html, &options).main_text();
        scores.push((score(expected, &found), id, *expected, found));
    }
    let rows: Vec<Score> = scores.iter().map(|row| row.0).collect();
    let mean = mean_score(&rows);
    let exact = rows.iter().filter(|s| s.1 == 0.0 && s.2 == 0.0).count();
    println!(
        "F1 {:.4} precision {:.4} recall {:.4} exact {exact} of {}",
        mean.f1,
        mean.precision,
        mean.recall,
        rows.len()
    );
    scores.sort_by(|a, b| f1(a.0).total_cmp(&f1(b.0)));
    for ((tp, fp, fnn), id, expected, found) in scores.iter().take(number(2)) {
        println!(
            "\n== {id} {} tp {tp:.3} fp {fp:.3} fn {fnn:.3}",
            truth[*id]["url"]
        );
        differences("lacks", expected, found);
        differences("extra", found, expected);
    }
    let bytes: usize = pages.iter().map(|page| page.0.len()).sum();
    let best = (0..number(1))
        .map(|_| {
            let start = Instant::now();
            let main_bytes: usize = pages
                .iter()
                .map(|page| read(&page.0, &options).main_text().len())
                .sum();
            assert!(main_bytes > 0);
            start.elapsed()
        })
        .min();
    if let Some(best) = best {
        let seconds = best.as_secs_f64();
        println!(
            "{:.0} pages/s, {:.1} MB/s",
            pages.len() as f64 / seconds,
            bytes as f64 / 1e6 / seconds
        );
    }
}

/// Prints lines of `a` of which `b` lacks most shingles.
fn differences(label: &str, a: &str, b: &str) {
    let b = shingles(b);
    for line in a.lines() {
        let found = shingles(line);
        let missing = found.keys().filter(|key| !b.contains_key(*key)).count();
        if !found.is_empty() && 2 * missing > found.len() {
            println!("  {label}: {}", line.chars().take(150).collect::<String>());
        }
    }
}
