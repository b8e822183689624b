//! Erlang's formulas for the probability that all servers are busy.

/// Returns Erlang's loss formula B(c, a): the share of arrivals that find all `servers` busy in a
/// system without a queue. `offered` is the load in erlangs, a = λ/μ.
///
/// Uses the recursion 1/B(k) = 1 + (k/a) / B(k−1), which neither overflows nor cancels, for any number
/// of servers. Costs one division per server. Source: Erlang 1917; Cooper, Introduction to Queueing
/// Theory, 1981, section 3.3.
pub fn erlang_b(servers: usize, offered: f64) -> f64 {
    if offered == 0.0 {
        return if servers == 0 { 1.0 } else { 0.0 };
    }
    let mut inverse = 1.0;
    for busy in 1..=servers {
        inverse = 1.0 + inverse * busy as f64 / offered;
        // Further servers only increase the inverse; the probability is already 0 in double precision.
        if inverse.is_infinite() {
            return 0.0;
        }
    }
    1.0 / inverse
}

/// Returns Erlang's delay formula C(c, a): the share of arrivals that must wait in M/M/c. Needs
/// `offered < servers`; `spare` is 1 − ρ, passed in so that it keeps its digits as ρ nears 1.
///
/// C = B / (1 − ρ(1 − B)), written as B / ((1 − ρ) + ρB). Source: Erlang 1917.
pub fn erlang_c(servers: usize, offered: f64, spare: f64) -> f64 {
    let blocked = erlang_b(servers, offered);
    let utilisation = offered / servers as f64;
    blocked / (spare + utilisation * blocked)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes B by the definition: a^c/c! over the sum of a^k/k!.
    fn erlang_b_by_definition(servers: usize, offered: f64) -> f64 {
        let (mut term, mut sum) = (1.0, 1.0);
        for busy in 1..=servers {
            term *= offered / busy as f64;
            sum += term;
        }
        term / sum
    }

    #[test]
    fn the_recursion_equals_the_definition() {
        for servers in [1, 2, 3, 8, 50, 100] {
            for offered in [0.5, 1.0, 7.5, 60.0, 99.0] {
                let expected = erlang_b_by_definition(servers, offered);
                let got = erlang_b(servers, offered);
                assert!((got / expected - 1.0).abs() < 1e-12, "{servers} {offered}");
            }
        }
    }

    #[test]
    fn edges() {
        assert_eq!(erlang_b(0, 3.0), 1.0);
        assert_eq!(erlang_b(0, 0.0), 1.0);
        assert_eq!(erlang_b(5, 0.0), 0.0);
        assert_eq!(erlang_b(10_000, 1.0), 0.0, "too small for any number");
        // Jagerman 1974: B(c, c) → √(2/(πc)) from above, within about a third of its square.
        let blocked = erlang_b(10_000, 10_000.0);
        assert!((blocked - 0.007_935_8).abs() < 1e-6, "{blocked}");
        assert_eq!(
            erlang_c(1, 0.25, 0.75),
            0.25,
            "one server waits as often as it works"
        );
    }
}
