//! Real robots.txt files, and paths that their rules are about.

use std::io::Read;

/// Paths that are compared with every file.
const FIXED: &[&str] = &[
    "/",
    "/robots.txt",
    "/index.html",
    "/a/b/c.pdf",
    "/search?q=x&page=2",
    "/%7Euser/%C3%A9",
    "/wp-admin/x.php",
    "/*$",
];

/// Number of paths a file.
pub(crate) const PATHS_COUNT: usize = 50;

/// Names and bytes of the files, or `None` where they are skipped.
pub(crate) fn files() -> Option<Vec<(String, Vec<u8>)>> {
    let path = tier::shared_data("crawler/robots-real.tar.zst")?;
    let packed =
        std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut decoder = zstd::Decoder::new(packed).unwrap();
    decoder.window_log_max(27).unwrap();
    let mut archive = tar::Archive::new(decoder);
    let mut files = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        // Beside the folder lies its licence.
        if let Some(host) = path.strip_prefix("robots/").filter(|host| !host.is_empty()) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            files.push((host.to_owned(), bytes));
        }
    }
    Some(files)
}

/// Returns the paths for a file: fixed ones, then what its own rules match and nearly match, spread over the file.
pub(crate) fn paths(bytes: &[u8]) -> Vec<String> {
    let mut paths: Vec<String> = FIXED.iter().map(|path| (*path).to_owned()).collect();
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(web::robots::ROBOTS_BYTES_MAX)]);
    let values = text
        .split(['\n', '\r'])
        .filter_map(|line| line.split('#').next()?.split_once(':'));
    let patterns: Vec<&str> = values
        .map(|(_, value)| value.trim())
        .filter(|value| value.starts_with(['/', '*']))
        .collect();
    let step = (patterns.len() * 3)
        .div_ceil(PATHS_COUNT - FIXED.len())
        .max(1);
    for pattern in patterns.iter().step_by(step) {
        let plain = pattern.trim_end_matches('$').replace('*', "x/y");
        let slash = if plain.starts_with('/') { "" } else { "/" };
        paths.push(format!("{slash}{plain}"));
        paths.push(format!("{slash}{plain}/z?p=1"));
        paths.push(format!(
            "{slash}{}",
            &plain[..plain.char_indices().next_back().map_or(0, |(at, _)| at)]
        ));
    }
    for number in 0.. {
        if paths.len() >= PATHS_COUNT {
            break;
        }
        paths.push(format!("/page/{number}/item-{number}.html?id={number}"));
    }
    paths.truncate(PATHS_COUNT);
    paths
}
