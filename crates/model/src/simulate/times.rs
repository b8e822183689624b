//! Search times of the parts of a query.
//!
//! Times are either measured, one row of part times per query, or drawn from a distribution. They refer
//! to a core of speed 1 without interference.

use super::streams::Stream;
use crate::error::{ModelError, checked, not_negative, positive};
use crate::formulas::general::lognormal_parameters;

/// Measured search times: one time per query and partition, in ms.
#[derive(Debug, Clone, PartialEq)]
pub struct Searches {
    parts: usize,
    times_ms: Vec<f64>,
}

impl Searches {
    /// Takes one row of times per query; rows have equal length, and times are finite and not negative.
    ///
    /// # Errors
    /// [`ModelError::Conflict`] if there are no rows or they differ in length; [`ModelError::Outside`]
    /// if a time is negative or not finite.
    pub fn new(rows: impl IntoIterator<Item = Vec<f64>>) -> Result<Searches, ModelError> {
        let mut searches = Searches {
            parts: 0,
            times_ms: Vec::new(),
        };
        for row in rows {
            if searches.parts == 0 {
                searches.parts = row.len();
            }
            if row.is_empty() || row.len() != searches.parts {
                return Err(ModelError::Conflict(
                    "every query needs a time for each partition",
                ));
            }
            for &time_ms in &row {
                not_negative("a search time (ms)", time_ms)?;
            }
            searches.times_ms.extend(row);
        }
        if searches.parts == 0 {
            return Err(ModelError::Conflict("there are no search times"));
        }
        Ok(searches)
    }

    /// Returns the number of partitions, the length of a row.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Returns the number of queries, the number of rows.
    pub fn queries(&self) -> usize {
        self.times_ms.len() / self.parts
    }

    /// Returns the times of the parts, by query.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.times_ms.chunks_exact(self.parts)
    }

    /// Returns the mean work of a query, the sum of its parts, in ms of one core.
    pub fn work_ms(&self) -> f64 {
        self.times_ms.iter().sum::<f64>() / self.queries() as f64
    }

    /// Returns the squared coefficient of variation of the work of a query.
    pub fn work_cv2(&self) -> f64 {
        let mean = self.work_ms();
        let squares = self
            .rows()
            .map(|row| (row.iter().sum::<f64>() - mean).powi(2));
        squares.sum::<f64>() / self.queries() as f64 / (mean * mean)
    }

    /// Returns the speed-up of a query with each partition on a core of its own: total work over the
    /// slowest part, both summed over all queries.
    pub fn speed_up(&self) -> f64 {
        let slowest = self
            .rows()
            .map(|row| row.iter().copied().fold(0.0, f64::max));
        self.times_ms.iter().sum::<f64>() / slowest.sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// Returns the same searches with every part lengthened by `by_ms`.
    ///
    /// # Errors
    /// [`ModelError::Outside`] if `by_ms` is negative or not finite.
    pub fn lengthened(&self, by_ms: f64) -> Result<Searches, ModelError> {
        not_negative("the time added to searches (ms)", by_ms)?;
        Ok(Searches {
            parts: self.parts,
            times_ms: self.times_ms.iter().map(|time| time + by_ms).collect(),
        })
    }

    /// Returns the same searches with every time multiplied by `factor`.
    ///
    /// # Errors
    /// [`ModelError::Outside`] if `factor` is not above 0.
    pub fn stretched(&self, factor: f64) -> Result<Searches, ModelError> {
        positive("the factor of search times", factor)?;
        Ok(Searches {
            parts: self.parts,
            times_ms: self.times_ms.iter().map(|time| time * factor).collect(),
        })
    }

    /// Returns the same queries with the sum of their parts divided by `split`.
    ///
    /// # Errors
    /// [`ModelError::Outside`] for a speed-up that the parts cannot achieve.
    pub fn resplit(&self, split: Split) -> Result<Searches, ModelError> {
        split.check()?;
        let part = |row: &[f64]| row.iter().sum::<f64>() / split.speed_up;
        let rows = self.rows().map(|row| vec![part(row); split.parts]);
        Searches::new(rows)
    }
}

/// Division of a query into parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// Parts per query.
    pub parts: usize,
    /// Speed-up of a query with each part on a core of its own; equal to `parts` for a lossless split.
    pub speed_up: f64,
    /// Whether the time of each part is drawn separately; otherwise all parts of a query take the same
    /// time.
    pub independent: bool,
}

