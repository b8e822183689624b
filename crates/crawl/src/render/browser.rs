//! Chromium without a window: a process and a profile of its own for each page, connected to the proxy alone.
use super::page::{RenderError, RenderOptions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// Names of the program, by preference.
const PROGRAMS: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];
/// Time that scripts see pass after the page is loaded, in milliseconds. It stands still while resources are on their way.
const SCRIPT_MS: u32 = 5_000;
/// Upper limit on the bytes of an error message.
const TOLD_BYTES_MAX: usize = 300;

/// Returns the first program of those on the path.
pub(crate) fn find_program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = PROGRAMS
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    found.into_iter().find(|program| program.is_file())
}

/// Browser of one page.
pub(super) struct Browser<'a> {
    pub(super) options: &'a RenderOptions,
    pub(super) proxy: SocketAddr,
}

impl Browser<'_> {
    /// Loads a page, lets its scripts run, and returns its HTML then. The browser ends when the future is dropped.
    pub(super) async fn html(&self, url: &str) -> Result<Vec<u8>, RenderError> {
        let profile = Profile::new()?;
        let mut child = self.command(&profile.0, url).spawn()?;
        let (mut html, mut told) = (Vec::new(), Vec::new());
        let out = child.stdout.take();
        let errors = child.stderr.take();
        let bytes_max = self.options.html_bytes_max as u64;
        let read_html = async {
            if let Some(out) = out {
                let mut out = out.take(bytes_max);
                out.read_to_end(&mut html).await?;
                // The rest, so that the browser can end.
                tokio::io::copy(&mut out.into_inner(), &mut tokio::io::sink()).await?;
            }
            Ok::<(), std::io::Error>(())
        };
        let read_told = async {
            if let Some(mut errors) = errors {
                errors.read_to_end(&mut told).await?;
            }
            Ok::<(), std::io::Error>(())
        };
        let (html_read, told_read) = tokio::join!(read_html, read_told);
        html_read?;
        told_read?;
        let status = child.wait().await?;
        if !status.success() || html.is_empty() {
            let end = told.len().saturating_sub(TOLD_BYTES_MAX);
            return Err(RenderError::Browser {
                status: status.to_string(),
                told: String::from_utf8_lossy(&told[end..]).trim().to_owned(),
            });
        }
        Ok(html)
    }

    fn command(&self, profile: &Path, url: &str) -> Command {
        let mut command = Command::new(&self.options.program);
        command
            .arg("--headless")
            .arg("--dump-dom")
            .arg(format!("--virtual-time-budget={SCRIPT_MS}"))
            // Everything goes to the proxy, loopback too, and no name is resolved here. The proxy checks certificates.
            .arg(format!("--proxy-server=http://{}", self.proxy))
            .arg("--proxy-bypass-list=<-loopback>")
            .arg(format!(
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {}",
                self.proxy.ip()
            ))
            .arg("--ignore-certificate-errors")
            .arg("--disable-quic")
            .arg("--force-webrtc-ip-handling-policy=disable_non_proxied_udp")
            .args([
                "--blink-settings=imagesEnabled=false",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-default-apps",
                "--disable-extensions",
                "--disable-gpu",
                "--disable-sync",
                "--mute-audio",
                "--no-default-browser-check",
                "--no-first-run",
            ])
            .arg(format!("--user-agent={}", self.options.user_agent))
            .arg(format!("--user-data-dir={}", profile.display()))
            .args(&self.options.arguments)
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }
}

/// Folder of a profile, removed at the drop: no page sees what another one left.
struct Profile(PathBuf);

impl Profile {
    fn new() -> Result<Profile, std::io::Error> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("shorttail-render-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder)?;
        Ok(Profile(folder))
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        // A browser that is ending may write into it still.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
