//! Index of given documents, built in memory.
use crate::floats;
use document::Document;
use fields::{Declaration, DeclaredPrior, FieldType, Prior};
use index::{
    BuildOptions, Index, IndexError, OptimizeOptions, Order, Pairs, PostingsCodec, Writer, optimize,
};
use proptest::prelude::*;
use std::sync::Arc;
use text::{Analyzer, Language, Languages};
use vfs::{MemoryStorage, SharedStorage};

/// The choices of a build that must not change any answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BuildPlan {
    /// Number of chunks.
    pub chunks: u32,
    /// Number of partitions that chunks are laid out for while documents arrive; at most `chunks` count.
    pub partitions: u32,
    /// Codec of the postings.
    pub codec: PostingsCodec,
    /// Maximum number of documents of a sorted run; a low one forces many runs and repeated merges.
    pub run_documents_max: Option<u32>,
    /// Choice of the stored pairs.
    pub pairs: Pairs,
    /// Number of threads.
    pub threads: usize,
    /// Order of the whole index after the last commit; `None` leaves segments as commits made them.
    pub order: Option<Order>,
    /// Number of partitions that the whole index is laid out for after the last commit; `None` leaves the layout.
    pub laid_out_for: Option<u32>,
    /// Analyzer, which the oracle shares.
    pub analyzer: Analyzer,
    /// Declared settings of words, which the oracle shares.
    pub words: DeclaredWords,
    /// Declared priors, which the oracle shares.
    pub priors: DeclaredPriors,
    /// Documents held before fields of text are guessed; a low number makes guesses wrong.
    pub held_documents_max: Option<usize>,
}

/// Declarations of the fields of text, `x` and `y.z`, and of the title.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DeclaredWords {
    /// Weight and b of the title.
    pub title: Option<(f32, Option<f32>)>,
    /// Weight and b of `x`; `None` leaves the type of both fields to inference.
    pub x: Option<(f32, Option<f32>)>,
    /// Whether the words of `y.z` are searched, where they are declared.
    pub has_y: bool,
    /// Analyzer of `y.z` alone, and of `x` where its weight allows one.
    pub own: Option<Analyzer>,
}

/// Declarations of the priors of the integers `n` and the floating-point numbers `f`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DeclaredPriors {
    /// Prior of `n`.
    pub n: Option<Prior>,
    /// Prior of `f`.
    pub f: Option<Prior>,
}

impl DeclaredPriors {
    fn declarations(self) -> impl Iterator<Item = (String, Declaration)> {
        let all = [
            ("n", FieldType::Integer, self.n),
            ("f", FieldType::Float, self.f),
        ];
        all.into_iter().filter_map(|(name, kind, prior)| {
            let declared = Declaration {
                prior: Some(DeclaredPrior::On(prior?)),
                ..Declaration::of(kind)
            };
            Some((name.to_owned(), declared))
        })
    }
}

/// Any declarations of priors, mostly none.
fn declared_priors() -> impl Strategy<Value = DeclaredPriors> {
    let weight = prop_oneof![2 => floats(0.01, 3.0), 1 => floats(3.0, 100.0)];
    let pivot = prop_oneof![floats(0.1, 9.0), floats(100.0, 1e6)];
    let prior = (weight, pivot).prop_map(|(weight, pivot)| Prior {
        weight,
        pivot: pivot.into(),
    });
    let both = (prop::option::of(prior.clone()), prop::option::of(prior));
    prop_oneof![
        2 => Just(DeclaredPriors::default()),
        1 => both.prop_map(|(n, f)| DeclaredPriors { n, f }),
    ]
}

impl DeclaredWords {
    fn declarations(self) -> impl Iterator<Item = (String, Declaration)> {
        let text = |(weight, b): (f32, Option<f32>)| Declaration {
            weight: Some(weight),
            b,
            ..Declaration::of(FieldType::Text)
        };
        let title = self.title.map(|title| ("title".to_owned(), text(title)));
        let own = |weight: f32| self.own.filter(|_| weight <= 1.0);
        let x = self.x.map(|x| {
            let declared = Declaration {
                analyzer: own(x.0),
                ..text(x)
            };
            ("x".to_owned(), declared)
        });
        let y = Declaration {
            searchable: (!self.has_y).then_some(false),
            analyzer: self.own.filter(|_| self.has_y),
            ..Declaration::of(FieldType::Text)
        };
        let y = self.x.map(|_| ("y.z".to_owned(), y));
        title.into_iter().chain(x).chain(y)
    }
}

