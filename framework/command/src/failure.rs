//! Errors of a command: one message with the place in the input, and the exit code.

use std::io::IsTerminal;
use std::process::ExitCode;

use ariadne::{CharSet, Config, IndexType, Label, Report, ReportKind, Source};

use tilewright::{LayoutRequestError, SessionError, SessionOpenError};
use tilewright_layout::text::TextError;
use tilewright_lower::LowerError;
use tilewright_picture::PictureError;
use tilewright_plan::mma::MmaError;
use tilewright_plan::movement::MovementError;
use tilewright_plugin::{CompileError, LoadError};
use tilewright_target::TargetCatalogueError;

/// Error of a command, with an exit code.
#[derive(Debug)]
pub enum CommandError {
    /// The input is bad; exit code 2.
    Input(String),
    /// The input is bad at a place in a text; exit code 2.
    Text {
        /// Name of the text, such as `SRC`.
        name: String,
        /// The text that has the error.
        text: String,
        /// The position in the text, and the error.
        error: TextError,
    },
    /// An internal or plugin failure; exit code 1.
    Broken(String),
    /// The reader of the standard output has closed the pipe; not reported.
    BrokenPipe,
}

impl CommandError {
    /// Prints the error to standard error and returns the command's exit code.
    pub fn print_and_exit_code(self) -> ExitCode {
        match self {
            Self::Input(message) => {
                eprintln!("error: {message}");
                ExitCode::from(2)
            }
            Self::Text { name, text, error } => {
                show_location(&name, &text, &error);
                ExitCode::from(2)
            }
            Self::Broken(message) => {
                eprintln!("error: {message}");
                ExitCode::FAILURE
            }
            Self::BrokenPipe => ExitCode::SUCCESS,
        }
    }

    /// Returns the message of an error of the input; `None` for other failures.
    pub fn input_message(&self) -> Option<&str> {
        match self {
            Self::Input(message) => Some(message),
            Self::Text { error, .. } => Some(&error.message),
            Self::Broken(_) | Self::BrokenPipe => None,
        }
    }

    /// Converts the error of parsing a layout from `text`; the message calls the layout `name`.
    pub fn from_layout_error(name: &str, text: &str, error: LayoutRequestError) -> Self {
        match error {
            LayoutRequestError::Notation(error) => Self::Text { name: name.to_owned(), text: text.to_owned(), error },
            other => Self::Input(format!("{name}: {other}")),
        }
    }
}

fn show_location(name: &str, text: &str, error: &TextError) {
    let end = text[error.at.min(text.len())..].chars().next().map_or(error.at, |c| error.at + c.len_utf8());
    let span = (name, error.at..end.max(error.at));
    let hint = error.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    let config = Config::default()
        .with_color(std::io::stderr().is_terminal())
        .with_char_set(CharSet::Ascii)
        .with_index_type(IndexType::Byte);
    let report = Report::build(ReportKind::Error, span.clone())
        .with_config(config)
        .with_message(format!("{}{hint}", error.message))
        .with_label(Label::new(span).with_message("here"))
        .finish();
    if report.eprint((name, Source::from(text))).is_err() {
        eprintln!("error: {name}: {error}");
    }
}

impl From<SessionError> for CommandError {
    fn from(error: SessionError) -> Self {
        let message = error.to_string();
        match error {
            SessionError::Plugin(_) | SessionError::Lowered(_) => Self::Broken(message),
            SessionError::Compile(CompileError::Backend(_) | CompileError::Plugin(_)) => Self::Broken(message),
            SessionError::Family(tilewright_layout::FamilyError::Plugin(_)) => Self::Broken(message),
            _ => Self::Input(message),
        }
    }
}

/// Implements conversions to [`CommandError::Input`] for error types that only bad input can cause.
macro_rules! input_errors {
    ($($error:ty),*) => {$(
        impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                Self::Input(error.to_string())
            }
        }
    )*};
}

input_errors!(TargetCatalogueError, MmaError, LowerError, MovementError, PictureError);

/// Converts a [`SessionOpenError`]: if a plugin violates its interface ([`LoadError::Broken`]) or its process fails
/// ([`LoadError::Isolated`]), the command has failed; every other error, such as a file that is not a plugin, is bad
/// input.
impl From<SessionOpenError> for CommandError {
    fn from(error: SessionOpenError) -> Self {
        match error {
            SessionOpenError::Plugin(LoadError::Broken { .. } | LoadError::Isolated(_)) => {
                Self::Broken(error.to_string())
            }
            _ => Self::Input(error.to_string()),
        }
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Broken(error.to_string()),
        }
    }
}
