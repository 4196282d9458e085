//! Edits of program text, line by line, that plant a fault for the suite to find.

/// An edit of the lines that contain certain words.
#[derive(Clone, Copy)]
pub enum Edit {
    /// Deletes the lines that contain all of these words.
    Drop(&'static [&'static str]),
    /// Replaces the second text by the third in lines that contain the first.
    Put(&'static str, &'static str, &'static str),
    /// Swaps the last two operands in lines that contain this text.
    Swap(&'static str),
    /// Deletes everything from the second text on in lines that contain the first.
    Cut(&'static str, &'static str),
}

impl Edit {
    /// Applies the edit to every line of `text` that it selects; returns the edited text.
    pub fn of(self, text: &str) -> String {
        let lines = text.lines().filter_map(|line| self.line(line));
        lines.fold(String::new(), |text, line| text + &line + "\n")
    }

    fn line(self, line: &str) -> Option<String> {
        match self {
            Self::Drop(words) => (!words.iter().all(|word| line.contains(word))).then(|| line.to_owned()),
            Self::Put(words, from, to) if line.contains(words) => Some(line.replace(from, to)),
            Self::Swap(words) if line.contains(words) => Some(swapped(line)),
            Self::Cut(words, from) if line.contains(words) => {
                Some(line.split_once(from).map_or(line, |(before, _)| before).to_owned())
            }
            _ => Some(line.to_owned()),
        }
    }
}

/// Turns `add %1, %2, %3;` into `add %1, %3, %2;`.
fn swapped(line: &str) -> String {
    let (body, end) = match line.strip_suffix(';') {
        Some(body) => (body, ";"),
        None => (line, ""),
    };
    let Some((before, last)) = body.rsplit_once(", ") else { return line.to_owned() };
    // The operand before the last one begins after a comma, or after the operation's last word.
    let Some(start) = before.rfind([' ', '\t']) else { return line.to_owned() };
    let (head, first) = before.split_at(start + 1);
    format!("{head}{last}, {first}{end}")
}

#[test]
fn edits_change_what_they_say() {
    assert_eq!(Edit::Drop(&["barrier", "block"]).of("a\nbarrier block all\nb\n"), "a\nb\n");
    assert_eq!(
        Edit::Put("lt_s", "lt_s", "lt_u").of("  %2: i1 = compare lt_s %0, %1"),
        "  %2: i1 = compare lt_u %0, %1\n"
    );
    assert_eq!(Edit::Swap("sub").of("\tsub.s32 \t%r1, %r2, %r3;"), "\tsub.s32 \t%r1, %r3, %r2;\n");
    assert_eq!(Edit::Swap("binary sub").of("%2: i32 = binary sub %0, %1"), "%2: i32 = binary sub %1, %0\n");
    assert_eq!(Edit::Cut("store", " if ").of("store %1, %2 align 4 if %3"), "store %1, %2 align 4\n");
}
