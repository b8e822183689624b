//! Budget of a path shape, by its share of new text.

/// Condition under which a path shape counts as a trap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShapeLaw {
    /// Visits after which the share of new text is judged.
    pub visits: u32,
    /// Least share of new text.
    pub new_share_min: f64,
}

impl Default for ShapeLaw {
    fn default() -> ShapeLaw {
        ShapeLaw {
            visits: 100,
            new_share_min: 0.1,
        }
    }
}

/// Visits of one path shape on one origin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShapeBudget {
    /// Pages fetched for the first time in the current window.
    pub visits: u32,
    /// Those of them that had new text.
    pub new: u32,
    /// Whether the shape is parked.
    pub parked: bool,
}

impl ShapeBudget {
    /// Counts a first visit. True when this visit parks the shape: the last window of visits had too little new text.
    pub fn visited(&mut self, law: &ShapeLaw, new_text: bool) -> bool {
        self.visits += 1;
        self.new += u32::from(new_text);
        if self.visits < law.visits.max(1) {
            return false;
        }
        let parks = f64::from(self.new) < law.new_share_min * f64::from(self.visits);
        (self.visits, self.new) = (0, 0);
        let newly = parks && !self.parked;
        self.parked |= parks;
        newly
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_parked_below_a_tenth_of_new_text_in_a_hundred() {
        for (new, parked) in [(9, true), (10, false), (100, false), (0, true)] {
            let mut budget = ShapeBudget::default();
            let mut said = 0;
            for visit in 0..100 {
                said += u32::from(budget.visited(&ShapeLaw::default(), visit < new));
            }
            assert_eq!(
                (budget.parked, said),
                (parked, u32::from(parked)),
                "{new} new"
            );
        }
    }
}
