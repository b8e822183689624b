//! Budget of a path shape, by its share of new text.

/// Condition under which a path shape counts as a trap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrapDetector {
    /// Visits after which the share of new text is judged.
    pub visits: u32,
    /// Least share of new text.
    pub new_share_min: f64,
    /// Visits in a row without new text that park a shape early.
    pub repeats_max: u32,
}

impl Default for TrapDetector {
    fn default() -> TrapDetector {
        TrapDetector {
            visits: 100,
            new_share_min: 0.1,
            repeats_max: 12,
        }
    }
}

/// Visits of one path shape on one origin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShapeBudget {
    /// Pages fetched for the first time in the current window.
    pub visits: u32,
    /// First visits of the window that found new text.
    pub new: u32,
    /// First visits of the window without new text, since the last one with new text.
    pub repeats: u32,
    /// Whether the shape is parked.
    pub parked: bool,
}

impl ShapeBudget {
    /// Counts a first visit. True when this visit parks the shape: the last window of visits had too little new text.
    pub fn visited(&mut self, law: &TrapDetector, new_text: bool) -> bool {
        self.visits += 1;
        self.new += u32::from(new_text);
        self.repeats = if new_text { 0 } else { self.repeats + 1 };
        if self.visits < law.visits.max(1) && self.repeats < law.repeats_max {
            return false;
        }
        let parks = self.repeats >= law.repeats_max
            || f64::from(self.new) < law.new_share_min * f64::from(self.visits);
        (self.visits, self.new) = (0, 0);
        let newly = parks && !self.parked;
        self.parked |= parks;
        newly
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Visits of a shape, of which one in `every` is new, until it is parked.
    fn parked_after(every: u32) -> Option<u32> {
        let mut budget = ShapeBudget::default();
        let law = TrapDetector::default();
        (0..1000).find(|visit| budget.visited(&law, visit % every == 0))
    }

    #[test]
    fn a_shape_is_parked_below_a_tenth_of_new_text_in_a_hundred_or_without_any_in_twelve() {
        assert_eq!(parked_after(1), None);
        assert_eq!(parked_after(10), None);
        assert_eq!(parked_after(11), Some(199));
        assert_eq!(parked_after(1000), Some(12));
    }

    #[test]
    fn it_is_said_once() {
        let mut budget = ShapeBudget::default();
        let said = (0..300).filter(|_| budget.visited(&TrapDetector::default(), false));
        assert_eq!(said.count(), 1);
    }
}
