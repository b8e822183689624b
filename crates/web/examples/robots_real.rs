//! Figures of robots.txt on real files: `robots_real [STEP]` reads one file in STEP, of `$SHORTTAIL_DATA/crawler/robots-real.tar.zst`.
//!
//! Compares each verdict with the slow twin and with the crate `robotstxt` (a port of Google's parser), and times a parse with
//! 50 verdicts for each file, which is what a crawler pays for a host without its cache.

#[path = "../tests/real/mod.rs"]
mod real;

use std::collections::BTreeMap;
use std::time::Instant;

use robotstxt::DefaultMatcher;
use web::robots::Robots;

fn main() {
    let step = std::env::args()
        .nth(1)
        .and_then(|step| step.parse().ok())
        .unwrap_or(1);
    let Some(files) = real::files() else { return };
    // The other parser cuts lines within a character.
    std::panic::set_hook(Box::new(|_| {}));
    let mut times_us = Vec::new();
    let mut worst = (0, String::new());
    let (mut verdicts, mut refused, mut twin_differs) = (0_u64, 0_u64, 0_u64);
    let mut classes = BTreeMap::<&str, (u64, String)>::new();
    for (name, bytes) in files.iter().step_by(step) {
        let paths = real::paths(bytes);
        let begun = Instant::now();
        let rules = Robots::parse(bytes).rules("shorttail");
        let allowed: Vec<bool> = paths
            .iter()
            .map(|path| rules.allows(path).allowed)
            .collect();
        let time_us = begun.elapsed().as_micros() as u64;
        times_us.push(time_us);
        worst = worst.max((time_us, name.clone()));
        let text = String::from_utf8_lossy(bytes);
        for (path, allowed) in paths.iter().zip(allowed) {
            verdicts += 1;
            refused += u64::from(!allowed);
            twin_differs += u64::from(rules.allows_slowly(path) != rules.allows(path));
            let url = format!("http://example.org{path}");
            let asks =
                || DefaultMatcher::default().one_agent_allowed_by_robots(&text, "shorttail", &url);
            let other = std::panic::catch_unwind(asks);
            if other.as_ref().ok() != Some(&allowed) {
                let class = match other {
                    Ok(_) => class(bytes, path, allowed),
                    Err(_) => "it panics",
                };
                let entry = classes.entry(class).or_default();
                entry.0 += 1;
                entry.1 = format!(
                    "{name} {path}: {allowed}, {:?}",
                    rules.allows(path).rule.map(ToString::to_string)
                );
            }
        }
    }
    times_us.sort_unstable();
    let quantile = |q: f64| times_us[((times_us.len() - 1) as f64 * q) as usize];
    println!(
        "{} files, {verdicts} verdicts, {refused} refused; slow twin differs on {twin_differs}",
        times_us.len()
    );
    println!(
        "parse and 50 verdicts: p50 {} µs, p99 {} µs, max {} µs ({})",
        quantile(0.5),
        quantile(0.99),
        worst.0,
        worst.1
    );
    for (class, (count, example)) in classes {
        println!("robotstxt differs on {count}: {class}, as {example}");
    }
}

/// Reason for which the port of Google's parser may decide otherwise.
fn class(bytes: &[u8], path: &str, allowed: bool) -> &'static str {
    if path == "/robots.txt" {
        "robots.txt itself is always allowed"
    } else if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        "UTF-16 is read"
    } else if bytes.len() > web::robots::ROBOTS_BYTES_MAX {
        "bytes beyond 512 KiB are ignored"
    } else if bytes.contains(&0) {
        "a NUL ends its line"
    } else if bytes.contains(&b'<') {
        "HTML tags are taken out"
    } else if !allowed
        && (path.contains('%')
            || bytes.contains(&b'%')
            || path
                .bytes()
                .any(|b| !b.is_ascii() || b"*$ {}|^\"\\`".contains(&b)))
    {
        "the stricter of two comparisons holds"
    } else {
        "other"
    }
}
