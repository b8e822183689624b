//! Selection of the windows to show: the stretches of a text with the highest scores.
//!
//! Each window costs one pass over the matches.
use super::borders;
use super::input::Match;
use super::input::SummaryOptions;
use super::score::{Score, Scoring};
use super::shown::is_visible;

/// A stretch of the text to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Lower limit on the bytes of a window; a shorter one tells nothing.
const WINDOW_BYTES_MIN: usize = 16;

/// Upper limit on the windows of equal score that are checked for a sentence start.
const TIES_MAX: usize = 32;

/// Selects the disjoint windows of `text` to show, in the text's order.
pub(super) fn choose(
    text: &str,
    matches: &[Match],
    scoring: &Scoring,
    options: SummaryOptions,
) -> Vec<Window> {
    let text_bytes = options.text_bytes.max(WINDOW_BYTES_MIN);
    let whole = Window {
        start: 0,
        end: text.len(),
    };
    if text.len() <= text_bytes {
        return vec![whole];
    }
    if matches.is_empty() {
        return vec![beginning(text, text_bytes)];
    }
    let windows_max = options.windows_max.clamp(1, text_bytes / WINDOW_BYTES_MIN);
    let mut chooser = Chooser {
        text,
        matches,
        score: Score::new(scoring),
        window_bytes: text_bytes / windows_max,
    };
    let mut windows: Vec<Window> = Vec::with_capacity(windows_max);
    while windows.len() < windows_max
        && let Some(window) = chooser.next(&windows)
    {
        let at = windows.partition_point(|other| other.start < window.start);
        windows.insert(at, window);
    }
    // The bytes of windows that were not found extend the windows that were.
    let spare_bytes = chooser.window_bytes * (windows_max - windows.len());
    if spare_bytes > 0 {
        grow(text, &mut windows, spare_bytes);
    }
    join_neighbours(text, windows)
}

/// Returns the first visible stretch of a text.
fn beginning(text: &str, text_bytes: usize) -> Window {
    let start = text.len() - text.trim_start().len();
    let mut end = borders::end_after(text, start, text.len(), text_bytes);
    if end == start {
        end = borders::cut_after(text, start, text.len(), text_bytes);
    }
    Window { start, end }
}

struct Chooser<'a> {
    text: &'a str,
    matches: &'a [Match],
    /// Score of a stretch, given the terms that earlier windows show.
    score: Score<'a>,
    window_bytes: usize,
}

/// The best stretch found so far: matches `from..to`.
struct Best {
    from: usize,
    to: usize,
    score: u64,
    /// Whether a sentence starts there; determined only when another stretch has the same score.
    sentence: Option<bool>,
    low: usize,
    high: usize,
}

impl Chooser<'_> {
    /// Returns the best window in the gaps between `windows`, which are sorted.
    fn next(&mut self, windows: &[Window]) -> Option<Window> {
        let mut best: Option<Best> = None;
        let mut ties = TIES_MAX;
        let mut low = 0;
        for window in windows.iter().map(Some).chain([None]) {
            let high = window.map_or(self.text.len(), |window| window.start);
            self.slide(low, high, &mut best, &mut ties);
            low = window.map_or(high, |window| borders::behind_word(self.text, window.end));
        }
        let best = best?;
        for found in &self.matches[best.from..best.to] {
            self.score.show(found.term as usize);
        }
        Some(self.with_borders(&best))
    }

    /// Slides over the matches that lie in `low..high`.
    fn slide(&mut self, low: usize, high: usize, best: &mut Option<Best>, ties: &mut usize) {
        // The rest of the window is for the context of the words.
        let core_bytes = self.window_bytes * 3 / 4;
        let first = self.matches.partition_point(|found| found.start < low);
        let last = first + self.matches[first..].partition_point(|found| found.end <= high);
        let mut to = first;
        for from in first..last {
            let end_max = self.matches[from].start + core_bytes;
            while to < last && (to == from || self.matches[to].end <= end_max) {
                let before = (to > from).then(|| &self.matches[to - 1]);
                self.score.put_in(before, &self.matches[to]);
                to += 1;
            }
            let candidate = Best {
                from,
                to,
                score: self.score.total(),
                sentence: None,
                low,
                high,
            };
            if self.is_better(&candidate, best, ties) {
                *best = Some(candidate);
            }
            let after = (to > from + 1).then(|| &self.matches[from + 1]);
            self.score.take_out(&self.matches[from], after);
        }
    }

    fn is_better(&self, candidate: &Best, best: &mut Option<Best>, ties: &mut usize) -> bool {
        let Some(best) = best else { return true };
        if candidate.score != best.score || *ties == 0 {
            return candidate.score > best.score;
        }
        *ties -= 1;
        let near = |at: usize| borders::is_near_sentence_start(self.text, self.matches[at].start);
        !*best.sentence.get_or_insert_with(|| near(best.from)) && near(candidate.from)
    }

    fn with_borders(&self, best: &Best) -> Window {
        let core_start = self.matches[best.from].start;
        let core_end = self.matches[best.to - 1].end;
        let core_bytes = borders::visible_bytes(&self.text[core_start..core_end]);
        let Some(spare_bytes) = self.window_bytes.checked_sub(core_bytes) else {
            // A single word, longer than the window.
            let end = borders::cut_after(self.text, core_start, core_end, self.window_bytes);
            return Window {
                start: core_start,
                end,
            };
        };
        let mut start = borders::start_before(self.text, best.low, core_start, spare_bytes);
        let left = |from: usize, to: usize| {
            self.window_bytes
                .saturating_sub(borders::visible_bytes(&self.text[from..to]))
        };
        let spare_bytes = left(start, core_end);
        let end = borders::end_after(self.text, core_end, best.high, spare_bytes);
        if end == best.high {
            // No text follows: show more of the text before.
            start = borders::word_start_before(self.text, best.low, start, left(start, end));
        }
        Window { start, end }
    }
}

/// Lengthens windows by `spare_bytes` in all: forward first, then backward.
fn grow(text: &str, windows: &mut [Window], spare_bytes: usize) {
    let mut spare_bytes = spare_bytes;
    for at in 0..windows.len() {
        let low = match at.checked_sub(1) {
            Some(before) => borders::behind_word(text, windows[before].end),
            None => 0,
        };
        // The word after the preceding window may be the first word of this one.
        let low = low.min(windows[at].start);
        let high = windows.get(at + 1).map_or(text.len(), |next| next.start);
        let window = &mut windows[at];
        if borders::behind_word(text, window.end) == window.end && window.end < high {
            let end = borders::end_after(text, window.end, high, spare_bytes);
            let grown_bytes = borders::visible_bytes(&text[window.end..end]);
            spare_bytes = spare_bytes.saturating_sub(grown_bytes);
            window.end = end;
        }
        let start = borders::word_start_before(text, low, window.start, spare_bytes);
        let grown_bytes = borders::visible_bytes(&text[start..window.start]);
        spare_bytes = spare_bytes.saturating_sub(grown_bytes);
        window.start = start;
    }
}

/// Joins windows that have nothing visible between them.
fn join_neighbours(text: &str, windows: Vec<Window>) -> Vec<Window> {
    let mut joined: Vec<Window> = Vec::with_capacity(windows.len());
    for window in windows {
        match joined.last_mut() {
            Some(last) if !is_visible(&text[last.end..window.start]) => last.end = window.end,
            _ => joined.push(window),
        }
    }
    joined
}
