//! Which field of a JSON object is the document, and which its id.

use serde_json::{Map, Value};

use super::DocsOptions;
use super::gather::{Body, Gather};
use crate::error::{Advice, advice, setting};
use crate::{Error, Result};

/// The field that is taken by default.
pub(super) const FIELD: &str = "text";
/// The field with ids that is taken by default.
pub(super) const ID: &str = "id";
/// How many fields a message lists.
const MOST_SHOWN: usize = 12;

/// The field that is at fault, if it is one, and what is wrong.
pub(super) type Fault = (String, Advice);

/// Where documents and their ids are, once that is known.
pub(super) struct Fields {
    /// Known from the first object on.
    field: Option<String>,
    id: Option<String>,
    /// Whether ids are taken if there are any.
    any_ids: bool,
    asked: (bool, bool),
    /// Whether any object had the field, and the id.
    seen: (bool, bool),
    /// The fields of the first object.
    first: Option<Vec<String>>,
}

impl Fields {
    pub(super) fn new(options: &DocsOptions) -> Self {
        Fields {
            field: options.field.clone(),
            id: options.id.clone(),
            any_ids: options.ids,
            asked: (options.field.is_some(), options.id.is_some()),
            seen: (false, false),
            first: None,
        }
    }

    /// Adds the document that a JSON value is or holds.
    pub(super) fn add(
        &mut self,
        value: Value,
        gather: &mut Gather<'_>,
    ) -> std::result::Result<(), Fault> {
        let (body, id) = match &value {
            Value::Object(object) => self.pick(object)?,
            other => (body(other).map_err(|found| (String::new(), found))?, None),
        };
        gather.add(&body, id).map_err(|found| (String::new(), found.into()))
    }

    /// Refuses a file of which no object has the field that was asked for.
    pub(super) fn check(&self, gather: &mut Gather<'_>) -> Result<()> {
        let field = self.field.as_deref().unwrap_or(FIELD);
        gather.held_by(format!("the field {field}"));
        let wanted = [
            ("field", self.field.as_deref(), self.asked.0 && !self.seen.0),
            ("id", self.id.as_deref(), self.asked.1 && !self.seen.1),
        ];
        let Some(first) = &self.first else { return Ok(()) };
        match wanted.into_iter().find(|&(_, _, lacks)| lacks) {
            Some((name, value, _)) => Err(Error::parse(
                gather.path(),
                advice![
                    "no document has the field of ",
                    setting(name).to(value.unwrap_or_default()),
                    format!("; those of the first are {}", listed(first)),
                ],
            )),
            None => Ok(()),
        }
    }

    fn pick<'o>(
        &mut self,
        object: &'o Map<String, Value>,
    ) -> std::result::Result<(Body<'o>, Option<String>), Fault> {
        if self.first.is_none() {
            let has_id = self.any_ids && self.id.is_none() && object.contains_key(ID);
            if has_id {
                self.id = Some(ID.to_string());
            }
            self.first = Some(leaves(object).map(|(name, _)| name).collect());
        }
        let field = match &self.field {
            Some(field) => field,
            None => {
                let chosen = choose(object, self.id.as_deref().unwrap_or(ID))?;
                self.field.insert(chosen)
            }
        };
        let document = find(object, field);
        self.seen.0 |= document.is_some();
        let body = match document {
            Some(value) => body(value).map_err(|found| (field.clone(), found))?,
            None => Body::Missing,
        };
        let id = match &self.id {
            Some(name) => {
                let value = find(object, name);
                self.seen.1 |= value.is_some();
                Some(id(value).map_err(|found| (name.clone(), found))?)
            }
            None => None,
        };
        Ok((body, id))
    }
}

