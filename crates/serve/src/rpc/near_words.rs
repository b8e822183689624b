//! Messages of words near those typed.

use crate::api::messages::{NearWord, NearWordsRequest, TypedWord};
use engine::calls::PartError;
use std::time::Instant;
use wire::rpc;

/// Upper limit on the words of a request: each is compared with the dictionary.
const WORDS_MAX: usize = 16;
/// Upper limit on the bytes of a word.
const WORD_BYTES_MAX: usize = 1024;

/// Returns the message of a request, without its query.
pub(super) fn request_message(request: &NearWordsRequest) -> rpc::NearWordsRequest {
    rpc::NearWordsRequest {
        query: None,
        words: request.words.to_vec(),
        apart: request.apart,
    }
}

/// Returns the request of a message.
pub(super) fn request(
    message: rpc::NearWordsRequest,
    deadline: Instant,
) -> Result<NearWordsRequest, tonic::Status> {
    let is_long = |word: &String| word.len() > WORD_BYTES_MAX;
    if message.words.len() > WORDS_MAX || message.words.iter().any(is_long) {
        let refused = "too many words, or one that is too long";
        return Err(tonic::Status::invalid_argument(refused));
    }
    Ok(NearWordsRequest {
        words: message.words.into(),
        apart: message.apart,
        deadline,
    })
}

/// Returns the message of a reply.
pub(super) fn reply_message(words: Vec<TypedWord>) -> rpc::NearWordsReply {
    let near = |word: NearWord| rpc::NearWord {
        written: word.written,
        documents: word.documents,
        cost: word.cost,
    };
    let words = words.into_iter().map(|word| rpc::TypedWord {
        documents: word.documents,
        near: word.near.into_iter().map(near).collect(),
    });
    rpc::NearWordsReply {
        words: words.collect(),
    }
}

/// Returns the reply to a request for `words_count` words.
pub(super) fn reply(
    message: rpc::NearWordsReply,
    words_count: usize,
) -> Result<Vec<TypedWord>, PartError> {
    if message.words.len() != words_count {
        return Err(PartError::Protocol {
            reason: "it knows other words than it was asked for; update it".into(),
        });
    }
    let near = |word: rpc::NearWord| NearWord {
        written: word.written,
        documents: word.documents,
        cost: word.cost,
    };
    let words = message.words.into_iter().map(|word| TypedWord {
        documents: word.documents,
        near: word.near.into_iter().map(near).collect(),
    });
    Ok(words.collect())
}
