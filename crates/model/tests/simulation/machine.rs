//! Cost of unequal cores and of interference between cores.

use crate::support::{drawn, exponential, fifo, holds, poisson, ran, replicated};
use model::formulas::Mmc;
use model::simulate::assignment::Fifo;
use model::simulate::{Arrivals, Distribution, Layout, Machine, NextCore, Settings, Split};

#[test]
fn cores_with_queues_of_their_own() {
    let settings = |layout| {
        let mut settings = Settings::new(
            Machine::of_cores(4),
            poisson(60.0),
            exponential(50.0),
            40_000,
        );
        settings.layout = layout;
        settings
    };
    // Random splitting of a Poisson stream gives 4 queues M/M/1.
    let [random, ..] = replicated(&settings(Layout::PerCore(NextCore::Random)), &fifo(1));
    holds(random, Mmc::new(15.0, 20.0, 1).unwrap().response_ms());
    let mean = |layout| ran(&settings(layout), &mut Fifo { degree: 1 }).response_ms();
    let in_turn = mean(Layout::PerCore(NextCore::RoundRobin));
    let shortest = mean(Layout::PerCore(NextCore::Shortest));
    assert!(random.mean > in_turn && in_turn > shortest && shortest > mean(Layout::Shared));
}

/// Returns the mean number in a queue whose cores together serve `service[n]` at n queries, by birth
/// and death.
fn birth_and_death(rate: f64, service: impl Fn(usize) -> f64) -> f64 {
    let (mut weight, mut sum, mut mean) = (1.0, 1.0, 0.0);
    for number in 1..2_000 {
        weight *= rate / service(number);
        sum += weight;
        mean += weight * number as f64;
    }
    mean / sum
}

#[test]
fn siblings_and_neighbours_slow_each_other() {
    let check = |machine: Machine, both: f64| {
        let mut settings = Settings::new(machine, poisson(20.0), exponential(50.0), 40_000);
        settings.layout = Layout::Shared;
        let [response, ..] = replicated(&settings, &fifo(1));
        let in_system = birth_and_death(20.0, |n| if n == 1 { 20.0 } else { both });
        holds(response, 1e3 * in_system / 20.0);
    };
    check(Machine::of_smt_cores(1, 1.5), 2.0 * 20.0 / 1.5);
    check(
        Machine {
            contention: 0.4,
            ..Machine::of_cores(2)
        },
        2.0 * 20.0 / 1.4,
    );
    // Siblings are used last, so two queries on two cores do not interfere.
    let mut settings = Settings::new(
        Machine::of_smt_cores(2, 1.5),
        Arrivals::Trace(vec![1.0, 1.0, 100.0]),
        drawn(10.0, Distribution::Constant, Split::perfect(1)),
        2,
    );
    settings.keep_order = true;
    assert_eq!(
        ran(&settings, &mut Fifo { degree: 1 }).in_order_ms,
        [10.0, 10.0]
    );
}

#[test]
fn a_sibling_slows_from_when_it_begins_until_it_ends() {
    // 10 ms of work starts at 0 and at 4 ms on two contexts, slower by 2 together. The first has 6 ms
    // left at 4 ms, which take until 16; by then the second has done 6, and finishes the last 4 alone
    // at 20.
    let mut settings = Settings::new(
        Machine::of_smt_cores(1, 2.0),
        Arrivals::Trace(vec![1.0, 5.0]),
        drawn(10.0, Distribution::Constant, Split::perfect(1)),
        2,
    );
    settings.keep_order = true;
    settings.warm_up = 0;
    assert_eq!(
        ran(&settings, &mut Fifo { degree: 1 }).in_order_ms,
        [16.0, 16.0]
    );
}

#[test]
fn big_and_little_cores() {
    // One big core of 20/s and a little of 10/s, M/M/2, the big one first: by its Markov chain.
    let (rate, big, little) = (12.0, 20.0, 10.0);
    let exact = two_unequal(rate, big, little);
    let times = exponential(1e3 / big);
    let machine = Machine::of_big_and_little(1, 1, little / big);
    let [response, ..] = replicated(
        &Settings::new(machine, poisson(rate), times, 40_000),
        &fifo(1),
    );
    holds(response, 1e3 * exact / rate);
}

/// Returns the mean number in M/M/2 with a fast server that is taken first, by Gaussian elimination of
/// the balance equations of (empty, fast alone, slow alone, two or more).
fn two_unequal(rate: f64, fast: f64, slow: f64) -> f64 {
    // The unknowns p_f, p_s, p_2 are relative to p_0 = 1:
    //   fast·p_f + slow·p_s = rate
    //   (rate + slow)·p_s = fast·p_2
    //   (fast + slow)·p_2 = rate·(p_f + p_s)       cut between 1 and 2
    let p_f_of = |p_s: f64| (rate - slow * p_s) / fast;
    let p_2_of = |p_s: f64| (rate + slow) * p_s / fast;
    // (fast + slow)·p_2(p_s) − rate·(p_f(p_s) + p_s) is linear in p_s.
    let off = |p_s: f64| (fast + slow) * p_2_of(p_s) - rate * (p_f_of(p_s) + p_s);
    let p_s = -off(0.0) / (off(1.0) - off(0.0));
    let (p_f, p_2) = (p_f_of(p_s), p_2_of(p_s));
    let rho = rate / (fast + slow);
    // From 2 on the distribution is geometric: Σ p_2 ρ^k and Σ (2 + k) p_2 ρ^k.
    let sum = 1.0 + p_f + p_s + p_2 / (1.0 - rho);
    let mean = p_f + p_s + p_2 * (2.0 / (1.0 - rho) + rho / (1.0 - rho).powi(2));
    mean / sum
}
