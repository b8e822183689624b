//! Cache misses of searches on a simulated processor, for machines without hardware counters.
//!
//! Valgrind's cachegrind simulates two levels of caches: the first-level sizes of this machine, and a last
//! level of the requested size. The same queries are searched with few passes and with more; the
//! difference is the cost of warm searches alone. Limits: one thread; no prefetchers, other programs or
//! address translation; least-recently-used replacement; no AVX-512, so the AVX2 kernels run. Figures
//! are labelled as simulated; times are meaningless.
use crate::LabError;
use crate::ask::{ask, one_line};
use crate::capability::{Capability, State};
use crate::tree::Tree;
use load::Live;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Upper limit on searched queries: enough to exceed small caches, and few enough to finish in seconds
/// on a processor that is fifty times slower.
const QUERIES_MAX: usize = 2000;
/// Passes of the two runs whose difference counts.
const PASSES: [u64; 2] = [1, 2];
const LINE_BYTES: u64 = 64;
const WAYS: u64 = 16;

/// Mean counts per query on the simulated processor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct SimulatedCell {
    /// Size of the simulated last-level cache.
    pub(crate) cache_bytes: u64,
    pub(crate) instructions: f64,
    /// Data reads and writes.
    pub(crate) data_references: f64,
    /// Data references that missed the first level.
    pub(crate) first_level_misses: f64,
    /// References that missed the last level, including instructions.
    pub(crate) last_level_misses: f64,
}

/// Counts of one run of the simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    instructions: u64,
    data_references: u64,
    first_level_misses: u64,
    last_level_misses: u64,
}

/// Tests whether Valgrind is installed.
pub(crate) fn probe(tree: &Tree) -> Capability {
    let id = "cache-simulation";
    let missing = || {
        Capability::new(id, State::Unavailable, "no program `valgrind`; install it")
            .remedy("install Valgrind, to simulate caches where no counter tells")
    };
    if !tree.is_here() {
        let files = ["usr/bin/valgrind", "usr/local/bin/valgrind"];
        return match files.into_iter().find(|file| tree.path(file).exists()) {
            Some(file) => Capability::new(id, State::Untested, "there; can only be tried there")
                .seen(format!("/{file}")),
            None => missing().seen("neither /usr/bin/valgrind nor /usr/local/bin/valgrind"),
        };
    }
    let version = Command::new("valgrind").arg("--version").output();
    match version {
        Ok(output) if output.status.success() => {
            let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            Capability::new(id, State::Available, format!("{version}, on request"))
                .seen("`lab run --simulate-caches` counts on a simulated processor")
        }
        Ok(output) => missing().seen(format!("valgrind --version: {}", output.status)),
        Err(error) => missing().seen(format!("valgrind: {error}")),
    }
}

/// Input of a simulation.
pub(crate) struct Simulation<'a> {
    pub(crate) binary: &'a Path,
    pub(crate) index: &'a Path,
    pub(crate) queries: &'a [String],
    /// Folder for the query file; removed afterwards.
    pub(crate) scratch: PathBuf,
    pub(crate) live: &'a Live,
}

