//! Words as written: a dictionary from the folded forms of words to the terms under which they are indexed.
//!
//! ```text
//! words  := block{entries / 16, rounded up}
//! block  := { shared:vint own:vint byte{own} }{16}      the last one may have fewer
//! starts := start:u32le{blocks}                         in `words`
//! entry  := field:u8 form 00 term
//! term   := cut:u8 tail                                 cut of 1 to 254: the form without its last cut - 1 bytes, and the tail
//!         | ff term                                     spelled out
//! ```
//!
//! Only forms that are not their term have entries; a form of several terms has several. Entries increase, by their bytes. An
//! entry is the first `shared` bytes of the one before it in its block, and its own bytes (front coding, as in
//! [`crate::terms`]). The field is that of the terms: the forms of the text are those of titles too.
//!
//! Patterns are compared with these forms, for the terms of an analyzer that stems are no words.
//!
//! Example: `policies`, `policy` of the text → `polici`: 00 70 6f 6c 69 63 69 65 73 00 03, 00 70 6f 6c 69 63 79 00 02 69.

mod read;
mod write;

pub(crate) use read::{Written, WrittenPlace, WrittenStream};
pub(crate) use write::WrittenWriter;

use crate::Field;
use crate::terms::common_bytes;

/// First byte of the keys of entries among the keys of terms, in runs under construction; greater than any field's.
pub(crate) const KEY: u8 = u8::MAX;

/// Entries of a block.
const BLOCK_ENTRIES: u64 = 16;

/// End of a form in an entry; no word has such a byte.
const END: u8 = 0;
/// Mark of a term that is spelled out.
const SPELLED: u8 = u8::MAX;

/// Returns the field whose words as written stand for those of `field`; `None` for sites, which have none.
pub(crate) fn field_of_forms(field: Field) -> Option<Field> {
    match field {
        Field::Text | Field::Title => Some(Field::Text),
        Field::Site => None,
        Field::Further(_) => Some(field),
    }
}

/// Writes the entry of a form and its term into `entry`, without the field; returns false for one that cannot be written.
#[inline]
pub(crate) fn write_entry(form: &[u8], term: &[u8], entry: &mut Vec<u8>) -> bool {
    entry.clear();
    entry.extend_from_slice(form);
    entry.push(END);
    let common = common_bytes(form, term);
    match u8::try_from(form.len() - common + 1) {
        Ok(cut) if cut < SPELLED => {
            entry.push(cut);
            entry.extend_from_slice(&term[common..]);
        }
        _ => {
            entry.push(SPELLED);
            entry.extend_from_slice(term);
        }
    }
    !form.contains(&END)
}

/// Returns the end of the form in an entry that begins with its field; `None` where it is damaged.
pub(crate) fn form_end(entry: &[u8]) -> Option<usize> {
    let rest = entry.get(1..)?;
    rest.iter().position(|&byte| byte == END).map(|end| end + 1)
}

/// Returns the form of an entry without its field, and writes its term into `term`; `None` where it is damaged.
pub(crate) fn read_entry<'e>(entry: &'e [u8], term: &mut Vec<u8>) -> Option<&'e str> {
    let end = entry.iter().position(|&byte| byte == END)?;
    let form = &entry[..end];
    let (&cut, tail) = entry[end + 1..].split_first()?;
    term.clear();
    if cut != SPELLED {
        let kept = (form.len() + 1).checked_sub(cut.max(1).into())?;
        term.extend_from_slice(&form[..kept]);
    }
    term.extend_from_slice(tail);
    std::str::from_utf8(form).ok()
}

#[cfg(test)]
mod tests;
