//! Real robots.txt files: the fast matcher against its slow twin and against a port of Google's parser.

mod real;

use web::robots::{Robots, Rules};

/// One file in this many is read: the example `robots_real` reads all.
const STEP: usize = 40;

#[test]
fn real_files_have_the_same_verdicts_in_both_matchers() {
    let Some(files) = real::files() else { return };
    assert_eq!(files.len(), 4_229);
    let (mut verdicts, mut refused) = (0, 0);
    for (name, bytes) in files
        .iter()
        .filter(|(_, bytes)| bytes.len() < 20_000)
        .step_by(STEP)
    {
        let robots = Robots::parse(bytes);
        for token in ["shorttail", "googlebot"] {
            let rules = robots.rules(token);
            for path in real::paths(bytes) {
                let verdict = rules.allows(&path);
                assert_eq!(verdict, rules.allows_slowly(&path), "{name} {token} {path}");
                verdicts += 1;
                refused += u32::from(!verdict.allowed);
            }
        }
    }
    println!("{verdicts} verdicts, {refused} refused");
    assert!(verdicts > 10_000 && refused > 500, "{verdicts} {refused}");
}

/// Patterns and paths that a backtracking matcher takes exponential or quadratic time for.
fn hostile() -> Vec<(String, String)> {
    let stars = |count: usize| format!("/{}b$", "*a".repeat(count));
    let path = |count: usize| format!("/{}", "a".repeat(count));
    vec![
        (stars(8_000), path(1_990)),
        (format!("/{}$", "*".repeat(16_000)), path(1_990)),
        (format!("/{}", "a*".repeat(900)), path(1_990)),
        (format!("/*{}b", "a".repeat(990)), path(1_990)),
        (
            format!("*{}", "%61".repeat(5_000)),
            format!("/{}", "%61".repeat(660)),
        ),
    ]
}

#[test]
fn hostile_patterns_take_linear_time() {
    for (pattern, path) in hostile() {
        let rules: Rules =
            Robots::parse(format!("User-agent: *\nDisallow: {pattern}\n").as_bytes()).rules("x");
        let mut times_us: Vec<u128> = (0..100)
            .map(|_| {
                let begun = std::time::Instant::now();
                std::hint::black_box(rules.allows(&path));
                begun.elapsed().as_micros()
            })
            .collect();
        times_us.sort_unstable();
        // A debug build on a busy machine: the median of a quadratic matcher is far above, a pause of the machine is not in it.
        assert!(
            times_us[50] < 5_000,
            "{} µs for {pattern:.20}",
            times_us[50]
        );
        println!(
            "p50 {} µs, p99 {} µs for {pattern:.20}",
            times_us[50], times_us[98]
        );
    }
}
