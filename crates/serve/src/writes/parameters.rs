//! Parameters of requests that write.

use document::FieldNames;
use ingest::{Condition, Version};
use std::collections::HashSet;

/// Condition of the answer to a request, beyond durability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Refresh {
    /// The changes are durable.
    #[default]
    None,
    /// The next refresh has made the changes searchable.
    Wait,
    /// The same, with a refresh at once.
    Now,
}

/// Parameters of a request.
#[derive(Debug, Default)]
pub(super) struct WriteParameters {
    pub(super) refresh: Refresh,
    pub(super) condition: Option<Condition>,
    /// URLs named in the request's own address.
    pub(super) urls: Vec<String>,
    pub(super) query: Option<String>,
    pub(super) is_dry_run: bool,
    /// Names of the fields that are parts of documents.
    pub(super) names: FieldNames,
    /// Whether the versions of all documents are answered.
    pub(super) versions: bool,
}

/// Parses the text behind the `?`; fails with parameter and reason. `known` are the parameters of the route.
pub(super) fn parse(raw: Option<&str>, known: &[&str]) -> Result<WriteParameters, String> {
    let mut parameters = WriteParameters::default();
    let mut seen = HashSet::new();
    for (name, value) in url::form_urlencoded::parse(raw.unwrap_or("").as_bytes()) {
        if !known.contains(&name.as_ref()) {
            return Err(format!(
                "{name}: no parameter of this request; it takes {}",
                known.join(", ")
            ));
        }
        // Which of two values is meant would be a guess; only URLs are a list.
        if name != "url" && !seen.insert(name.clone()) {
            return Err(format!("{name}: given twice; give it once"));
        }
        match name.as_ref() {
            "refresh" => {
                parameters.refresh = match value.as_ref() {
                    "none" => Refresh::None,
                    "wait" => Refresh::Wait,
                    "now" => Refresh::Now,
                    other => return Err(format!("refresh: `{other}` is not none, wait or now")),
                }
            }
            "if_version" => {
                parameters.condition = Some(match value.as_ref() {
                    "none" => Condition::Absent,
                    version => {
                        let version = version.parse::<Version>();
                        Condition::Version(
                            version.map_err(|reason| format!("if_version: {reason}"))?,
                        )
                    }
                });
            }
            "url" => parameters.urls.push(value.into_owned()),
            "q" => parameters.query = Some(value.into_owned()),
            "dry_run" => parameters.is_dry_run = flag("dry_run", &value)?,
            "id_field" => parameters.names.id = Some(field(&name, &value)?),
            "url_field" => parameters.names.url = Some(field(&name, &value)?),
            "title_field" => parameters.names.title = Some(field(&name, &value)?),
            "body_field" => {
                let names = value.split(',').map(|one| field(&name, one));
                parameters.names.body = names.collect::<Result<_, _>>()?;
            }
            "versions" => parameters.versions = flag("versions", &value)?,
            other => return Err(format!("{other}: not read")),
        }
    }
    Ok(parameters)
}

fn field(parameter: &str, name: &str) -> Result<String, String> {
    match name.trim() {
        "" => Err(format!("{parameter}: the name of a field is empty")),
        name => Ok(name.to_owned()),
    }
}

fn flag(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "1" | "true" | "on" => Ok(true),
        "0" | "false" | "off" => Ok(false),
        other => Err(format!("{name}: `{other}` is not 1 or 0")),
    }
}
