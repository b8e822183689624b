//! Total cost of ownership of a fleet of servers.
//!
//! After Hardy et al. (An Analytical Framework for Estimating TCO and Exploring Data Center Design
//! Space, ISPASS 2013): infrastructure, servers, network, power, maintenance. Each price is spread over
//! the lifetime in years of the asset. The parameters are a TOML text; defaults come from `costs.toml`
//! beside this file, which is also `examples/costs.toml`. The default values are assumptions.

use crate::error::{ModelError, checked, not_negative, positive};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Text of the default parameters, in TOML.
pub const DEFAULTS: &str = include_str!("costs.toml");

/// Assumptions of the model, shown with its answers.
pub const ASSUMPTIONS: &str = "\
equal servers; power grows linearly from idle to peak with the share of busy cores; prices are paid off \
evenly; no staff, no software, no failures beyond maintenance";

const HOURS_PER_YEAR: f64 = 8766.0;

/// All parameters of the cost model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// Currency of all prices.
    pub currency: String,
    /// Offered load, in queries per second.
    pub rate_per_s: f64,
    /// Name of the server kind that the others are compared with.
    pub baseline: String,
    /// Parameters of the site.
    pub site: Site,
    /// Server kinds, by name.
    pub servers: BTreeMap<String, Server>,
}

/// Parameters of the site where the servers stand.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Price of one kilowatt hour.
    pub energy_price_per_kwh: f64,
    /// Power usage effectiveness: total power over the power of servers and network.
    pub pue: f64,
    /// Price of land, building, power and cooling equipment, per watt of peak power.
    pub infrastructure_price_per_w: f64,
    /// Years over which the infrastructure is paid off.
    pub infrastructure_years: f64,
    /// Price of a server's share of the network.
    pub network_price_per_server: f64,
    /// Years over which the network is paid off.
    pub network_years: f64,
    /// Power of a server's share of the network, in watts.
    pub network_watts_per_server: f64,
    /// Yearly maintenance, as a share of the price of servers and network.
    pub maintenance_per_year: f64,
    /// Yearly interest on the unpaid part of each price; 0 for none.
    pub interest_per_year: f64,
}

/// Parameters of a server kind.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Processors per server.
    pub processors: u32,
    /// Price of one processor.
    pub processor_price: f64,
    /// Power of one processor with all cores busy, in watts.
    pub processor_peak_watts: f64,
    /// Power of one processor with all cores idle, in watts.
    pub processor_idle_watts: f64,
    /// Price of the server without its processors.
    pub rest_price: f64,
    /// Power of the server without its processors, at all loads, in watts.
    pub rest_watts: f64,
    /// Years until the server is replaced.
    pub years: f64,
    /// Cores per server, over all processors.
    pub cores: u32,
    /// Speed of one core; 1 for the core that search times were measured on.
    pub speed: f64,
    /// Memory per server, in GB.
    pub memory_gb: f64,
    /// Queries per second that the server answers within the latency target.
    pub queries_per_s: f64,
    /// Mean share of busy cores, 0 to 1.
    pub utilisation: f64,
}

impl Server {
    /// Returns the price of one server with its processors.
    pub fn price(&self) -> f64 {
        f64::from(self.processors) * self.processor_price + self.rest_price
    }

    /// Returns the same server at another `price` for all of it, processors included.
    pub(crate) fn priced(&self, price: f64) -> Server {
        Server {
            processor_price: 0.0,
            rest_price: price,
            ..*self
        }
    }

    /// Returns the power with all cores busy, in watts.
    pub fn peak_watts(&self) -> f64 {
        f64::from(self.processors) * self.processor_peak_watts + self.rest_watts
    }

    /// Returns the power in watts at a share `utilisation` of busy cores.
    pub fn watts(&self, utilisation: f64) -> f64 {
        let spread = self.processor_peak_watts - self.processor_idle_watts;
        let of_one = self.processor_idle_watts + spread * utilisation;
        f64::from(self.processors) * of_one + self.rest_watts
    }
}

/// Yearly cost of a fleet, by category.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct YearlyCost {
    /// Cost of land, building, power and cooling equipment.
    pub infrastructure: f64,
    /// Cost of servers.
    pub servers: f64,
    /// Cost of the network.
    pub network: f64,
    /// Cost of electricity.
    pub power: f64,
    /// Cost of maintenance.
    pub maintenance: f64,
}

impl YearlyCost {
    /// Returns the sum of all categories.
    pub fn total(&self) -> f64 {
        self.infrastructure + self.servers + self.network + self.power + self.maintenance
    }
}

