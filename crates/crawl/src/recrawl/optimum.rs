//! Optimum of freshness under a budget, by bisection on the Lagrange multiplier (Azar et al. 2018).
use super::value::age_at_value;

/// Expected freshness of a page with `d` changes a day that is visited `f` times a day at even gaps.
pub fn freshness(d: f64, f: f64) -> f64 {
    if d <= 0.0 {
        return 1.0;
    }
    if f <= 0.0 {
        return 0.0;
    }
    let x = d / f;
    -(-x).exp_m1() / x
}

/// Greatest weighted mean freshness of `pages` (importance, changes a day) with `budget` visits a day.
/// Visits at even gaps for each page; at the optimum the value of a visit is the same for all pages that are visited.
pub fn optimum(pages: &[(f64, f64)], budget: f64) -> f64 {
    const GAP_DAYS_MAX: f64 = 1e6;
    let frequency = |(m, d): (f64, f64), multiplier: f64| {
        age_at_value(m, d, multiplier, GAP_DAYS_MAX).map_or(0.0, |gap| 1.0 / gap)
    };
    let (mut low, mut high) = (-40.0_f64, 40.0_f64);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        let visits: f64 = pages
            .iter()
            .map(|page| frequency(*page, middle.exp()))
            .sum();
        if visits > budget {
            low = middle;
        } else {
            high = middle;
        }
    }
    weighted(pages, |page| frequency(page, high.exp()))
}

/// Weighted mean freshness when all pages share the budget evenly.
pub fn uniform(pages: &[(f64, f64)], budget: f64) -> f64 {
    weighted(pages, |_| budget / pages.len() as f64)
}

fn weighted(pages: &[(f64, f64)], frequency: impl Fn((f64, f64)) -> f64) -> f64 {
    let total: f64 = pages.iter().map(|(m, _)| m).sum();
    let fresh = pages
        .iter()
        .map(|&(m, d)| m * freshness(d, frequency((m, d))));
    fresh.sum::<f64>() / total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_pages_share_evenly_and_unequal_ones_gain() {
        let equal = vec![(1.0, 0.2); 50];
        let (best, even) = (optimum(&equal, 5.0), uniform(&equal, 5.0));
        assert!((best - even).abs() < 1e-6, "{best} {even}");
        let unequal: Vec<_> = (1..=50)
            .map(|n| (f64::from(n), 5.0 / f64::from(n)))
            .collect();
        assert!(optimum(&unequal, 5.0) > uniform(&unequal, 5.0) + 0.05);
    }
}
