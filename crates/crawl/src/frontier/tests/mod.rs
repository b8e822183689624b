//! Tests of the frontier.
mod crawl;
mod damage;
mod driver;
mod hosts;
mod life;
mod power;
mod twin;
