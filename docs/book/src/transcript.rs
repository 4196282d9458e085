//! Commands that a page shows together with their output.
//!
//! Such a command stands in a block ```` ```console ```` behind `$ `; the lines up to the next `$ ` are its output.

/// A command and the lines that it prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// The command, with its continuation lines.
    pub command: String,
    /// Its output, without trailing spaces.
    pub output: Vec<String>,
}

/// The text of a page in which each transcript shows the output that `run` gives for its command.
///
/// A block without `$ ` stays as it is.
pub fn rewrite_transcripts(text: &str, mut run: impl FnMut(&str) -> String) -> String {
    let mut written = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        written.push_str(line);
        written.push('\n');
        if line != "```console" {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match transcripts(&block) {
            shown if shown.is_empty() => block.iter().for_each(|line| push_line(&mut written, line)),
            shown => shown.iter().for_each(|shown| push_transcript(&mut written, shown, &run(&shown.command))),
        }
        push_line(&mut written, "```");
    }
    written
}

fn push_transcript(written: &mut String, shown: &Transcript, output: &str) {
    push_line(written, &format!("$ {}", shown.command));
    output.lines().for_each(|line| push_line(written, line));
}

fn push_line(written: &mut String, line: &str) {
    written.push_str(line.trim_end());
    written.push('\n');
}

/// The transcripts of a block.
fn transcripts(block: &[&str]) -> Vec<Transcript> {
    let mut found: Vec<Transcript> = Vec::new();
    let mut continues = false;
    for line in block {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push(Transcript { command: command.to_owned(), output: Vec::new() }),
            (None, Some(last)) if continues => last.command.extend(["\n", line]),
            (None, Some(last)) => last.output.push((*line).to_owned()),
            (None, None) => return Vec::new(),
        }
        continues = line.ends_with('\\') && (continues || line.starts_with("$ "));
    }
    found
}
