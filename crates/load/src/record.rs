//! Folder that stores a run: `run.json` holds the settings, `samples.parquet` the samples.
//!
//! `run.json` is written last, so a folder that contains it is complete. `docs/formats/run.md`
//! describes the columns.
use crate::columns::{self, Column, Table};
use crate::{
    Answer, Ending, Load, LoadError, Machine, Noise, Outcome, Sample, SelfCheck, Settings, Summary,
};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, SystemTime};
use wire::PhaseTimes;

const VERSION: u32 = 1;

/// Settings and circumstances of a run, as stored in `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of the record format.
    pub version: u32,
    /// Version of the program.
    pub shorttail: String,
    /// Start of the run, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// URL of the target, as given.
    pub url: String,
    /// Load of the run.
    pub load: Load,
    /// Requested duration of the measurement, in seconds.
    pub duration_s: f64,
    /// Actual duration of the measurement, in seconds.
    pub measured_s: f64,
    /// Duration of the warm-up before it, in seconds.
    pub warm_up_s: f64,
    /// Client timeout, in seconds.
    pub timeout_s: f64,
    /// Seed of all random streams.
    pub seed: u64,
    /// Upper limit on concurrent connections.
    pub connections_max: usize,
    /// Number of requests until the query stream repeated.
    pub queries_count: usize,
    /// Checksum of the query stream; see [`QueryStream::checksum`](crate::QueryStream::checksum).
    pub queries_checksum: String,
    /// Checksum of the answers in 16 hexadecimal digits; see [`AnswerCheck`](crate::AnswerCheck).
    /// `None` if no answer was complete.
    pub answers_checksum: Option<String>,
    /// Whether the run lasted to its end.
    pub is_complete: bool,
    /// Warnings, by name.
    pub labels: Vec<String>,
    /// Result of the self-check of the client.
    pub self_check: Option<SelfCheck>,
    /// Interference by other programs on the machine.
    pub noise: Noise,
    /// Machine of the client.
    pub machine: Machine,
    /// CPU time of the server's process over the run, warm-up included, in seconds; `None` where it is not
    /// known, as of a server on another machine.
    #[serde(default)]
    pub server_cpu_s: Option<f64>,
    /// Further properties added by the caller, such as the index.
    pub notes: serde_json::Map<String, serde_json::Value>,
}

impl RunRecord {
    /// Returns the record of a finished run.
    pub fn of(
        settings: &Settings,
        outcome: &Outcome,
        summary: &Summary,
        self_check: Option<SelfCheck>,
    ) -> RunRecord {
        let since_1970 = outcome.started_at.duration_since(SystemTime::UNIX_EPOCH);
        let checksum = summary.answers.checksum;
        RunRecord {
            version: VERSION,
            shorttail: env!("CARGO_PKG_VERSION").into(),
            started_unix_ms: since_1970.map_or(0, |since| since.as_millis() as u64),
            url: settings.target.url().into(),
            load: settings.load.clone(),
            duration_s: settings.duration.as_secs_f64(),
            measured_s: outcome.measured.as_secs_f64(),
            warm_up_s: settings.warm_up.as_secs_f64(),
            timeout_s: settings.timeout.as_secs_f64(),
            seed: settings.seed,
            connections_max: settings.connections_max,
            queries_count: settings.queries.len(),
            queries_checksum: settings.queries.checksum(),
            answers_checksum: checksum.map(|checksum| format!("{checksum:016x}")),
            is_complete: outcome.is_complete,
            labels: summary
                .labels
                .iter()
                .map(|label| label.name().to_owned())
                .collect(),
            self_check,
            noise: outcome.noise,
            machine: Machine::here(),
            server_cpu_s: None,
            notes: serde_json::Map::new(),
        }
    }

    /// Saves record and samples in a folder, which is created if missing.
    ///
    /// # Errors
    /// The folder already holds a run, or cannot be written.
    pub fn save(&self, folder: &Path, samples: &[Sample]) -> Result<(), LoadError> {
        let path = folder.join("run.json");
        let failed = |reason: String| LoadError::File {
            path: path.display().to_string(),
            reason,
        };
        RunRecord::prepare(folder)?;
        columns::write(&folder.join("samples.parquet"), &to_table(samples))?;
        let json = serde_json::to_string_pretty(self).map_err(|error| failed(error.to_string()))?;
        let partial = path.with_extension("partial");
        std::fs::write(&partial, json + "\n")
            .and_then(|()| std::fs::rename(&partial, &path))
            .map_err(|error| {
                let _ = std::fs::remove_file(&partial);
                failed(format!("{error}; make room there and save again"))
            })
    }

    /// Creates the folder before the run, so that an unwritable one is found before the measurement.
    ///
    /// # Errors
    /// The folder already holds a run, or cannot be created.
    pub fn prepare(folder: &Path) -> Result<(), LoadError> {
        let failed = |reason: String| LoadError::File {
            path: folder.display().to_string(),
            reason,
        };
        if folder.join("run.json").exists() {
            return Err(failed("holds a run already; save to another folder".into()));
        }
        std::fs::create_dir_all(folder)
            .map_err(|error| failed(format!("{error}; save to another folder")))
    }

