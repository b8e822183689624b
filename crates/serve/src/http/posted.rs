//! Searches by POST: a JSON object, or a form, that says what the parameters of a GET say.
//!
//! ```text
//! {"q": "short tail", "k": 5, "filter": ["lang:en", "date:>2020"], "facet": "lang", "explain": true}
//! q=short+tail&k=5&filter=lang:en&filter=date:>2020&facet=lang&explain=1
//! ```

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use engine::SearchError;
use serde_json::Value;
use std::borrow::Cow;
use std::time::Duration;

/// Upper limit on a body, in bytes.
pub(super) const BODY_BYTES_MAX: usize = 64 << 10;
/// Time limit of reading a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Parameters by their names, decoded.
pub(super) type Pairs = Vec<(String, String)>;

/// Reads the body of a search into parameters: a form where the request says so, else JSON.
///
/// # Errors
/// A body that is too long, late or neither of them.
pub(super) async fn received(headers: &HeaderMap, body: Body) -> Result<Pairs, SearchError> {
    let body = match tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, BODY_BYTES_MAX))
        .await
    {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            return Err(bad(format!(
                "it broke off, or has more than {BODY_BYTES_MAX} bytes; make it shorter"
            )));
        }
        Err(_) => return Err(bad("it did not come within 10 s".into())),
    };
    let kind = headers
        .get(header::CONTENT_TYPE)
        .map(|kind| kind.as_bytes());
    match kind.is_some_and(|kind| kind.starts_with(b"application/x-www-form-urlencoded")) {
        // curl sends JSON under this name unless another is given.
        true if !body.trim_ascii_start().starts_with(b"{") => Ok(of_form(&body)),
        _ => of_json(&body),
    }
}

fn of_form(body: &Bytes) -> Pairs {
    let pairs = url::form_urlencoded::parse(body);
    pairs
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect()
}

fn of_json(body: &[u8]) -> Result<Pairs, SearchError> {
    let object = match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return Err(bad("it is no object; send {\"q\": \"WORDS\"}".into())),
        Err(error) => return Err(bad(format!("it is no JSON: {error}"))),
    };
    let mut pairs = Pairs::new();
    for (name, value) in object {
        match value {
            Value::Null => {}
            Value::Array(values) if name == "filter" => {
                for value in values {
                    pairs.push((name.clone(), text_of(&name, value)?));
                }
            }
            Value::Array(values) => {
                let texts: Result<Vec<String>, SearchError> = values
                    .into_iter()
                    .map(|value| text_of(&name, value))
                    .collect();
                pairs.push((name, texts?.join(",")));
            }
            value => {
                let text = text_of(&name, value)?;
                pairs.push((name, text));
            }
        }
    }
    Ok(pairs)
}

/// Returns a value as the parameter has it.
fn text_of(name: &str, value: Value) -> Result<String, SearchError> {
    match value {
        Value::String(text) => Ok(text),
        Value::Bool(truth) => Ok(u8::from(truth).to_string()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            let name: String = name.chars().take(40).collect();
            Err(bad(format!(
                "{name:?} has a value within a value; give a text, a number, true, false, or a list of these"
            )))
        }
    }
}

fn bad(reason: String) -> SearchError {
    SearchError::BadRequest {
        parameter: "body",
        reason,
    }
}

/// Returns the parameters of an address and those of a body after them, so that the body's count where both say something.
pub(super) fn all<'a>(
    raw: Option<&'a str>,
    posted: &'a Pairs,
) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)> {
    let posted = posted
        .iter()
        .map(|(name, value)| (Cow::from(name.as_str()), Cow::from(value.as_str())));
    url::form_urlencoded::parse(raw.unwrap_or("").as_bytes()).chain(posted)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(kind: Option<&'static str>, body: &'static str) -> Result<Pairs, String> {
        let mut headers = HeaderMap::new();
        if let Some(kind) = kind {
            headers.insert(header::CONTENT_TYPE, kind.parse().unwrap());
        }
        let read = received(&headers, Body::from(body)).await;
        read.map_err(|error| error.to_string())
    }

    fn pairs(of: &[(&str, &str)]) -> Pairs {
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        of.iter().map(owned).collect()
    }

    #[tokio::test]
    async fn bodies_are_parameters() {
        let json = r#"{"q":"a \"b\"","k":5,"explain":true,"partial":false,"facet":["lang","date:year"],"filter":["lang:en","-x:1"],"sort":null}"#;
        let expected = pairs(&[
            ("explain", "1"),
            ("facet", "lang,date:year"),
            ("filter", "lang:en"),
            ("filter", "-x:1"),
            ("k", "5"),
            ("partial", "0"),
            ("q", "a \"b\""),
        ]);
        for kind in [
            None,
            Some("application/json"),
            Some("application/x-www-form-urlencoded"),
        ] {
            let mut read = read(kind, json).await.unwrap();
            read.sort_by(|one, other| one.0.cmp(&other.0));
            assert_eq!(read, expected);
        }
        let form = read(
            Some("application/x-www-form-urlencoded; charset=UTF-8"),
            "q=a+b&filter=x%3A1&filter=y:2",
        );
        let expected = pairs(&[("q", "a b"), ("filter", "x:1"), ("filter", "y:2")]);
        assert_eq!(form.await.unwrap(), expected);
    }

    #[tokio::test]
    async fn other_bodies_are_refused_with_a_reason() {
        for (body, part) in [
            ("", "it is no JSON"),
            ("q=a", "it is no JSON"),
            ("[1]", "it is no object"),
            (r#"{"q":{"match":"a"}}"#, "\"q\" has a value within a value"),
            (r#"{"filter":[["a"]]}"#, "\"filter\" has a value within"),
        ] {
            let refused = read(Some("application/json"), body).await.unwrap_err();
            assert!(refused.contains(part), "{body}: {refused}");
        }
    }
}
