//! Parameters that never change a page: those of tracking and of sessions.
//!
//! A name is compared in lower case; `*` at the end of a listed name stands for the rest.

/// Parameters that advertising and mail campaigns append.
pub const TRACKING_PARAMETERS: &[&str] = &[
    "__hsfp",
    "__hssc",
    "__hstc",
    "_branch_match_id",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "_openstat",
    "dclid",
    "epik",
    "fbclid",
    "gad_campaignid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "hsctatracking",
    "igsh",
    "igshid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "msclkid",
    "mtm_*",
    "oly_anon_id",
    "oly_enc_id",
    "piwik_*",
    "pk_*",
    "rb_clickid",
    "sc_cid",
    "srsltid",
    "ttclid",
    "twclid",
    "utm_*",
    "vero_conv",
    "vero_id",
    "wbraid",
    "wickedid",
    "yclid",
    "ysclid",
];

/// Parameters that carry the session of a visitor, in the query or after a `;` in the path.
pub const SESSION_PARAMETERS: &[&str] = &[
    "aspsessionid*",
    "cfid",
    "cftoken",
    "jsessionid",
    "oscsid",
    "phpsessid",
    "session_id",
    "sessionid",
    "sessid",
    "zenid",
];

/// A short name that is a session only where its value looks like one: elsewhere it is the number of a story.
const AMBIGUOUS: &str = "sid";

/// Shortest value of the ambiguous name that is a session, in bytes.
const SESSION_VALUE_BYTES_MIN: usize = 16;

/// Names of parameters to drop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterSet {
    names: Vec<String>,
}

impl ParameterSet {
    /// Collects `names`; a `*` at the end of a name stands for the rest.
    pub fn new<I: IntoIterator<Item: AsRef<str>>>(names: I) -> Self {
        let names = names
            .into_iter()
            .map(|name| name.as_ref().to_ascii_lowercase());
        Self {
            names: names.filter(|name| !name.is_empty()).collect(),
        }
    }

    /// Returns whether `name` is listed.
    pub fn contains(&self, name: &str) -> bool {
        self.names.iter().any(|listed| is_named(name, listed))
    }

    /// Returns whether nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Returns whether a parameter `name` or `name=value` is one of tracking or of a session.
pub(super) fn is_listed(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    TRACKING_PARAMETERS
        .iter()
        .chain(SESSION_PARAMETERS)
        .any(|listed| is_named(name, listed))
        || (name.eq_ignore_ascii_case(AMBIGUOUS) && is_session_value(value))
}

/// Returns `query` without the parameters that `dropped` names, or `None` where nothing is left.
pub(super) fn kept_query(query: &str, dropped: impl Fn(&str) -> bool) -> Option<String> {
    if !query.split('&').any(&dropped) {
        return Some(query.to_owned()).filter(|query| !query.is_empty());
    }
    let kept: Vec<&str> = query
        .split('&')
        .filter(|part| !part.is_empty() && !dropped(part))
        .collect();
    Some(kept.join("&")).filter(|query| !query.is_empty())
}

/// Returns `path` without session parameters behind a `;`, or `None` where it has none.
pub(super) fn without_path_session(path: &str) -> Option<String> {
    let session = |part: &str| {
        SESSION_PARAMETERS
            .iter()
            .any(|l| is_named(part.split('=').next().unwrap_or(part), l))
    };
    if !path
        .split('/')
        .any(|segment| segment.split(';').skip(1).any(session))
    {
        return None;
    }
    let mut out = String::with_capacity(path.len());
    for (idx, segment) in path.split('/').enumerate() {
        if idx > 0 {
            out.push('/');
        }
        for (idx, part) in segment
            .split(';')
            .enumerate()
            .filter(|(idx, part)| *idx == 0 || !session(part))
        {
            if idx > 0 {
                out.push(';');
            }
            out.push_str(part);
        }
    }
    Some(out)
}

fn is_named(name: &str, listed: &str) -> bool {
    let head = |bytes: usize| name.as_bytes().get(..bytes);
    match listed.strip_suffix('*') {
        Some(prefix) => {
            head(prefix.len()).is_some_and(|h| h.eq_ignore_ascii_case(prefix.as_bytes()))
        }
        None => name.eq_ignore_ascii_case(listed),
    }
}

fn is_session_value(value: &str) -> bool {
    value.len() >= SESSION_VALUE_BYTES_MIN
        && value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b',' | b'_'))
        && value.bytes().any(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_lose_listed_parameters_only() {
        let check = |query, expected: Option<&str>| {
            assert_eq!(kept_query(query, is_listed).as_deref(), expected, "{query}")
        };
        check("a=1&utm_source=x&b=2", Some("a=1&b=2"));
        check("UTM_Source=x&gclid=1", None);
        check("sid=2026-11", Some("sid=2026-11"));
        check("sid=0123456789abcdef&p", Some("p"));
        check("b=2&&a=1", Some("b=2&&a=1"));
        check("", None);
    }

    #[test]
    fn paths_lose_session_parameters_only() {
        let check = |path, expected: Option<&str>| {
            assert_eq!(without_path_session(path).as_deref(), expected, "{path}")
        };
        check("/a;jsessionid=1/b;v=2", Some("/a/b;v=2"));
        check("/a;v=2;JSESSIONID=1.x", Some("/a;v=2"));
        check("/jsessionid=1", None);
    }

    #[test]
    fn sets_match_whole_names_and_prefixes() {
        let set = ParameterSet::new(["Ref", "x_*"]);
        for (name, expected) in [("ref", true), ("refs", false), ("X_y", true), ("x", false)] {
            assert_eq!(set.contains(name), expected, "{name}");
        }
    }
}
