//! Records of any shape as documents: which field is the address, the title, the text.
//!
//! ```text
//! record  := fields by name, strings, numbers, truth values, lists and objects of them
//! names   := those of --id --url --title --body, else the first of a list that the record has
//! ```
//!
//! A record that is `{url, title, body}` is taken as it is (`json_line`). Each record is interpreted by itself, so no
//! sample of a source decides. Commands report the names that were found.

mod bulk;
mod names;

pub use bulk::Action;
pub use names::{Mapper, Origin};
