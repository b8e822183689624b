//! M/D/c: waits with a constant search time.
//!
//! Two exact methods, compared by tests, because each is weak where the other is strong:
//!
//! by roots:  Lq = Σ 1/(1 − z) − (c(c−1) − a²) / (2(c − a)), over the c−1 roots z ≠ 1 of
//!            z^c = e^(a(z−1)) in the unit disc (Crommelin 1932). The difference of two large
//!            numbers loses digits when the queue is almost always empty.
//! by series: Wq = Σ E[(N(nc·ρ) − nc)⁺] / (n·λ), n = 1, 2, … with N a Poisson number (Pollaczek 1934;
//!            Spitzer's identity for E_c/D/1). All terms positive, but many as ρ nears 1.

use crate::error::{ModelError, stable};

/// Assumptions of the model, shown with its answers.
pub const ASSUMPTIONS: &str = "\
Poisson arrivals; every search takes the same time; equal servers; one queue in order of arrival; \
steady state; exact";

/// Returns the mean wait of M/D/c in ms.
///
/// # Errors
/// [`ModelError::Overloaded`] if the rate reaches the capacity; [`ModelError::Outside`].
pub fn wait_ms(
    rate_per_s: f64,
    service_per_s: f64,
    servers_count: usize,
) -> Result<f64, ModelError> {
    let load = stable(rate_per_s, service_per_s, servers_count)?;
    if rate_per_s == 0.0 {
        return Ok(0.0);
    }
    let (servers, spare) = (load.servers, load.spare());
    let service_times = if series_is_short(servers, spare) {
        // Not 1 − spare, which has lost the digits of a low load.
        by_series(servers, rate_per_s / load.capacity_per_s)
    } else {
        by_roots(servers, spare)
    };
    Ok(1e3 * service_times / service_per_s)
}

/// Returns whether the series converges in few terms: they fall like e^(−n·c·(1−ρ)²/2).
fn series_is_short(servers: usize, spare: f64) -> bool {
    servers as f64 * spare * spare > 0.02
}

/// Returns the mean wait in service times, by the roots. `spare` is 1 − ρ.
fn by_roots(servers: usize, spare: f64) -> f64 {
    let c = servers as f64;
    let utilisation = 1.0 - spare;
    let offered = c * utilisation;
    // The roots come in conjugate pairs, so the sum is real: sum half of them and double it.
    let mut sum = 0.0;
    for number in 1..servers {
        let angle = 2.0 * std::f64::consts::PI * number as f64 / c;
        sum += inverse_of_one_minus_root(utilisation, angle);
    }
    // c(c−1) − a² = c²(1 − ρ²) − c.
    let pulled = (c * c * spare * (1.0 + utilisation) - c) / (2.0 * c * spare);
    (sum - pulled) / offered
}

/// Returns the real part of 1/(1 − z) for the root of z = e^(i·angle)·e^(ρ(z−1)), by Newton's method on
/// y = 1 − z, which stays exact as z nears 1.
fn inverse_of_one_minus_root(utilisation: f64, angle: f64) -> f64 {
    // f(y) = 1 − y − e^(i·angle − ρy) = 0, f'(y) = −1 + ρ·e^(i·angle − ρy).
    let start = (1.0 - angle.cos(), -angle.sin());
    let (mut re, mut im) = (start.0 * 0.8, start.1 * 0.8);
    for _ in 0..200 {
        let size = (-utilisation * re).exp();
        let turn = angle - utilisation * im;
        // Computes 1 − e^x for small x: e^re·cos(turn) near 1 would lose digits.
        let half = (turn / 2.0).sin();
        let exp_minus_one = (
            (-utilisation * re).exp_m1() - size * 2.0 * half * half,
            size * turn.sin(),
        );
        let f = (-re - exp_minus_one.0, -im - exp_minus_one.1);
        let slope = (
            -1.0 + utilisation * (1.0 + exp_minus_one.0),
            utilisation * exp_minus_one.1,
        );
        let norm = slope.0 * slope.0 + slope.1 * slope.1;
        let step = (
            (f.0 * slope.0 + f.1 * slope.1) / norm,
            (f.1 * slope.0 - f.0 * slope.1) / norm,
        );
        re -= step.0;
        im -= step.1;
        if step.0.hypot(step.1) <= 1e-16 * re.hypot(im) {
            break;
        }
    }
    re / (re * re + im * im)
}

