//! Values by code: within a segment, a code is the place of a value in the order of all values, from 1 on; 0 is no value.

use crate::value::Value;

/// Values of the documents of a segment, by code.
pub trait CodedValues {
    /// Returns the value of a code; `None` for 0 and for codes beyond the greatest.
    fn value(&self, code: u64) -> Option<Value>;
}
