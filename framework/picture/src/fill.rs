//! Colours by their meaning, and their palette.
//!
//! The eight base hues are the palette of Okabe and Ito for colour-blind readers (<https://jfly.uni-koeln.de/color/>,
//! with grey instead of black), ordered so that neighbours differ in more than hue. Indices from eight on repeat the
//! hues in lighter tiers; after four tiers the colours repeat.

/// The colour of a cell, by its meaning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CellColour {
    /// The colour of the background.
    #[default]
    Empty,
    /// A colour for one of `of` items: the hue distinguishes the items, the shade (one of `shades`) shows a second
    /// property.
    Hue {
        /// Index of the item: a lane, warp, register or bank.
        index: u64,
        /// Number of items that the hue distinguishes.
        of: u64,
        /// Index of the shade; 0 is the darkest.
        shade: u64,
        /// Number of shades; 1 if no second property is shown.
        shades: u64,
    },
    /// A colour for a verdict, such as correct or wrong.
    Tone(EmphasisColour),
    /// No cell: nothing is drawn, not even border lines.
    Absent,
}

/// A verdict or emphasis that a colour expresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EmphasisColour {
    /// A neutral colour, such as for a zero or a blank.
    Quiet,
    /// An emphasised colour, such as for a one.
    Strong,
    /// A colour for correct results, such as equal or free of conflicts.
    Good,
    /// A colour for notable results, such as a moved element.
    Warn,
    /// A colour for wrong results, such as a difference or a conflict.
    Bad,
}

/// An sRGB colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rgb(pub u8, pub u8, pub u8);

const WHITE: Rgb = Rgb(255, 255, 255);
const INK: Rgb = Rgb(0, 0, 0);

/// The base hues: blue, orange, green, purple, sky, vermillion, yellow, grey.
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

/// Percentage of white mixed into the hues of indices 0 to 7, 8 to 15, 16 to 23 and 24 to 31.
const TIERS: [u32; 4] = [0, 35, 58, 78];

impl CellColour {
    /// Returns the colour of the item with the index `index` among `of` items, such as a lane among the lanes of a
    /// warp.
    #[must_use]
    pub fn from_index(index: u64, of: u64) -> Self {
        Self::from_index_and_shade(index, of, 0, 1)
    }

    /// Returns the colour of the item with the index `index` among `of` items, in the shade with the index `shade`
    /// among `shades`.
    #[must_use]
    pub fn from_index_and_shade(index: u64, of: u64, shade: u64, shades: u64) -> Self {
        Self::Hue { index, of, shade, shades }
    }

    /// Returns the fill with the colour of the verdict `tone`.
    #[must_use]
    pub fn from_tone(tone: EmphasisColour) -> Self {
        Self::Tone(tone)
    }

    /// Returns the sRGB colour; `None` for the background and for a position where no cell is drawn.
    #[must_use]
    pub fn rgb(self) -> Option<Rgb> {
        match self {
            Self::Empty | Self::Absent => None,
            Self::Tone(tone) => Some(tone.rgb()),
            Self::Hue { index, of, shade, shades } => Some(hue(index, of, shade, shades)),
        }
    }
}

/// Computes the colour of an item in a shade. The hues of items 8 to 31 are mixed with white in up to three tiers, and
/// shades are mixed with white within their tier; with at most eight items there is one tier, and shades get the whole
/// range.
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
    let shift_to_white = shade.min(shades.saturating_sub(1)) as u32 * span / (shades.max(2) - 1) as u32;
    base.blend(WHITE, start + shift_to_white)
}

impl EmphasisColour {
    /// Returns the sRGB colour of this verdict.
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
    /// Mixes this colour with `hundredths` percent of another.
    #[must_use]
    pub fn blend(self, other: Self, hundredths: u32) -> Self {
        let share = hundredths.min(100);
        let blend = |a: u8, b: u8| ((u32::from(a) * (100 - share) + u32::from(b) * share + 50) / 100) as u8;
        Self(blend(self.0, other.0), blend(self.1, other.1), blend(self.2, other.2))
    }

    /// Returns black or white, whichever is more legible on this colour.
    #[must_use]
    pub fn readable_text_colour(self) -> Self {
        if self.contrast_ratio(INK) >= self.contrast_ratio(WHITE) { INK } else { WHITE }
    }

    /// Returns the contrast ratio of two colours, 1 to 21 (Web Content Accessibility Guidelines 2.2).
    #[must_use]
    pub fn contrast_ratio(self, other: Self) -> f64 {
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

    /// Returns the colour in CSS notation, such as `#0072b2`.
    #[must_use]
    pub fn to_css(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}