impl Split {
    /// Returns a split into equal parts without loss.
    pub fn perfect(parts: usize) -> Split {
        Split {
            parts,
            speed_up: parts as f64,
            independent: false,
        }
    }

    /// Returns a split into independent parts with the mean part time of a perfect split.
    pub fn independent(parts: usize) -> Split {
        Split {
            independent: true,
            ..Split::perfect(parts)
        }
    }

    fn check(&self) -> Result<(), ModelError> {
        let parts = self.parts as f64;
        checked("the number of parts", parts, self.parts >= 1, "1 or more")?;
        checked(
            "the speed-up",
            self.speed_up,
            self.speed_up > 0.0,
            "more than 0",
        )?;
        Ok(())
    }
}

/// Shape of a distribution of times. `cv2` is variance over squared mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    /// A constant time.
    Constant,
    /// An exponential time: `cv2` 1.
    Exponential,
    /// The sum of `stages` exponential times: `cv2` 1/stages.
    Erlang {
        /// Number of stages, at least 1.
        stages: u32,
    },
    /// One of two exponential times, balanced means: `cv2` above 1.
    Hyperexponential {
        /// Squared coefficient of variation, above 1.
        cv2: f64,
    },
    /// The exponential of a normal number; long-tailed, like search times.
    Lognormal {
        /// Squared coefficient of variation, at least 0.
        cv2: f64,
    },
}

impl Distribution {
    /// Returns the squared coefficient of variation, variance over squared mean.
    pub fn cv2(self) -> f64 {
        match self {
            Distribution::Constant => 0.0,
            Distribution::Exponential => 1.0,
            Distribution::Erlang { stages } => 1.0 / f64::from(stages),
            Distribution::Hyperexponential { cv2 } | Distribution::Lognormal { cv2 } => cv2,
        }
    }

    fn check(self) -> Result<(), ModelError> {
        match self {
            Distribution::Erlang { stages } => {
                checked(
                    "the stages of an Erlang time",
                    f64::from(stages),
                    stages >= 1,
                    "1 or more",
                )?;
            }
            Distribution::Hyperexponential { cv2 } => {
                checked("the squared variation", cv2, cv2 > 1.0, "more than 1")?;
            }
            Distribution::Lognormal { cv2 } => {
                not_negative("the squared variation", cv2)?;
            }
            Distribution::Constant | Distribution::Exponential => {}
        }
        Ok(())
    }
}

/// A distribution of mean 1, ready for sampling.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Constant,
    Exponential,
    Erlang(u32),
    /// Share of the shorter time, and both means.
    Hyperexponential(f64, f64, f64),
    /// Mean and standard deviation of the logarithm.
    Lognormal(f64, f64),
}

impl Shape {
    fn of(distribution: Distribution) -> Shape {
        match distribution {
            Distribution::Constant => Shape::Constant,
            Distribution::Exponential => Shape::Exponential,
            Distribution::Erlang { stages } => Shape::Erlang(stages),
            Distribution::Hyperexponential { cv2 } => {
                let share = 0.5 * (1.0 + ((cv2 - 1.0) / (cv2 + 1.0)).sqrt());
                Shape::Hyperexponential(share, 0.5 / share, 0.5 / (1.0 - share))
            }
            Distribution::Lognormal { cv2 } => {
                let (mean, deviation) = lognormal_parameters(1.0, cv2);
                Shape::Lognormal(mean, deviation)
            }
        }
    }

    #[inline]
    fn draw(self, stream: &mut Stream) -> f64 {
        match self {
            Shape::Constant => 1.0,
            Shape::Exponential => stream.exponential(),
            Shape::Erlang(stages) => {
                (0..stages).map(|_| stream.exponential()).sum::<f64>() / f64::from(stages)
            }
            Shape::Hyperexponential(share, short, long) => {
                let mean = if stream.uniform() < share {
                    short
                } else {
                    long
                };
                mean * stream.exponential()
            }
            Shape::Lognormal(mean, deviation) => (mean + deviation * stream.normal()).exp(),
        }
    }
}

/// Order of measured queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The order of measurement, repeated after the last query.
    AsMeasured,
    /// A random measured query each time.
    Shuffled,
}

