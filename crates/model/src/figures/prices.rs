//! Figure 19 of Hadjilambrou et al. 2019: prices up to which slower servers pay.

use super::{Point, Series, bar, point};
use crate::costs::{Costs, Server};
use crate::error::ModelError;

/// Published price of the board of the baseline server, in dollars.
pub const BASELINE_BOARD_PRICE: f64 = 225.0;
/// Published price of the processor of the baseline server, in dollars; with its board, $616.
pub const BASELINE_PROCESSOR_PRICE: f64 = 391.0;

/// Published power of a processor of 1.6 GHz with all cores busy and with all idle, in watts.
const SLOW_WATTS: [f64; 2] = [34.0, 13.0];
/// Servers of 1.6 GHz: name, processors, throughput over the baseline's, and the published price of a
/// board with its chips up to which they pay, in dollars.
const SLOW_SERVERS: [(&str, u32, f64, f64); 3] = [
    ("single", 1, 0.5, 200.0),
    ("dual", 2, 1.0, 600.0),
    ("quad", 4, 2.0, 1500.0),
];

/// Returns figure 19 of Hadjilambrou et al. 2019: the price of servers of 1.6 GHz, board with chips, up
/// to which they cost less than the baseline. A single, dual and quad server answers half, as many and
/// twice as many queries as the baseline (one processor of 2.4 GHz; board with chip $616), so that the
/// fleet has twice the processors in all. x is the price of a board with its chips; y is the cost of the
/// fleet over that of the baseline.
///
/// # Errors
/// None in practice: `costs` has already been checked.
pub fn slow_processors(costs: &Costs) -> Result<Vec<Series>, ModelError> {
    let Some(baseline) = costs.servers.get(&costs.baseline) else {
        return Err(ModelError::Costs("there is no baseline".to_owned()));
    };
    let note = format!(
        "baseline: board with chip at {} {}; 1.6 GHz: half, equal and double throughput, twice the \
         processors in all; power beside the processors as in the costs",
        costs.currency,
        baseline.price()
    );
    let per_query = |server: &Server| {
        costs.yearly(server, 1.0, server.utilisation).total() / server.queries_per_s
    };
    let (mut list, mut break_even) = (Vec::new(), Vec::new());
    for (idx, (name, processors, throughput, published)) in SLOW_SERVERS.into_iter().enumerate() {
        let server = Server {
            processors,
            processor_peak_watts: SLOW_WATTS[0],
            processor_idle_watts: SLOW_WATTS[1],
            queries_per_s: baseline.queries_per_s * throughput,
            ..*baseline
        };
        let points = (0..=20).map(|step| {
            let price = 100.0 * f64::from(step);
            let ours = per_query(&server.priced(price)) / per_query(baseline);
            point(price, Some(ours))
        });
        list.push(Series {
            figure: "Hadjilambrou et al. 2019, 19",
            title: "cost of servers of 1.6 GHz over that of 2.4 GHz",
            name: name.to_owned(),
            x: "price of a board with its chips, $",
            y: "cost over the baseline's",
            note: note.clone(),
            points: points.collect(),
        });
        break_even.push(Point {
            ours: costs.break_even_price(&server),
            ..bar(idx, name, 0.0, Some(published))
        });
    }
    list.push(Series {
        figure: "Hadjilambrou et al. 2019, 19",
        title: "cost of servers of 1.6 GHz over that of 2.4 GHz",
        name: "pays up to".to_owned(),
        x: "board",
        y: "price of a board with its chips, $",
        note,
        points: break_even,
    });
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_at_which_slow_processors_pay_are_near_the_published() {
        let list = slow_processors(&Costs::parse("").unwrap()).unwrap();
        let pays = &list.last().unwrap().points;
        assert_eq!(pays.len(), 3);
        for point in pays {
            let ratio = point.ours.unwrap() / point.published.unwrap();
            assert!((0.9..1.12).contains(&ratio), "{point:?}");
        }
        // Each curve passes through 1 at its break-even price.
        let dual = &list[1].points;
        assert!(dual[0].ours.unwrap() < 1.0 && dual[20].ours.unwrap() > 1.0);
    }

    #[test]
    fn the_costs_have_the_published_inputs() {
        let costs = Costs::parse("").unwrap();
        let baseline = costs.servers["conventional"];
        assert_eq!(baseline.processor_price, BASELINE_PROCESSOR_PRICE);
        assert_eq!(baseline.rest_price, BASELINE_BOARD_PRICE);
        assert_eq!(baseline.price(), 616.0);
        let dual = costs.servers["slow-dual"];
        assert_eq!(
            [dual.processor_peak_watts, dual.processor_idle_watts],
            SLOW_WATTS
        );
        assert_eq!(dual.price(), SLOW_SERVERS[1].3);
    }

    #[test]
    fn only_the_price_of_a_dual_server_is_free_of_the_assumed_power() {
        // A dual server answers as much as the baseline, so that what both have beside their processors
        // cancels; the others hold half or twice as much of it for a query.
        let pays = |rest_watts: u32| {
            let text = format!("[servers.conventional]\nrest_watts = {rest_watts}\n");
            let costs = Costs::parse(&text).unwrap();
            let list = slow_processors(&costs).unwrap();
            let pays = &list.last().unwrap().points;
            [0, 1, 2].map(|idx| pays[idx].ours.unwrap())
        };
        let (low, high) = (pays(20), pays(60));
        assert!((low[1] - high[1]).abs() < 1e-9);
        assert!(low[0] > high[0] && low[2] < high[2]);
    }
}
