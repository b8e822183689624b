//! Planning of words of which the telling ones decide what matches.

use crate::plan::node::Node;
use crate::plan::planner::Planner;
use crate::plan::rewrite::boolean;
use crate::plan::telling::TELLING_SHARE;
use crate::query::tree::Query;
use index::IndexError;
use smallvec::SmallVec;

impl Planner<'_> {
    /// Plans words of which a telling one must match: the telling words are required alternatives, the others optional.
    pub(super) fn any_telling(&mut self, words: &[Query]) -> Result<Node, IndexError> {
        let nodes = self.alternatives(words)?;
        let (telling, others) = self.split_by_idf(words, nodes);
        let telling = boolean(Vec::new(), telling, Vec::new());
        Ok(boolean(vec![telling], others, Vec::new()))
    }

    /// Plans words of which all telling ones must match; the others are optional.
    pub(super) fn all_telling(&mut self, words: &[Query]) -> Result<Node, IndexError> {
        let before = self.beyond_text.len();
        let nodes = self.all(words)?;
        let (telling, others) = self.split_by_idf(words, nodes);
        self.telling.least = match words.iter().all(Query::is_one_word) {
            true => telling
                .iter()
                .filter_map(|node| self.most_of(node))
                .reduce(f64::min),
            false => None,
        };
        let node = boolean(telling, others, Vec::new());
        if matches!(node, Node::Nothing) {
            self.beyond_text.truncate(before);
        }
        Ok(node)
    }

    /// Returns the telling words of those planned, then the others, and notes both.
    fn split_by_idf(&mut self, words: &[Query], nodes: Vec<Node>) -> (Vec<Node>, Vec<Node>) {
        let idf_of = |(word, node): (&Query, &Node)| match node {
            Node::Term(term) if word.is_one_word() => Some(term.idf),
            _ => None,
        };
        let idfs: SmallVec<[_; 8]> = words.iter().zip(&nodes).map(idf_of).collect();
        let least = TELLING_SHARE * idfs.iter().flatten().fold(0.0f32, |a, &b| a.max(b));
        let (mut telling, mut others) = (Vec::new(), Vec::new());
        for ((word, node), idf) in words.iter().zip(nodes).zip(idfs) {
            let is_telling = idf.is_none_or(|idf| idf >= least);
            let (kept, noted) = match is_telling {
                true => (&mut telling, &mut self.telling.words),
                false => (&mut others, &mut self.telling.others),
            };
            noted.extend(word.text_word().map(str::to_owned));
            kept.push(node);
        }
        (telling, others)
    }

    /// Returns an upper bound on the score of a word.
    fn most_of(&mut self, node: &Node) -> Option<f64> {
        match node {
            Node::Term(term) => Some(self.ranking_in(term.word.field).most(term.weight)),
            _ => None,
        }
    }
}
