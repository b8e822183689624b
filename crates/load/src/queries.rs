//! Order of queries in a load test.
use crate::random::{Purpose, Random};
use std::collections::HashMap;

/// Distinct queries, and the order of requests; the stream repeats after the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryStream {
    texts: Vec<String>,
    order: Vec<u32>,
}

impl QueryStream {
    /// Returns all queries in the given order, repetitions included.
    pub fn as_is<T: Into<String>>(queries: impl IntoIterator<Item = T>) -> QueryStream {
        let mut texts = Vec::new();
        let mut known: HashMap<String, u32> = HashMap::new();
        let order = queries
            .into_iter()
            .map(|query| {
                let query: String = query.into();
                *known.entry(query).or_insert_with_key(|query| {
                    texts.push(query.clone());
                    texts.len() as u32 - 1
                })
            })
            .collect();
        QueryStream { texts, order }
    }

    /// Keeps the first occurrence of each query, so that a result cache has no effect.
    #[must_use]
    pub fn unique(mut self) -> QueryStream {
        self.order = (0..self.texts.len() as u32).collect();
        self
    }

    /// Shuffles the requests by `seed`: queries keep their frequencies but lose the order of the
    /// recording.
    #[must_use]
    pub fn real(self, seed: u64) -> QueryStream {
        let mut random = Purpose::Queries.stream(seed);
        let mut stream = self;
        random.shuffle(&mut stream.order);
        stream
    }

    /// Sorts the requests by query text, so that equal queries are adjacent: the upper bound on the
    /// effect of locality. Heavy queries then arrive back to back.
    #[must_use]
    pub fn sorted(mut self) -> QueryStream {
        let texts = &self.texts;
        self.order.sort_by_key(|&idx| &texts[idx as usize]);
        self
    }

    /// Draws `length` requests whose frequency falls with rank as `rank^-exponent` (Zipf). The rank of
    /// each query is drawn from `seed`.
    #[must_use]
    pub fn zipf(mut self, exponent: f64, length: usize, seed: u64) -> QueryStream {
        if self.texts.is_empty() {
            return self;
        }
        let mut random = Purpose::Queries.stream(seed);
        let mut ranked: Vec<u32> = (0..self.texts.len() as u32).collect();
        random.shuffle(&mut ranked);
        let mut cumulative = Vec::with_capacity(ranked.len());
        let mut sum = 0.0;
        for rank in 1..=ranked.len() {
            sum += (rank as f64).powf(-exponent);
            cumulative.push(sum);
        }
        self.order = (0..length)
            .map(|_| {
                let at = random.uniform() * sum;
                let rank = cumulative.partition_point(|&up_to| up_to <= at);
                ranked[rank.min(ranked.len() - 1)]
            })
            .collect();
        self
    }

    /// Generates `length` queries of words drawn by `weights` (for example their document frequencies).
    /// `lengths[n]` is the weight of queries of n + 1 words.
    pub fn synthetic(
        words: &[(String, f64)],
        lengths: &[f64],
        length: usize,
        seed: u64,
    ) -> QueryStream {
        let mut random = Purpose::Queries.stream(seed);
        let pick_length = Picker::new(lengths.iter().copied());
        let pick_word = Picker::new(words.iter().map(|(_, weight)| *weight));
        let queries = (0..length).filter_map(|_| {
            let words_count = pick_length.pick(&mut random)? + 1;
            let picked: Option<Vec<&str>> = (0..words_count)
                .map(|_| Some(words[pick_word.pick(&mut random)?].0.as_str()))
                .collect();
            Some(picked?.join(" "))
        });
        QueryStream::as_is(queries)
    }

