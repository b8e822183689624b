//! Simulated recrawl: pages that change at random, visited by the law, compared with the optimum.
use super::{HostRate, change_rate, optimum, uniform, value};

/// Weighted freshness under the law and under the policies compared with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulated {
    /// Greatest value first, with rates estimated from visits.
    pub law: f64,
    /// Optimum with known rates.
    pub optimum: f64,
    /// All pages visited equally often.
    pub uniform: f64,
}

/// Longest age of a page, in days.
const AGE_DAYS_MAX: f64 = 60.0;
/// Rounds of visits a day.
const ROUNDS: u32 = 4;

struct Page {
    m: f64,
    d: f64,
    visited: f64,
    /// First change since the visit.
    changes: f64,
    visits: u32,
    unchanged: u32,
}

/// Simulates `pages` pages with Pareto importance (shape 1.5) and gamma change rates (shape ½, mean
/// `rate_mean` a day) for `days` days, a tenth of them visited each day; freshness is measured from `from_day` on.
pub fn simulate(pages: usize, from_day: u32, days: u32, rate_mean: f64, seed: u64) -> Simulated {
    let mut dice = Dice(seed);
    let mut all: Vec<Page> = (0..pages).map(|_| page(&mut dice, rate_mean)).collect();
    let mut host = HostRate::default();
    let per_round = pages as f64 / 10.0 / f64::from(ROUNDS);
    let (mut owed, mut fresh, mut total) = (0.0, 0.0, 0.0);
    for round in 1..=days * ROUNDS {
        let now = f64::from(round) / f64::from(ROUNDS);
        owed += per_round;
        let visits = owed as usize;
        owed -= visits as f64;
        let rate = host.rate();
        let mut order: Vec<(f64, usize)> = all
            .iter()
            .map(|page| worth(page, now, rate))
            .zip(0..)
            .collect();
        order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        for (_, at) in order.into_iter().take(visits) {
            visit(&mut all[at], &mut host, now, &mut dice);
        }
        if now >= f64::from(from_day) {
            fresh += all
                .iter()
                .filter(|p| p.changes > now)
                .map(|p| p.m)
                .sum::<f64>();
            total += all.iter().map(|p| p.m).sum::<f64>();
        }
    }
    let rates: Vec<(f64, f64)> = all.iter().map(|page| (page.m, page.d)).collect();
    Simulated {
        law: fresh / total,
        optimum: optimum(&rates, pages as f64 / 10.0),
        uniform: uniform(&rates, pages as f64 / 10.0),
    }
}

fn page(dice: &mut Dice, rate_mean: f64) -> Page {
    let d = dice.normal().powi(2) * rate_mean;
    Page {
        m: dice.unit().powf(-1.0 / 1.5),
        d,
        visited: 0.0,
        changes: dice.wait(d),
        visits: 1,
        unchanged: 0,
    }
}

fn worth(page: &Page, now: f64, host_rate: f64) -> f64 {
    let age = now - page.visited;
    if age >= AGE_DAYS_MAX {
        return f64::INFINITY;
    }
    let revisits = page.visits - 1;
    let mean_gap = page.visited / f64::from(revisits.max(1));
    value(
        page.m,
        change_rate(page.unchanged, revisits, mean_gap, host_rate),
        age,
    )
}

fn visit(page: &mut Page, host: &mut HostRate, now: f64, dice: &mut Dice) {
    let unchanged = page.changes > now;
    host.revisited(unchanged, now - page.visited);
    page.visits += 1;
    page.unchanged += u32::from(unchanged);
    page.visited = now;
    if !unchanged {
        page.changes = now + dice.wait(page.d);
    }
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    /// Returns a uniform number in (0, 1].
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 11) as f64 / (1u64 << 53) as f64 + f64::EPSILON / 2.0
    }

    fn wait(&mut self, rate: f64) -> f64 {
        -self.unit().ln() / rate.max(1e-12)
    }

    fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.unit(), self.unit());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_comes_near_the_optimum_with_unknown_rates() {
        let found = simulate(1_200, 60, 180, 0.5, 7);
        println!("{found:?}: {:.4} of the optimum", found.law / found.optimum);
        assert!(found.law / found.optimum >= 0.97, "{found:?}");
        assert!(found.uniform / found.optimum <= 0.85, "{found:?}");
    }
}
