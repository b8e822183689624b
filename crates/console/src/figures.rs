//! Formatting of counts, bytes and durations.

/// Formats a count with separated thousands: `190,548`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut parted = String::with_capacity(digits.len() + digits.len() / 3);
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            parted.push(',');
        }
        parted.push(digit);
    }
    parted
}

/// Formats a count and its noun: `1 document`, `2 documents`.
pub fn counted(value: u64, noun: &str) -> String {
    format!(
        "{} {noun}{}",
        count(value),
        if value == 1 { "" } else { "s" }
    )
}

/// Formats bytes in decimal units: `263.4 MB`.
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if value < 1000 {
        return format!("{value} B");
    }
    let mut scaled = value as f64 / 1000.0;
    let mut unit = 0;
    while scaled >= 999.95 && unit + 1 < UNITS.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    format!("{scaled:.1} {}", UNITS[unit])
}

/// Formats seconds, in larger units for long times: `8.2 s`, `3 min 05 s`, `2 h 07 min`.
pub fn seconds(value: f64) -> String {
    if value < 10.0 {
        return format!("{value:.1} s");
    }
    let whole = value.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Formats microseconds, in larger units for long times: `12.3 µs`, `1,234 µs`, `45.6 ms`, `2.1 s`.
pub fn microseconds(value: f64) -> String {
    if value < 100.0 {
        format!("{value:.1} µs")
    } else if value < 10_000.0 {
        format!("{} µs", count(value.round() as u64))
    } else if value < 1_000_000.0 {
        format!("{:.1} ms", value / 1e3)
    } else {
        seconds(value / 1e6)
    }
}

/// Formats microseconds of a clock without fractions.
pub fn whole_microseconds(value: u64) -> String {
    match value {
        0..10_000 => format!("{} µs", count(value)),
        _ => microseconds(value as f64),
    }
}

/// Formats a number without trailing zeros: 99, 99.9.
pub fn number_plain(value: f64) -> String {
    format!("{}", (value * 1e6).round() / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(190_548), "190,548");
        assert_eq!(count(1_000_000), "1,000,000");
        assert_eq!(counted(1, "document"), "1 document");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_234), "1.2 kB");
        assert_eq!(bytes(999_990), "1.0 MB");
        assert_eq!(bytes(263_400_000), "263.4 MB");
        assert_eq!(seconds(8.24), "8.2 s");
        assert_eq!(seconds(185.0), "3 min 05 s");
        assert_eq!(seconds(7620.0), "2 h 07 min");
        assert_eq!(microseconds(12.34), "12.3 µs");
        assert_eq!(microseconds(1234.4), "1,234 µs");
        assert_eq!(microseconds(45_600.0), "45.6 ms");
    }
}