/// The document that a value is.
fn body(value: &Value) -> std::result::Result<Body<'_>, Advice> {
    match value {
        Value::Null => Ok(Body::Missing),
        Value::String(text) => Ok(Body::Text(text.as_str().into())),
        Value::Array(tokens) => {
            let texts = tokens.iter().enumerate().map(|(at, token)| match token {
                Value::String(token) => Ok(token.clone()),
                other => Err(format!(
                    "found a list with {} in place {}; a document is a text, or a list of its words as strings",
                    kind(other),
                    at + 1
                )
                .into()),
            });
            texts.collect::<std::result::Result<_, _>>().map(Body::Tokens)
        }
        other => Err(format!(
            "found {}; a document is a text, a list of its words as strings, or null if there is none",
            kind(other)
        )
        .into()),
    }
}

/// The id that a value is; empty if there is none.
fn id(value: Option<&Value>) -> std::result::Result<String, Advice> {
    match value {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(id)) => Ok(id.clone()),
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(other) => Err(format!("found {}; an id is a text or a number", kind(other)).into()),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The value that `a.b` leads to: the field of that name, or field b of the object a.
fn find<'o>(object: &'o Map<String, Value>, path: &str) -> Option<&'o Value> {
    object.get(path).or_else(|| {
        path.match_indices('.').find_map(|(dot, _)| {
            let inner = object.get(&path[..dot])?.as_object()?;
            find(inner, &path[dot + 1..])
        })
    })
}

/// The fields with their values, those of objects as `a.b`.
fn leaves(object: &Map<String, Value>) -> impl Iterator<Item = (String, &Value)> {
    object.iter().flat_map(|(name, value)| match value {
        Value::Object(inner) => {
            inner.iter().map(|(below, value)| (format!("{name}.{below}"), value)).collect()
        }
        _ => vec![(name.clone(), value)],
    })
}

/// The field with the document unless named: `text`, or the only one that can be.
fn choose(object: &Map<String, Value>, id: &str) -> std::result::Result<String, Fault> {
    if object.contains_key(FIELD) {
        return Ok(FIELD.to_string());
    }
    let is_text = |value: &Value| match value {
        Value::String(_) => true,
        Value::Array(tokens) => !tokens.is_empty() && tokens.iter().all(Value::is_string),
        _ => false,
    };
    let (texts, all): (Vec<_>, Vec<_>) = {
        let all: Vec<_> = leaves(object).collect();
        let texts = all.iter().filter(|(name, value)| name != id && is_text(value));
        (texts.map(|(name, value)| (name.clone(), value.to_string().len())).collect(), all)
    };
    if let [(only, _)] = &texts[..] {
        return Ok(only.clone());
    }
    let names: Vec<String> = all.into_iter().map(|(name, _)| name).collect();
    let found = format!("there is no field text, only {}", listed(&names));
    let longest = texts.iter().max_by_key(|(_, length)| *length);
    let try_this = match longest {
        Some((name, _)) => setting("field").to(name),
        None => setting("field"),
    };
    Err((String::new(), advice![found, "; name the one with the documents, e.g. ", try_this]))
}

/// Names in a row, not too many.
pub(super) fn listed(names: &[String]) -> String {
    let mut shown = names.iter().take(MOST_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MOST_SHOWN {
        shown += &format!(" and {} more", names.len() - MOST_SHOWN);
    }
    if shown.is_empty() { "none".to_string() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(object: &str, path: &str) -> Option<String> {
        let object: Map<String, Value> = serde_json::from_str(object).unwrap();
        find(&object, path).map(Value::to_string)
    }

    #[test]
    fn a_path_leads_into_objects_unless_a_field_has_its_name() {
        let object = r#"{"a": {"b": 1, "c.d": {"e": 2}}, "a.b": 3, "f": {"g": 4}}"#;
        assert_eq!(found(object, "a.b").as_deref(), Some("3"));
        assert_eq!(found(object, "f.g").as_deref(), Some("4"));
        assert_eq!(found(object, "a.c.d.e").as_deref(), Some("2"));
        for nothing in ["b", "a.x", "f.g.h", ".", "f.", ".g", "a..b", ""] {
            assert_eq!(found(object, nothing), None, "{nothing}");
        }
    }
}
