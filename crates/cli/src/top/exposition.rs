//! Parser of the Prometheus text format.
//!
//! line   := "#" … | sample | ""
//! sample := name [ "{" label { "," label } [ "," ] "}" ] value [ timestamp ]
//! label  := name "=" '"' { character | "\\\\" | "\\\"" | "\\n" } '"'
//!
//! Source: Prometheus, text-based exposition format, version 0.0.4. The text is untrusted: a line that is no sample is
//! counted and skipped.

use std::collections::BTreeMap;

/// Label names and values, by name.
pub(crate) type Labels = BTreeMap<String, String>;

/// The samples of one reading.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Exposition {
    samples: BTreeMap<String, Vec<(Labels, f64)>>,
    /// Number of lines that are neither samples nor comments, and of inconsistent histograms.
    pub(crate) malformed_count: u64,
}

impl Histogram {
    /// Adds a histogram with the same bounds; another one is left out.
    pub(crate) fn add(&mut self, other: &Histogram) {
        let bounds = |histogram: &Histogram| -> Vec<f64> {
            histogram.buckets.iter().map(|bucket| bucket.0).collect()
        };
        if bounds(self) != bounds(other) {
            return;
        }
        for (bucket, more) in self.buckets.iter_mut().zip(&other.buckets) {
            bucket.1 += more.1;
        }
        let sums = self.sum_s.zip(other.sum_s);
        self.sum_s = sums.map(|(sum_s, more_s)| sum_s + more_s);
    }
}

/// Cumulative histogram since the start of the server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Histogram {
    /// Upper bounds in seconds, increasing, the last one infinite, each with the number of values up to it.
    pub(crate) buckets: Vec<(f64, f64)>,
    /// Sum of all values in seconds.
    pub(crate) sum_s: Option<f64>,
}

impl Exposition {
    /// Parses a text. Never fails; counts malformed lines.
    pub(crate) fn parse(text: &str) -> Exposition {
        let mut read = Exposition::default();
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match sample(line) {
                Some((name, labels, value)) => {
                    read.samples.entry(name).or_default().push((labels, value));
                }
                None => read.malformed_count += 1,
            }
        }
        let histograms: Vec<&str> = read
            .samples
            .keys()
            .filter_map(|name| name.strip_suffix("_bucket"))
            .collect();
        let odd: u64 = histograms
            .iter()
            .map(|name| read.read_histograms(name).1)
            .sum();
        read.malformed_count += odd;
        read
    }

    /// Returns the samples of a metric, each with its labels; `None` if the server does not report it.
    pub(crate) fn samples(&self, name: &str) -> Option<&[(Labels, f64)]> {
        self.samples.get(name).map(Vec::as_slice)
    }

    /// Returns the sum of a metric over all labels; `None` if the server does not report it.
    pub(crate) fn sum(&self, name: &str) -> Option<f64> {
        let samples = self.samples.get(name)?;
        Some(samples.iter().map(|(_, value)| value).sum())
    }

    /// Returns the sums of a metric by the value of one label.
    pub(crate) fn by(&self, name: &str, label: &str) -> BTreeMap<String, f64> {
        let mut sums = BTreeMap::new();
        for (labels, value) in self.samples.get(name).into_iter().flatten() {
            if let Some(label) = labels.get(label) {
                *sums.entry(label.clone()).or_default() += value;
            }
        }
        sums
    }

    /// Returns the histograms of a metric by their labels without `le`.
    pub(crate) fn histograms(&self, name: &str) -> BTreeMap<Labels, Histogram> {
        self.read_histograms(name).0
    }

    /// Returns the consistent histograms of a metric, and the number of inconsistent ones.
    fn read_histograms(&self, name: &str) -> (BTreeMap<Labels, Histogram>, u64) {
        let mut buckets: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
        let samples = |suffix: &str| self.samples.get(&format!("{name}{suffix}"));
        for (labels, count) in samples("_bucket").into_iter().flatten() {
            let mut labels = labels.clone();
            let bound = labels.remove("le").and_then(|bound| bound.parse().ok());
            buckets
                .entry(labels)
                .or_default()
                .push((bound.unwrap_or(f64::NAN), *count));
        }
        let mut odd = 0;
        let mut histograms = BTreeMap::new();
        for (labels, mut buckets) in buckets {
            buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
            if !is_consistent(&buckets) {
                odd += 1;
                continue;
            }
            let sums = samples("_sum").into_iter().flatten();
            let sum_s = sums
                .filter(|(of, sum)| *of == labels && sum.is_finite())
                .map(|(_, sum)| *sum)
                .next();
            histograms.insert(labels, Histogram { buckets, sum_s });
        }
        (histograms, odd)
    }
}

/// Returns whether bounds increase up to the infinite one and counts never decrease.
fn is_consistent(buckets: &[(f64, f64)]) -> bool {
    let increasing = |pair: &[(f64, f64)]| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1;
    buckets.windows(2).all(increasing)
        && buckets.last().is_some_and(|last| last.0 == f64::INFINITY)
        && buckets
            .iter()
            .all(|(_, count)| count.is_finite() && *count >= 0.0)
}

