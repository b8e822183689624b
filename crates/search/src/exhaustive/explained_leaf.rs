//! Explanation of the score of a word or phrase: weight, frequency, length.

use crate::exhaustive::explanation::Explanation;
use crate::plan::node::{PhraseNode, TermNode};
use crate::plan::planner::Plan;
use crate::plan::ranking::TermWeight;
use index::Field;

/// Returns a phrase as it is typed.
pub(super) fn phrase_name(plan: &Plan, phrase: &PhraseNode) -> String {
    let words: Vec<&str> = phrase.words.iter().map(|word| word.term.as_str()).collect();
    let words = words.join(" ");
    match phrase.slop {
        0 => format!("{}\"{words}\"", plan.label(phrase.field)),
        slop => format!("{}\"{words}\"~{slop}", plan.label(phrase.field)),
    }
}

/// Explains the score of a word; `place` names the fields of the document that hold it.
pub(super) fn explain_term(
    plan: &Plan,
    term: &TermNode,
    value: f32,
    (frequency, length_byte): (u32, u8),
    place: String,
) -> Explanation {
    let ranking = plan.ranking_of(term.word.field);
    let rarity = Explanation::leaf(term.idf, ranking.rarity_text(&term.counts));
    let mut name = format!("{}{}", plan.label(term.word.field), term.word.term);
    if let Some(written) = &term.written {
        name += &format!(" (written {written})");
    }
    let leaf = ScoredLeaf {
        field: term.word.field,
        name,
        query_frequency: term.query_frequency,
        rarity,
        boost: term.boost,
        weight: term.weight,
        place,
    };
    leaf.explain(plan, value, frequency, length_byte)
}

/// Explains the score of a phrase.
pub(super) fn explain_phrase(
    plan: &Plan,
    phrase: &PhraseNode,
    value: f32,
    frequency: u32,
    length_byte: u8,
) -> Explanation {
    let rarity = plan.ranking_of(phrase.field).rarity_name();
    let leaf = ScoredLeaf {
        field: phrase.field,
        name: phrase_name(plan, phrase),
        query_frequency: 1,
        rarity: Explanation::leaf(phrase.idf, format!("{rarity} = sum of the words' {rarity}")),
        boost: phrase.boost,
        weight: phrase.weight,
        place: String::new(),
    };
    leaf.explain(plan, value, frequency, length_byte)
}

/// A word or phrase that is scored.
struct ScoredLeaf {
    field: Field,
    name: String,
    query_frequency: u32,
    rarity: Explanation,
    boost: f32,
    weight: TermWeight,
    /// Fields of the document that hold it, for the reader.
    place: String,
}

impl ScoredLeaf {
    fn explain(self, plan: &Plan, value: f32, frequency: u32, length_byte: u8) -> Explanation {
        let length = index::length::dequantize(length_byte);
        let scale = plan.scales.get(self.field);
        let ranking = plan.ranking_of(self.field);
        let average = scale.map_or(0.0, |scale| scale.average_length) as f32;
        let text = ranking.formula_text(length, average);
        let said = Explanation::leaf(self.query_frequency as f32, "said: times in the query");
        let mut of_weight = vec![said];
        let mut details = Vec::new();
        match text.scale {
            Some(description) => details.push(Explanation {
                value: self.weight.scale,
                name: None,
                description,
                details: vec![self.rarity],
            }),
            None => of_weight.push(self.rarity),
        }
        let mut description = format!("weight = {}", text.weight);
        if self.boost != 1.0 {
            description += " * boost";
            of_weight.push(Explanation::leaf(self.boost, "boost: of the clause"));
        }
        let weight = Explanation {
            value: self.weight.weight,
            name: None,
            description,
            details: of_weight,
        };
        details.insert(0, weight);
        let times = format!("frequency: times in the document{}", self.place);
        details.extend([
            Explanation::leaf(frequency as f32, times),
            Explanation::leaf(ranking.factor(length, average), text.factor),
        ]);
        Explanation {
            value,
            name: None,
            description: format!("{}: {}", self.name, text.score),
            details,
        }
    }
}
