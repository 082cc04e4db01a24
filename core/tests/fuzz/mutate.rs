//! Makes inputs out of seeds: the same ones in the same order for the same target.

/// No input is larger: what grows with size is tested where sizes are the point.
const MAX: usize = 32 << 10;

/// What structured inputs are made of; bytes at random would rarely hit upon it.
const WORDS: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"\0",
    b":",
    b";",
    b",",
    b"=",
    b"*",
    b"$",
    b"#",
    b"%",
    b"%2F",
    b"%zz",
    b"/",
    b"//",
    b"..",
    b"\\",
    b"\"",
    b"'",
    b"<",
    b">",
    b"&",
    b"?",
    b"@",
    b" ",
    b"\t",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\x81",
    b"\xd5\xe3",
    "通知".as_bytes(),
    b"http://",
    b"https://",
    b".gov.cn",
    b"com",
    b"127.0.0.1",
    b"[::1]",
    b"0x7f.1",
    b"0",
    b"-1",
    b"18446744073709551616",
    b"1e9",
    b"User-agent: *\n",
    b"Disallow: /\n",
    b"Allow: /*$\n",
    b"Crawl-delay: 9\n",
    b"charset=gbk",
    b"charset=utf-16",
    b"charset=hz-gb-2312",
    b"<meta charset=big5>",
    b"<script>",
    b"<!--",
    b"-->",
    b"Domain=",
    b"Path=/",
    b"Max-Age=",
    b"Secure",
    b"Set-Cookie: ",
    b"Retry-After: ",
    b"404",
    b"412",
    b"521",
    b"GMT",
    b"Mon, 01 Jan 2024 00:00:00 GMT",
    b"- ",
    b"  ",
    b"{}",
    b"[]",
    b"&a ",
    b"*a",
    b"null",
    b"true",
];

pub struct Mutator<'a> {
    seeds: &'a [Vec<u8>],
    state: u64,
    input: Vec<u8>,
}

impl<'a> Mutator<'a> {
    pub fn new(name: &str, seeds: &'a [Vec<u8>]) -> Mutator<'a> {
        // FNV of the name: targets do not all see the same numbers.
        let state =
            name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        Mutator { seeds, state, input: Vec::new() }
    }

    /// Below `bound`, by SplitMix64.
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }

    fn range(&mut self, len: usize, longest: usize) -> std::ops::Range<usize> {
        let from = self.below(len + 1);
        from..from + self.below((len - from).min(longest) + 1)
    }

    /// A seed, changed in one to eight ways.
    pub fn next(&mut self) -> &[u8] {
        let seed = self.below(self.seeds.len());
        self.input.clone_from(&self.seeds[seed]);
        for _ in 0..=self.below(8) {
            self.change();
        }
        self.input.truncate(MAX);
        &self.input
    }

    fn change(&mut self) {
        let len = self.input.len();
        let at = self.below(len + 1);
        match self.below(8) {
            0 if len > 0 => {
                let (at, bit) = (self.below(len), self.below(8));
                self.input[at] ^= 1 << bit;
            }
            1 if len > 0 => {
                let (at, byte) = (self.below(len), self.below(256));
                self.input[at] = byte as u8;
            }
            2 => {
                let range = self.range(len, 40);
                self.input.drain(range);
            }
            3 => {
                // Said twice, or very often.
                let range = self.range(len, 60);
                let often = if self.below(20) == 0 { 200 } else { 1 };
                let part = self.input[range].repeat(often);
                self.input.splice(at..at, part);
            }
            4 => {
                let other = self.below(self.seeds.len());
                let range = self.range(self.seeds[other].len(), 400);
                let part = self.seeds[other][range].to_vec();
                self.input.splice(at..at, part);
            }
            5 => self.input.truncate(at),
            _ => {
                let word = WORDS[self.below(WORDS.len())];
                self.input.splice(at..at, word.iter().copied());
            }
        }
    }
}
