//! Diagram as inline SVG: lines, markers with hover values, whiskers, linear or logarithmic axes.
//!
//! Colours come from the page's style sheet (`--series-N`), which has light, dark and print variants.
//! Values that are not finite, or not above 0 on a logarithmic axis, are omitted.
use crate::results::{Axis, Panel, Point};
use std::fmt::Write;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;
/// Number of colours in the style sheet.
pub(crate) const COLOURS: usize = 6;
/// Upper limit on points with visible markers; a longer line shows markers only on hover.
const MARKERS_MAX: usize = 40;

/// Mapping of values to positions on one axis.
struct Scale {
    is_log: bool,
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Scale {
    fn new(axis: &Axis, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Option<Scale> {
        let usable = values.filter(|&value| is_usable(axis, value));
        let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if low > high {
            return None;
        }
        let (from, to) = match axis.is_log {
            // A margin of half a step on both sides; a single value stands in the middle.
            true => (low / 1.15, high * 1.15),
            // Bars and shares start at 0.
            false => (
                low.min(0.0),
                if high > 0.0 {
                    high * 1.04
                } else {
                    low.min(0.0) + 1.0
                },
            ),
        };
        Some(Scale {
            is_log: axis.is_log,
            from,
            to,
            start,
            end,
        })
    }

    fn place(&self, value: f64) -> f64 {
        let share = match self.is_log {
            true => (value / self.from).ln() / (self.to / self.from).ln(),
            false => (value - self.from) / (self.to - self.from),
        };
        self.start + share * (self.end - self.start)
    }

    /// Returns about five round values to mark.
    fn ticks(&self) -> Vec<f64> {
        match self.is_log {
            true => self.log_ticks(),
            false => {
                let step = round_step((self.to - self.from) / 5.0);
                let first = (self.from / step).ceil() as i64;
                let last = (self.to / step).floor() as i64;
                (first..=last).map(|n| n as f64 * step).collect()
            }
        }
    }

    fn log_ticks(&self) -> Vec<f64> {
        let decades = (self.to / self.from).log10();
        let within = |tick: &f64| (self.from..=self.to).contains(tick);
        let first = self.from.log10().floor() as i32;
        let last = self.to.log10().ceil() as i32;
        let factors: &[f64] = match decades {
            ..0.6 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
            ..2.5 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        (first..=last)
            .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
            .filter(within)
            .collect()
    }
}

fn is_usable(axis: &Axis, value: f64) -> bool {
    value.is_finite() && (!axis.is_log || value > 0.0)
}

/// Returns the next of 1, 2, 5 times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    match step / power {
        ..=1.0 => power,
        ..=2.0 => 2.0 * power,
        ..=5.0 => 5.0 * power,
        _ => 10.0 * power,
    }
}

/// Formats a number for an axis or a hover text, with about three digits.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    let text = match size {
        0.0 => return "0".into(),
        1e6.. => return format!("{:.3e}", value),
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        0.001.. => format!("{value:.4}"),
        _ => return format!("{value:.1e}"),
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Escapes text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Draws the diagram; `None` if it has no points.
pub(crate) fn draw(panel: &Panel) -> Option<String> {
    let points = || panel.series.iter().flat_map(|series| &series.points);
    let ends = |point: &Point| {
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        [point.y, low, high]
    };
    let x = Scale::new(&panel.x, points().map(|point| point.x), LEFT, WIDTH - RIGHT)?;
    let y = Scale::new(&panel.y, points().flat_map(ends), HEIGHT - BOTTOM, TOP)?;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
        escaped(&panel.title)
    );
    draw_axes(&mut svg, panel, &x, &y);
    for (idx, series) in panel.series.iter().enumerate() {
        let usable: Vec<Point> = series
            .points
            .iter()
            .filter(|point| is_usable(&panel.x, point.x) && is_usable(&panel.y, point.y))
            .copied()
            .collect();
        let _ = write!(svg, "<g class=\"s{}\">", idx % COLOURS);
        draw_series(&mut svg, &series.name, &usable, panel, (&x, &y));
        svg.push_str("</g>");
    }
    svg.push_str("</svg>");
    Some(svg)
}

// Writing to a String cannot fail, so the results of `write!` are ignored below.

