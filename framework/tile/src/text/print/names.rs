//! Chooses the printed names of values: those in the parsed text, unless another value in scope has the name.

use std::collections::HashSet;

use crate::{FunctionBody, Value};

/// The printed names of values, and the names in scope.
pub(super) struct Names {
    /// For each value, by index: its name, and its position among the values that share the name, if there are several.
    known: Vec<Option<(String, Option<u32>)>>,
    /// Names in use, one set per open region.
    taken: Vec<HashSet<String>>,
    /// For each open region, the next number for a value without a name.
    next: Vec<u32>,
}

impl Names {
    pub fn new(body: &FunctionBody) -> Self {
        Self { known: vec![None; body.value_count()], taken: Vec::new(), next: vec![0] }
    }

    pub fn enter(&mut self) {
        self.taken.push(HashSet::new());
        self.next.push(self.next.last().copied().unwrap_or(0));
    }

    pub fn leave(&mut self) {
        self.taken.pop();
        self.next.pop();
    }

    fn is_taken(&self, name: &str) -> bool {
        self.taken.iter().any(|names| names.contains(name))
    }

    /// Gives consecutive values one name, and returns the text of their definition: `%a`, or `%a:2` for two values.
    pub fn define_values(&mut self, body: &FunctionBody, values: &[Value]) -> String {
        let Some(first) = values.first() else { return String::new() };
        let required = body.value_name(*first).filter(|name| !name.is_empty()).map(str::to_owned);
        let name = match required {
            Some(name) if !self.is_taken(&name) => name,
            Some(name) => {
                (0u32..).map(|number| format!("{name}_{number}")).find(|name| !self.is_taken(name)).unwrap_or(name)
            }
            None => self.number(),
        };
        for (result_index, value) in values.iter().enumerate() {
            let result_index = (values.len() > 1).then_some(result_index as u32);
            self.known[value.index()] = Some((name.clone(), result_index));
        }
        if let Some(names) = self.taken.last_mut() {
            names.insert(name.clone());
        }
        if values.len() > 1 { format!("%{name}:{}", values.len()) } else { format!("%{name}") }
    }

    fn number(&mut self) -> String {
        loop {
            let number = self.next.last().copied().unwrap_or(0);
            if let Some(next) = self.next.last_mut() {
                *next += 1;
            }
            let name = number.to_string();
            if !self.is_taken(&name) {
                return name;
            }
        }
    }

    /// The text of a use of a value, `%a` or `%a#1`; a text in angle brackets if the value was never named.
    pub fn print_use(&self, value: Value) -> String {
        match self.known.get(value.index()) {
            Some(Some((name, None))) => format!("%{name}"),
            Some(Some((name, Some(result_index)))) => format!("%{name}#{result_index}"),
            _ => format!("%<value {} is defined nowhere>", value.index()),
        }
    }
}
