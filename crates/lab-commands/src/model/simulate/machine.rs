//! Simulated machine: cores, what slows them, and their power.

use crate::model::parse_positive;
use crate::model::table::{Table, number};
use crate::times::positive_ms;
use anyhow::ensure;
use model::energy::{self, Activity, CorePower, Energy};
use model::simulate::{Disturbances, Machine};
use std::io::Write;

#[derive(Debug, clap::Args)]
pub(super) struct MachineArguments {
    /// Physical cores
    #[arg(long, value_name = "M", default_value = "1", help_heading = "Machine")]
    cores: usize,
    /// Two contexts a core, each slower by this factor while the other is busy
    #[arg(long, value_name = "D", value_parser = parse_positive, help_heading = "Machine")]
    smt_slowdown: Option<f64>,
    /// Number of little cores among --cores
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        conflicts_with = "smt_slowdown",
        help_heading = "Machine"
    )]
    little: usize,
    /// Speed of a little core relative to the others
    #[arg(long, value_name = "SPEED", default_value = "0.5", value_parser = parse_positive, help_heading = "Machine")]
    little_speed: f64,
    /// Slow-down of each core while all others are busy: 0.2 is a fifth
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0",
        help_heading = "Machine"
    )]
    contention: f64,
    /// Interference on each core: mean number a second, mean duration, and mean slow-down factor, such as
    /// 0.5,20ms,3
    #[arg(long, value_name = "PER_S,TIME,FACTOR", value_parser = parse_disturbances, help_heading = "Machine")]
    disturbances: Option<Disturbances>,
    /// Power in watts of a busy core or context, of an idle one, and of the rest of the machine, such as
    /// 10,3,40; adds an estimate of energy
    #[arg(long, value_name = "BUSY,IDLE,REST", value_parser = parse_numbers::<3>, help_heading = "Machine")]
    power: Option<[f64; 3]>,
    /// Power in watts of a busy and of an idle little core [default: that of the others]
    #[arg(long, value_name = "BUSY,IDLE", requires = "power", value_parser = parse_numbers::<2>, help_heading = "Machine")]
    little_power: Option<[f64; 2]>,
}

/// Reads `N` numbers of 0 or more, separated by commas.
fn parse_numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let numbers = text.split(',').map(|number| number.trim().parse::<f64>());
    let numbers: Vec<f64> = numbers
        .collect::<Result<_, _>>()
        .map_err(|_| format!("write {N} numbers parted by commas"))?;
    let fits = numbers
        .iter()
        .all(|number| number.is_finite() && *number >= 0.0);
    match <[f64; N]>::try_from(numbers) {
        Ok(numbers) if fits => Ok(numbers),
        _ => Err(format!("write {N} numbers, 0 or more, parted by commas")),
    }
}

fn parse_disturbances(text: &str) -> Result<Disturbances, String> {
    const WANTED: &str = "write a number a second, a time and a factor of 1 or more: 0.5,20ms,3";
    let parts: Vec<&str> = text.split(',').collect();
    let [rate, length, slowdown] = parts[..] else {
        return Err(WANTED.to_owned());
    };
    let [per_core_per_s, slowdown] = parse_numbers::<2>(&format!("{rate},{slowdown}"))?;
    let length_ms = positive_ms()(length.trim())?;
    if slowdown < 1.0 {
        return Err(WANTED.to_owned());
    }
    Ok(Disturbances {
        per_core_per_s,
        length_ms,
        slowdown,
    })
}

impl MachineArguments {
    pub(super) fn machine(&self) -> anyhow::Result<Machine> {
        ensure!(self.little <= self.cores, "--little is more than --cores");
        ensure!(self.contention >= 0.0, "--contention must be 0 or more");
        let big = self.cores - self.little;
        let machine = match self.smt_slowdown {
            Some(slowdown) => Machine::of_smt_cores(self.cores, slowdown),
            None => Machine::of_big_and_little(big, self.little, self.little_speed),
        };
        Ok(Machine {
            contention: self.contention,
            disturbances: self.disturbances,
            ..machine
        })
    }

    /// Returns the speeds of `handlers` handlers on cores of their own, the big ones first.
    pub(super) fn speeds(&self, handlers: usize) -> anyhow::Result<Vec<f64>> {
        ensure!(
            self.little <= handlers,
            "--little is {}, more than the {handlers} handlers",
            self.little
        );
        let mut speeds = vec![1.0; handlers - self.little];
        speeds.resize(handlers, self.little_speed);
        Ok(speeds)
    }

    /// Estimated energy of simulated runs, where the power was given.
    pub(super) fn energy(&self, activity: &Activity) -> anyhow::Result<Option<Energy>> {
        let Some([busy_watts, idle_watts, rest_watts]) = self.power else {
            return Ok(None);
        };
        let big = CorePower {
            busy_watts,
            idle_watts,
        };
        let little = self
            .little_power
            .map_or(big, |[busy_watts, idle_watts]| CorePower {
                busy_watts,
                idle_watts,
            });
        let cores = activity.core_busy_ms.len();
        let power = |core: usize| {
            if core + self.little >= cores {
                little
            } else {
                big
            }
        };
        let power: Vec<CorePower> = (0..cores).map(power).collect();
        Ok(Some(energy::estimate(activity, &power, rest_watts)?))
    }
}

/// Writes a table of the estimated energy at each rate.
pub(super) fn write_energies(
    energies: &[(f64, Option<Energy>)],
    out: &mut impl Write,
) -> anyhow::Result<()> {
    if energies.iter().all(|(_, energy)| energy.is_none()) {
        return Ok(());
    }
    let mut table = Table::new(["\nqueries/s", "power", "a query", "a query beyond idling"]);
    for (rate_per_s, energy) in energies {
        let Some(energy) = energy else { continue };
        table.row([
            number(*rate_per_s),
            format!("{} W", number(energy.watts)),
            format!("{} J", number(energy.joules_per_query)),
            format!("{} J", number(energy.joules_per_query_above_idle)),
        ]);
    }
    table.write(out)?;
    writeln!(out, "energy is {}", energy::ASSUMPTIONS)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_numbers_are_read_or_refused() {
        assert_eq!(parse_numbers::<3>("10, 3,40"), Ok([10.0, 3.0, 40.0]));
        for bad in [
            "", "1,2", "1,2,3,4", "1,2,x", "1,2,-3", "1,2,inf", "1,2,NaN",
        ] {
            assert!(parse_numbers::<3>(bad).is_err(), "{bad}");
        }
        assert!(parse_disturbances("0.5,20,3").is_ok());
        for bad in ["1,0,2", "1,5,0.5"] {
            assert!(parse_disturbances(bad).is_err(), "{bad}");
        }
    }
}
