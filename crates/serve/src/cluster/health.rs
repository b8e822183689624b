//! Health checks of all servers, several times a second.
//!
//! A dead or stopped server is taken out within two seconds, and back in at its first answer. Its
//! status is compared with the cluster file: a server of another index or of other chunks gets no
//! calls.

use crate::api::backend::Server;
use crate::api::messages::{Status, StatusRequest};
use crate::api::reply::Reply;
use crate::cluster::Cluster;
use crate::cluster::replicas::{Health, Replica, Replicas};
use engine::calls::Chunks;
use engine::calls::chunks_shown;
use futures_util::future::join_all;
use std::sync::OnceLock;
use std::time::Duration;

/// Interval between two checks of a server.
const PERIOD: Duration = Duration::from_millis(250);
/// Time without an answer after which a server counts as dead.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// Watches all servers of a cluster and never returns. Servers of this process need no checks.
pub(crate) async fn watch(cluster: &Cluster) {
    let Some(remote) = &cluster.remote else {
        return std::future::pending().await;
    };
    let index_servers = join_all(
        cluster
            .partitions
            .iter()
            .map(|group| watch_group(group, remote.request(cluster.parts()), &remote.index_id)),
    );
    let texts: Vec<Chunks> = cluster
        .texts
        .iter()
        .map(|group| group.chunks.clone())
        .collect();
    let document_servers = join_all(
        cluster
            .texts
            .iter()
            .map(|group| watch_group(group, remote.request(texts.clone()), &remote.index_id)),
    );
    tokio::join!(index_servers, document_servers);
}

async fn watch_group<S: Server + ?Sized>(
    group: &Replicas<S>,
    request: StatusRequest,
    index_id: &OnceLock<String>,
) {
    join_all(group.replicas.iter().map(|replica| async {
        let mut ticks = tokio::time::interval(PERIOD);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            // The failure has been recorded and logged.
            let _ = check(replica, &group.chunks, &request, index_id).await;
        }
    }))
    .await;
}

/// Failed health check of a server.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The server does not answer, or cannot; it may recover.
    Silent(String),
    /// The server contradicts the cluster file, and waiting will not help.
    Misplaced(String),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Trouble::Silent(reason) | Trouble::Misplaced(reason)) = self;
        f.write_str(reason)
    }
}

/// Checks one server and records the result; fails with its trouble.
pub(crate) async fn check<S: Server + ?Sized>(
    replica: &Replica<S>,
    chunks: &Chunks,
    request: &StatusRequest,
    index_id: &OnceLock<String>,
) -> Result<Status, Trouble> {
    let (reply, answer) = Reply::channel();
    replica.server.status(request, reply);
    let silent = || format!("no answer within {} ms", ANSWER_MAX.as_millis());
    let checked = match tokio::time::timeout(ANSWER_MAX, answer).await {
        Ok(Ok(Ok(status))) => accept(status, chunks, index_id).map_err(Trouble::Misplaced),
        Ok(Ok(Err(error))) => Err(Trouble::Silent(error.to_string())),
        Ok(Err(_)) | Err(_) => Err(Trouble::Silent(silent())),
    };
    let health = match &checked {
        Ok(status) if status.is_draining => Health::Draining,
        Ok(_) => Health::Up,
        Err(_) => Health::Down,
    };
    if let Ok(status) = &checked {
        replica.set_status(status.clone());
    }
    if replica.set_health(health) {
        let name = &replica.name;
        match (&checked, health) {
            (Err(reason), _) => tracing::warn!(server = %name, %reason, "left out"),
            (Ok(_), Health::Draining) => tracing::info!(server = %name, "about to end"),
            (Ok(_), _) => tracing::info!(server = %name, "taken back"),
        }
    }
    checked
}

/// Checks that a server is the one that the cluster file names.
fn accept(status: Status, chunks: &Chunks, index_id: &OnceLock<String>) -> Result<Status, String> {
    if status.chunks != *chunks {
        return Err(format!(
            "it serves chunks {}, and the cluster file says {}; start it with --chunks {}, or correct the file",
            chunks_shown(&status.chunks),
            chunks_shown(chunks),
            chunks_shown(chunks)
        ));
    }
    let known = index_id.get_or_init(|| status.index_id.clone());
    if *known != status.index_id {
        return Err(format!(
            "it serves index {}, and the other servers index {known}; give all of them the same index",
            status.index_id
        ));
    }
    Ok(status)
}
