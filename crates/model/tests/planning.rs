//! Minimality of planned fleets and the sensitivity of their targets.

use model::ModelError;
use model::formulas::Mmc;
use model::plan::{Alike, Request, Target, plan, sensitivity};
use model::simulate::Searches;

/// Returns exponential times of this mean, by their quantiles.
fn exponential(mean_ms: f64) -> Searches {
    let row = |idx: usize| vec![-mean_ms * (1.0 - (idx as f64 + 0.5) / 20_000.0).ln()];
    Searches::new((0..20_000).map(row)).unwrap()
}

fn request(rate_per_s: f64, response_ms: f64) -> Request {
    let mut request = Request::new(
        exponential(50.0),
        rate_per_s,
        Target {
            share: 0.99,
            response_ms,
        },
        8,
    );
    request.headroom = 0.0;
    request.overhead_ms = 0.0;
    request
}

#[test]
fn whole_queries_on_one_slice_need_what_erlang_says() {
    let mut asked = request(1_000.0, 400.0);
    // A split without gain is not chosen.
    asked.split_efficiency = 0.51;
    asked.slices_max = 1;
    let fleet = plan(&asked).unwrap();
    assert_eq!((fleet.slices, fleet.partitions), (1, 1));
    // The highest rate of M/M/8 within p99 = 400 ms and utilisation 0.85.
    let keeps = |rate: f64| Mmc::new(rate, 20.0, 8).unwrap().response_quantile_ms(0.99) <= 400.0;
    let most = (1..=136)
        .map(f64::from)
        .filter(|&rate| keeps(rate))
        .fold(0.0, f64::max);
    assert_eq!(most, 136.0);
    assert_eq!(fleet.replicas, 8);
    assert!(fleet.response_ms <= 400.0 && fleet.utilisation <= 0.85);
}

#[test]
fn a_hard_target_needs_partitions_or_slices() {
    // p99 of one search alone is 230 ms on one core.
    let easy = plan(&request(200.0, 500.0)).unwrap();
    let hard = plan(&request(200.0, 100.0)).unwrap();
    assert!(hard.partitions * hard.slices > 1 && hard.servers() >= easy.servers());
    assert!(hard.response_ms <= 100.0, "{hard:?}");
    let harder = plan(&request(200.0, 20.0)).unwrap();
    assert!(
        harder.slices > 1 && harder.servers() > hard.servers(),
        "{harder:?}"
    );
    let mut never = request(200.0, 1.0);
    never.slices_max = 4;
    let Err(ModelError::NoPlan { target, why }) = plan(&never) else {
        panic!()
    };
    assert!(
        target.contains("p99 = 1 ms") && why.contains("idle servers take"),
        "{target} {why}"
    );
}

#[test]
fn more_of_anything_never_needs_fewer_servers() {
    let servers = |change: &dyn Fn(&mut Request)| {
        let mut asked = request(1_000.0, 250.0);
        change(&mut asked);
        plan(&asked).unwrap().servers()
    };
    let plain = servers(&|_| {});
    assert!(servers(&|asked| asked.rate_per_s *= 2.0) >= 2 * plain - 1);
    assert!(servers(&|asked| asked.documents_ratio = 2.0) > plain);
    assert!(servers(&|asked| asked.headroom = 0.5) > plain);
    assert!(servers(&|asked| asked.spare_replicas = 1) > plain);
    assert!(servers(&|asked| asked.overhead_ms = 20.0) > plain);
    assert!(servers(&|asked| asked.speed = 0.5) > plain);
    assert!(servers(&|asked| asked.cores = 16) < plain);
    assert!(servers(&|asked| asked.alike = Alike::Independent) >= plain);
    // 100 GB on servers of 30 GB: four slices at least.
    let mut large = request(1_000.0, 250.0);
    (large.index_gb, large.memory_gb) = (100.0, 30.0);
    assert!(plan(&large).unwrap().slices >= 4);
    large.memory_gb = 0.1;
    let error = plan(&large).unwrap_err().to_string();
    assert!(error.contains("memory"), "{error}");
}

#[test]
fn what_would_break_it() {
    let asked = Request {
        headroom: 0.25,
        ..request(1_000.0, 250.0)
    };
    let fleet = plan(&asked).unwrap();
    let rows = sensitivity(&asked, &fleet).unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row.case).collect();
    assert_eq!(
        names,
        [
            "as planned",
            "traffic × 2",
            "index × 2",
            "searches 20 % slower",
            "one server lost"
        ]
    );
    assert!(rows[0].keeps_target && rows[0].utilisation < 0.85);
    assert!(!rows[1].keeps_target && rows[1].utilisation > 1.0);
    assert!(rows[1].servers_needed.unwrap() > fleet.servers());
    assert!(rows[3].utilisation > rows[0].utilisation && rows[4].utilisation > rows[0].utilisation);
    let alone = plan(&request(10.0, 500.0)).unwrap();
    assert_eq!(alone.servers(), 1);
    let rows = sensitivity(&request(10.0, 500.0), &alone).unwrap();
    assert!(!rows[4].keeps_target && rows[4].servers_needed == Some(2));
    assert!(asked.assumptions().iter().any(|line| line.contains("25 %")));
}

#[test]
fn wrong_requests_are_refused() {
    let refused = |change: fn(&mut Request)| {
        let mut asked = request(100.0, 300.0);
        change(&mut asked);
        assert!(matches!(plan(&asked), Err(ModelError::Outside { .. })));
    };
    refused(|asked| asked.rate_per_s = 0.0);
    refused(|asked| asked.target.share = 1.0);
    refused(|asked| asked.target.response_ms = -1.0);
    refused(|asked| asked.cores = 0);
    refused(|asked| asked.utilisation_max = 1.0);
    refused(|asked| asked.split_efficiency = 0.2);
    refused(|asked| asked.alike = Alike::Proportional { imbalance: 0.5 });
    refused(|asked| asked.searches = Searches::new([vec![0.0]]).unwrap());
}