fn draw_axes(svg: &mut String, panel: &Panel, x: &Scale, y: &Scale) {
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    for tick in y.ticks() {
        let at = y.place(tick);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            at + 4.0,
            number(tick)
        );
    }
    for tick in x.ticks() {
        let at = x.place(tick);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{at:.1} {TOP}V{bottom}\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 16.0,
            number(tick)
        );
    }
    let _ = write!(
        svg,
        "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text transform=\"translate(13 {:.1})rotate(-90)\" text-anchor=\"middle\">{}</text>",
        (LEFT + right) / 2.0,
        HEIGHT - 8.0,
        escaped(&panel.x.label),
        (TOP + bottom) / 2.0,
        escaped(&panel.y.label),
    );
}

fn draw_series(
    svg: &mut String,
    name: &str,
    points: &[Point],
    panel: &Panel,
    scales: (&Scale, &Scale),
) {
    let (x, y) = scales;
    let mut line = String::new();
    for point in points {
        let command = if line.is_empty() { 'M' } else { 'L' };
        let _ = write!(
            line,
            "{command}{:.1} {:.1}",
            x.place(point.x),
            y.place(point.y)
        );
    }
    let _ = write!(svg, "<path class=\"line\" d=\"{line}\"/>");
    let is_dense = points.len() > MARKERS_MAX;
    for point in points {
        let (at_x, at_y) = (x.place(point.x), y.place(point.y));
        let mut hover = format!(
            "{}: {} {} at {} {}",
            name,
            number(point.y),
            panel.y.label,
            number(point.x),
            panel.x.label
        );
        if let Some((low, high)) = point.interval {
            let _ = write!(hover, " (95 %: {} to {})", number(low), number(high));
            if is_usable(&panel.y, low) && is_usable(&panel.y, high) {
                let (low, high) = (y.place(low), y.place(high));
                let _ = write!(
                    svg,
                    "<path class=\"whisker\" d=\"M{at_x:.1} {low:.1}V{high:.1}\
                     M{:.1} {low:.1}h8M{:.1} {high:.1}h8\"/>",
                    at_x - 4.0,
                    at_x - 4.0
                );
            }
        }
        let _ = write!(
            svg,
            "<circle class=\"{}\" cx=\"{at_x:.1}\" cy=\"{at_y:.1}\" r=\"{}\"><title>{}</title></circle>",
            if is_dense { "hidden" } else { "marker" },
            if is_dense { 6.0 } else { 3.5 },
            escaped(&hover)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Series;

    fn panel(points: Vec<Point>, is_log: bool) -> Panel {
        let axis = |label: &str| Axis {
            label: label.into(),
            is_log,
        };
        Panel {
            title: "<b>".into(),
            x: axis("x"),
            y: axis("y & z"),
            series: vec![Series {
                name: "\"one\"".into(),
                points,
            }],
            is_published: false,
        }
    }

    #[test]
    fn points_stand_where_their_values_are() {
        let points = vec![
            Point::at(1.0, 1.0),
            Point::at(10.0, 10.0),
            Point::at(100.0, 100.0),
        ];
        let svg = draw(&panel(points.clone(), true)).unwrap();
        let x: Vec<f64> = svg
            .split("cx=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
            .collect();
        // Equal ratios have equal distances.
        assert!((x[1] - x[0] - (x[2] - x[1])).abs() < 0.21, "{x:?}");
        let svg = draw(&panel(points, false)).unwrap();
        assert!(svg.contains(">50<") && svg.contains(">100<"), "{svg}");
    }

    #[test]
    fn what_cannot_be_drawn_is_left_out() {
        assert_eq!(draw(&panel(vec![], false)), None);
        assert_eq!(draw(&panel(vec![Point::at(-1.0, 0.0)], true)), None);
        let odd = vec![
            Point::at(1.0, f64::NAN),
            Point::at(1.0, 0.0),
            Point::at(2.0, 5.0),
        ];
        let svg = draw(&panel(odd, true)).unwrap();
        assert_eq!(svg.matches("<circle").count(), 1);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        let same = draw(&panel(vec![Point::at(0.0, 0.0)], false)).unwrap();
        assert!(!same.contains("NaN"), "{same}");
    }

    #[test]
    fn text_is_escaped_and_numbers_are_short() {
        let svg = draw(&panel(vec![Point::at(1.0, 2.0)], false)).unwrap();
        assert!(
            svg.contains("&lt;b&gt;") && svg.contains("y &amp; z") && svg.contains("&quot;one")
        );
        let check = |value: f64, text: &str| assert_eq!(number(value), text);
        check(0.0, "0");
        check(1234.5, "1234");
        check(12.34, "12.3");
        check(2.0, "2");
        check(0.05, "0.05");
        check(100.0, "100");
        check(-3.5, "-3.5");
    }
}
