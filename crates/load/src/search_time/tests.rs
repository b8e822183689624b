//! Tests of queries of a wanted search time.
use super::*;
use std::convert::Infallible;

fn given(count: usize) -> Vec<String> {
    (0..count)
        .map(|n| format!("Word{n} -other \"x\""))
        .collect()
}

/// Returns a measure in which each word of a query takes `ms`.
fn per_word(ms: f64) -> impl FnMut(&[String]) -> Result<Vec<Option<f64>>, Infallible> {
    move |texts| {
        let words = |text: &String| text.split(' ').filter(|word| *word != "OR").count();
        Ok(texts
            .iter()
            .map(|text| Some(ms * words(text) as f64))
            .collect())
    }
}

fn made(wanted: &str, ms: f64) -> TimedQueries {
    let wanted = SearchTime::parse(wanted).unwrap();
    let made = wanted.make(&given(3_000), 4_000, 1, per_word(ms)).unwrap();
    made.unwrap()
}

#[test]
fn mean_and_tail_are_those_asked_for() {
    // Words of 0.01 ms: single queries take 0.03 ms and the longest joins 4.8 ms.
    let made = made("0.5ms,4ms", 0.01);
    assert!((made.mean_ms / 0.5 - 1.0).abs() < 0.03, "{made:?}");
    assert!((3.0..5.0).contains(&made.p99_ms), "{}", made.p99_ms);
    assert_eq!(made.texts.len(), 4_000);
    assert!(made.joined > 5.0);
    let again = self::made("0.5ms,4ms", 0.01);
    assert_eq!(made, again, "of the seed alone");
}

#[test]
fn a_mean_alone_gives_exponential_times() {
    let made = made("0.3ms", 0.01);
    assert!((made.mean_ms / 0.3 - 1.0).abs() < 0.03, "{}", made.mean_ms);
    // The 99th percentile of exponential times is 4.6 times their mean.
    // The candidates here take 0.03 ms times powers of two: 0.96 or 1.92 ms is the nearest.
    assert!((0.9..2.0).contains(&made.p99_ms), "{}", made.p99_ms);
}

#[test]
fn an_index_that_is_too_small_gives_the_longest_there_are() {
    let made = made("50ms", 0.01);
    assert!(made.mean_ms < 6.0 && made.mean_ms > 2.0, "{}", made.mean_ms);
    let wanted = SearchTime::parse("1ms").unwrap();
    let silent = |texts: &[String]| Ok::<_, Infallible>(vec![None; texts.len()]);
    assert_eq!(wanted.make(&given(5), 10, 1, silent).unwrap(), None);
    assert_eq!(wanted.make(&[], 10, 1, per_word(1.0)).unwrap(), None);
}

#[test]
fn wanted_times_are_read_or_refused() {
    let ms = Duration::from_millis;
    let of = |text: &str| SearchTime::parse(text);
    let mean_alone = SearchTime {
        mean: ms(2),
        p99: None,
    };
    assert_eq!(of("2ms"), Ok(mean_alone));
    assert_eq!(of("1ms,10ms").unwrap().p99, Some(ms(10)));
    assert_eq!(of("0.5ms,5ms").unwrap().to_string(), "0.5 ms (p99 5 ms)");
    for wrong in ["", "0ms", "2", "2ms,1ms", "1ms,20ms", "1ms,2ms,3ms", "1ms,"] {
        assert!(of(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn drawn_times_have_the_wanted_figures() {
    let wanted = SearchTime::parse("0.5ms,5ms").unwrap();
    let mut times_ms = wanted.times_ms(20_000, 7);
    assert_ne!(times_ms, wanted.times_ms(20_000, 8));
    let mean = times_ms.iter().sum::<f64>() / 2e4;
    // The cut at four times the 99th percentile takes 3 % of the mean.
    assert!((0.47..0.5).contains(&mean), "{mean}");
    times_ms.sort_by(f64::total_cmp);
    assert!((times_ms[19_800] / 5.0 - 1.0).abs() < 0.01);
    assert_eq!(times_ms[19_999], 20.0);
}
