//! How long do the parts of a query take to search?
//!
//! Either as measured, a row of part times a query, or drawn from a distribution. Times are those of a
//! core of speed 1 that nothing slows.

use super::streams::{Stream, exponential, normal, uniform};
use crate::error::{ModelError, checked, not_negative, positive};
use crate::formulas::general::lognormal_parameters;

/// Measured search times: for each query one time a partition, in ms.
#[derive(Debug, Clone, PartialEq)]
pub struct Searches {
    parts: usize,
    times_ms: Vec<f64>,
}

impl Searches {
    /// Rows of equal length, one a query, of times that are finite and not negative.
    ///
    /// # Errors
    /// [`ModelError::Conflict`] where there are none or they differ in length; [`ModelError::Outside`]
    /// where a time is none.
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

    /// Partitions, the length of a row.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Queries, the number of rows.
    pub fn queries(&self) -> usize {
        self.times_ms.len() / self.parts
    }

    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.times_ms.chunks_exact(self.parts)
    }

    /// Mean of all parts of a query added up: the work of a query, in ms of one core.
    pub fn work_ms(&self) -> f64 {
        self.times_ms.iter().sum::<f64>() / self.queries() as f64
    }

    /// Variance of that work over its squared mean.
    pub fn work_cv2(&self) -> f64 {
        let mean = self.work_ms();
        let squares = self
            .rows()
            .map(|row| (row.iter().sum::<f64>() - mean).powi(2));
        squares.sum::<f64>() / self.queries() as f64 / (mean * mean)
    }

    /// How much faster a query is with all its partitions on cores of their own: all its work over its
    /// slowest part, both added up over all queries.
    pub fn speed_up(&self) -> f64 {
        let slowest = self
            .rows()
            .map(|row| row.iter().copied().fold(0.0, f64::max));
        self.times_ms.iter().sum::<f64>() / slowest.sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// The same searches where every part takes so much longer.
    ///
    /// # Errors
    /// [`ModelError::Outside`] for a time that is none.
    pub fn lengthened(&self, by_ms: f64) -> Result<Searches, ModelError> {
        not_negative("the time added to searches (ms)", by_ms)?;
        Ok(Searches {
            parts: self.parts,
            times_ms: self.times_ms.iter().map(|time| time + by_ms).collect(),
        })
    }

    /// The same searches where everything takes `factor` times as long.
    ///
    /// # Errors
    /// [`ModelError::Outside`] for a factor that is not above 0.
    pub fn stretched(&self, factor: f64) -> Result<Searches, ModelError> {
        positive("the factor of search times", factor)?;
        Ok(Searches {
            parts: self.parts,
            times_ms: self.times_ms.iter().map(|time| time * factor).collect(),
        })
    }

    /// The same queries as `split` would cut the sum of their parts.
    ///
    /// # Errors
    /// [`ModelError::Outside`] for a speed-up that the parts cannot give.
    pub fn resplit(&self, split: Split) -> Result<Searches, ModelError> {
        split.check()?;
        let part = |row: &[f64]| row.iter().sum::<f64>() / split.speed_up;
        let rows = self.rows().map(|row| vec![part(row); split.parts]);
        Searches::new(rows)
    }
}

/// How a whole query is cut into parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// Parts a query.
    pub parts: usize,
    /// By how much a query is faster with each part on a core of its own; as many as the parts where
    /// nothing is lost.
    pub speed_up: f64,
    /// Whether each part's time is drawn by itself, or all parts of a query take the same.
    pub independent: bool,
}

impl Split {
    /// Equal parts that lose nothing.
    pub fn perfect(parts: usize) -> Split {
        Split {
            parts,
            speed_up: parts as f64,
            independent: false,
        }
    }

    /// Independent parts with the mean that a perfect split has.
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

/// A distribution of times, by its shape. `cv2` is variance over squared mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant,
    /// Exponential: `cv2` 1.
    Exponential,
    /// The sum of `stages` exponential times: `cv2` 1/stages.
    Erlang {
        /// From 1.
        stages: u32,
    },
    /// One of two exponential times, balanced means: `cv2` above 1.
    Hyperexponential {
        /// Above 1.
        cv2: f64,
    },
    /// The exponential of a normal number; long-tailed, as search times are.
    Lognormal {
        /// 0 or more.
        cv2: f64,
    },
}

impl Distribution {
    /// Variance over squared mean.
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

/// A distribution of mean 1, ready to draw from.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Constant,
    Exponential,
    Erlang(u32),
    /// Share of the shorter, and both means.
    Hyperexponential(f64, f64, f64),
    /// Mean and deviation of the logarithm.
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
            Shape::Exponential => exponential(stream),
            Shape::Erlang(stages) => {
                (0..stages).map(|_| exponential(stream)).sum::<f64>() / f64::from(stages)
            }
            Shape::Hyperexponential(share, short, long) => {
                let mean = if uniform(stream) < share { short } else { long };
                mean * exponential(stream)
            }
            Shape::Lognormal(mean, deviation) => (mean + deviation * normal(stream)).exp(),
        }
    }
}

/// In which order measured queries come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As measured, and from the beginning again after the last.
    AsMeasured,
    /// Any measured query at any time.
    Shuffled,
}

/// Where search times come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Times {
    /// Measured queries.
    Measured {
        /// Their times.
        searches: Searches,
        /// Their order.
        order: Order,
    },
    /// Drawn.
    Drawn {
        /// Mean time of a whole query, in ms.
        mean_ms: f64,
        /// Of whole queries, or of parts where these are independent.
        distribution: Distribution,
        /// How a query is cut.
        split: Split,
    },
}

impl Times {
    /// Parts a query.
    pub fn parts(&self) -> usize {
        match self {
            Times::Measured { searches, .. } => searches.parts(),
            Times::Drawn { split, .. } => split.parts,
        }
    }

    /// Mean work of a query, all parts added up, in ms of one core of speed 1.
    pub fn work_ms(&self) -> f64 {
        match self {
            Times::Measured { searches, .. } => searches.work_ms(),
            Times::Drawn { mean_ms, split, .. } => mean_ms * split.parts as f64 / split.speed_up,
        }
    }

    /// Mean work of each part.
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

    /// Mean of the slowest part of a query; of parts that are drawn, of any.
    pub(crate) fn slowest_ms(&self) -> f64 {
        match self {
            Times::Measured { searches, .. } => searches.work_ms() / searches.speed_up(),
            Times::Drawn { mean_ms, split, .. } => mean_ms / split.speed_up,
        }
    }

    /// Ready to draw from.
    ///
    /// # Errors
    /// [`ModelError::Outside`] where a parameter is none.
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

/// Gives the part times of one query after another.
#[derive(Debug)]
pub enum TimeSource<'a> {
    /// From measured rows.
    Measured {
        /// The rows.
        searches: &'a Searches,
        /// Their order.
        order: Order,
        /// The next row, where the order is that of measurement.
        next: usize,
    },
    /// From a distribution.
    Drawn {
        /// Mean time of a part.
        part_ms: f64,
        /// Of mean 1.
        shape: Drawing,
        /// Whether parts are drawn one by one.
        independent: bool,
    },
}

/// A distribution of mean 1 with its parameters worked out.
#[derive(Debug, Clone, Copy)]
pub struct Drawing(Shape);

impl TimeSource<'_> {
    /// Fills in the times of the next query, one a part, in ms.
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
                    Order::Shuffled => {
                        ((uniform(stream) * queries as f64) as usize).min(queries - 1)
                    }
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
