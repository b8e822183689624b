//! View of the division of every term's postings between partitions.
use super::grouped;
use crate::balance::{Balance, Distribution};
use crate::results::{Axis, ExperimentResult, Panel, Point, Series};

/// Lower limit on the postings of a frequent term; such terms dominate the work of searches.
const FREQUENT: u64 = 1000;
/// Upper limit on drawn ratios; a term that a partition lacks has an infinite ratio.
const RATIO_MAX: f64 = 4.0;

/// Fills a result.
pub(crate) fn show(result: &mut ExperimentResult, balance: &Balance) {
    result.runs_count = 1;
    let partitions = balance.documents.len();
    let all: Vec<&Distribution> = balance.distributions.iter().collect();
    let frequent: Vec<&Distribution> = all
        .iter()
        .copied()
        .filter(|terms| total(terms) >= FREQUENT)
        .collect();
    let line = |name: &str, of: &[&Distribution]| Series {
        name: name.into(),
        points: by_ratio(of),
    };
    result.panels.push(Panel {
        title: "Postings in the fullest partition over those in the emptiest".into(),
        x: Axis::log("ratio"),
        y: Axis::linear("terms not above it in %"),
        series: vec![
            line("all terms", &all),
            line("1,000 postings and more", &frequent),
        ],
        is_published: false,
    });
    result.panels.push(Panel {
        title: "Spread of a term's postings over the partitions".into(),
        x: Axis::log("postings of the term"),
        y: Axis::log("coefficient of variation in %"),
        series: vec![
            Series {
                name: "ours".into(),
                points: variation(&all),
            },
            Series {
                name: "by chance alone".into(),
                points: chance(&all, partitions),
            },
        ],
        is_published: false,
    });
    let postings: Vec<u64> = (0..partitions)
        .map(|partition| {
            let of_term = |terms: &&Distribution| terms.postings[partition] * terms.terms;
            all.iter().map(of_term).sum()
        })
        .collect();
    let list = |counts: &[u64]| {
        let counts: Vec<String> = counts.iter().copied().map(grouped).collect();
        counts.join(" and ")
    };
    result.reading = format!(
        "Over {partitions} partitions of {} documents and {} postings, {:.0} % of the {} terms have a \
         ratio above 2; of the {} terms with {} postings or more, {:.0} % have one below 1.1 \
         (coefficient of variation {:.1} %).",
        list(&balance.documents),
        list(&postings),
        100.0 - share(&all, |ratio| ratio <= 2.0),
        grouped(count(&all)),
        grouped(count(&frequent)),
        grouped(FREQUENT),
        share(&frequent, |ratio| ratio < 1.1),
        mean_variation(&frequent) * 100.0,
    );
}

fn total(terms: &Distribution) -> u64 {
    terms.postings.iter().sum()
}

fn count(of: &[&Distribution]) -> u64 {
    of.iter().map(|terms| terms.terms).sum()
}

/// Returns the ratio of a term's postings between partitions; infinite if a partition lacks the term.
fn ratio(terms: &Distribution) -> f64 {
    let max = terms.postings.iter().max().copied().unwrap_or_default();
    let min = terms.postings.iter().min().copied().unwrap_or_default();
    max as f64 / min as f64
}

/// Returns the percentage of terms whose ratio satisfies `is`; 0 without terms.
fn share(of: &[&Distribution], is: impl Fn(f64) -> bool) -> f64 {
    let those = of.iter().filter(|terms| is(ratio(terms)));
    let those: u64 = those.map(|terms| terms.terms).sum();
    those as f64 / count(of).max(1) as f64 * 100.0
}

fn by_ratio(of: &[&Distribution]) -> Vec<Point> {
    if of.is_empty() {
        return Vec::new();
    }
    let mut sorted: Vec<(f64, u64)> = of.iter().map(|terms| (ratio(terms), terms.terms)).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all = count(of) as f64;
    let steps = 120;
    let (mut passed, mut next) = (0, 0);
    let point = |step: usize| {
        let limit = 1.0 + (RATIO_MAX - 1.0) * step as f64 / steps as f64;
        while sorted.get(next).is_some_and(|(ratio, _)| *ratio <= limit) {
            passed += sorted[next].1;
            next += 1;
        }
        Point::at(limit, passed as f64 / all * 100.0)
    };
    (0..=steps).map(point).collect()
}

/// Returns the coefficient of variation of a term's postings over the partitions, with the population's
/// deviation.
fn coefficient(terms: &Distribution) -> f64 {
    let partitions = terms.postings.len() as f64;
    let mean = total(terms) as f64 / partitions;
    let squares = terms
        .postings
        .iter()
        .map(|&count| (count as f64 - mean).powi(2));
    (squares.sum::<f64>() / partitions).sqrt() / mean
}

