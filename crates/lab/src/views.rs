//! From samples to diagrams and sentences: one file for each kind of look.

pub(crate) mod alone;
pub(crate) mod rates;
pub(crate) mod sizes;
pub(crate) mod words;

/// Words of a query, as white space parts them.
fn words_count(query: &str) -> usize {
    query.split_whitespace().count()
}

/// Milliseconds for a sentence: three digits.
fn ms(us: f64) -> String {
    let ms = us / 1e3;
    match ms {
        ..10.0 => format!("{ms:.2} ms"),
        ..100.0 => format!("{ms:.1} ms"),
        _ => format!("{ms:.0} ms"),
    }
}
