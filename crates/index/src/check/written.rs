//! Check of the words as written of a segment against its terms.

use crate::written::{form_end, read_entry};
use crate::{Field, IndexError, Segment};
use fields::TextFields;

pub(super) fn check(segment: &Segment, text_fields: &TextFields) -> Result<(), IndexError> {
    let Some(written) = &segment.core().written else {
        return Ok(());
    };
    let (mut count, mut before, mut term) = (0u64, Vec::new(), Vec::new());
    let mut stream = written.from(&[]);
    while let Some(entry) = stream.next()? {
        let wrong = |what: &str| {
            let entry = String::from_utf8_lossy(entry);
            written.damaged(&format!("word as written {entry:?}: {what}"))
        };
        if count > 0 && before.as_slice() >= entry {
            return Err(wrong("must increase"));
        }
        let (Some((&field, rest)), Some(_)) = (entry.split_first(), form_end(entry)) else {
            return Err(wrong("no field and form"));
        };
        let field = Field::of_number(field);
        let is_known = match field {
            Field::Text => true,
            Field::Title | Field::Site => false,
            Field::Further(number) => text_fields.name_of(number).is_some(),
        };
        let form = read_entry(rest, &mut term);
        let (Some(form), Ok(term)) = (form, std::str::from_utf8(&term)) else {
            return Err(wrong("unreadable"));
        };
        if !is_known || form.is_empty() || form == term {
            return Err(wrong("no form of a field"));
        }
        if segment.term(field, term)?.is_none() {
            return Err(wrong("its term is not in the segment"));
        }
        count += 1;
        before.clear();
        before.extend_from_slice(entry);
    }
    match count == written.count() {
        true => Ok(()),
        false => Err(written.damaged("words as written are not as many as counted")),
    }
}
