//! Reads the text of tuples, layouts and composed layouts.

use std::str::FromStr;

use super::{
    ComposedLayout, CoordinateLayout, CoordinateMode, CuteError, IntTuple, Layout, MAX_DEPTH, Selection, Swizzle, Tree,
};

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn whole<T>(text: &'a str, read: impl FnOnce(&mut Self) -> Result<T, CuteError>) -> Result<T, CuteError> {
        let mut reader = Self { text, at: 0 };
        let value = read(&mut reader)?;
        if reader.next().is_some() { Err(reader.wrong("the end of the text")) } else { Ok(value) }
    }

    /// The next character behind white space.
    fn next(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn wrong(&mut self, expected: &'static str) -> CuteError {
        let found = self.next().map_or("the end of the text".to_owned(), |found| format!("`{found}`"));
        CuteError::Syntax { at: self.text[..self.at].chars().count(), expected, found }
    }

    fn takes(&mut self, wanted: &str) -> bool {
        self.next();
        let there = self.text[self.at..].starts_with(wanted);
        self.at += if there { wanted.len() } else { 0 };
        there
    }

    fn must(&mut self, wanted: &str, expected: &'static str) -> Result<(), CuteError> {
        if self.takes(wanted) { Ok(()) } else { Err(self.wrong(expected)) }
    }

    fn integer(&mut self, expected: &'static str) -> Result<u64, CuteError> {
        self.next();
        let rest = &self.text[self.at..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            return Err(self.wrong(expected));
        }
        let value = rest[..digits].parse().map_err(|_| self.wrong("an integer below 2^64"))?;
        self.at += digits;
        Ok(value)
    }

    fn tree<T>(&mut self, depth: usize, leaf: fn(&mut Self) -> Result<T, CuteError>) -> Result<Tree<T>, CuteError> {
        if !self.takes("(") {
            return Ok(Tree::leaf(leaf(self)?));
        }
        if depth == MAX_DEPTH {
            return Err(CuteError::TooDeep { depth: depth + 1 });
        }
        let mut modes = Vec::new();
        if self.takes(")") {
            return Tree::tuple(modes);
        }
        loop {
            modes.push(self.tree(depth + 1, leaf)?);
            if self.takes(")") {
                return Tree::tuple(modes);
            }
            self.must(",", "`,` or `)`")?;
        }
    }

    fn tuple(&mut self) -> Result<IntTuple, CuteError> {
        self.tree(0, |reader| reader.integer("an integer or `(`"))
    }

    fn selection(&mut self) -> Result<Selection, CuteError> {
        self.tree(
            0,
            |reader| {
                if reader.takes("_") { Ok(None) } else { reader.integer("an integer, `_` or `(`").map(Some) }
            },
        )
    }

    fn open(&mut self) -> Result<Tree<Option<u64>>, CuteError> {
        self.tree(
            0,
            |reader| {
                if reader.takes("?") { Ok(None) } else { reader.integer("a number, `?` or `(`").map(Some) }
            },
        )
    }

    /// `2@1`, `1@0+1@1` or `0`, as pairs of a step and its axis.
    fn steps(&mut self) -> Result<Vec<(u64, u32)>, CuteError> {
        let mut steps = Vec::new();
        loop {
            let step = self.integer("a stride such as `1@0`, or `(`")?;
            if step == 0 && steps.is_empty() && !self.takes("@") {
                return Ok(steps);
            }
            if step != 0 {
                self.must("@", "`@` and an axis")?;
            }
            steps.push((step, self.small()?));
            if !self.takes("+") {
                return Ok(steps);
            }
        }
    }

    fn coordinates(&mut self) -> Result<CoordinateLayout, CuteError> {
        let shape = self.tuple()?;
        self.must(":", "`:` and strides such as `1@0`")?;
        let steps = self.tree(0, Self::steps)?;
        let axes = steps.leaves().into_iter().flatten().map(|(_, axis)| *axis as usize + 1).max().unwrap_or(0);
        let modes = shape.zip(&steps, &mut |&shape, steps| {
            let mut stride = vec![0u64; axes];
            for &(step, axis) in steps {
                stride[axis as usize] = step;
            }
            CoordinateMode { shape, stride }
        });
        let modes = modes.ok_or_else(|| CuteError::NotCongruent {
            left: shape.to_string(),
            right: "its strides".to_owned(),
            remedy: "give every size a stride",
        })?;
        CoordinateLayout::new(axes, modes)
    }

    fn layout(&mut self) -> Result<Layout, CuteError> {
        let shape = self.tuple()?;
        // A shape alone stands for its compact layout.
        if self.takes(":") { Layout::new(&shape, &self.tuple()?) } else { Layout::compact(&shape) }
    }

    fn swizzle(&mut self) -> Result<Swizzle, CuteError> {
        self.must("<", "`<`")?;
        let bits = self.small()?;
        self.must(",", "`,`")?;
        let base = self.small()?;
        self.must(",", "`,`")?;
        let below = self.takes("-");
        let shift = self.small()? as i32;
        self.must(">", "`>`")?;
        Swizzle::new(bits, base, if below { -shift } else { shift })
    }

    fn small(&mut self) -> Result<u32, CuteError> {
        let before = self.at;
        let value = self.integer("an integer below 64")?;
        u32::try_from(value).ok().filter(|&value| value < 64).ok_or_else(|| {
            self.at = before;
            self.wrong("an integer below 64")
        })
    }

    fn composed(&mut self) -> Result<ComposedLayout, CuteError> {
        let mut swizzles = Vec::new();
        while self.takes("Swizzle") || self.takes("Sw") {
            swizzles.push(self.swizzle()?);
            self.must("o", "`o`")?;
        }
        let before = self.at;
        // `4 o ...` begins with an offset, `4:1` and `4` with a layout.
        let offset = self.integer("an offset").ok().filter(|_| self.takes("o"));
        if offset.is_none() {
            self.at = before;
        }
        ComposedLayout::new(swizzles, offset.unwrap_or(0), self.layout()?)
    }
}

/// Reads a tuple some of whose integers are not known yet, which are written `?`.
///
/// # Errors
/// [`CuteError::Syntax`], [`CuteError::TooDeep`].
pub fn open_tuple(text: &str) -> Result<Tree<Option<u64>>, CuteError> {
    Reader::whole(text, Reader::open)
}

impl FromStr for IntTuple {
    type Err = CuteError;

    fn from_str(text: &str) -> Result<Self, CuteError> {
        Reader::whole(text, |reader| reader.tuple())
    }
}

impl FromStr for Selection {
    type Err = CuteError;

    fn from_str(text: &str) -> Result<Self, CuteError> {
        Reader::whole(text, Reader::selection)
    }
}

impl FromStr for CoordinateLayout {
    type Err = CuteError;

    fn from_str(text: &str) -> Result<Self, CuteError> {
        Reader::whole(text, Reader::coordinates)
    }
}

impl FromStr for Layout {
    type Err = CuteError;

    fn from_str(text: &str) -> Result<Self, CuteError> {
        Reader::whole(text, Reader::layout)
    }
}

impl FromStr for Swizzle {
    type Err = CuteError;

    fn from_str(text: &str) -> Result<Self, CuteError> {
        Reader::whole(text, |reader| {
            if !reader.takes("Swizzle") {
                reader.must("Sw", "`Swizzle<B,M,S>`")?;
            }
            reader.swizzle()
        })
    }
}

impl FromStr for ComposedLayout {
    type Err = CuteError;

    fn from_str(text: &str) -> Result<Self, CuteError> {
        Reader::whole(text, Reader::composed)
    }
}
