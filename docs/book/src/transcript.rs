//! Transcripts: commands on a documentation page together with their output.
//!
//! In a block ```` ```console ````, a command begins with `$ `, and the lines up to the next `$ ` are its output.

/// A command on a page, and the output that the page shows for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// The command, with its continuation lines.
    pub command: String,
    /// The lines of the output, without trailing spaces.
    pub output: Vec<String>,
}

/// Replaces the output in each transcript of a page by the result of `run` for its command.
///
/// A block without `$ ` is not changed.
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

/// Returns the transcripts in a block; none if the block does not begin with a command.
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
