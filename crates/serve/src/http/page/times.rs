//! Formatting of times and counts, and the share of each phase.

use wire::SearchAnswer;

/// Phase in the bar and its legend.
pub(super) struct PhaseView {
    pub(super) name: &'static str,
    pub(super) class: &'static str,
    pub(super) time: String,
    pub(super) share: u64,
}

/// Returns the bar of phases: each with its time and its share of the whole in percent, rounded up so
/// that every phase that took time is visible.
pub(super) fn phases(answer: &SearchAnswer) -> Vec<PhaseView> {
    let times = &answer.phases_us;
    let named = times.named();
    let known: u64 = named.iter().map(|(_, us)| us).sum();
    let whole = times.total.max(known).max(1);
    let view = |name, class, us: u64| PhaseView {
        name,
        class,
        time: duration(us),
        share: (us * 100).div_ceil(whole).min(100),
    };
    let mut phases: Vec<PhaseView> = named
        .iter()
        .map(|&(name, us)| match name {
            "index_search" => view("index search", name, us),
            "optimization_searches" => view("optimization searches", name, us),
            _ => view(name, name, us),
        })
        .collect();
    phases.push(view("hand-overs", "hand_overs", whole - known));
    phases
}

/// Formats microseconds for people, rounded to two digits. JSON has all of them.
pub(super) fn duration(us: u64) -> String {
    let mut unit = 1;
    while us / unit >= 100 {
        unit *= 10;
    }
    let us = (us + unit / 2) / unit * unit;
    let tenths = |whole: u64, name: &str| match us / whole {
        0..10 => format!("{}.{} {name}", us / whole, us % whole / (whole / 10)),
        many => format!("{many} {name}"),
    };
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => tenths(1_000, "ms"),
        _ => tenths(1_000_000, "s"),
    }
}

/// Formats a count with its noun.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        thousands(count),
        if count == 1 { one } else { many }
    )
}

/// Formats a number with its digits in groups of three.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
