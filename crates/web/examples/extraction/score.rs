//! Score of extracted texts: token 4-grams, as scrapinghub/article-extraction-benchmark counts them.

use std::collections::HashMap;

/// Shares of true positives, false positives and false negatives.
pub(crate) type Score = (f64, f64, f64);

/// Normalised true positives, false positives and false negatives of token 4-grams.
pub(crate) fn score(expected: &str, found: &str) -> Score {
    let (expected, found) = (shingles(expected), shingles(found));
    let (mut tp, mut fp, mut fnn) = (0, 0, 0);
    for (key, &count) in &expected {
        let other = found.get(key).copied().unwrap_or(0);
        tp += count.min(other);
        fnn += count.saturating_sub(other);
    }
    for (key, &count) in &found {
        fp += count.saturating_sub(expected.get(key).copied().unwrap_or(0));
    }
    let sum = f64::from(tp + fp + fnn).max(1.0);
    (
        f64::from(tp) / sum,
        f64::from(fp) / sum,
        f64::from(fnn) / sum,
    )
}

fn tokens(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|token| !token.is_empty())
        .collect()
}

/// Counts the 4-grams of tokens.
pub(crate) fn shingles(text: &str) -> HashMap<Vec<&str>, u32> {
    let tokens = tokens(text);
    let mut out = HashMap::new();
    if tokens.is_empty() {
        return out;
    }
    for i in 0..tokens.len().saturating_sub(3).max(1) {
        *out.entry(tokens[i..tokens.len().min(i + 4)].to_vec())
            .or_insert(0) += 1;
    }
    out
}

fn ratio(tp: f64, wrong: f64) -> f64 {
    if tp + wrong > 0.0 {
        tp / (tp + wrong)
    } else {
        0.0
    }
}

/// Returns the F1 of one page.
pub(crate) fn f1((tp, fp, fnn): Score) -> f64 {
    ratio(tp, (fp + fnn) / 2.0)
}

/// Means over pages.
pub(crate) struct MeanScore {
    pub(crate) precision: f64,
    pub(crate) recall: f64,
    /// Harmonic mean of mean precision and mean recall.
    pub(crate) f1: f64,
}

/// Returns the score of a set of pages; pages without text do not count.
pub(crate) fn mean_score(scores: &[Score]) -> MeanScore {
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let precision = mean(
        scores
            .iter()
            .filter(|s| s.0 + s.1 > 0.0)
            .map(|s| ratio(s.0, s.1))
            .collect(),
    );
    let recall = mean(
        scores
            .iter()
            .filter(|s| s.0 + s.2 > 0.0)
            .map(|s| ratio(s.0, s.2))
            .collect(),
    );
    MeanScore {
        precision,
        recall,
        f1: 2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE),
    }
}
