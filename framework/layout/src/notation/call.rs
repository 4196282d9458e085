//! Conversion of calls, such as those of Gluon's classes, to specs of families.

use super::{AttributeSyntaxes, LayoutConstructorSyntax};
use crate::{FamilyError, FamilyParameterValue, FamilySpec, similar_name_hint};

impl AttributeSyntaxes {
    /// The same layout with each call replaced by the spec of its family; calls of unknown classes stay.
    ///
    /// ```
    /// use tilewright_layout::{AttributeSyntaxes, families::NeutralFamilies, parse_family_spec};
    /// let syntaxes = AttributeSyntaxes::from_families(&NeutralFamilies);
    /// let call = parse_family_spec("ttgl.SliceLayout(1, parent=ttgl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0]))")?;
    /// let text = "#ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], \
    ///             warpsPerCTA = [4, 1], order = [1, 0]}>}>";
    /// assert_eq!(syntaxes.print_spec(&syntaxes.replace_constructor_calls(&call)?), text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] if an argument is given twice, or if the call has no such parameter.
    pub fn replace_constructor_calls(&self, spec: &FamilySpec) -> Result<FamilySpec, FamilyError> {
        let mut result = match self.call(&spec.name) {
            Some((family, call)) => from_call(spec, family, call)?,
            None => spec.clone(),
        };
        if let Some(parent) = &mut result.parent {
            **parent = self.replace_constructor_calls(parent)?;
        }
        for value in result.attributes.values_mut() {
            if let FamilyParameterValue::Spec(nested) = value {
                **nested = self.replace_constructor_calls(nested)?;
            }
        }
        Ok(result)
    }

    /// Returns the names of all calls (such as `BlockedLayout`) that [`Self::replace_constructor_calls`] converts.
    #[must_use]
    pub fn constructor_names(&self) -> Vec<String> {
        self.all().flat_map(|syntax| &syntax.calls).map(|call| call.name.clone()).collect()
    }

    fn call(&self, name: &str) -> Option<(&str, &LayoutConstructorSyntax)> {
        let named = self.all().flat_map(|syntax| syntax.calls.iter().map(|call| (syntax.family.as_str(), call)));
        named.into_iter().find(|(_, call)| call.name == name)
    }
}

fn from_call(spec: &FamilySpec, family: &str, call: &LayoutConstructorSyntax) -> Result<FamilySpec, FamilyError> {
    let wrong = |parameter: &str, message: String| FamilyError::Parameter {
        family: call.name.clone(),
        parameter: parameter.to_owned(),
        message,
    };
    let mut result = FamilySpec { name: family.to_owned(), parent: spec.parent.clone(), ..FamilySpec::new(family) };
    for (name, value) in &spec.attributes {
        let parameter = match name.parse::<usize>() {
            Ok(position) => call.parameters.get(position).ok_or_else(|| {
                let takes = call.parameters.join(", ");
                wrong(name, format!("the call has {} parameters at most: {takes}", call.parameters.len()))
            })?,
            Err(_) => call.parameters.iter().find(|known| *known == name).ok_or_else(|| {
                wrong(name, format!("is not a parameter of this call{}", similar_name_hint(&call.parameters, name)))
            })?,
        };
        let taken = match value {
            FamilyParameterValue::Spec(parent) if parameter == "parent" => {
                result.parent.replace(parent.clone()).is_some()
            }
            _ if parameter == "parent" => return Err(wrong(parameter, "must be a layout".to_owned())),
            value => result.attributes.insert(parameter.clone(), value.clone()).is_some(),
        };
        if taken {
            return Err(wrong(parameter, "is given twice, by position and by name".to_owned()));
        }
    }
    for (parameter, value) in &call.defaults {
        result.attributes.entry(parameter.clone()).or_insert_with(|| value.clone());
    }
    Ok(result)
}
