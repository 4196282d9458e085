//! Colours by meaning, and the palette behind them.
//!
//! The eight base hues are those of Okabe and Ito's palette for colour-blind readers
//! (<https://jfly.uni-koeln.de/color/>, with a grey in place of black), ordered so that neighbours
//! differ in more than hue. Indices beyond eight repeat the hues lighter: four tiers, then again.

/// A colour by its meaning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// The background.
    #[default]
    Empty,
    /// One of `of` things that are told apart by hue, and within it one of `shades`.
    Hue {
        /// Which of them: a lane, a warp, a register, a bank.
        index: u64,
        /// How many there are.
        of: u64,
        /// Which shade: a second key, 0 the darkest.
        shade: u64,
        /// How many shades there are; one for no second key.
        shades: u64,
    },
    /// A verdict.
    Tone(Tone),
    /// No cell at all: nothing is drawn, no lines around it either.
    Absent,
}

/// What a colour says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tone {
    /// Nothing: a zero, a blank.
    Quiet,
    /// A one, or something to look at.
    Strong,
    /// As it should be: the same, free of conflicts.
    Good,
    /// Something to note: moved.
    Warn,
    /// A difference, a conflict.
    Bad,
}

/// A colour as screens take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rgb(pub u8, pub u8, pub u8);

const WHITE: Rgb = Rgb(255, 255, 255);
const INK: Rgb = Rgb(0, 0, 0);

/// Blue, orange, green, purple, sky, vermillion, yellow, grey.
const HUES: [Rgb; 8] = [
    Rgb(0, 114, 178),
    Rgb(230, 159, 0),
    Rgb(0, 158, 115),
    Rgb(204, 121, 167),
    Rgb(86, 180, 233),
    Rgb(213, 94, 0),
    Rgb(240, 228, 66),
    Rgb(140, 140, 140),
];

/// How much white the four tiers of indices 0 to 31 are mixed with, in hundredths.
const TIERS: [u32; 4] = [0, 35, 58, 78];

impl Fill {
    /// The hue of thing `index` of `of`.
    #[must_use]
    pub fn hue(index: u64, of: u64) -> Self {
        Self::shaded(index, of, 0, 1)
    }

    /// The hue of thing `index` of `of`, in shade `shade` of `shades`.
    #[must_use]
    pub fn shaded(index: u64, of: u64, shade: u64, shades: u64) -> Self {
        Self::Hue { index, of, shade, shades }
    }

    /// The colour of a verdict.
    #[must_use]
    pub fn tone(tone: Tone) -> Self {
        Self::Tone(tone)
    }

    /// The colour; none for the background.
    #[must_use]
    pub fn rgb(self) -> Option<Rgb> {
        match self {
            Self::Empty | Self::Absent => None,
            Self::Tone(tone) => Some(tone.rgb()),
            Self::Hue { index, of, shade, shades } => Some(hue(index, of, shade, shades)),
        }
    }
}

/// The tiers share the way to white with the shades: with few things all of it is the shades'.
fn hue(index: u64, of: u64, shade: u64, shades: u64) -> Rgb {
    let base = HUES[(index % 8) as usize];
    let tiers = of.div_ceil(8).clamp(1, 4);
    let tier = (index / 8 % tiers) as usize;
    let start = TIERS[tier * if tiers == 2 { 2 } else { 1 }];
    let span = match tiers {
        1 => 75,
        2 => 30,
        _ => 16,
    };
    let part = shade.min(shades.saturating_sub(1)) as u32 * span / (shades.max(2) - 1) as u32;
    base.mixed(WHITE, start + part)
}

impl Tone {
    /// The colour.
    #[must_use]
    pub fn rgb(self) -> Rgb {
        match self {
            Self::Quiet => Rgb(240, 240, 240),
            Self::Strong => Rgb(40, 40, 40),
            Self::Good => Rgb(153, 216, 201),
            Self::Warn => Rgb(253, 212, 110),
            Self::Bad => Rgb(213, 62, 40),
        }
    }
}

impl Rgb {
    /// This colour with so many hundredths of another.
    #[must_use]
    pub fn mixed(self, other: Self, hundredths: u32) -> Self {
        let share = hundredths.min(100);
        let mix = |a: u8, b: u8| ((u32::from(a) * (100 - share) + u32::from(b) * share + 50) / 100) as u8;
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }

    /// Black or white, whichever reads better on this colour.
    #[must_use]
    pub fn ink(self) -> Self {
        if self.contrast(INK) >= self.contrast(WHITE) { INK } else { WHITE }
    }

    /// The contrast ratio of two colours, 1 to 21 (Web Content Accessibility Guidelines 2.2).
    #[must_use]
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let c = f64::from(channel) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// As CSS writes it: `#0072b2`.
    #[must_use]
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}
