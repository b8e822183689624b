//! Submission of URLs, from the query of a GET or the JSON of a POST.
//!
//! query := url=URL key=KEY [ keyLocation=URL ]                                          percent-encoded
//! body  := { "host": HOST, "key": KEY, "keyLocation": URL?, "urlList": [ URL, … ] }
//! KEY   := 8 to 128 characters of a-z A-Z 0-9 -

use super::Verdict;
use crate::config::is_indexnow_key;
use serde::Deserialize;
use url::form_urlencoded;
use web::address::CanonicalUrl;

/// URLs of one submission (the limit of the protocol).
const URLS_MAX: usize = 10_000;

/// URLs of one origin, the key, and where its file is said to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// At least one.
    pub(super) urls: Vec<CanonicalUrl>,
    pub(super) key: String,
    /// Of the same origin; all URLs are in its folder.
    pub(super) key_file: CanonicalUrl,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    host: String,
    key: String,
    key_location: Option<String>,
    url_list: Vec<String>,
}

impl Submission {
    /// Reads the query of a GET.
    ///
    /// # Errors
    /// The verdict on a query that is none, or breaks the protocol.
    pub fn of_query(query: &str) -> Result<Submission, Verdict> {
        let (mut url, mut key, mut key_location) = (None, None, None);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let place = match &*name {
                "url" => &mut url,
                "key" => &mut key,
                "keyLocation" => &mut key_location,
                _ => continue,
            };
            if place.replace(value.into_owned()).is_some() {
                let reason = format!("{name} is given twice; send several URLs by POST");
                return Err(Verdict::Malformed(reason));
            }
        }
        let (Some(url), Some(key)) = (url, key) else {
            let reason = "send url and key: GET /indexnow?url=URL&key=KEY";
            return Err(Verdict::Malformed(reason.to_owned()));
        };
        Submission::new(&[url], key, key_location.as_deref(), None)
    }

    /// Reads the body of a POST.
    ///
    /// # Errors
    /// The verdict on a body that is none, or breaks the protocol.
    pub fn of_body(body: &[u8]) -> Result<Submission, Verdict> {
        let body: Body = serde_json::from_slice(body).map_err(|error| {
            Verdict::Malformed(format!("expected JSON with host, key and urlList: {error}"))
        })?;
        let (location, host) = (body.key_location.as_deref(), Some(body.host.as_str()));
        Submission::new(&body.url_list, body.key, location, host)
    }

    fn new(
        urls: &[String],
        key: String,
        key_location: Option<&str>,
        host: Option<&str>,
    ) -> Result<Submission, Verdict> {
        if urls.is_empty() || urls.len() > URLS_MAX {
            let reason = format!("{} URLs; send 1 to {URLS_MAX} of them", urls.len());
            return Err(Verdict::Malformed(reason));
        }
        if !is_indexnow_key(&key) {
            let reason = "the key must have 8 to 128 characters of a-z, A-Z, 0-9 and -";
            return Err(Verdict::NotOurs(reason.to_owned()));
        }
        let parsed = |text: &str| {
            CanonicalUrl::parse(text).map_err(|error| Verdict::Malformed(error.to_string()))
        };
        let urls = urls.iter().map(|url| parsed(url));
        let urls = urls.collect::<Result<Vec<_>, _>>()?;
        let first = &urls[0];
        let authority = first
            .origin()
            .split_once("://")
            .map_or("", |(_, rest)| rest);
        if let Some(host) = host.map(str::to_ascii_lowercase)
            && host != first.host()
            && host != authority
        {
            return Err(Verdict::NotOurs(format!(
                "{first} is not of the host stated"
            )));
        }
        let key_file = match key_location {
            Some(location) => parsed(location)?,
            None => parsed(&format!("{}/{key}.txt", first.origin()))?,
        };
        let folder = key_file
            .path()
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        let folder = format!("{folder}/");
        let foreign = urls
            .iter()
            .find(|url| url.origin() != key_file.origin() || !url.path().starts_with(&folder));
        if let Some(foreign) = foreign {
            return Err(Verdict::NotOurs(format!(
                "{foreign} is not of the site or the folder of the key file; one submission is for one site, all http or all https"
            )));
        }
        Ok(Submission {
            urls,
            key,
            key_file,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(read: Result<Submission, Verdict>) -> u16 {
        read.map_or_else(|verdict| verdict.status(), |_| 200)
    }

    #[test]
    fn queries_are_read() {
        let read =
            Submission::of_query("url=https%3A%2F%2Fa.test%2Fp%3Fq%3D1&key=abcd-1234").unwrap();
        assert_eq!(read.urls[0].as_str(), "https://a.test/p?q=1");
        assert_eq!(read.key_file.as_str(), "https://a.test/abcd-1234.txt");
        for (query, expected) in [
            ("", 400),
            ("url=https://a.test/", 400),
            ("key=abcd1234", 400),
            ("url=https://a.test/&url=https://a.test/b&key=abcd1234", 400),
            ("url=ftp://a.test/&key=abcd1234", 400),
            ("url=https://a.test/&key=abcd1234&other=1", 200),
            ("url=https://a.test/&key=short", 422),
            ("url=https://a.test/&key=abcd%2F..%2F1234", 422),
            (
                "url=https://a.test/&key=abcd1234&keyLocation=https://b.test/k.txt",
                422,
            ),
            (
                "url=https://a.test/p&key=abcd1234&keyLocation=https://a.test/x/k.txt",
                422,
            ),
            (
                "url=https://a.test/x/p&key=abcd1234&keyLocation=https://a.test/x/k.txt",
                200,
            ),
            (
                "url=https://a.test/xy&key=abcd1234&keyLocation=https://a.test/x/k.txt",
                422,
            ),
        ] {
            assert_eq!(status(Submission::of_query(query)), expected, "{query}");
        }
    }

    #[test]
    fn bodies_are_read() {
        let body = |host: &str, urls: &[&str]| {
            serde_json::json!({ "host": host, "key": "abcd1234", "urlList": urls }).to_string()
        };
        let read =
            Submission::of_body(body("A.test", &["http://a.test/1", "http://a.test/2"]).as_bytes());
        assert_eq!(read.unwrap().urls.len(), 2);
        for (body, expected) in [
            (body("a.test:81", &["http://a.test:81/"]), 200),
            (body("a.test", &["http://a.test:81/"]), 200),
            (body("b.test", &["http://a.test/"]), 422),
            (body("a.test", &["http://a.test/", "http://b.test/"]), 422),
            (body("a.test", &["http://a.test/", "https://a.test/"]), 422),
            (body("a.test", &[]), 400),
            (body("a.test", &vec!["http://a.test/"; URLS_MAX + 1]), 400),
            (body("a.test", &vec!["http://a.test/"; URLS_MAX]), 200),
            ("[]".into(), 400),
            ("{}".into(), 400),
            ("[".repeat(100_000), 400),
        ] {
            let shown: String = body.chars().take(80).collect();
            assert_eq!(
                status(Submission::of_body(body.as_bytes())),
                expected,
                "{shown}"
            );
        }
    }
}