    /// Returns whether the stream has no queries.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns the number of requests until the stream repeats.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns the distinct queries; `query_idx` of a sample is an index into this slice.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Iterates over the queries in request order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.order
            .iter()
            .map(|&idx| self.texts[idx as usize].as_str())
    }

    /// Returns a checksum of texts and order in 16 hexadecimal digits, which identifies the stream in a
    /// record.
    pub fn checksum(&self) -> String {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        for query in self.iter() {
            hash.update(&(query.len() as u64).to_le_bytes());
            hash.update(query.as_bytes());
        }
        format!("{:016x}", hash.digest())
    }

    /// Returns the index of the query of the n-th measured request.
    pub(crate) fn nth(&self, n: usize) -> u32 {
        self.order[n % self.order.len()]
    }

    /// Returns the index of the query of the n-th warm-up request. The warm-up runs backwards from the
    /// end, so that it shares no query with the measured requests of a long unique stream.
    pub(crate) fn nth_of_warm_up(&self, n: usize) -> u32 {
        self.order[self.order.len() - 1 - n % self.order.len()]
    }
}

/// Weighted random choice of indices.
struct Picker {
    cumulative: Vec<f64>,
    sum: f64,
}

impl Picker {
    fn new(weights: impl Iterator<Item = f64>) -> Picker {
        let mut sum = 0.0;
        let cumulative = weights
            .map(|weight| {
                sum += if weight > 0.0 { weight } else { 0.0 };
                sum
            })
            .collect();
        Picker { cumulative, sum }
    }

    /// Draws an index; `None` if no weight is above 0.
    fn pick(&self, random: &mut Random) -> Option<usize> {
        let at = random.uniform() * self.sum;
        (self.sum > 0.0).then(|| {
            let idx = self.cumulative.partition_point(|&up_to| up_to <= at);
            idx.min(self.cumulative.len() - 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: [&str; 6] = ["b", "a", "b", "c", "b", "a"];

    fn asked(stream: &QueryStream) -> Vec<&str> {
        stream.iter().collect()
    }

    #[test]
    fn streams_keep_what_they_promise() {
        let stream = QueryStream::as_is(FILE);
        assert_eq!(asked(&stream), FILE);
        assert_eq!(stream.texts(), ["b", "a", "c"]);
        assert_eq!(stream.nth(7), 1);
        assert_eq!(stream.nth_of_warm_up(0), 1);
        assert_eq!(asked(&stream.clone().unique()), ["b", "a", "c"]);
        assert_eq!(
            asked(&stream.clone().sorted()),
            ["a", "a", "b", "b", "b", "c"]
        );
        let real = stream.clone().real(3);
        assert_ne!(asked(&real), FILE);
        assert_eq!(
            asked(&real.clone().sorted()),
            asked(&stream.clone().sorted())
        );
        assert_eq!(real.checksum(), stream.clone().real(3).checksum());
        assert_ne!(real.checksum(), stream.checksum());
    }

    #[test]
    fn zipf_popularity_falls_as_it_should() {
        let texts: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let stream = QueryStream::as_is(texts).zipf(1.0, 100_000, 9);
        let mut counts = [0f64; 100];
        stream
            .order
            .iter()
            .for_each(|&idx| counts[idx as usize] += 1.0);
        counts.sort_by(|a, b| b.total_cmp(a));
        let harmonic: f64 = (1..=100).map(|rank| 1.0 / rank as f64).sum();
        for rank in [1usize, 2, 10] {
            let expected = 100_000.0 / harmonic / rank as f64;
            let off = (counts[rank - 1] - expected).abs();
            assert!(
                off < 5.0 * expected.sqrt(),
                "rank {rank}: off by {off} of {expected}"
            );
        }
        assert!(QueryStream::as_is([""; 0]).zipf(1.0, 5, 1).is_empty());
    }

    #[test]
    fn made_up_queries_have_the_lengths_asked_for() {
        let words = [("often".to_owned(), 9.0), ("seldom".to_owned(), 1.0)];
        let stream = QueryStream::synthetic(&words, &[0.0, 3.0, 1.0], 10_000, 5);
        assert_eq!(stream.len(), 10_000);
        let threes = stream.iter().filter(|q| q.split(' ').count() == 3).count() as f64;
        assert!((threes - 2500.0).abs() < 5.0 * 1875f64.sqrt());
        let words: Vec<&str> = stream.iter().flat_map(|q| q.split(' ')).collect();
        let seldom = words.iter().filter(|word| **word == "seldom").count() as f64;
        assert!((seldom / words.len() as f64 - 0.1).abs() < 0.01);
        assert!(QueryStream::synthetic(&[], &[1.0], 10, 5).is_empty());
    }
}