impl Costs {
    /// Reads a TOML text over the defaults. If the text names servers, only those remain; each takes
    /// its missing fields from the default `conventional`.
    ///
    /// # Errors
    /// [`ModelError::Costs`] for invalid TOML, unknown fields or wrong types; [`ModelError::Outside`]
    /// for numbers out of range.
    pub fn parse(text: &str) -> Result<Costs, ModelError> {
        let read = |text: &str| {
            text.parse::<toml::Table>()
                .map_err(|error| ModelError::Costs(error.to_string().trim().to_owned()))
        };
        let mut table = read(DEFAULTS)?;
        let mut given = read(text)?;
        let standard = table["servers"]["conventional"].clone();
        if let Some(toml::Value::Table(servers)) = given.get_mut("servers") {
            for (_, server) in servers.iter_mut() {
                let mut whole = standard.clone();
                overlay(&mut whole, server);
                *server = whole;
            }
            // Without a `baseline`, the first named server is the baseline.
            let first = servers.keys().next().cloned();
            table.remove("servers");
            if let (Some(first), false) = (first, given.contains_key("baseline")) {
                let keeps = given["servers"].get("conventional").is_some();
                let baseline = if keeps {
                    "conventional".to_owned()
                } else {
                    first
                };
                given.insert("baseline".to_owned(), toml::Value::String(baseline));
            }
        }
        let mut whole = toml::Value::Table(table);
        overlay(&mut whole, &toml::Value::Table(given));
        let costs: Costs = whole.try_into().map_err(|error: toml::de::Error| {
            ModelError::Costs(error.to_string().trim().to_owned())
        })?;
        costs.check()?;
        Ok(costs)
    }

    fn check(&self) -> Result<(), ModelError> {
        let site = &self.site;
        positive("rate_per_s", self.rate_per_s)?;
        checked("site.pue", site.pue, site.pue >= 1.0, "1 or more")?;
        positive("site.infrastructure_years", site.infrastructure_years)?;
        positive("site.network_years", site.network_years)?;
        not_negative("site.energy_price_per_kwh", site.energy_price_per_kwh)?;
        not_negative(
            "site.infrastructure_price_per_w",
            site.infrastructure_price_per_w,
        )?;
        not_negative(
            "site.network_price_per_server",
            site.network_price_per_server,
        )?;
        not_negative(
            "site.network_watts_per_server",
            site.network_watts_per_server,
        )?;
        not_negative("site.maintenance_per_year", site.maintenance_per_year)?;
        not_negative("site.interest_per_year", site.interest_per_year)?;
        for server in self.servers.values() {
            let Server {
                processor_peak_watts: peak,
                processor_idle_watts: idle,
                ..
            } = *server;
            not_negative("processor_price", server.processor_price)?;
            not_negative("rest_price", server.rest_price)?;
            not_negative("rest_watts", server.rest_watts)?;
            not_negative("processor_idle_watts", idle)?;
            checked(
                "processor_peak_watts",
                peak,
                peak >= idle,
                "no less than processor_idle_watts",
            )?;
            positive("years", server.years)?;
            positive("speed", server.speed)?;
            positive("memory_gb", server.memory_gb)?;
            positive("queries_per_s", server.queries_per_s)?;
            positive("cores", f64::from(server.cores))?;
            let share = server.utilisation;
            checked(
                "utilisation",
                share,
                (0.0..=1.0).contains(&share),
                "from 0 to 1",
            )?;
        }
        if self.servers.contains_key(&self.baseline) {
            Ok(())
        } else {
            Err(ModelError::Costs(format!(
                "the baseline `{}` is none of the servers",
                self.baseline
            )))
        }
    }

    /// Returns the number of servers of a kind that answer all queries, rounded up.
    pub fn servers_needed(&self, server: &Server) -> f64 {
        (self.rate_per_s / server.queries_per_s - 1e-9)
            .ceil()
            .max(1.0)
    }

    /// Returns the yearly cost of `count` servers of a kind at a share `utilisation` of busy cores.
    pub fn yearly(&self, server: &Server, count: f64, utilisation: f64) -> YearlyCost {
        let site = &self.site;
        let repaid = |price: f64, years: f64| price * annuity(site.interest_per_year, years);
        let network_watts = site.network_watts_per_server;
        let peak_watts = (server.peak_watts() + network_watts) * site.pue;
        let mean_watts = (server.watts(utilisation) + network_watts) * site.pue;
        let upkeep = site.maintenance_per_year * (server.price() + site.network_price_per_server);
        YearlyCost {
            infrastructure: count
                * repaid(
                    peak_watts * site.infrastructure_price_per_w,
                    site.infrastructure_years,
                ),
            servers: count * repaid(server.price(), server.years),
            network: count * repaid(site.network_price_per_server, site.network_years),
            power: count * mean_watts / 1e3 * HOURS_PER_YEAR * site.energy_price_per_kwh,
            maintenance: count * upkeep,
        }
    }

    /// Returns the price of one whole `server` at which its fleet costs as much as the baseline fleet for
    /// the same queries. Fleet sizes are fractions, as for a large fleet. Returns `None` if even a free
    /// server costs more.
    pub fn break_even_price(&self, server: &Server) -> Option<f64> {
        let per_query = |server: &Server| {
            self.yearly(server, 1.0, server.utilisation).total() / server.queries_per_s
        };
        let wanted = per_query(&self.servers[&self.baseline]);
        let free = per_query(&server.priced(0.0));
        let slope = per_query(&server.priced(1.0)) - free;
        (free <= wanted && slope > 0.0).then(|| (wanted - free) / slope)
    }

