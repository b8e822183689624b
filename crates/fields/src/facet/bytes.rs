//! Counts as bytes, for messages between servers.
//!
//! ```text
//! number := 7 bits a byte, the lowest first; the top bit says that another byte follows
//! value  := 0 length:number text | 1 zigzag:number (integer) | 2 f64:8 bytes | 3 truth:1 byte | 4 zigzag:number (date)
//! ```
//!
//! Example: the keyword `en` is 00 02 65 6e, the integer −3 is 01 05.

use crate::value::Value;

/// Writer of counts.
#[derive(Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    /// Returns the bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Writes a number.
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Writes bytes as they are.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Writes a value.
    pub(super) fn value(&mut self, value: &Value) {
        let zigzag = |number: i64| (number << 1 ^ number >> 63) as u64;
        match value {
            Value::Keyword(text) => {
                self.0.push(0);
                self.number(text.len() as u64);
                self.bytes(text.as_bytes());
            }
            Value::Integer(number) => {
                self.0.push(1);
                self.number(zigzag(*number));
            }
            Value::Float(number) => {
                self.0.push(2);
                self.bytes(&number.to_le_bytes());
            }
            Value::Bool(truth) => self.bytes(&[3, u8::from(*truth)]),
            Value::Date(micros) => {
                self.0.push(4);
                self.number(zigzag(*micros));
            }
        }
    }

    /// Writes a value that may be missing.
    pub(super) fn optional(&mut self, value: Option<&Value>) {
        self.bytes(&[u8::from(value.is_some())]);
        if let Some(value) = value {
            self.value(value);
        }
    }
}

/// Reader of counts. Every method is `None` where the bytes end too early or are something else.
#[derive(Debug)]
pub(super) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    /// Reads from the beginning of bytes.
    pub(super) fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader(bytes)
    }

    /// Returns the number of bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.0.len()
    }

    /// Reads one byte.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// Reads bytes.
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'b [u8]> {
        let (own, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(own)
    }

    /// Reads a number.
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Reads the number of entries that follow, each of at least `bytes` bytes.
    pub(super) fn count(&mut self, bytes: usize) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.left() / bytes.max(1)).then_some(count)
    }

    /// Reads a truth value.
    pub(super) fn truth(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// Reads a float, which is finite.
    pub(super) fn float(&mut self) -> Option<f64> {
        let bytes = self.bytes(8)?.try_into().ok()?;
        Some(f64::from_le_bytes(bytes)).filter(|float| float.is_finite())
    }

    /// Reads a value.
    pub(super) fn value(&mut self) -> Option<Value> {
        let signed = |number: u64| (number >> 1) as i64 ^ -((number & 1) as i64);
        Some(match self.byte()? {
            0 => {
                let length = self.count(1)?;
                Value::keyword(std::str::from_utf8(self.bytes(length)?).ok()?)?
            }
            1 => Value::Integer(signed(self.number()?)),
            2 => Value::float(self.float()?)?,
            3 => Value::Bool(self.truth()?),
            4 => Value::Date(signed(self.number()?)),
            _ => return None,
        })
    }

    /// Reads a value that may be missing.
    pub(super) fn optional(&mut self) -> Option<Option<Value>> {
        match self.truth()? {
            true => self.value().map(Some),
            false => Some(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Value> {
        prop_oneof![
            "\\PC{0,5}".prop_map(Value::Keyword),
            any::<i64>().prop_map(Value::Integer),
            any::<i64>().prop_map(Value::Date),
            any::<bool>().prop_map(Value::Bool),
            (-1e300f64..1e300).prop_map(Value::Float),
        ]
    }

    proptest! {
        #[test]
        fn values_and_numbers_come_back(values in prop::collection::vec(values(), 0..9), numbers in prop::collection::vec(any::<u64>(), 0..9)) {
            let mut writer = Writer::default();
            values.iter().for_each(|value| writer.value(value));
            numbers.iter().for_each(|&number| writer.number(number));
            let bytes = writer.into_bytes();
            let mut reader = Reader::new(&bytes);
            for value in values {
                prop_assert_eq!(reader.value(), Some(value));
            }
            for number in numbers {
                prop_assert_eq!(reader.number(), Some(number));
            }
            prop_assert_eq!((reader.left(), reader.number()), (0, None));
        }
    }

    #[test]
    fn the_examples_are_written_so() {
        let mut writer = Writer::default();
        writer.value(&Value::Keyword("en".into()));
        writer.value(&Value::Integer(-3));
        assert_eq!(writer.into_bytes(), [0, 2, 0x65, 0x6e, 1, 5]);
    }
}
