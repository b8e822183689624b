//! Text of words from a Zipf distribution, cheap enough that a server of it is no bottleneck.

const SYLLABLES: [&str; 16] = [
    "ka", "lo", "mi", "ren", "su", "ta", "vel", "no", "ri", "pa", "den", "go", "hal", "fi", "ber",
    "tu",
];
const LETTERS: [u8; 16] = *b"bcdfghjkmnpqtvwx";

/// Mixes two numbers into one that looks random (splitmix64).
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let mut z = a
        .wrapping_add(b.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Maps a number to [0, 1).
pub(super) fn unit(number: u64) -> f64 {
    (number >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns the word that only one page has: consonants alone, which no stemmer changes.
pub(super) fn unique_word(host: u32, page: u32) -> String {
    let mut number = u64::from(host) << 32 | u64::from(page);
    let mut word = String::from("zq");
    loop {
        word.push(LETTERS[(number & 15) as usize] as char);
        number >>= 4;
        if number == 0 {
            break word + "z";
        }
    }
}

/// Words by frequency: the word of rank r stands in about 1/r of the slots of the first.
pub(super) struct Vocabulary {
    slots: Vec<String>,
}

impl Vocabulary {
    pub(super) fn new() -> Self {
        let mut slots = Vec::with_capacity(16_384);
        for rank in 0..4_096usize {
            let mut word = String::new();
            let mut number = rank;
            loop {
                word.push_str(SYLLABLES[number % 16]);
                number /= 16;
                if number == 0 {
                    break;
                }
            }
            word.push(' ');
            for _ in 0..(1_800 / (rank + 1)).max(1) {
                slots.push(word.clone());
            }
        }
        Self { slots }
    }

    /// Appends about `bytes` bytes of words in paragraphs.
    pub(super) fn write(&self, seed: u64, bytes: usize, to: &mut String) {
        let (end, mut state, mut words) = (to.len() + bytes, seed, 0u32);
        to.push_str("<p>");
        while to.len() < end {
            state = mix(state, 1);
            // Four words from one number: 16 bits each.
            for part in [0, 16, 32, 48] {
                let slot = ((state >> part & 0xffff) as usize * self.slots.len()) >> 16;
                to.push_str(&self.slots[slot]);
            }
            words += 4;
            if words % 80 == 0 {
                to.push_str("</p>\n<p>");
            }
        }
        to.push_str("</p>\n");
    }
}
