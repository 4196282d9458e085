//! Decimal text of floating-point numbers, with the digits that MLIR prints.
//!
//! For texts to be identical to MLIR's, digits are cut as LLVM's `APFloat::toString` cuts them: it drops digits of the
//! exact decimal that are certainly not needed, and rounds the rest if it is still too long.

use super::types::FloatType;

/// Returns the text of a number: in decimal if that parses back to the same bits, otherwise the bits in hexadecimal.
pub(super) fn text(float: FloatType, bits: u64) -> String {
    let value = float.decode(bits);
    let is_same = |text: &String| text.parse().ok().and_then(|read| float.encode(read)) == Some(bits);
    let texts = [short, long].into_iter().filter(|_| value.is_finite());
    match texts.filter_map(|write| write(value, float)).find(is_same) {
        Some(text) => text,
        None => format!("0x{bits:0digits$X}", digits = (float.bits() as usize).div_ceil(4)),
    }
}

/// The significant digits of a number, without zeros at either end, and the exponent of ten of the last digit.
struct Digits {
    digits: String,
    last: i32,
}

impl Digits {
    /// Returns the exponent of ten of the first digit.
    fn first(&self) -> i32 {
        self.last + self.digits.len() as i32 - 1
    }
}

/// Returns the decimal text of a number with six digits after the point, as `2.500000e-01`.
fn short(value: f64, _: FloatType) -> Option<String> {
    const PRECISION: usize = 6;
    let digits = digits(value, PRECISION);
    let (first, rest) = digits.digits.split_at(1);
    let exponent = digits.first();
    let sign = if exponent < 0 { '-' } else { '+' };
    Some(format!("{}{first}.{rest:0<PRECISION$}e{sign}{:02}", minus(value), exponent.unsigned_abs()))
}

/// Returns the decimal text with enough digits to distinguish all numbers of the type, as `0.693147182` or `1.5E-7`.
///
/// `None` for an integral value that needs no exponent: its text would read as an integer.
fn long(value: f64, float: FloatType) -> Option<String> {
    /// The largest number of zeros that may stand between the point and the digits; with more, the text has an
    /// exponent.
    const PADDING: i32 = 3;
    let significand = match float {
        FloatType::F64 => 53,
        FloatType::F32 => 24,
        FloatType::F16 | FloatType::Tf32 => 11,
        FloatType::Bf16 => 8,
        _ => 4,
    };
    let precision = 2 + significand * 59 / 196;
    let digits = digits(value, precision);
    let (all, last, exponent) = (&digits.digits, digits.last, digits.first());
    let scientific = if last >= 0 {
        last > PADDING || all.len() as i32 + last > precision as i32
    } else {
        exponent < 0 && -exponent > PADDING
    };
    let sign = minus(value);
    if scientific {
        let (first, rest) = all.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        return Some(format!("{sign}{first}.{rest}E{exponent:+}"));
    }
    match usize::try_from(exponent) {
        Ok(point) if point + 1 >= all.len() => None,
        Ok(point) => Some(format!("{sign}{}.{}", &all[..=point], &all[point + 1..])),
        Err(_) => Some(format!("{sign}0.{}{all}", "0".repeat(exponent.unsigned_abs() as usize - 1))),
    }
}

fn minus(value: f64) -> &'static str {
    if value.is_sign_negative() { "-" } else { "" }
}

/// Returns at most `precision` digits of a finite number, cut and rounded as in `APFloat::toString`.
fn digits(value: f64, precision: usize) -> Digits {
    /// Upper bound of the number of digits of a binary64.
    const ALL: usize = 800;
    if value == 0.0 {
        return Digits { digits: "0".to_owned(), last: 0 };
    }
    let text = format!("{:.ALL$e}", value.abs());
    let (number, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let all = number.replace('.', "");
    let mut kept = all.trim_end_matches('0').to_owned();
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut last = exponent + 1 - kept.len() as i32;
    // `APFloat` counts the digits with the zeros that a positive exponent adds, so the scale is at most 0.
    let scale = last.min(0);
    let bits = (value.abs().log2() - f64::from(scale) * std::f64::consts::LOG2_10).floor() as i64 + 1;
    let needed = (precision as i64 * 196 + 58) / 59;
    let dropped = ((bits - needed).max(0) * 59 / 196) as i32 - (last - scale);
    if dropped > 0 {
        kept.truncate(kept.len().saturating_sub(dropped as usize).max(1));
        last += dropped;
    }
    rounded(kept, last, precision)
}

/// Rounds digits to `precision` digits; ties go up. The exponent of the last digit is `last`.
fn rounded(mut kept: String, mut last: i32, precision: usize) -> Digits {
    if kept.len() > precision {
        let up = kept.as_bytes()[precision] >= b'5';
        last += (kept.len() - precision) as i32;
        kept.truncate(precision);
        if up {
            let nines = kept.len() - kept.trim_end_matches('9').len();
            kept.truncate(kept.len() - nines);
            last += nines as i32;
            kept = match kept.pop() {
                Some(digit) => format!("{kept}{}", char::from(digit as u8 + 1)),
                None => "1".to_owned(),
            };
        }
    }
    let zeros = kept.len() - kept.trim_end_matches('0').len();
    kept.truncate(kept.len() - zeros);
    Digits { digits: kept, last: last + zeros as i32 }
}
