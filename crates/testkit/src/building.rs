//! Builds an index of given documents in memory.
use corpus::Document;
use index::{BuildOptions, Index, IndexError, PostingsCodec, Writer};
use proptest::prelude::*;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

/// The choices of a build that must not change any answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildPlan {
    /// Chunks.
    pub chunks: u32,
    /// Codec.
    pub codec: PostingsCodec,
    /// Memory while building; little of it forces many sorted runs.
    pub memory_bytes: u64,
    /// Threads.
    pub threads: usize,
}

impl BuildPlan {
    /// The plainest build: one chunk, one thread.
    pub const PLAIN: BuildPlan = BuildPlan {
        chunks: 1,
        codec: PostingsCodec::Packed,
        memory_bytes: 64 << 20,
        threads: 1,
    };

    fn options(self) -> BuildOptions {
        BuildOptions {
            chunks: Some(self.chunks),
            codec: Some(self.codec),
            memory_bytes: self.memory_bytes,
            threads: self.threads,
            ..BuildOptions::default()
        }
    }
}

/// Any build.
pub fn build_plans() -> impl Strategy<Value = BuildPlan> {
    (
        prop_oneof![3 => Just(1u32), 3 => Just(2), 3 => Just(8), 1 => Just(128)],
        prop_oneof![Just(PostingsCodec::Packed), Just(PostingsCodec::Vint)],
        prop_oneof![Just(1u64), Just(16 << 10), Just(64 << 20)],
        1usize..3,
    )
        .prop_map(|(chunks, codec, memory_bytes, threads)| BuildPlan {
            chunks,
            codec,
            memory_bytes,
            threads,
        })
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
    Index::open(storage)
}
