//! Formatting and parsing of counts, bytes, durations and sizes of memory.

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

/// Lower limit on the memory of `index`, in bytes.
pub const MEMORY_BYTES_MIN: u64 = 16 << 20;

/// Parses a size of memory, of at least `MEMORY_BYTES_MIN`.
pub fn parse_memory(text: &str) -> Result<u64, String> {
    match parse_bytes(text)? {
        0..MEMORY_BYTES_MIN => Err("16M is the least that an index can be built with".to_owned()),
        size_bytes => Ok(size_bytes),
    }
}

/// Parses a size: bytes, or a number with `K`, `M`, `G`, `T` (also `MiB`: powers of 1024) or `kB`, `MB`, `GB`, `TB`
/// (powers of 1000).
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let unit_start = text
        .find(|c: char| c != '.' && !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_start);
    let unit_bytes: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => {
            return Err(format!(
                "`{unit}` is no unit of bytes; write 512M, 2G or 64MiB"
            ));
        }
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "a size is a number and a unit, such as 512M or 2G".to_owned())?;
    let size_bytes = number * unit_bytes as f64;
    if size_bytes >= u64::MAX as f64 {
        return Err("more bytes than any machine has".to_owned());
    }
    Ok(size_bytes as u64)
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

    #[test]
    fn memory_sizes_are_read_or_refused() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(parse_memory(text).ok(), expected, "{text:?}");
        };
        check("512M", Some(512 << 20));
        check("2G", Some(2 << 30));
        check("1.5g", Some(3 << 29));
        check("64MiB", Some(64 << 20));
        check("64 MB", Some(64_000_000));
        check("16777216", Some(16 << 20));
        check("16777215", None);
        check("1M", None);
        check("", None);
        check("M", None);
        check("1.2.3M", None);
        check("-5G", None);
        check("5 apples", None);
        check("NaN", None);
        check("99999999999999999999T", None);
        assert_eq!(parse_bytes("1K"), Ok(1 << 10));
        assert_eq!(parse_bytes("0"), Ok(0));
    }
}
