//! Sizes: `64KiB`, `8MiB`, `2GiB`.

use crate::number::split;
use std::fmt;

/// Unit of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeUnit {
    /// Bytes.
    Bytes,
    /// 1024 bytes.
    KiB,
    /// 1024 KiB.
    MiB,
    /// A thousand million bytes.
    GB,
}

impl SizeUnit {
    const fn bytes(self) -> u64 {
        match self {
            SizeUnit::Bytes => 1,
            SizeUnit::KiB => 1 << 10,
            SizeUnit::MiB => 1 << 20,
            SizeUnit::GB => 1_000_000_000,
        }
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    bytes: u64,
}

impl Size {
    /// Returns a number of units.
    pub const fn new(number: u64, unit: SizeUnit) -> Size {
        Size {
            bytes: number.saturating_mul(unit.bytes()),
        }
    }

    /// Returns the size in bytes.
    pub const fn bytes(self) -> u64 {
        self.bytes
    }
}

/// As it is read, in the largest unit of which it is a whole multiple: `64MiB`.
impl fmt::Display for Size {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["B", "KiB", "MiB", "GiB", "TiB"];
        let (mut number, mut unit) = (self.bytes, 0);
        while number > 0 && number.is_multiple_of(1024) && unit + 1 < names.len() {
            number /= 1024;
            unit += 1;
        }
        write!(to, "{number}{}", names[unit])
    }
}

/// Reader of sizes between two limits.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    plain: Option<SizeUnit>,
    least: Size,
    most: Size,
    is_per_second: bool,
}

impl Sizes {
    /// All sizes.
    pub const ANY: Sizes = Sizes {
        plain: None,
        least: Size { bytes: 0 },
        most: Size { bytes: u64::MAX },
        is_per_second: false,
    };

    /// Also reads numbers without a unit, which are of this one.
    #[must_use]
    pub const fn plain(self, unit: SizeUnit) -> Sizes {
        Sizes {
            plain: Some(unit),
            ..self
        }
    }

    /// Refuses sizes below `least`.
    #[must_use]
    pub const fn at_least(self, least: Size) -> Sizes {
        Sizes { least, ..self }
    }

    /// Refuses sizes above `most`.
    #[must_use]
    pub const fn at_most(self, most: Size) -> Sizes {
        Sizes { most, ..self }
    }

    /// Reads rates, sizes in a second: `8MiB` or `8MiB/s`.
    #[must_use]
    pub const fn per_second(self) -> Sizes {
        Sizes {
            is_per_second: true,
            ..self
        }
    }

    /// Reads a size. Fractions of a byte are cut off.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what to write.
    pub fn read(&self, text: &str) -> Result<Size, String> {
        const EXAMPLES: &str = "write 64KiB, 512MiB or 2GiB";
        let quantity = match text.trim().strip_suffix("/s") {
            Some(size) if self.is_per_second => size,
            _ => text,
        };
        let Some((number, unit)) = split(quantity) else {
            return Err(format!("`{text}` is no size; {EXAMPLES}"));
        };
        let unit_bytes: u64 = match (unit.to_ascii_lowercase().as_str(), self.plain) {
            ("", Some(unit)) => unit.bytes(),
            ("", None) if number == 0.0 => 1,
            ("", None) => return Err(format!("`{text}` has no unit of size; {EXAMPLES}")),
            ("b", _) => 1,
            ("k" | "kib", _) => 1 << 10,
            ("m" | "mib", _) => 1 << 20,
            ("g" | "gib", _) => 1 << 30,
            ("t" | "tib", _) => 1 << 40,
            ("kb", _) => 1_000,
            ("mb", _) => 1_000_000,
            ("gb", _) => 1_000_000_000,
            ("tb", _) => 1_000_000_000_000,
            _ => return Err(format!("`{unit}` is no unit of size; {EXAMPLES}")),
        };
        let bytes = number * unit_bytes as f64;
        if bytes >= u64::MAX as f64 {
            return Err("more bytes than any machine has".to_owned());
        }
        let size = Size {
            bytes: bytes as u64,
        };
        match size {
            _ if size < self.least => Err(format!("give {} or more", self.least)),
            _ if size > self.most => Err(format!("give {} or less", self.most)),
            _ => Ok(size),
        }
    }

    /// Returns [`Sizes::read`] as a function, for parsers of arguments.
    pub fn reader(self) -> impl Fn(&str) -> Result<Size, String> + Clone + Send + Sync + 'static {
        move |text| self.read(text)
    }

    /// Returns a function as [`Sizes::reader`] that reads numbers of bytes.
    pub fn bytes(self) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
        move |text| self.read(text).map(Size::bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_read_or_refused() {
        let check = |text: &str, bytes: Option<u64>| {
            let sizes = Sizes::ANY.plain(SizeUnit::Bytes);
            assert_eq!(sizes.read(text).ok().map(Size::bytes), bytes, "{text:?}");
        };
        check("512M", Some(512 << 20));
        check("2G", Some(2 << 30));
        check("1.5g", Some(3 << 29));
        check("64MiB", Some(64 << 20));
        check("64 MB", Some(64_000_000));
        check("16777216", Some(16 << 20));
        check("1K", Some(1 << 10));
        check("8000B", Some(8000));
        check("0", Some(0));
        let wrong = [
            "",
            "M",
            "1.2.3M",
            "-5G",
            "5 apples",
            "NaN",
            "99999999999999999999T",
            "8MiB/s",
        ];
        for wrong in wrong {
            check(wrong, None);
        }
    }

    #[test]
    fn plain_numbers_are_of_their_unit_where_they_are_read() {
        let plain = Sizes::ANY.plain(SizeUnit::MiB);
        assert_eq!(plain.read("8").unwrap().to_string(), "8MiB");
        assert_eq!(plain.read("8KiB").unwrap().bytes(), 8192);
        let refused = Sizes::ANY.read("256").unwrap_err();
        assert_eq!(
            refused,
            "`256` has no unit of size; write 64KiB, 512MiB or 2GiB"
        );
        assert_eq!(Sizes::ANY.read("0"), Ok(Size::new(0, SizeUnit::Bytes)));
        let rate = Sizes::ANY.per_second();
        assert_eq!(rate.read("8MiB/s"), rate.read("8MiB"));
    }

    #[test]
    fn limits_are_told() {
        let sizes = Sizes::ANY
            .at_least(Size::new(16, SizeUnit::MiB))
            .at_most(Size::new(1, SizeUnit::GB));
        assert_eq!(sizes.read("1M").unwrap_err(), "give 16MiB or more");
        assert!(sizes.read("2GB").unwrap_err().ends_with("or less"));
        assert!(sizes.read("16M").is_ok() && sizes.read("1GB").is_ok());
    }

    proptest! {
        /// What is shown is read again as the same.
        #[test]
        fn shown_sizes_are_read(number in 0_u64..1 << 40, shift in 0_u32..13) {
            let size = Size { bytes: number << shift };
            prop_assert_eq!(Sizes::ANY.read(&size.to_string()), Ok(size));
        }
    }
}
