//! What values are called: what the text called them, as long as nothing else there has that name.

use std::collections::HashSet;

use crate::{Body, Value};

/// Names of values that can be used where the printer is.
pub(super) struct Names {
    /// By number of the value: its name, and which of several results it is.
    known: Vec<Option<(String, Option<u32>)>>,
    /// The names that are taken, region by region.
    taken: Vec<HashSet<String>>,
    /// The next number for a value without a name, region by region.
    next: Vec<u32>,
}

impl Names {
    pub fn new(body: &Body) -> Self {
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

    /// Names values that stand together, and gives the name: with how many there are, where they are several.
    pub fn define(&mut self, body: &Body, values: &[Value]) -> String {
        let Some(first) = values.first() else { return String::new() };
        let required = body.name(*first).filter(|name| !name.is_empty()).map(str::to_owned);
        let name = match required {
            Some(name) if !self.is_taken(&name) => name,
            Some(name) => {
                (0u32..).map(|number| format!("{name}_{number}")).find(|name| !self.is_taken(name)).unwrap_or(name)
            }
            None => self.number(),
        };
        for (place, value) in values.iter().enumerate() {
            let place = (values.len() > 1).then_some(place as u32);
            self.known[value.index()] = Some((name.clone(), place));
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

    /// What a value is called where it is used; of one that is defined nowhere, that it is not.
    pub fn of(&self, value: Value) -> String {
        match self.known.get(value.index()) {
            Some(Some((name, None))) => format!("%{name}"),
            Some(Some((name, Some(place)))) => format!("%{name}#{place}"),
            _ => format!("%<value {} is defined nowhere>", value.index()),
        }
    }
}