    /// Reads the folder of a run.
    ///
    /// # Errors
    /// The folder holds no run, a run of another version, or a damaged one.
    pub fn open(folder: &Path) -> Result<(RunRecord, Outcome), LoadError> {
        let path = folder.join("run.json");
        let failed = |reason: String| LoadError::File {
            path: path.display().to_string(),
            reason,
        };
        let json = std::fs::read(&path)
            .map_err(|error| failed(format!("{error}; `load --save DIR` makes such a folder")))?;
        let record: RunRecord = serde_json::from_slice(&json)
            .map_err(|error| failed(format!("{error}; not the record of a run")))?;
        if record.version != VERSION {
            let version = record.version;
            return Err(failed(format!(
                "version {version}; this program reads {VERSION}"
            )));
        }
        let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let samples = of_table(columns::read(&folder.join("samples.parquet"))?);
        let outcome = Outcome {
            samples,
            started_at: SystemTime::UNIX_EPOCH + Duration::from_millis(record.started_unix_ms),
            warm_up: seconds(record.warm_up_s),
            measured: seconds(record.measured_s),
            is_complete: record.is_complete,
            noise: record.noise,
        };
        Ok((record, outcome))
    }
}

type Get<T> = fn(&Sample) -> Option<T>;

/// Optional integer columns, in the order of the file.
const INTEGERS: [(&str, Get<i64>); 13] = [
    ("arrival", |s| Some(i64::from(s.arrival_idx))),
    ("query", |s| Some(i64::from(s.query_idx))),
    ("intended_ns", |s| Some(s.intended_ns as i64)),
    ("sent_ns", |s| s.sent_ns.map(|ns| ns as i64)),
    ("done_ns", |s| s.done_ns.map(|ns| ns as i64)),
    ("retry_after_s", |s| s.retry_after_s.map(i64::from)),
    ("body_bytes", |s| Some(i64::from(s.body_bytes))),
    ("matches", |s| {
        s.answer.as_ref()?.matches_count.map(|count| count as i64)
    }),
    ("hits", |s| Some(i64::from(s.answer.as_ref()?.hits_count))),
    ("checksum", |s| Some(s.answer.as_ref()?.checksum as i64)),
    ("server_us", |s| {
        s.answer.as_ref()?.server_us.map(|us| us as i64)
    }),
    ("search_cpu_us", |s| {
        let phases = s.answer.as_ref()?.phases?;
        phases.search_cpu.map(|us| us as i64)
    }),
    ("run_queue_us", |s| {
        let phases = s.answer.as_ref()?.phases?;
        phases.run_queue.map(|us| us as i64)
    }),
];
const FLAGS: [(&str, Get<bool>); 3] = [
    ("warm_up", |s| Some(s.warm_up)),
    ("new_connection", |s| Some(s.new_connection)),
    ("timed_out", |s| Some(s.answer.as_ref()?.timed_out)),
];

fn to_table(samples: &[Sample]) -> Table {
    let mut table = Table::new();
    for (name, get) in INTEGERS {
        table.push((
            name.into(),
            Column::Integer(samples.iter().map(get).collect()),
        ));
    }
    for (name, get) in FLAGS {
        table.push((name.into(), Column::Flag(samples.iter().map(get).collect())));
    }
    let endings = samples.iter().map(|s| Some(s.ending.name())).collect();
    table.push(("ending".into(), Column::Text(endings)));
    let coverage = samples
        .iter()
        .map(|s| Some(s.answer.as_ref()?.coverage))
        .collect();
    table.push(("coverage".into(), Column::Real(coverage)));
    for (idx, (name, _)) in PhaseTimes::default().named().into_iter().enumerate() {
        let of = |s: &Sample| Some(s.answer.as_ref()?.phases?.named()[idx].1 as i64);
        let column = Column::Integer(samples.iter().map(of).collect());
        table.push((format!("phase_{name}_us"), column));
    }
    table
}

