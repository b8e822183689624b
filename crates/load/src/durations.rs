//! Text form of durations.
use std::time::Duration;

/// Parses `300ms`, `1.5s`, `20us`, `5m`, `1h`; a unit is required, except for 0.
///
/// # Errors
/// Text in another form; the message names the remedy.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no length of time; write 300ms, 20s or 5m");
    let text = text.trim();
    let unit_start = text
        .find(|c: char| c != '.' && !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_start);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let unit_s = match unit.trim() {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "" if number == 0.0 => 1.0,
        _ => return Err(wrong()),
    };
    // The limit of one year keeps all later sums in range.
    match Duration::try_from_secs_f64(number * unit_s) {
        Ok(duration) if duration <= Duration::from_secs(366 * 86_400) => Ok(duration),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_or_refused() {
        let check = |text: &str, us: Option<u64>| {
            assert_eq!(
                parse_duration(text).ok(),
                us.map(Duration::from_micros),
                "{text:?}"
            );
        };
        check("300ms", Some(300_000));
        check("1.5 s", Some(1_500_000));
        check("20us", Some(20));
        check("5m", Some(300_000_000));
        check("0", Some(0));
        for wrong in [
            "",
            "5",
            "s",
            "-1s",
            "1e9h",
            "99999999h",
            "1.2.3s",
            "5 days",
            "NaNs",
        ] {
            check(wrong, None);
        }
    }
}
