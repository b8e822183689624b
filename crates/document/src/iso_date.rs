//! Dates of the proleptic Gregorian calendar.

/// Returns the date of a number of days since 1970-01-01, as in `2024-02-29`, by Hinnant's `civil_from_days` (*chrono-Compatible
/// Low-Level Date Algorithms*). Years are those from 0 on.
pub fn iso_date(days: i64) -> String {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_shifted + 2) / 5 + 1;
    let month = if month_shifted < 10 {
        month_shifted + 3
    } else {
        month_shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        for (days, date) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (19_782, "2024-02-29"),
            (-25_509, "1900-02-28"),
            (-25_508, "1900-03-01"),
            (2_932_896, "9999-12-31"),
        ] {
            assert_eq!(iso_date(days), date);
        }
    }
}
