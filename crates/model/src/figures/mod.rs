//! Published figures beside the computed ones.
//!
//! Series for the report of the laboratory: computed values, with the published ones where they were
//! published as numbers. Sources: Antoniou 2019 (thesis; figures 2.2 to 2.4) and Hadjilambrou et al.,
//! ACM TACO 16(2), 2019 (figures 15 and 19).
//!
//! A series that is named after a publication shows the quantity of that figure, on its axes and in its
//! units: `tests/captions.rs` has an entry for each, and a series without one fails there.

mod prices;
mod tails;
mod thesis;

pub use prices::{BASELINE_BOARD_PRICE, BASELINE_PROCESSOR_PRICE, slow_processors};
pub use tails::{MEAN_MS, partition_tails, published_shape};
pub use thesis::{THESIS, thesis_scenarios, thesis_waits};

use serde::Serialize;

/// A point on a curve, or a bar.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Position on the x axis; the index of the bar if `label` is set.
    pub x: f64,
    /// Name of a bar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Computed value; `None` if there is none, for example in overload.
    pub ours: Option<f64>,
    /// Published value, if it was published as a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
}

/// One curve, or one row of bars, of a figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Name of the figure.
    pub figure: &'static str,
    /// Title of the figure.
    pub title: &'static str,
    /// Name of the curve.
    pub name: String,
    /// Quantity on the x axis, with its unit.
    pub x: &'static str,
    /// Quantity on the y axis, with its unit.
    pub y: &'static str,
    /// Assumptions behind the series.
    pub note: String,
    /// Points in order of x.
    pub points: Vec<Point>,
}

fn bar(x: usize, label: &str, ours: f64, published: Option<f64>) -> Point {
    Point {
        x: x as f64,
        label: Some(label.to_owned()),
        ours: Some(ours),
        published,
    }
}

fn point(x: f64, ours: Option<f64>) -> Point {
    Point {
        x,
        label: None,
        ours,
        published: None,
    }
}
