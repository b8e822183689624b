//! Names of sites, typed or pasted as addresses.

use super::parser::Parser;
use super::terms::term_query;
use crate::query::tree::Query;
use index::Field;
use text::Pattern;

impl Parser<'_> {
    /// Reads the name of a site, which stands for its subdomains too, unless it is in quotation marks.
    pub(super) fn site(&mut self, typed: &str, is_quoted: bool) {
        let name = self.without_weight(typed.trim(), is_quoted);
        if !is_quoted {
            self.warn_of_sign_after_field(name);
        }
        let name = name.strip_prefix("*.").unwrap_or(name);
        let whole = name.trim_end_matches('*');
        if whole.len() < name.len() {
            self.warnings
                .add("`site:` takes a whole name, or `*.` before one; another `*` was ignored.");
        }
        match site_query(whole, !is_quoted) {
            Some(query) if self.words.admit(1, self.warnings) > 0 => self.top().push(query),
            _ => self.top().drop_clause(),
        }
    }
}

/// Returns the clause of a site, and of its subdomains where they are wanted and it has any; `None` without a name.
pub fn site_query(typed: &str, with_subdomains: bool) -> Option<Query> {
    let name = site_name(typed);
    if name.is_empty() {
        return None;
    }
    let exact = term_query(Field::Site, name.clone());
    Some(match subdomains(&name).filter(|_| with_subdomains) {
        Some(pattern) => Query::Filter(Box::new(Query::Boolean {
            required: Vec::new(),
            optional: vec![
                exact,
                Query::Pattern {
                    field: Field::Site,
                    pattern,
                },
            ],
            excluded: Vec::new(),
        })),
        None => exact,
    })
}

/// Returns the pattern of the subdomains of a name; `None` for a folder, an address, a port or a number, which have none.
fn subdomains(name: &str) -> Option<Pattern> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_number = name.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_host = !name.starts_with('.') && !is_number && name.chars().all(is_name);
    let pattern = is_host.then(|| Pattern::of_wildcard(&format!("*.{name}")))?;
    // A name that was cut is another one.
    pattern.filter(|pattern| pattern.to_string().len() == name.len() + 2)
}

/// Returns the name of a site as it is indexed: a host in lower case, to which a pasted address is cut. Other sites
/// are folders (`/usr/share`) or whole addresses (`man:grep(1)`) and keep their case.
fn site_name(typed: &str) -> String {
    let lower = typed.to_lowercase();
    for scheme in ["http://", "https://"] {
        if let Some(rest) = lower.strip_prefix(scheme) {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            return rest[..end].to_owned();
        }
    }
    let (host, port) = typed.rsplit_once(':').unwrap_or((typed, ""));
    let is_host = !host.contains(['/', ':']) && port.bytes().all(|byte| byte.is_ascii_digit());
    if is_host { lower } else { typed.to_owned() }
}