/// Returns the mean wait in service times, by the series.
fn by_series(servers: usize, utilisation: f64) -> f64 {
    let c = servers as f64;
    let mut sum = 0.0;
    for n in 1.. {
        let n = f64::from(n);
        let term = mean_beyond(n * c, n * c * utilisation) / n;
        sum += term;
        if term <= sum * 1e-17 {
            break;
        }
    }
    sum / (c * utilisation)
}

/// Returns E[(N − level)⁺] of a Poisson number N with this `mean`, below the whole number `level`.
fn mean_beyond(level: f64, mean: f64) -> f64 {
    // The sum starts at P(N = level) and goes up; each further term falls by mean/number.
    let mut probability = (level * mean.ln() - mean - ln_factorial(level)).exp();
    let mut sum = 0.0;
    let mut number = level;
    while probability > 0.0 {
        number += 1.0;
        probability *= mean / number;
        let term = probability * (number - level);
        sum += term;
        if term < sum * 1e-17 && number > level + 2.0 {
            break;
        }
    }
    sum
}

/// Returns ln(n!) by Stirling's series, exact to the last digits from 16 on; below, by the product.
fn ln_factorial(n: f64) -> f64 {
    if n < 16.0 {
        return (1..=n as u64).map(|k| k as f64).product::<f64>().ln();
    }
    let square = n * n;
    n * n.ln() - n
        + 0.5 * (2.0 * std::f64::consts::PI * n).ln()
        + (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square)
            / n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree() {
        for servers in [1, 2, 3, 4, 8, 16, 64] {
            for utilisation in [0.3, 0.5, 0.8, 0.9, 0.97] {
                let (roots, series) = (
                    by_roots(servers, 1.0 - utilisation),
                    by_series(servers, utilisation),
                );
                // The error of the roots is absolute: about the last digit of the number of servers.
                let lost = 1e-14 * servers as f64;
                assert!(
                    (roots - series).abs() < 1e-9 * series + lost,
                    "{servers} {utilisation}: {roots} {series}"
                );
            }
        }
    }

    #[test]
    fn one_server_is_pollaczek_and_khinchine() {
        for rate in [1.0, 50.0, 99.0, 99.999] {
            let got = wait_ms(rate, 100.0, 1).unwrap();
            let rho = rate / 100.0;
            let expected = 10.0 * rho / (2.0 * (1.0 - rho));
            assert!(
                (got / expected - 1.0).abs() < 1e-9,
                "{rate}: {got} {expected}"
            );
        }
    }

    #[test]
    fn many_servers_near_saturation() {
        // Near saturation the wait is half that of M/M/c.
        let waiting = |c: usize, rho: f64| {
            let half = super::super::Mmc::new(c as f64 * rho, 1.0, c)
                .unwrap()
                .wait_ms()
                / 2.0;
            wait_ms(c as f64 * rho, 1.0, c).unwrap() / half
        };
        assert!((waiting(10_000, 0.99999) - 1.0).abs() < 0.01);
        assert!((waiting(8, 0.999_999) - 1.0).abs() < 1e-3);
        assert_eq!(wait_ms(0.0, 1.0, 3).unwrap(), 0.0);
        assert!(wait_ms(3.0, 1.0, 3).is_err());
        // A low load: M/G/1's ρ/2 service times.
        let seldom = wait_ms(1e-14, 1.0, 1).unwrap();
        assert!((seldom / 5e-12 - 1.0).abs() < 1e-9, "{seldom}");
    }
}
