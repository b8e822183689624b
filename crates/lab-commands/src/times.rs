//! Readers of the times that models take, as numbers of the unit that they count in.
//!
//! A number without a unit is of that unit, as before options took units.

use units::{Time, TimeUnit, Times};

/// Returns a reader of times of 0 or more, in ms.
pub(crate) fn ms() -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    reader(Times::ANY, TimeUnit::Milliseconds)
}

/// Returns a reader of times above 0, in ms.
pub(crate) fn positive_ms() -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static
{
    reader(Times::POSITIVE, TimeUnit::Milliseconds)
}

/// Returns a reader of times of 0 or more, in µs.
pub(crate) fn us() -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    reader(Times::ANY, TimeUnit::Microseconds)
}

/// Returns a reader of times above 0, in µs.
pub(crate) fn positive_us() -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static
{
    reader(Times::POSITIVE, TimeUnit::Microseconds)
}

fn reader(
    times: Times,
    unit: TimeUnit,
) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    let times = times.plain(unit);
    move |text| times.read(text).map(|time: Time| time.in_unit(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers_of_their_unit() {
        assert_eq!(ms()("0.1"), Ok(0.1));
        assert_eq!(ms()("300us"), Ok(0.3));
        assert_eq!(us()("0.3"), Ok(0.3));
        assert_eq!(positive_us()("1ms"), Ok(1000.0));
        assert!(positive_ms()("0").is_err() && ms()("-1").is_err());
    }
}