fn sample(line: &str) -> Option<(String, Labels, f64)> {
    let name_end = line.find(|c: char| c == '{' || c.is_whitespace())?;
    let (name, rest) = line.split_at(name_end);
    if !is_name(name) {
        return None;
    }
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Labels::new(), rest),
    };
    let mut words = rest.split_whitespace();
    // Rust parses all floats of the format, such as `NaN`, `+Inf` and `1e-5`.
    let value = words.next()?.parse().ok()?;
    let timestamp_is_number = words.next().is_none_or(|word| word.parse::<i64>().is_ok());
    (timestamp_is_number && words.next().is_none()).then(|| (name.to_owned(), labels, value))
}

fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
    !name.is_empty() && name.bytes().all(allowed) && !name.as_bytes()[0].is_ascii_digit()
}

/// Parses labels up to the closing brace. Returns them and the rest.
fn labels(mut rest: &str) -> Option<(Labels, &str)> {
    let mut labels = Labels::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('}') {
            return Some((labels, after));
        }
        let (name, after) = rest.split_once('=')?;
        let (value, after) = quoted(after.trim_start())?;
        if !is_name(name.trim()) {
            return None;
        }
        labels.insert(name.trim().to_owned(), value);
        rest = after.trim_start();
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None if rest.starts_with('}') => {}
            None => return None,
        }
    }
}

/// Parses a quoted text and resolves its escapes. Returns it and the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.strip_prefix('"')?.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[1 + at + 1..])),
            '\\' => value.push(match characters.next()?.1 {
                'n' => '\n',
                escaped => escaped,
            }),
            _ => value.push(character),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_read_and_everything_else_counted() {
        let check = |line: &str, expected: Option<(&[(&str, &str)], f64)>| {
            let read = sample(line).map(|(name, labels, value)| {
                assert_eq!(name, "a_total", "{line}");
                (labels, value)
            });
            let expected = expected.map(|(labels, value)| {
                let labels = labels.iter().map(|&(n, v)| (n.to_owned(), v.to_owned()));
                (labels.collect::<Labels>(), value)
            });
            assert_eq!(read, expected, "{line}");
        };
        check("a_total 7", Some((&[], 7.0)));
        check("a_total{} 1e-3 1700000000000", Some((&[], 1e-3)));
        check(
            r#"a_total{x="1",y="}, \"\\\n",} +Inf"#,
            Some((&[("x", "1"), ("y", "}, \"\\\n")], f64::INFINITY)),
        );
        check(r#"a_total{ x = "ä" } -2"#, Some((&[("x", "ä")], -2.0)));
        for bad in [
            "a_total",
            "a_total{",
            "a_total{x}",
            "a_total{x=\"1} 2",
            "a_total{x=\"1\\",
            "a_total x",
            "a_total 1 2 3",
            "a_total 1 now",
            "1a_total 2",
            "a-total 2",
            "{} 1",
            "a_total{x=1} 2",
            "a_total{x=\"1\"y=\"2\"} 3",
            "a_total{\u{e4}=\"1\"} 2",
        ] {
            check(bad, None);
        }
        let read = Exposition::parse("# HELP a b\n\na 1\n???\na{x=\"1\"} 2\nb{y=\"1\"} 3\n");
        assert_eq!(
            (read.sum("a"), read.sum("c"), read.malformed_count),
            (Some(3.0), None, 1)
        );
        assert_eq!(read.by("a", "x"), BTreeMap::from([("1".into(), 2.0)]));
    }

    #[test]
    fn histograms_are_read_unless_they_contradict_themselves() {
        let text = |counts: [&str; 3]| {
            format!(
                "t_bucket{{p=\"0\",le=\"0.1\"}} {}\nt_bucket{{le=\"+Inf\",p=\"0\"}} {}\n\
                 t_bucket{{p=\"0\",le=\"0.5\"}} {}\nt_sum{{p=\"0\"}} 1.5\nt_count{{p=\"0\"}} 9\n",
                counts[0], counts[2], counts[1]
            )
        };
        let read = Exposition::parse(&text(["2", "2", "9"]));
        let histograms = read.histograms("t");
        let histogram = histograms.values().next().unwrap();
        assert_eq!(
            histogram.buckets,
            [(0.1, 2.0), (0.5, 2.0), (f64::INFINITY, 9.0)]
        );
        assert_eq!(histogram.sum_s, Some(1.5));
        for counts in [["3", "2", "9"], ["NaN", "NaN", "NaN"], ["-1", "2", "9"]] {
            let read = Exposition::parse(&text(counts));
            assert!(read.histograms("t").is_empty(), "{counts:?}");
            assert_eq!(read.malformed_count, 1);
        }
        let no_end = Exposition::parse("t_bucket{le=\"0.1\"} 2\nt_bucket{le=\"x\"} 2\n");
        assert!(no_end.histograms("t").is_empty());
    }
}
