//! Tests of the dictionary of words as written: entries come back, in any division of the words.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn word() -> impl Strategy<Value = String> {
    prop_oneof![6 => "[ab]{1,4}(s|ing|ies)?", 2 => "[abé東]{1,6}", 1 => "[ab]{200,300}"]
}

#[test]
fn the_example_of_the_format() {
    let mut entry = Vec::new();
    assert!(write_entry(b"policies", b"polici", &mut entry));
    assert_eq!(entry, b"policies\x00\x03");
    assert!(write_entry(b"policy", b"polici", &mut entry));
    assert_eq!(entry, b"policy\x00\x02i");
}

#[test]
fn a_form_with_the_mark_of_its_end_is_left_out() {
    assert!(!write_entry(b"a\x00b", b"a", &mut Vec::new()));
}

proptest! {
    #[test]
    fn entries_come_back_sorted(words in prop::collection::vec((word(), word()), 0..200)) {
        let mut gathered = WrittenWords::default();
        for (form, term) in words.iter().chain(&words) {
            gathered.add(&form.to_ascii_uppercase(), term);
        }
        let sorted = gathered.sorted();
        let (mut found, mut term) = (Vec::new(), Vec::new());
        while let Some(entry) = sorted.get(found.len()) {
            let form = read_entry(entry, &mut term).unwrap().to_owned();
            found.push((form, String::from_utf8(term.clone()).unwrap()));
        }
        let expected: BTreeSet<_> = words.into_iter().collect();
        prop_assert!(found.is_sorted_by(|a, b| a.0 <= b.0));
        prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    }

    #[test]
    fn any_bytes_give_an_entry_or_none(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
        let _ = form_end(&bytes);
        let _ = read_entry(&bytes, &mut Vec::new());
    }
}
