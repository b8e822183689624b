//! Rendering: pages whose text scripts write, as Chromium shows them.
//!
//! ```text
//! fetched page ─► Chromium, a process for each page ─► HTML of the page as scripts leave it
//!                    │ ▲
//!                    ▼ │ every connection
//!                  proxy ─► the page itself, from memory
//!                        └► GET of permitted hosts: robots.txt, pauses, address check, limits ─► resources
//! ```
//!
//! The browser reaches nothing but the proxy, so that robots.txt, the politeness law, the address guard and the limits hold
//! for everything that a script asks for, and what was sent is in the archive.

mod browser;
mod page;
mod proxy;
mod renderer;
mod resources;

pub(crate) use browser::find_program;
pub(crate) use page::{Manners, RenderError, RenderOptions, RenderPage, Rendered, Resource};
pub(crate) use renderer::Renderer;
