//! Buckets as spans of codes.

use super::coded::CodedValues;
use crate::value::Value;

/// Spans of codes, each a bucket, whose number is its key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spans {
    /// First and last code of each; a span without codes ends before it begins.
    codes: Vec<(u64, u64)>,
    /// What each is called in counts, in increasing order.
    names: Vec<Value>,
    /// Whether they follow each other, so that a code is in one of them at most.
    are_disjoint: bool,
}

impl Spans {
    /// Makes spans of their first and last codes, both included, and their names, which increase.
    pub fn new(spans: impl IntoIterator<Item = ((u64, u64), Value)>) -> Spans {
        let (codes, names): (Vec<(u64, u64)>, Vec<Value>) = spans.into_iter().unzip();
        let follow = |a: &(u64, u64), b: &(u64, u64)| a.1 < b.0;
        let are_disjoint =
            codes.iter().all(|(first, last)| first <= last) && codes.is_sorted_by(follow);
        Spans {
            codes,
            names,
            are_disjoint,
        }
    }

    /// Makes the spans of the codes that `bucket` gives the same bucket, which follow each other.
    pub(super) fn of_buckets(
        values: &dyn CodedValues,
        occurring: &[(u64, u64)],
        bucket: impl Fn(&Value) -> Option<Value>,
    ) -> Spans {
        let bucket_of =
            |&(code, _): &(u64, u64)| values.value(code).and_then(|value| bucket(&value));
        let mut spans = Vec::new();
        let mut at = 0;
        while let Some(first) = occurring.get(at) {
            let Some(bucket) = bucket_of(first) else {
                at += 1;
                continue;
            };
            let is_same = |place: usize| {
                let other = occurring.get(place);
                other.is_some_and(|other| bucket_of(other).as_ref() == Some(&bucket))
            };
            let last = last_of(at, is_same);
            spans.push(((first.0, occurring[last].0), bucket));
            at = last + 1;
        }
        Spans::new(spans)
    }

    /// Returns whether every span ends before the next one begins, so that a code is in one at most.
    pub fn are_disjoint(&self) -> bool {
        self.are_disjoint
    }

    /// Returns the key of the span of a code, of spans that are disjoint.
    #[inline]
    pub fn key(&self, code: u64) -> Option<u64> {
        let key = self.codes.partition_point(|&(_, last)| last < code);
        let is_in = self.codes.get(key).is_some_and(|&(first, _)| first <= code);
        is_in.then_some(key as u64)
    }

    /// Returns the number of spans.
    pub fn count(&self) -> usize {
        self.codes.len()
    }

    /// Returns the name of a span.
    pub fn name(&self, key: u64) -> Option<&Value> {
        self.names.get(usize::try_from(key).ok()?)
    }

    /// Returns the key of the span with a name.
    pub fn find(&self, name: &Value) -> Option<u64> {
        let found = self.names.binary_search_by(|known| known.order(name));
        found.ok().map(|key| key as u64)
    }

    /// Calls `each` with the key of every span that has any of the codes of a document, which are in order; 0 stands for no
    /// value.
    #[inline]
    pub fn each_key(&self, codes: &[u64], mut each: impl FnMut(u64)) {
        if !self.are_disjoint {
            for (key, (first, last)) in (0..).zip(&self.codes) {
                if codes.iter().any(|code| (first..=last).contains(&code)) {
                    each(key);
                }
            }
            return;
        }
        let mut before = u64::MAX;
        for &code in codes {
            if let Some(key) = self.key(code).filter(|&key| key != before) {
                each(key);
                before = key;
            }
        }
    }

    /// Adds up the documents of each span, of documents that have one value at most: those of each code, increasing, and
    /// those without a value. Spans without documents are left out.
    pub fn summed(&self, counts: &[(u64, u64)], without_value: u64) -> Vec<(Value, u64)> {
        let mut sums = Vec::with_capacity(self.codes.len().min(counts.len() + 1));
        for (&(first, last), name) in self.codes.iter().zip(&self.names) {
            let start = counts.partition_point(|&(code, _)| code < first);
            let own = counts[start..].iter();
            let own = own.take_while(|&&(code, _)| code <= last);
            let without = if first == 0 { without_value } else { 0 };
            let sum = own.map(|(_, count)| count).sum::<u64>() + without;
            if sum > 0 {
                sums.push((name.clone(), sum));
            }
        }
        sums
    }
}

/// Returns the last place from `first` on, without a gap, for which `is_same` holds, by doubling steps and halving them.
fn last_of(first: usize, is_same: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut step) = (first, 1);
    while is_same(low + step) {
        low += step;
        step *= 2;
    }
    while step > 0 {
        if is_same(low + step) {
            low += step;
        }
        step /= 2;
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(spans: &[(u64, u64)]) -> Spans {
        Spans::new(spans.iter().copied().zip((0..).map(Value::Integer)))
    }

    #[test]
    fn a_document_is_once_in_a_span() {
        let keys = |spans: &[(u64, u64)], codes: &[u64]| {
            let mut keys = Vec::new();
            named(spans).each_key(codes, |key| keys.push(key));
            keys
        };
        let apart = [(1, 3), (5, 6), (7, 7)];
        assert_eq!(keys(&apart, &[1, 2, 4, 6, 7]), [0, 1, 2]);
        assert_eq!(keys(&apart, &[0, 4, 9]), [0; 0]);
        assert_eq!(keys(&[(0, 0)], &[0]), [0]);
        let others = [(4, 9), (1, 5), (3, 2)];
        assert_eq!(keys(&others, &[4, 5]), [0, 1]);
        assert_eq!(keys(&others, &[2, 3]), [1]);
    }

    #[test]
    fn counts_of_codes_add_up_to_those_of_spans() {
        let counts = [(1, 2), (3, 4), (7, 8)];
        let sums = |spans: &[(u64, u64)]| named(spans).summed(&counts, 5);
        let of = |pairs: &[(i64, u64)]| -> Vec<(Value, u64)> {
            let pairs = pairs.iter();
            pairs
                .map(|&(name, count)| (Value::Integer(name), count))
                .collect()
        };
        assert_eq!(sums(&[(1, 3), (4, 6), (5, 9)]), of(&[(0, 6), (2, 8)]));
        assert_eq!(
            sums(&[(2, 9), (1, 7), (0, 0)]),
            of(&[(0, 12), (1, 14), (2, 5)])
        );
    }
}