impl Simulation<'_> {
    /// Simulates a last-level cache of about `cache_bytes`.
    pub(crate) fn run(&self, cache_bytes: u64) -> Result<SimulatedCell, LabError> {
        let run = self.run_in_scratch(cache_bytes);
        let _ = std::fs::remove_dir_all(&self.scratch);
        run
    }

    fn run_in_scratch(&self, cache_bytes: u64) -> Result<SimulatedCell, LabError> {
        let failed = |error: std::io::Error| LabError::file(&self.scratch, error);
        std::fs::create_dir_all(&self.scratch).map_err(failed)?;
        let file = self.scratch.join("queries.txt");
        let lines = self.queries.iter().map(|query| one_line(query));
        let lines = lines.filter(|line| !line.is_empty()).take(QUERIES_MAX);
        let lines: Vec<String> = lines.map(|line| line + "\n").collect();
        std::fs::write(&file, lines.concat()).map_err(failed)?;
        let cache_bytes = simulated_bytes(cache_bytes);
        let few = self.count(cache_bytes, &file, PASSES[0])?;
        let many = self.count(cache_bytes, &file, PASSES[1])?;
        let searches = (PASSES[1] - PASSES[0]) as f64 * lines.len().max(1) as f64;
        let per_query =
            |of: fn(&Counts) -> u64| of(&many).saturating_sub(of(&few)) as f64 / searches;
        Ok(SimulatedCell {
            cache_bytes,
            instructions: per_query(|counts| counts.instructions),
            data_references: per_query(|counts| counts.data_references),
            first_level_misses: per_query(|counts| counts.first_level_misses),
            last_level_misses: per_query(|counts| counts.last_level_misses),
        })
    }

    fn count(&self, cache_bytes: u64, queries: &Path, passes: u64) -> Result<Counts, LabError> {
        let name = "valgrind --tool=cachegrind shorttail bench";
        let mut command = Command::new("valgrind");
        // Simulated times are meaningless, so kernels must not be chosen by timing.
        command.env("SHORTTAIL_KERNELS", "newest");
        command.args(["--tool=cachegrind", "--cache-sim=yes"]);
        command.arg("--cachegrind-out-file=/dev/null");
        command.arg(format!("--LL={cache_bytes},{WAYS},{LINE_BYTES}"));
        command.arg(self.binary).arg("bench").arg(self.index);
        command.arg("--queries").arg(queries);
        command.args(["--mode", "and", "--count", "none", "--json"]);
        command.args(["--passes", &passes.to_string()]);
        let said = ask(&mut command, name, self.live).map_err(|error| match error {
            LabError::Program { reason, .. } if reason.contains("No such file") => {
                LabError::Program {
                    command: "valgrind".into(),
                    reason: "no such program; install Valgrind, or leave --simulate-caches out"
                        .into(),
                }
            }
            // The last lines are the simulator's figures, even after an error.
            LabError::Program { reason, .. } if reason.starts_with("==") => LabError::Program {
                command: name.into(),
                reason: "the program failed on the simulated processor".into(),
            },
            error => error,
        })?;
        counts(&said.stderr).ok_or_else(|| {
            let last = said.stderr.lines().last().unwrap_or_default();
            LabError::Program {
                command: name.into(),
                reason: format!("it told no counts; its last words: {last}"),
            }
        })
    }
}

/// Returns the largest size up to `cache_bytes` that the simulator accepts: it requires a power of two
/// of sets.
fn simulated_bytes(cache_bytes: u64) -> u64 {
    let sets = (cache_bytes / (WAYS * LINE_BYTES)).max(1);
    (1 << sets.ilog2()) * WAYS * LINE_BYTES
}

/// Parses lines such as `==12== D   refs:   1,234  (1,000 rd + 234 wr)`.
fn counts(text: &str) -> Option<Counts> {
    let of = |wanted: &str| -> Option<u64> {
        let value = |line: &str| {
            let (_, rest) = line.strip_prefix("==")?.split_once("==")?;
            let (name, value) = rest.split_once(':')?;
            let name: Vec<&str> = name.split_whitespace().collect();
            let digits = value.split_whitespace().next()?.replace(',', "");
            (name.join(" ") == wanted).then(|| digits.parse().ok())?
        };
        text.lines().find_map(value)
    };
    Some(Counts {
        instructions: of("I refs")?,
        data_references: of("D refs")?,
        first_level_misses: of("D1 misses")?,
        last_level_misses: of("LL misses")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulators_words_are_understood() {
        let text = "==7== Cachegrind, a cache and branch-prediction profiler\n==7==\n\
                    ==7== I   refs:      2,153,410,987\n==7== I1  misses:           12,345\n\
                    ==7== LLi misses:            4,321\n==7== I1  miss rate:          0.00%\n==7==\n\
                    ==7== D   refs:        567,890,123  (400,000,000 rd   + 167,890,123 wr)\n\
                    ==7== D1  misses:       12,345,678  ( 10,000,000 rd   +   2,345,678 wr)\n\
                    ==7== LLd misses:        1,234,567  (  1,000,000 rd   +     234,567 wr)\n==7==\n\
                    ==7== LL refs:          12,358,023  ( 10,012,345 rd   +   2,345,678 wr)\n\
                    ==7== LL misses:         1,238,888  (  1,004,321 rd   +     234,567 wr)\n";
        let expected = Counts {
            instructions: 2_153_410_987,
            data_references: 567_890_123,
            first_level_misses: 12_345_678,
            last_level_misses: 1_238_888,
        };
        assert_eq!(counts(text), Some(expected));
        assert_eq!(counts("==7== I   refs:      many\n"), None);
    }

    #[test]
    fn sizes_are_what_the_simulator_takes() {
        assert_eq!(simulated_bytes(32 << 20), 32 << 20);
        assert_eq!(simulated_bytes(20 << 20), 16 << 20);
        assert_eq!(simulated_bytes(0), 1024);
    }

    #[test]
    fn a_machine_without_the_simulator_says_how_to_get_it() {
        let (_root, tree) = crate::tree::tests::recorded(&[]);
        let found = probe(&tree);
        assert_eq!(found.state, State::Unavailable);
        assert!(found.remedy.contains("install"), "{found:?}");
    }
}
