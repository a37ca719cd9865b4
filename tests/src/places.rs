// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a table has strings, by its schema: a field that the IR gets tomorrow is one of these places.

use std::collections::BTreeSet;

use carrick_driver::table;
use serde_json::Value;

/// The type that has a string, in which field, and whether it is text; else it is a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    of: String,
    field: String,
    /// whether any text may be there
    pub text: bool,
}

/// The schema of tables.
pub struct Schema(Value);

/// Where the definition of a type is.
const DEFINED: &str = "#/$defs/";

impl Default for Schema {
    fn default() -> Self {
        Schema::new()
    }
}

impl Schema {
    /// The schema that this compiler writes.
    ///
    /// # Panics
    /// If it is no JSON.
    pub fn new() -> Schema {
        Schema(serde_json::from_str(&table::schema()).expect("the schema is JSON"))
    }

    /// All places.
    ///
    /// # Panics
    /// If the schema defines no types.
    pub fn places(&self) -> BTreeSet<Place> {
        let mut found = BTreeSet::new();
        let all = self.0["$defs"].as_object().expect("the types of the IR");
        for (name, schema) in all.iter().filter(|(name, _)| *name != "Text") {
            strings(schema, &Place { of: name.clone(), field: String::new(), text: false }, &mut found);
        }
        found
    }

    /// Calls `see` for each string of a table.
    pub fn each(&self, table: &mut Value, see: &mut dyn FnMut(&Place, &mut Value)) {
        let at = Place { of: "Program".into(), field: String::new(), text: false };
        self.walk(&self.0["$defs"]["Program"], &at, &mut table["program"], see);
    }

    fn walk(&self, schema: &Value, at: &Place, value: &mut Value, see: &mut dyn FnMut(&Place, &mut Value)) {
        match defined(schema) {
            Some("Text") => return see(&Place { text: true, ..at.clone() }, value),
            Some(name) => {
                let at = Place { of: name.into(), field: String::new(), text: false };
                return self.walk(&self.0["$defs"][name], &at, value, see);
            }
            None => {}
        }
        if let Some(one) = alternatives(schema).find(|one| self.fits(one, value)) {
            return self.walk(one, at, value, see);
        }
        match value {
            Value::Object(fields) => {
                for (field, value) in fields {
                    let at = Place { field: field.clone(), ..at.clone() };
                    self.walk(&schema["properties"][field], &at, value, see);
                }
            }
            Value::Array(all) => {
                for (n, value) in all.iter_mut().enumerate() {
                    let schema = schema["prefixItems"].get(n).unwrap_or(&schema["items"]);
                    self.walk(schema, at, value, see);
                }
            }
            Value::String(_) if is_open(schema) => see(at, value),
            _ => {}
        }
    }

    /// Whether a value is of this alternative: alternatives differ in their outermost form.
    fn fits(&self, schema: &Value, value: &Value) -> bool {
        if let Some(name) = defined(schema) {
            return self.fits(&self.0["$defs"][name], value);
        }
        if alternatives(schema).next().is_some() {
            return alternatives(schema).any(|one| self.fits(one, value));
        }
        let of_type = |name: &str| {
            schema["type"] == name || schema["type"].as_array().is_some_and(|all| all.contains(&name.into()))
        };
        match value {
            Value::Null => of_type("null"),
            Value::Bool(_) => of_type("boolean"),
            Value::Number(_) => of_type("integer"),
            Value::Array(_) => of_type("array"),
            Value::String(_) => match (schema.get("const"), schema["enum"].as_array()) {
                (Some(one), _) => one == value,
                (None, Some(all)) => all.contains(value),
                (None, None) => of_type("string"),
            },
            Value::Object(fields) => fields.keys().all(|field| schema["properties"].get(field).is_some()),
        }
    }
}

/// The type that a schema refers to.
fn defined(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix(DEFINED)
}

fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    ["oneOf", "anyOf"].into_iter().filter_map(|word| schema[word].as_array()).flatten()
}

/// Whether it may be any string.
fn is_open(schema: &Value) -> bool {
    let ty = &schema["type"];
    let string = ty == "string" || ty.as_array().is_some_and(|all| all.contains(&"string".into()));
    string && schema.get("const").is_none() && schema.get("enum").is_none()
}

/// The strings in a type, without those in the types that it refers to.
fn strings(schema: &Value, at: &Place, found: &mut BTreeSet<Place>) {
    if defined(schema) == Some("Text") {
        found.insert(Place { text: true, ..at.clone() });
    } else if is_open(schema) {
        found.insert(at.clone());
    }
    let inner = schema["prefixItems"].as_array().into_iter().flatten();
    inner.chain(schema.get("items")).chain(alternatives(schema)).for_each(|inner| strings(inner, at, found));
    for (field, inner) in schema["properties"].as_object().into_iter().flatten() {
        strings(inner, &Place { field: field.clone(), ..at.clone() }, found);
    }
}
