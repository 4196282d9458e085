//! Evaluates published thread-value layouts, `((4,8),(2,2)):((32,1),(16,8))`, independently of the
//! library: coordinates are taken apart colexicographically, the leftmost mode being the fastest.

/// The modes (size, stride) of the thread part and of the value part.
pub struct ThreadValue {
    parts: Vec<Vec<(u64, u64)>>,
}

impl ThreadValue {
    /// Reads `shape:stride`, each a pair of nested tuples.
    pub fn parse(text: &str) -> Self {
        let (shape, stride) = text.split_once(':').expect("shape:stride");
        let zip = |(shape, stride): (Vec<u64>, Vec<u64>)| shape.into_iter().zip(stride).collect();
        Self { parts: parts(shape).into_iter().zip(parts(stride)).map(zip).collect() }
    }

    /// Number of coordinates of the thread (0) or value (1) part.
    pub fn size(&self, part: usize) -> u64 {
        self.parts[part].iter().map(|&(size, _)| size).product()
    }

    /// The index into the tile of a value of a thread.
    pub fn index(&self, thread: u64, value: u64) -> u64 {
        offset(&self.parts[0], thread) + offset(&self.parts[1], value)
    }
}

fn offset(modes: &[(u64, u64)], mut coordinate: u64) -> u64 {
    let mut offset = 0;
    for &(size, stride) in modes {
        offset += coordinate % size * stride;
        coordinate /= size;
    }
    offset
}

/// The numbers of each part of a pair of nested tuples, in the order in which they are written.
fn parts(text: &str) -> Vec<Vec<u64>> {
    let mut parts = vec![Vec::new()];
    let mut depth = 0;
    let mut digits = String::new();
    for c in text.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            parts.last_mut().expect("a part").push(std::mem::take(&mut digits).parse().expect("a number"));
        }
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 1 => parts.push(Vec::new()),
            _ => {}
        }
    }
    parts
}
