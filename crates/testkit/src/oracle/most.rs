//! Upper bounds on the scores of a query, from which the grid of the oracle's scores comes.

use super::rule_priors::rule_priors;
use super::{Oracle, product};
use index::Field;
use search::{Query, Ranking};

impl Oracle {
    /// Returns the grid of the scores of a query, from the upper bound on their sum.
    pub(super) fn grid(&self, query: &Query, ranking: Ranking) -> f32 {
        let priors = self.priors.iter().map(|(_, prior)| prior.weight);
        let of_rules = rule_priors(query).iter().map(|prior| prior.weight);
        let priors = priors.chain(of_rules).map(f64::from);
        Ranking::grid(self.most(query, ranking, 1.0, &[]) + priors.sum::<f64>())
    }

    fn most(&self, query: &Query, ranking: Ranking, boost: f32, alike: &[String]) -> f64 {
        let weigh = |said: u32, field: Field, boost: f32, terms: &[&String]| {
            let known = |term: &&String| self.documents.iter().any(|d| d.holds(field, term));
            if field == Field::Site || terms.is_empty() || !terms.iter().all(known) {
                return 0.0;
            }
            let idf = terms
                .iter()
                .fold(0.0, |sum, term| sum + self.idf(field, term, ranking, alike));
            ranking.most(ranking.weigh(said, boost, idf))
        };
        match query {
            Query::Nothing | Query::All => 0.0,
            Query::Term {
                field,
                term,
                weight,
            } => {
                let beyond = self.beyond_text(*field, boost, |field, boost| {
                    weigh(*weight, field, boost, &[term])
                });
                let own = weigh(*weight, *field, boost, &[term]);
                beyond.into_iter().fold(own, |sum, one| sum + one)
            }
            Query::Pattern { field, pattern } => match self.best_of_pattern(*field, pattern) {
                Some(best) => self.most(&best.query, ranking, boost, &best.alike),
                None => boost.into(),
            },
            Query::TitleStart { .. } => f64::from(2.0 * boost),
            Query::Phrase { field, terms, .. } => {
                let terms: Vec<&String> = terms.iter().collect();
                let beyond =
                    self.beyond_text(*field, boost, |field, boost| weigh(1, field, boost, &terms));
                let own = weigh(1, *field, boost, &terms);
                beyond.into_iter().fold(own, |sum, one| sum + one)
            }
            Query::Boolean {
                required, optional, ..
            } => {
                let clauses = required.iter().chain(optional);
                let each = clauses.map(|clause| self.most(clause, ranking, boost, alike));
                each.sum()
            }
            Query::AnyTelling(clauses)
            | Query::AllTelling(clauses)
            | Query::AtLeast { clauses, .. }
            | Query::BestOf { clauses, .. } => {
                let each = clauses.iter();
                let each = each.map(|clause| self.most(clause, ranking, boost, alike));
                each.sum()
            }
            Query::Constant { score, .. } => (score * boost).into(),
            Query::Filter(_) | Query::Value { .. } | Query::Urls(_) => 0.0,
            Query::Boosted { boost: own, clause } => {
                self.most(clause, ranking, product(boost, *own), alike)
            }
            Query::Ruled { clause, .. } | Query::Named { clause, .. } => {
                self.most(clause, ranking, boost, alike)
            }
        }
    }
}