    /// Returns the price of one processor of `server` at which a whole server has its
    /// [`Costs::break_even_price`]. Returns `None` if even free processors cost more.
    pub fn break_even_processor_price(&self, server: &Server) -> Option<f64> {
        let processors = self.break_even_price(server)? - server.rest_price;
        // A difference of rounding beside the price of a server is none.
        (processors >= -1e-9 * server.rest_price && server.processors > 0)
            .then(|| processors.max(0.0) / f64::from(server.processors))
    }
}

/// Returns the yearly payment for a price of 1 over `years`.
fn annuity(interest: f64, years: f64) -> f64 {
    if interest == 0.0 {
        1.0 / years
    } else {
        interest / -(-years * interest.ln_1p()).exp_m1()
    }
}

/// Merges the table `over` into the table `under`, section by section; `over` wins.
fn overlay(under: &mut toml::Value, over: &toml::Value) {
    match (under, over) {
        (toml::Value::Table(under), toml::Value::Table(over)) => {
            for (key, value) in over {
                match under.get_mut(key) {
                    Some(present) => overlay(present, value),
                    None => {
                        under.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        // An integer in place of a float is read as a float.
        (toml::Value::Float(under), toml::Value::Integer(over)) => *under = *over as f64,
        (under, over) => *under = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = include_str!("../../../examples/costs.toml");

    #[test]
    fn the_example_is_the_default() {
        assert_eq!(EXAMPLE, DEFAULTS);
        let costs = Costs::parse(EXAMPLE).unwrap();
        assert_eq!(costs, Costs::parse("").unwrap());
        assert_eq!(costs.servers.len(), 2);
    }

    #[test]
    fn costs_are_added_up_as_by_hand() {
        let costs = Costs::parse("").unwrap();
        let server = costs.servers["conventional"];
        let yearly = costs.yearly(&server, 10.0, 0.5);
        let close = |got: f64, expected: f64| {
            assert!((got / expected - 1.0).abs() < 1e-12, "{got} {expected}")
        };
        close(yearly.servers, 10.0 * 616.0 / 3.0);
        close(yearly.network, 10.0 * 50.0 / 4.0);
        close(
            yearly.infrastructure,
            10.0 * (80.0 + 40.0 + 2.0) * 1.3 * 10.0 / 15.0,
        );
        close(
            yearly.power,
            10.0 * (55.0 + 40.0 + 2.0) * 1.3 / 1e3 * 8766.0 * 0.07,
        );
        close(yearly.maintenance, 10.0 * 0.05 * 666.0);
        close(costs.servers_needed(&server), 10.0);
    }

    #[test]
    fn interest_makes_things_dearer_and_small_interest_hardly() {
        close_to(annuity(1e-9, 10.0), 0.1, 1e-7);
        // 10 % over 5 years: the textbook's 0.263797.
        close_to(annuity(0.1, 5.0), 0.263_797, 1e-6);
    }

    fn close_to(got: f64, expected: f64, within: f64) {
        assert!((got - expected).abs() < within, "{got} {expected}");
    }

    #[test]
    fn a_file_says_only_what_differs() {
        let costs = Costs::parse("[site]\npue = 2\n[servers.mine]\ncores = 4\n").unwrap();
        assert_eq!(
            (costs.site.pue, costs.site.infrastructure_years),
            (2.0, 15.0)
        );
        assert_eq!(costs.servers.len(), 1);
        assert_eq!(
            (
                costs.servers["mine"].cores,
                costs.servers["mine"].processor_price
            ),
            (4, 391.0)
        );
        assert_eq!(costs.baseline, "mine");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let check = |text: &str, said: &str| {
            let error = Costs::parse(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text:?}: {error}");
        };
        check("site = [", "line 1");
        check("[site]\npeu = 1.1", "peu");
        check("[site]\npue = 0.9", "site.pue is 0.9");
        check("[site]\npue = 'x'", "expected f64");
        check("baseline = 'none'", "none of the servers");
        check("[servers.a]\nutilisation = 2", "from 0 to 1");
        check("[servers.a]\nprocessor_peak_watts = 1", "no less than");
    }

    #[test]
    fn a_processor_at_its_break_even_price_costs_the_same() {
        let costs = Costs::parse("").unwrap();
        let baseline = costs.servers["conventional"];
        let itself = costs.break_even_processor_price(&baseline).unwrap();
        assert!((itself - 391.0).abs() < 1e-9);
        let mut dual = costs.servers["slow-dual"];
        dual.processor_price = costs.break_even_processor_price(&dual).unwrap();
        let total = |server: &Server| costs.yearly(server, 10.0, 0.5).total();
        assert!((total(&dual) / total(&baseline) - 1.0).abs() < 1e-12);
    }
}