/// Source of search times.
#[derive(Debug, Clone, PartialEq)]
pub enum Times {
    /// Measured queries.
    Measured {
        /// Measured times.
        searches: Searches,
        /// Order of the queries.
        order: Order,
    },
    /// Drawn from a distribution.
    Drawn {
        /// Mean time of a whole query, in ms.
        mean_ms: f64,
        /// Distribution of whole queries, or of parts if these are independent.
        distribution: Distribution,
        /// Division of a query into parts.
        split: Split,
    },
}

impl Times {
    /// Returns the number of parts per query.
    pub fn parts(&self) -> usize {
        match self {
            Times::Measured { searches, .. } => searches.parts(),
            Times::Drawn { split, .. } => split.parts,
        }
    }

    /// Returns the mean work of a query, the sum of its parts, in ms of one core of speed 1.
    pub fn work_ms(&self) -> f64 {
        match self {
            Times::Measured { searches, .. } => searches.work_ms(),
            Times::Drawn { mean_ms, split, .. } => mean_ms * split.parts as f64 / split.speed_up,
        }
    }

    /// Returns the mean work of each part.
    pub(crate) fn part_works_ms(&self) -> Vec<f64> {
        match self {
            Times::Measured { searches, .. } => {
                let mut sums = vec![0.0; searches.parts()];
                for row in searches.rows() {
                    for (sum, time) in sums.iter_mut().zip(row) {
                        *sum += time / searches.queries() as f64;
                    }
                }
                sums
            }
            Times::Drawn { split, .. } => vec![self.work_ms() / split.parts as f64; split.parts],
        }
    }

    /// Returns the mean time of the slowest part of a query; for drawn parts, the mean time of any
    /// part.
    pub(crate) fn slowest_ms(&self) -> f64 {
        match self {
            Times::Measured { searches, .. } => searches.work_ms() / searches.speed_up(),
            Times::Drawn { mean_ms, split, .. } => mean_ms / split.speed_up,
        }
    }

    /// Prepares the times for sampling.
    ///
    /// # Errors
    /// [`ModelError::Outside`] if a parameter is out of range.
    pub fn source(&self) -> Result<TimeSource<'_>, ModelError> {
        Ok(match self {
            Times::Measured { searches, order } => TimeSource::Measured {
                searches,
                order: *order,
                next: 0,
            },
            Times::Drawn {
                mean_ms,
                distribution,
                split,
            } => {
                positive("the mean search time (ms)", *mean_ms)?;
                distribution.check()?;
                split.check()?;
                TimeSource::Drawn {
                    part_ms: mean_ms / split.speed_up,
                    shape: Drawing(Shape::of(*distribution)),
                    independent: split.independent,
                }
            }
        })
    }
}

/// Source of the part times of one query after another.
#[derive(Debug)]
pub enum TimeSource<'a> {
    /// Reads measured rows.
    Measured {
        /// Measured rows.
        searches: &'a Searches,
        /// Order of the rows.
        order: Order,
        /// Next row, for the order of measurement.
        next: usize,
    },
    /// Samples a distribution.
    Drawn {
        /// Mean time of a part.
        part_ms: f64,
        /// Distribution of mean 1.
        shape: Drawing,
        /// Whether parts are drawn separately.
        independent: bool,
    },
}

/// A distribution of mean 1 with precomputed parameters.
#[derive(Debug, Clone, Copy)]
pub struct Drawing(Shape);

impl TimeSource<'_> {
    /// Fills in the part times of the next query, in ms.
    #[inline]
    pub(crate) fn fill(&mut self, stream: &mut Stream, parts_ms: &mut [f64]) {
        match self {
            TimeSource::Measured {
                searches,
                order,
                next,
            } => {
                let queries = searches.queries();
                let row = match order {
                    Order::AsMeasured => *next,
                    Order::Shuffled => stream.index(queries),
                };
                *next = if *next + 1 == queries { 0 } else { *next + 1 };
                parts_ms
                    .copy_from_slice(&searches.times_ms[row * searches.parts..][..searches.parts]);
            }
            TimeSource::Drawn {
                part_ms,
                shape,
                independent,
            } => {
                if *independent {
                    for part in parts_ms {
                        *part = *part_ms * shape.0.draw(stream);
                    }
                } else {
                    parts_ms.fill(*part_ms * shape.0.draw(stream));
                }
            }
        }
    }
}