/// Reads the samples of a table; a missing column counts as a column of nulls.
fn of_table(mut table: Table) -> Vec<Sample> {
    let rows = table.first().map_or(0, |(_, column)| match column {
        Column::Flag(values) => values.len(),
        Column::Integer(values) => values.len(),
        Column::Real(values) => values.len(),
        Column::Text(values) => values.len(),
    });
    let mut take = |name: &str| {
        let at = table.iter().position(|(known, _)| known == name)?;
        Some(table.swap_remove(at).1)
    };
    let mut integers = |name: &str| match take(name) {
        Some(Column::Integer(values)) => values,
        _ => vec![None; rows],
    };
    let columns = INTEGERS.map(|(name, _)| integers(name));
    let phases = PhaseTimes::default().named();
    let phases = phases.map(|(name, _)| integers(&format!("phase_{name}_us")));
    let flags = FLAGS.map(|(name, _)| match take(name) {
        Some(Column::Flag(values)) => values,
        _ => vec![None; rows],
    });
    let endings = match take("ending") {
        Some(Column::Text(values)) => values,
        _ => vec![None; rows],
    };
    let coverage = match take("coverage") {
        Some(Column::Real(values)) => values,
        _ => vec![None; rows],
    };
    let at = |column: &[Option<i64>], row: usize| column.get(row).copied().flatten();
    let unsigned = |idx: usize, row: usize| at(&columns[idx], row).map(|value| value as u64);
    let flag = |idx: usize, row: usize| flags[idx].get(row).copied().flatten();
    let sample = |row: usize| Sample {
        arrival_idx: unsigned(0, row).unwrap_or_default() as u32,
        query_idx: unsigned(1, row).unwrap_or_default() as u32,
        intended_ns: unsigned(2, row).unwrap_or_default(),
        sent_ns: unsigned(3, row),
        done_ns: unsigned(4, row),
        retry_after_s: unsigned(5, row).map(|s| s as u32),
        body_bytes: unsigned(6, row).unwrap_or_default() as u32,
        warm_up: flag(0, row).unwrap_or_default(),
        new_connection: flag(1, row).unwrap_or_default(),
        ending: endings
            .get(row)
            .and_then(|name| Ending::of_name(name.as_deref()?))
            .unwrap_or(Ending::Malformed),
        answer: unsigned(9, row).map(|checksum| Answer {
            matches_count: unsigned(7, row),
            hits_count: unsigned(8, row).unwrap_or_default() as u32,
            checksum,
            timed_out: flag(2, row).unwrap_or_default(),
            coverage: coverage.get(row).copied().flatten().unwrap_or(1.0),
            phases: phases_of(|idx| at(&phases[idx], row), unsigned(10, row)).map(|times| {
                let (search_cpu, run_queue) = (unsigned(11, row), unsigned(12, row));
                PhaseTimes {
                    search_cpu,
                    run_queue,
                    ..times
                }
            }),
            server_us: unsigned(10, row),
            searches: Vec::new(),
            handlers: None,
        }),
    };
    (0..rows).map(sample).collect()
}

fn phases_of(us: impl Fn(usize) -> Option<i64>, total: Option<u64>) -> Option<PhaseTimes> {
    let us = |idx| us(idx).map(|us| us as u64);
    // In the order of `PhaseTimes::named`; the test below checks that they agree.
    Some(PhaseTimes {
        parse: us(0)?,
        queueing: us(1)?,
        index_search: us(2)?,
        optimization_searches: us(3)?,
        merge: us(4)?,
        // Records of earlier versions have none.
        spelling: us(5).unwrap_or_default(),
        details: us(6)?,
        summaries: us(7)?,
        render: us(8)?,
        total: total?,
        ..PhaseTimes::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrivals, QueryStream, Target};

    fn samples() -> Vec<Sample> {
        let phases = PhaseTimes {
            parse: 1,
            queueing: 2,
            index_search: 3,
            optimization_searches: 4,
            merge: 5,
            spelling: 11,
            details: 6,
            summaries: 7,
            render: 8,
            total: 40,
            search_cpu: Some(9),
            run_queue: Some(10),
        };
        let answered = Sample {
            arrival_idx: 3,
            query_idx: 9,
            warm_up: true,
            intended_ns: 10,
            sent_ns: Some(20),
            done_ns: Some(30),
            ending: Ending::Answered(200),
            new_connection: true,
            retry_after_s: None,
            body_bytes: 4,
            answer: Some(Answer {
                matches_count: Some(5),
                hits_count: 6,
                checksum: u64::MAX,
                timed_out: true,
                coverage: 0.75,
                phases: Some(phases),
                server_us: Some(40),
                searches: Vec::new(),
                handlers: None,
            }),
        };
        let mut samples = vec![answered];
        let others = [
            Ending::TimedOut,
            Ending::Refused,
            Ending::Unreachable,
            Ending::Closed,
            Ending::Malformed,
            Ending::Dropped,
            Ending::Unfinished,
            Ending::Answered(429),
        ];
        samples.extend(others.map(|ending| Sample {
            ending,
            warm_up: false,
            sent_ns: None,
            done_ns: None,
            new_connection: false,
            retry_after_s: Some(1),
            answer: None,
            ..samples[0].clone()
        }));
        samples
    }

    #[test]
    fn a_run_comes_back_as_it_was_saved() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("deep/run");
        let arrivals = Arrivals::Poisson { rate_qps: 5.0 };
        let settings = Settings::open(
            Target::parse("http://127.0.0.1:1").unwrap(),
            QueryStream::as_is(["a"]),
            arrivals,
            Duration::from_secs(2),
        );
        let outcome = crate::summary::tests::outcome(samples(), Duration::from_millis(1500));
        let record = RunRecord::of(&settings, &outcome, &Summary::of(&outcome), None);
        record.save(&run, &outcome.samples).unwrap();
        let (read, read_outcome) = RunRecord::open(&run).unwrap();
        assert_eq!(read, record);
        assert_eq!(read_outcome.samples, outcome.samples);
        assert_eq!(read_outcome.measured, outcome.measured);
        let again = record.save(&run, &[]).unwrap_err().to_string();
        assert!(again.contains("already"), "{again}");
        std::fs::write(run.join("run.json"), "{}").unwrap();
        assert!(RunRecord::open(&run).is_err());
    }
}
