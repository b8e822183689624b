//! Result of a check: figures, their limits, and whether they keep them.

use serde::Serialize;

/// Limit on a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rule {
    AtMost(f64),
    AtLeast(f64),
    /// No limit: for the reader's information.
    None,
}

/// One figure, with its unit in its name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) rule: Rule,
    pub(crate) kept: bool,
    /// Whether the verdict rests on times, which other work on the machine disturbs.
    pub(crate) timed: bool,
}

/// The outcome of one check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Verdict {
    pub(crate) id: &'static str,
    pub(crate) passed: bool,
    /// Extent of the check, as `40 kills, 8123 queries`.
    pub(crate) count: String,
    pub(crate) figures: Vec<Figure>,
    /// A few examples of failures.
    pub(crate) examples: Vec<String>,
    pub(crate) seed: u64,
    pub(crate) seconds: f64,
    /// Number of attempts: times that other work may have disturbed are taken again.
    pub(crate) tries: u32,
}

/// Upper limit on the examples that are reported.
const EXAMPLES_MAX: usize = 5;

impl Verdict {
    pub(crate) fn new(id: &'static str, seed: u64) -> Verdict {
        Verdict {
            id,
            passed: true,
            count: String::new(),
            figures: Vec::new(),
            examples: Vec::new(),
            seed,
            seconds: 0.0,
            tries: 1,
        }
    }

    /// Adds a figure that must not exceed `limit`.
    pub(crate) fn at_most(&mut self, name: &str, value: f64, limit: f64) {
        self.add(name, value, Rule::AtMost(limit), value <= limit);
    }

    /// Adds a figure that must not be below `limit`.
    pub(crate) fn at_least(&mut self, name: &str, value: f64, limit: f64) {
        self.add(name, value, Rule::AtLeast(limit), value >= limit);
    }

    /// Adds a time, or a figure that depends on times, that must not exceed `limit`.
    pub(crate) fn timed_at_most(&mut self, name: &str, value: f64, limit: f64) {
        self.at_most(name, value, limit);
        self.timed();
    }

    /// Adds a time, or a figure that depends on times, that must not be below `limit`.
    pub(crate) fn timed_at_least(&mut self, name: &str, value: f64, limit: f64) {
        self.at_least(name, value, limit);
        self.timed();
    }

    fn timed(&mut self) {
        if let Some(figure) = self.figures.last_mut() {
            figure.timed = true;
        }
    }

    /// Returns whether the check failed only in figures that other work on the machine may have disturbed.
    pub(crate) fn may_be_noise(&self) -> bool {
        let mut broken = self.figures.iter().filter(|figure| !figure.kept);
        !self.passed && broken.all(|figure| figure.timed)
    }

    /// Adds a count that must be zero.
    pub(crate) fn none(&mut self, name: &str, count: u64) {
        self.at_most(name, count as f64, 0.0);
    }

    /// Adds a figure for the reader.
    pub(crate) fn note(&mut self, name: &str, value: f64) {
        self.add(name, value, Rule::None, true);
    }

    fn add(&mut self, name: &str, value: f64, rule: Rule, kept: bool) {
        self.passed &= kept;
        self.figures.push(Figure {
            name: name.to_owned(),
            value,
            rule,
            kept,
            timed: false,
        });
    }

    /// Keeps examples of failures, up to `EXAMPLES_MAX` in all.
    pub(crate) fn tell(&mut self, examples: impl IntoIterator<Item = String>) {
        let room = EXAMPLES_MAX.saturating_sub(self.examples.len());
        self.examples.extend(examples.into_iter().take(room));
    }

    /// Returns one line, and one more for each example where the check failed.
    pub(crate) fn line(&self) -> String {
        let figures: Vec<String> = self.figures.iter().map(Figure::shown).collect();
        let mut line = format!(
            "{}  {:<5}  {:<34}  {}  seed {}  {:.0} s",
            if self.passed { "PASS" } else { "FAIL" },
            self.id,
            self.count,
            figures.join(", "),
            self.seed,
            self.seconds
        );
        if self.tries > 1 {
            line.push_str(&format!("  try {}", self.tries));
        }
        if !self.passed {
            for example in &self.examples {
                line.push_str("\n      ");
                line.push_str(example);
            }
        }
        line
    }
}

impl Figure {
    fn shown(&self) -> String {
        let mark = if self.kept { "" } else { "!" };
        let value = number(self.value);
        match self.rule {
            Rule::AtMost(limit) => format!("{mark}{} {value} (≤ {})", self.name, number(limit)),
            Rule::AtLeast(limit) => format!("{mark}{} {value} (≥ {})", self.name, number(limit)),
            Rule::None => format!("{} {value}", self.name),
        }
    }
}

fn number(value: f64) -> String {
    if value == value.trunc() || value.abs() >= 1000.0 {
        format!("{value:.0}")
    } else if value.abs() >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_limit_not_kept_fails_the_check() {
        let mut verdict = Verdict::new("V0", 7);
        verdict.at_most("p99 ms", 12.0, 20.0);
        verdict.none("failed", 0);
        assert!(verdict.passed);
        verdict.at_least("hits", 1.5, 2.0);
        verdict.note("queries", 10.0);
        assert!(!verdict.passed);
        let line = verdict.line();
        assert!(line.starts_with("FAIL"), "{line}");
        assert!(line.contains("!hits 1.50 (≥ 2)"), "{line}");
    }

    #[test]
    fn only_times_are_taken_again() {
        let mut verdict = Verdict::new("V0", 7);
        assert!(!verdict.may_be_noise());
        verdict.timed_at_most("p99 ms", 30.0, 20.0);
        assert!(verdict.may_be_noise());
        verdict.none("failed", 1);
        assert!(!verdict.may_be_noise());
    }

    #[test]
    fn what_is_no_number_keeps_no_limit() {
        let mut verdict = Verdict::new("V0", 7);
        verdict.at_most("p99 ms", f64::NAN, 20.0);
        assert!(!verdict.passed);
    }
}
