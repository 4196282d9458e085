//! Conversion between `camelCase` and `snake_case`.

use crate::text::is_identifier;

/// Converts `sizePerThread` to `size_per_thread`, `warpsPerCTA` to `warps_per_cta`, `fp4KPack` to `fp4_k_pack`,
/// `twoCTAs` to `two_ctas`: a capital begins a word unless it follows another capital and no small letter follows it
/// other than the `s` of a plural.
#[must_use]
pub fn to_snake_case(word: &str) -> String {
    let chars: Vec<char> = word.chars().collect();
    let is_small = |index: usize| chars.get(index).is_some_and(char::is_ascii_lowercase);
    let mut out = String::new();
    for (index, &c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).map(|i| chars[i]);
        let plural = chars.get(index + 1) == Some(&'s') && !is_small(index + 2);
        let starts_word = c.is_ascii_uppercase()
            && before.is_some_and(|b| {
                b.is_ascii_lowercase()
                    || b.is_ascii_digit()
                    || (b.is_ascii_uppercase() && is_small(index + 1) && !plural)
            });
        if starts_word {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// The word that [`to_snake_case`] maps to `name`; `None` if no word does.
pub(super) fn camel_case(name: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(&next) if c == '_' && next.is_ascii_lowercase() && !out.is_empty() => {
                out.push(next.to_ascii_uppercase());
                chars.next();
            }
            _ => out.push(c),
        }
    }
    (is_identifier(&out) && to_snake_case(&out) == name).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attribute_keywords_become_parameter_names_and_back() {
        let pairs = [
            ("sizePerThread", "size_per_thread"),
            ("instrShape", "instr_shape"),
            ("kWidth", "k_width"),
            ("fp4Padded", "fp4_padded"),
            ("fp4KPack", "fp4_k_pack"),
            ("vec", "vec"),
            ("offset0", "offset0"),
        ];
        for (word, name) in pairs {
            assert_eq!(to_snake_case(word), name);
            assert_eq!(camel_case(name).as_deref(), Some(word));
        }
    }

    #[test]
    fn capitals_in_a_row_are_one_name_part() {
        let pairs = [
            ("warpsPerCTA", "warps_per_cta"),
            ("CGALayout", "cga_layout"),
            ("CTAsPerCGA", "ctas_per_cga"),
            ("CTASplitNum", "cta_split_num"),
            ("twoCTAs", "two_ctas"),
            ("MFMA", "mfma"),
            ("A", "a"),
        ];
        pairs.iter().for_each(|(word, name)| assert_eq!(to_snake_case(word), *name));
    }

    #[test]
    fn a_name_that_no_keyword_becomes_has_none() {
        for name in ["Upper", "two words", "", "7", "é", "_a__b_"] {
            assert_eq!(camel_case(name), None, "{name}");
        }
        assert_eq!(camel_case("a_7").as_deref(), Some("a_7"));
    }
}
