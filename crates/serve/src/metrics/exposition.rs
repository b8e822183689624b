//! One exposition of several: the samples of each metric together, under one description.
//!
//! ```text
//! # HELP shorttail_documents …          # HELP shorttail_documents …
//! # TYPE shorttail_documents gauge      # TYPE shorttail_documents gauge
//! shorttail_documents{index="a"} 3   +  shorttail_documents{index="b"} 5   ─►  one description, two samples
//! ```
//!
//! The text format allows one description of a metric in an exposition, before all its samples.

use std::collections::BTreeMap;

/// Joins expositions of registers; metrics are in the order of their names.
pub(crate) fn joined(parts: impl IntoIterator<Item = String>) -> String {
    let mut metrics: BTreeMap<String, Metric> = BTreeMap::new();
    for part in parts {
        let mut name = "";
        for line in part.lines().filter(|line| !line.is_empty()) {
            if let Some(described) = line.strip_prefix("# ") {
                name = described.split(' ').nth(1).unwrap_or_default();
            }
            let metric = match metrics.get_mut(name) {
                Some(known) => known,
                None => metrics.entry(name.to_owned()).or_default(),
            };
            // Each part says the same of a metric.
            let lines = match line.get(..6) {
                Some("# HELP") => replaced(&mut metric.help),
                Some("# TYPE") => replaced(&mut metric.kind),
                _ => &mut metric.samples,
            };
            lines.push_str(line);
            lines.push('\n');
        }
    }
    let metrics = metrics.into_values();
    let texts = metrics.map(|metric| metric.help + &metric.kind + &metric.samples + "\n");
    texts.collect()
}

/// Lines of a metric.
#[derive(Default)]
struct Metric {
    help: String,
    kind: String,
    samples: String,
}

fn replaced(line: &mut String) -> &mut String {
    line.clear();
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_metric_stand_together() {
        let part = |index: &str, documents: u32| {
            format!(
                "# HELP b Documents\n# TYPE b gauge\nb{{index=\"{index}\"}} {documents}\n\n# TYPE a counter\na 1\n\n"
            )
        };
        assert_eq!(
            joined([part("x", 3), part("y", 5)]),
            "# TYPE a counter\na 1\na 1\n\n# HELP b Documents\n# TYPE b gauge\nb{index=\"x\"} 3\nb{index=\"y\"} 5\n\n"
        );
        assert_eq!(joined([]), "");
    }
}
