//! How a command ends badly: one message with the place, and the exit code.

use std::io::IsTerminal;
use std::process::ExitCode;

use ariadne::{CharSet, Config, IndexType, Label, Report, ReportKind, Source};

use tilewright::{LayoutRequestError, PipelineError, SessionError};
use tilewright_layout::text::TextError;
use tilewright_lower::LowerError;
use tilewright_picture::PictureError;
use tilewright_plan::contract::ContractError;
use tilewright_plan::movement::MovementError;
use tilewright_plugin::{CompileError, LoadError};
use tilewright_target::CatalogueError;

/// Why there is no answer.
#[derive(Debug)]
pub enum CommandError {
    /// The input is bad; exit code 2.
    Input(String),
    /// The input is bad at a place in a text; exit code 2.
    Text {
        /// What the text was given as: `SRC`.
        name: String,
        /// The text.
        text: String,
        /// Where and what.
        error: TextError,
    },
    /// Something failed that should not; exit code 1.
    Broken(String),
    /// Whoever reads the output has gone; not reported.
    OutputClosed,
}

impl CommandError {
    /// Reports the failure on standard error and gives the exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Self::Input(message) => {
                eprintln!("error: {message}");
                ExitCode::from(2)
            }
            Self::Text { name, text, error } => {
                show_place(&name, &text, &error);
                ExitCode::from(2)
            }
            Self::Broken(message) => {
                eprintln!("error: {message}");
                ExitCode::FAILURE
            }
            Self::OutputClosed => ExitCode::SUCCESS,
        }
    }

    /// The failure of reading a layout from `text`, given as `name`.
    pub fn of_question(name: &str, text: &str, error: LayoutRequestError) -> Self {
        match error {
            LayoutRequestError::Notation(error) => Self::Text { name: name.to_owned(), text: text.to_owned(), error },
            other => Self::Input(format!("{name}: {other}")),
        }
    }
}

fn show_place(name: &str, text: &str, error: &TextError) {
    let end = text[error.at.min(text.len())..].chars().next().map_or(error.at, |c| error.at + c.len_utf8());
    let place = (name, error.at..end.max(error.at));
    let hint = error.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    let config = Config::default()
        .with_color(std::io::stderr().is_terminal())
        .with_char_set(CharSet::Ascii)
        .with_index_type(IndexType::Byte);
    let report = Report::build(ReportKind::Error, place.clone())
        .with_config(config)
        .with_message(format!("{}{hint}", error.message))
        .with_label(Label::new(place).with_message("here"))
        .finish();
    if report.eprint((name, Source::from(text))).is_err() {
        eprintln!("error: {name}: {error}");
    }
}

impl From<PipelineError> for CommandError {
    fn from(error: PipelineError) -> Self {
        let message = error.to_string();
        match error {
            PipelineError::Plugin(_) | PipelineError::Lowered(_) => Self::Broken(message),
            PipelineError::Compile(CompileError::Backend(_) | CompileError::Plugin(_)) => Self::Broken(message),
            PipelineError::Family(tilewright_layout::FamilyError::Plugin(_)) => Self::Broken(message),
            _ => Self::Input(message),
        }
    }
}

/// Errors that are always the fault of the input.
macro_rules! input_errors {
    ($($error:ty),*) => {$(
        impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                Self::Input(error.to_string())
            }
        }
    )*};
}

input_errors!(CatalogueError, ContractError, LowerError, MovementError, PictureError);

/// The user named the plugin's file: one that is no plugin is bad input, one that misbehaves is broken.
impl From<SessionError> for CommandError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Plugin(LoadError::Broken { .. } | LoadError::Isolated(_)) => Self::Broken(error.to_string()),
            _ => Self::Input(error.to_string()),
        }
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Broken(error.to_string()),
        }
    }
}
