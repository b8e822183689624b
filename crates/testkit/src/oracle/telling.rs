//! Words of which the telling ones decide what matches.

use super::{Oracle, OracleDocument, Scale};
use index::Field;
use search::plan::TELLING_SHARE;
use search::{Query, Ranking};

impl Oracle {
    /// Returns the sum of the scores of words, of which a document holds a telling one, or all of them.
    pub(super) fn telling(
        &self,
        words: &[Query],
        all: bool,
        scale: Scale<'_>,
        document: &OracleDocument,
    ) -> Option<f32> {
        let idf = |word| self.word_idf(word, scale.ranking);
        let least = TELLING_SHARE * words.iter().filter_map(idf).fold(0.0, f32::max);
        let (mut sum, mut held, mut telling) = (0.0f32, 0, 0);
        for word in words {
            let tells = scale.only_filters || idf(word).is_none_or(|idf| idf >= least);
            telling += u32::from(tells);
            if let Some(score) = self.score(word, scale, document) {
                sum += score;
                held += u32::from(tells);
            }
        }
        (held > 0 && (!all || held == telling)).then_some(sum)
    }

    /// Returns the inverse document frequency, or what stands for it, of a clause that is one word of some document.
    fn word_idf(&self, query: &Query, ranking: Ranking) -> Option<f32> {
        match query {
            Query::Boosted { clause, .. } | Query::Named { clause, .. } => {
                self.word_idf(clause, ranking)
            }
            Query::Term { field, term, .. } if *field != Field::Site => {
                let mut documents = self.documents.iter();
                let is_known = documents.any(|one| one.holds(*field, term));
                is_known.then(|| self.idf(*field, term, ranking, &[]))
            }
            _ => None,
        }
    }
}
