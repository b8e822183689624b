//! A real tree of pages on loopback: the index holds everything that a walk of another make reaches, and nothing else.

#[path = "../tree/mod.rs"]
mod tree;

use super::served::new;
use tree::{crawled, installed, walk};

#[test]
fn everything_that_a_walk_reaches_is_in_the_index_and_nothing_else() {
    // The toolchain may come without its documentation.
    let Some(root) = installed("book") else {
        return tier::skipped("no documentation beside the toolchain");
    };
    let expected = walk(&root);
    assert!(expected.len() > 50, "{}", expected.len());
    let tree = crawled(&root, &new(), &new());
    assert_eq!(tree.missing(&expected), Vec::<String>::new());
    assert_eq!(tree.others(&expected), 0);
    assert!(tree.progress.fetched >= expected.len() as u64 && tree.progress.failed == 0);
}
