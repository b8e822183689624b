//! Output of the schedules of an answer: how handlers shared its searches.

use console::figures::{count, counted};
use console::terminal::printable;
use std::io::{self, Write};
use wire::Schedule;
use wire::schedule::Visit;

/// Writes the schedules of an answer, each with a row for every stay of a handler. `earlier_runs` is the number of runs by
/// which the server learnt the time of the query.
pub(crate) fn write_schedules(
    out: &mut impl Write,
    schedules: &[Schedule],
    earlier_runs: u64,
) -> io::Result<()> {
    if schedules.is_empty() {
        writeln!(out, "no schedule: hits sorted by fields have none")?;
    }
    for schedule in schedules {
        write_schedule(out, schedule, earlier_runs)?;
    }
    Ok(())
}

fn write_schedule(out: &mut impl Write, schedule: &Schedule, earlier_runs: u64) -> io::Result<()> {
    let part = match schedule.part.as_str() {
        "" => "the index".to_owned(),
        part => printable(part),
    };
    writeln!(
        out,
        "{part}: policy {}, {}",
        printable(&schedule.policy),
        counted(schedule.handlers.into(), "handler")
    )?;
    let taken = schedule.ranges_searched() + schedule.ranges_skipped();
    let not_taken = match schedule.ranges_cut.saturating_sub(taken) {
        0 => String::new(),
        left => format!(", {left} not taken"),
    };
    writeln!(
        out,
        "ranges     {} cut, {} searched, {} skipped by their bounds{not_taken}",
        schedule.ranges_cut,
        schedule.ranges_searched(),
        schedule.ranges_skipped()
    )?;
    writeln!(
        out,
        "predicted  {} µs, by {}; one of ten takes more than {} µs{}",
        count(schedule.predicted_us),
        counted(earlier_runs, "earlier run"),
        count(schedule.predicted_high_us),
        match schedule.prediction_is_trusted {
            true => "",
            false => "; too uncertain to cut the query by",
        }
    )?;
    writeln!(
        out,
        "took       {} µs of handlers in {} µs, degree {}{}",
        count(schedule.worked_us),
        count(schedule.search_us),
        schedule.degree(),
        match schedule.stopped {
            true => ", stopped before its end",
            false => "",
        }
    )?;
    let head = [
        "handler",
        "role",
        "began",
        "took",
        "ranges",
        "skipped",
        "CPU",
        "run queue",
        "end",
    ];
    let rows: Vec<[String; 9]> = schedule.visits.iter().map(cells).collect();
    let rows: Vec<[String; 9]> = [head.map(String::from)].into_iter().chain(rows).collect();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
            // Words to the left, figures to the right.
            line += &match column {
                1 | 8 => format!("{cell:<width$}  "),
                _ => format!("{cell:>width$}  "),
            };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out)
}

fn cells(visit: &Visit) -> [String; 9] {
    let measured = |us: Option<u64>| us.map_or("-".to_owned(), count);
    [
        visit.handler.to_string(),
        visit.role.verb().to_owned(),
        count(visit.start_us),
        count(visit.duration_us),
        visit.ranges_searched.to_string(),
        visit.ranges_skipped.to_string(),
        measured(visit.cpu_us),
        measured(visit.run_queue_us),
        visit.end.participle().to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::schedule::{End, Role};

    #[test]
    fn a_schedule_is_an_aligned_table() {
        let visit = Visit {
            handler: 0,
            role: Role::Begins,
            end: End::Finished,
            start_us: 12,
            duration_us: 1_234,
            ranges_searched: 5,
            ranges_skipped: 1,
            cpu_us: Some(1_200),
            run_queue_us: Some(0),
        };
        let helper = Visit {
            handler: 11,
            role: Role::Helps,
            end: End::Left,
            start_us: 80,
            cpu_us: None,
            run_queue_us: None,
            ..visit.clone()
        };
        let schedule = Schedule {
            policy: "boost".into(),
            handlers: 12,
            ranges_cut: 13,
            predicted_us: 2_000,
            predicted_high_us: 2_500,
            visits: vec![visit, helper],
            ..Schedule::default()
        };
        let mut out = Vec::new();
        write_schedules(&mut out, &[schedule], 64).unwrap();
        let expected = "\
the index: policy boost, 12 handlers
ranges     13 cut, 10 searched, 2 skipped by their bounds, 1 not taken
predicted  2,000 µs, by 64 earlier runs; one of ten takes more than 2,500 µs; too uncertain to cut the query by
took       0 µs of handlers in 0 µs, degree 2
handler  role    began   took  ranges  skipped    CPU  run queue  end
      0  begins     12  1,234       5        1  1,200          0  finished
     11  helps      80  1,234       5        1      -          -  left

";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
