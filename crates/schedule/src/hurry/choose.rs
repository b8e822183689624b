//! Choice of the requests that move to big cores at one sampling instant.

/// Version of the algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rule {
    /// Algorithm 1: big cores take the longest requests in turn, whatever runs there.
    AsPublished,
    /// A big core is taken only if it is idle or its request is younger than the one that moves there.
    #[default]
    Mended,
}

/// A request on a little core.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LittleThread {
    /// Number that the caller knows it by: a thread, or a core.
    pub id: u32,
    /// Time since the request began, in ms.
    pub elapsed_ms: f64,
}

/// A big core.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BigCore {
    /// Number of the core.
    pub core: u32,
    /// Time since its request began, in ms; `None` for an idle one.
    pub elapsed_ms: Option<f64>,
}

/// Exchange of the work on a little core with that on a big core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// [`LittleThread::id`] of the request that moves to the big core.
    pub little: u32,
    /// [`BigCore::core`] that it moves to.
    pub big: u32,
}

/// Adds to `found` the exchanges of one sampling instant: the requests of `little` over `threshold_ms`, the
/// longest first and at most one for each of `big`. Ties go by number. Reorders both slices.
pub fn exchanges(
    rule: Rule,
    threshold_ms: f64,
    little: &mut [LittleThread],
    big: &mut [BigCore],
    found: &mut Vec<Exchange>,
) {
    little.sort_by(|a, b| {
        let longest_first = b.elapsed_ms.total_cmp(&a.elapsed_ms);
        longest_first.then(a.id.cmp(&b.id))
    });
    // An idle core is younger than any request.
    let age = |core: &BigCore| core.elapsed_ms.unwrap_or(f64::NEG_INFINITY);
    big.sort_by(|a, b| match rule {
        Rule::AsPublished => a.core.cmp(&b.core),
        Rule::Mended => age(a).total_cmp(&age(b)).then(a.core.cmp(&b.core)),
    });
    for (request, core) in little.iter().zip(big.iter()) {
        // Requests become shorter and big cores older from here on, so the first refusal is final.
        let demotes_older = rule == Rule::Mended && age(core) >= request.elapsed_ms;
        if request.elapsed_ms <= threshold_ms || demotes_older {
            break;
        }
        found.push(Exchange {
            little: request.id,
            big: core.core,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exchanges of little requests and big cores that are numbered from 0 and from 100.
    fn check(rule: Rule, little: &[f64], big: &[Option<f64>], expected: &[(u32, u32)]) {
        let mut little: Vec<LittleThread> = (0..)
            .zip(little)
            .map(|(id, &elapsed_ms)| LittleThread { id, elapsed_ms })
            .collect();
        let mut big: Vec<BigCore> = (100..)
            .zip(big)
            .map(|(core, &elapsed_ms)| BigCore { core, elapsed_ms })
            .collect();
        let mut found = Vec::new();
        exchanges(rule, 50.0, &mut little, &mut big, &mut found);
        let found: Vec<_> = found.iter().map(|e| (e.little, e.big)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_longest_requests_over_the_threshold_move() {
        for rule in [Rule::AsPublished, Rule::Mended] {
            check(rule, &[51.0, 80.0, 50.0], &[None; 3], &[(1, 100), (0, 101)]);
            check(
                rule,
                &[51.0, 80.0, 60.0],
                &[None, None],
                &[(1, 100), (2, 101)],
            );
            check(rule, &[60.0, 60.0], &[None], &[(0, 100)]);
            check(rule, &[49.0], &[None], &[]);
            check(rule, &[], &[None], &[]);
            check(rule, &[90.0], &[], &[]);
        }
    }

    #[test]
    fn only_the_published_rule_demotes_older_requests() {
        let big = [Some(200.0), Some(70.0), None];
        check(
            Rule::AsPublished,
            &[80.0, 60.0],
            &big,
            &[(0, 100), (1, 101)],
        );
        check(Rule::Mended, &[80.0, 60.0], &big, &[(0, 102)]);
        check(Rule::Mended, &[80.0, 75.0], &big, &[(0, 102), (1, 101)]);
        check(Rule::Mended, &[80.0], &[Some(80.0)], &[]);
    }
}
