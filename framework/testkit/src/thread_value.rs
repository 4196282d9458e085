//! Evaluates published thread-value layouts, `((4,8),(2,2)):((32,1),(16,8))`, independently of the library.
//!
//! Coordinates are split colexicographically: the leftmost mode is the fastest.

/// A thread-value layout: the modes (size, stride) of the thread part and of the value part.
pub struct ThreadValue {
    thread_and_value: Vec<Vec<(u64, u64)>>,
}

impl ThreadValue {
    /// Parses `shape:stride`, where each is a pair of nested tuples.
    pub fn parse(text: &str) -> Self {
        let (shape, stride) = text.split_once(':').expect("shape:stride");
        let zip = |(shape, stride): (Vec<u64>, Vec<u64>)| shape.into_iter().zip(stride).collect();
        Self { thread_and_value: thread_and_value(shape).into_iter().zip(thread_and_value(stride)).map(zip).collect() }
    }

    /// Returns the number of coordinates of the thread part (`mode` 0) or of the value part (`mode` 1).
    pub fn size(&self, mode: usize) -> u64 {
        self.thread_and_value[mode].iter().map(|&(size, _)| size).product()
    }

    /// Returns the index in the tile of value number `value` of a thread.
    pub fn index(&self, thread: u64, value: u64) -> u64 {
        offset(&self.thread_and_value[0], thread) + offset(&self.thread_and_value[1], value)
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

/// Returns the numbers of each part of a pair of nested tuples, in text order.
fn thread_and_value(text: &str) -> Vec<Vec<u64>> {
    let mut thread_and_value = vec![Vec::new()];
    let mut depth = 0;
    let mut digits = String::new();
    for c in text.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            thread_and_value.last_mut().expect("a part").push(std::mem::take(&mut digits).parse().expect("a number"));
        }
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 1 => thread_and_value.push(Vec::new()),
            _ => {}
        }
    }
    thread_and_value
}
