//! Scanner that finds the end of a JSON value, byte by byte and without memory of it.

/// State within one value.
#[derive(Debug, Default)]
pub struct ValueScan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    has_begun: bool,
    is_scalar: bool,
}

/// Result of one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scanned {
    /// The byte belongs to the value, which goes on.
    Within,
    /// The byte is the last of the value.
    Last,
    /// The value ended before this byte.
    Beyond,
}

impl ValueScan {
    /// Takes the next byte. The first one begins the value.
    pub fn take(&mut self, byte: u8) -> Scanned {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.in_string = false;
                    return self.ended_if_outside();
                }
                _ => {}
            }
            return Scanned::Within;
        }
        if self.is_scalar {
            return match byte {
                b',' | b']' | b'}' => Scanned::Beyond,
                byte if byte.is_ascii_whitespace() => Scanned::Beyond,
                _ => Scanned::Within,
            };
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            // Whether brackets are of one kind is for the parser.
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                return self.ended_if_outside();
            }
            _ if is_first => self.is_scalar = true,
            _ => {}
        }
        Scanned::Within
    }

    /// Returns whether a body that ends here has cut the value short.
    pub fn is_cut(&self) -> bool {
        self.has_begun && !self.is_scalar
    }

    fn ended_if_outside(&self) -> Scanned {
        match self.depth {
            0 => Scanned::Last,
            _ => Scanned::Within,
        }
    }
}