/// Any declarations of words, none included.
fn declared_words() -> impl Strategy<Value = DeclaredWords> {
    let weight = prop_oneof![2 => Just(1.0f32), 1 => Just(3.5), 1 => floats(1.0, 100.0)];
    let b = prop_oneof![1 => Just(None), 1 => floats(0.0, 1.0).prop_map(Some)];
    let x = (prop_oneof![1 => Just(0.0), 4 => weight.clone()], b.clone());
    let (title, x) = (prop::option::of((weight, b)), prop::option::of(x));
    let own = prop_oneof![1 => Just(Analyzer::English), 3 => analyzers()];
    (title, x, any::<bool>(), prop::option::of(own)).prop_map(|(title, x, has_y, own)| {
        DeclaredWords {
            title,
            x,
            has_y,
            own,
        }
    })
}

impl BuildPlan {
    /// The plainest build: one chunk, one thread.
    pub const PLAIN: BuildPlan = BuildPlan {
        chunks: 1,
        partitions: 1,
        codec: PostingsCodec::Packed,
        run_documents_max: None,
        pairs: Pairs::Frequent,
        threads: 1,
        order: None,
        laid_out_for: None,
        analyzer: Analyzer::Plain,
        words: DeclaredWords {
            title: None,
            x: None,
            has_y: false,
            own: None,
        },
        priors: DeclaredPriors { n: None, f: None },
        held_documents_max: None,
    };

    fn options(self) -> BuildOptions {
        BuildOptions {
            chunks: Some(self.chunks),
            partitions: Some(self.partitions.min(self.chunks)),
            codec: Some(self.codec),
            run_documents_max: self.run_documents_max,
            pairs: Some(self.pairs),
            threads: self.threads,
            analyzer: Some(self.analyzer),
            fields: self
                .words
                .declarations()
                .chain(self.priors.declarations())
                .collect(),
            held_documents_max: self.held_documents_max,
            // Statistics in layers wherever a commit is small beside the index.
            small_terms_max: Some(0),
            ..BuildOptions::default()
        }
    }
}

/// Any choices of a build.
pub fn build_plans() -> impl Strategy<Value = BuildPlan> {
    (
        prop_oneof![3 => Just(1u32), 3 => Just(2), 3 => Just(8), 1 => Just(128)],
        prop_oneof![Just(PostingsCodec::Packed), Just(PostingsCodec::Vint)],
        prop_oneof![Just(None), Just(Some(1)), Just(Some(3))],
        prop_oneof![3 => Just(Pairs::All), 1 => Just(Pairs::Frequent), 1 => Just(Pairs::None)],
        1usize..3,
        prop_oneof![3 => Just(None), 2 => orders().prop_map(Some)],
        partitions(),
        prop_oneof![3 => Just(None), 2 => partitions().prop_map(Some)],
        (
            analyzers(),
            prop_oneof![1 => Just(DeclaredWords::default()), 2 => declared_words()],
            declared_priors(),
            prop_oneof![Just(None), Just(Some(1)), Just(Some(4))],
        ),
    )
        .prop_map(
            |(
                chunks,
                codec,
                run_documents_max,
                pairs,
                threads,
                order,
                partitions,
                laid_out_for,
                (analyzer, words, priors, held_documents_max),
            )| BuildPlan {
                chunks,
                partitions,
                codec,
                run_documents_max,
                pairs,
                threads,
                order,
                laid_out_for,
                analyzer,
                words,
                priors,
                held_documents_max,
            },
        )
}

/// One term a place, or several: compounds, accented words in two stems.
fn analyzers() -> impl Strategy<Value = Analyzer> {
    let standard = Languages::default().with(Language::French);
    prop_oneof![
        3 => Just(Analyzer::Plain),
        2 => Just(Analyzer::Standard(standard)),
        1 => Just(Analyzer::FirstStandard(standard)),
    ]
}

/// One partition for all chunks, some, or one a chunk.
fn partitions() -> impl Strategy<Value = u32> {
    prop_oneof![2 => Just(1u32), 1 => 2u32..8, 2 => Just(u32::MAX)]
}

/// Any order of documents.
pub fn orders() -> impl Strategy<Value = Order> {
    (0..Order::ALL.len()).prop_map(|number| Order::ALL[number])
}

/// Builds and opens an index; every batch is one commit.
pub fn build_index(batches: &[Vec<Document>], plan: BuildPlan) -> Result<Index, IndexError> {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    for batch in batches {
        let mut writer = Writer::open(storage.clone(), plan.options())?;
        for document in batch {
            writer.add(document.clone())?;
        }
        writer.commit()?;
    }
    if plan.order.is_some() || plan.laid_out_for.is_some() {
        let options = OptimizeOptions {
            order: plan.order,
            partitions: plan
                .laid_out_for
                .map(|partitions| partitions.min(plan.chunks)),
            threads: plan.threads,
            ..OptimizeOptions::default()
        };
        optimize(storage.clone(), &options, &|_| {})?;
    }
    Index::open(storage)
}
