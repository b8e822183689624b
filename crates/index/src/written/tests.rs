//! Tests of the dictionary of words as written: the example of the format, and damage.

use super::*;
use proptest::prelude::*;

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
    fn any_bytes_give_an_entry_or_none(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
        let _ = form_end(&bytes);
        let _ = read_entry(&bytes, &mut Vec::new());
    }
}
