//! Tests of the frontier.
mod crawl;
mod damage;
mod driver;
mod elsewhere;
mod first_version;
mod hosts;
mod life;
mod power;
mod twin;