/// Returns the root of the mean squared coefficient, comparable with `chance`.
fn mean_variation(of: &[&Distribution]) -> f64 {
    let squares = of
        .iter()
        .map(|terms| coefficient(terms).powi(2) * terms.terms as f64);
    (squares.sum::<f64>() / count(of).max(1) as f64).sqrt()
}

/// Groups terms by the power of two of their postings.
fn octaves<'a>(of: &[&'a Distribution]) -> Vec<Vec<&'a Distribution>> {
    let mut octaves: Vec<Vec<&Distribution>> = Vec::new();
    for terms in of.iter().filter(|terms| total(terms) > 0) {
        let octave = total(terms).ilog2() as usize;
        if octaves.len() <= octave {
            octaves.resize(octave + 1, Vec::new());
        }
        octaves[octave].push(terms);
    }
    octaves.retain(|octave| !octave.is_empty());
    octaves
}

fn mean_postings(of: &[&Distribution]) -> f64 {
    let sum: u64 = of.iter().map(|terms| total(terms) * terms.terms).sum();
    sum as f64 / count(of).max(1) as f64
}

fn variation(of: &[&Distribution]) -> Vec<Point> {
    let point = |octave: &Vec<&Distribution>| {
        Point::at(mean_postings(octave), mean_variation(octave) * 100.0)
    };
    octaves(of).iter().map(point).collect()
}

/// Returns the expected coefficient if every posting went to a random partition. Its mean square is
/// (partitions - 1) / postings: the variance of a multinomial distribution.
fn chance(of: &[&Distribution], partitions: usize) -> Vec<Point> {
    let point = |octave: &Vec<&Distribution>| {
        let postings = mean_postings(octave);
        let coefficient = ((partitions.max(1) - 1) as f64 / postings).sqrt();
        Point::at(postings, coefficient * 100.0)
    };
    octaves(of).iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_terms_are_told_apart() {
        let experiment = &crate::experiment::chosen(&["posting-balance".into()]).unwrap()[0];
        let mut result = ExperimentResult::of(experiment);
        let distribution = |postings: [u64; 2], terms| Distribution {
            postings: postings.to_vec(),
            terms,
        };
        let balance = Balance {
            documents: vec![3000, 3100],
            distributions: vec![
                distribution([1, 0], 60),
                distribution([0, 1], 20),
                distribution([2, 1], 10),
                distribution([1000, 1050], 9),
                distribution([1500, 1000], 1),
            ],
        };
        show(&mut result, &balance);
        let reading = &result.reading;
        // A ratio of exactly 2 is not above 2.
        assert!(
            reading.contains("80 % of the 100 terms have a ratio above 2"),
            "{reading}"
        );
        assert!(
            reading.contains("of the 10 terms with 1,000 postings or more, 90 %"),
            "{reading}"
        );
        assert!(reading.contains("3,000 and 3,100 documents"), "{reading}");
        assert!(reading.contains("10,580 and 10,480 postings"), "{reading}");
        let [all, frequent] = &result.panels[0].series[..] else {
            panic!("two lines")
        };
        let at = |points: &[Point], x: f64| {
            let point = points.iter().rfind(|point| point.x <= x + 1e-9).unwrap();
            point.y
        };
        assert_eq!((at(&all.points, 1.0), at(&all.points, 1.1)), (0.0, 9.0));
        assert_eq!(
            (at(&all.points, 4.0), at(&frequent.points, 1.1)),
            (20.0, 90.0)
        );
        assert_eq!(at(&frequent.points, 1.6), 100.0);
        // A single posting lies in one of two partitions: the largest possible deviation, and also that
        // of chance.
        let [ours, chance] = &result.panels[1].series[..] else {
            panic!("two lines")
        };
        assert_eq!((ours.points[0].x, ours.points[0].y), (1.0, 100.0));
        assert_eq!(chance.points[0].y, 100.0);
    }

    /// Checks that randomly distributed postings have the variation that `chance` computes.
    #[test]
    fn dice_spread_as_the_formula_says() {
        let mut state = 1u64;
        let mut die = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 62) as usize
        };
        let dealt: Vec<Distribution> = (0..4000)
            .map(|_| {
                let mut postings = vec![0; 4];
                (0..100).for_each(|_| postings[die()] += 1);
                Distribution { postings, terms: 1 }
            })
            .collect();
        let dealt: Vec<&Distribution> = dealt.iter().collect();
        let ours = mean_variation(&dealt) * 100.0;
        let expected = chance(&dealt, 4)[0].y;
        assert!(
            (ours / expected - 1.0).abs() < 0.02,
            "{ours} and {expected}"
        );
    }
}
