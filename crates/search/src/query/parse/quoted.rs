//! Text in quotation marks: phrases, in each way in which they may be written.

use super::clauses::Target;
use super::limits::{PHRASE_WORDS_MAX, SLOP_MAX, shortened};
use super::parser::Parser;
use super::pieces::{Piece, pieces};
use super::terms::phrase_in_ways;
use index::Field;
use text::Ways;

impl Parser<'_> {
    pub(super) fn quoted(&mut self, content: &str, slop: Option<&str>) {
        let target = self.top().field_in_force();
        if slop.is_some() && !matches!(target, Target::Words(field) if field != Field::Site) {
            self.warnings
                .add("A distance has no meaning behind a value or a site and was ignored.");
        }
        let field = match target {
            Target::Words(Field::Site) => return self.site(content, true),
            Target::Words(field) => field,
            Target::Values(name, kind) => return self.value(name, kind, content, true),
        };
        self.warn_of_patterns_within(content);
        let ways = self.analyzer(field).phrase_ways(content);
        if ways.first().is_none_or(|way| way.is_empty()) {
            self.warnings
                .add("Quotation marks without a word between them were ignored.");
            return self.top().drop_clause();
        }
        let slop = slop.map_or(0, |digits| self.slop(digits));
        let ways = self.admitted(ways);
        match phrase_in_ways(field, ways, slop) {
            Some(query) => self.top().push(query),
            None => self.top().drop_clause(),
        }
    }

    /// Returns the ways of a phrase within the limits. Each is measured by itself: one has fewer terms than another, and a
    /// way without its end would find what the phrase does not mean.
    fn admitted(&mut self, mut ways: Ways) -> Ways {
        if ways.iter().any(|way| way.len() > PHRASE_WORDS_MAX) {
            self.warnings.add(format!(
                "A phrase is longer than {PHRASE_WORDS_MAX} words; its end was ignored."
            ));
            ways.iter_mut()
                .for_each(|way| way.truncate(PHRASE_WORDS_MAX));
        }
        let wanted = ways[0].len();
        let admitted = self.words.admit(wanted, self.warnings);
        if admitted < wanted {
            // The beginning of the phrase as typed is all that there is room for.
            ways.truncate(1);
            ways[0].truncate(admitted);
            return ways;
        }
        let others_count = self.words.admit_ways(ways.len() - 1, self.warnings);
        ways.truncate(1 + others_count);
        ways
    }

    fn slop(&mut self, digits: &str) -> u32 {
        // Digits alone fail to parse only if the number is too large.
        let slop = digits.parse().unwrap_or(u32::MAX);
        if slop > SLOP_MAX {
            self.warnings.add(format!(
                "The greatest distance in a phrase is {SLOP_MAX}, which was used."
            ));
        }
        slop.min(SLOP_MAX)
    }

    /// Warns of wildcards and of `~` within quotation marks, where they mean nothing.
    fn warn_of_patterns_within(&mut self, content: &str) {
        for run in content.split_whitespace() {
            for piece in pieces(run) {
                if !matches!(piece, Piece::Words(_)) {
                    self.warnings.add(format!(
                        "Within quotation marks `*`, `?` and `~` have no meaning; of `{}` the letters were searched as whole words.",
                        shortened(run)
                    ));
                }
            }
        }
    }
}
