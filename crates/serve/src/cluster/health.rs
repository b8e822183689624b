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
use engine::calls::{Chunks, PartError, chunks_shown};
use futures_util::future::join_all;
use std::sync::OnceLock;
use std::time::Duration;

/// Interval between two checks of a server.
pub(crate) const PERIOD: Duration = Duration::from_millis(250);
/// Time without an answer after which a server counts as dead.
pub(crate) const ANSWER_MAX: Duration = Duration::from_secs(1);

/// Watches all servers of a cluster and never returns. Servers of this process need no checks.
pub(crate) async fn watch(cluster: &Cluster) {
    if cluster.remote.is_none() {
        return std::future::pending().await;
    }
    let (of_index, of_texts) = cluster.status_requests();
    let index_servers = cluster.partitions.iter();
    let index_servers = index_servers.map(|group| watch_group(group, &of_index, cluster));
    let document_servers = cluster.texts.iter();
    let document_servers = document_servers.map(|group| watch_group(group, &of_texts, cluster));
    tokio::join!(join_all(index_servers), join_all(document_servers));
}

async fn watch_group<S: Server + ?Sized>(
    group: &Replicas<S>,
    request: &StatusRequest,
    cluster: &Cluster,
) {
    join_all(group.replicas.iter().map(|replica| async {
        let mut ticks = tokio::time::interval(PERIOD);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            // The failure has been recorded and logged.
            let _ = check(replica, &group.chunks, request, cluster).await;
        }
    }))
    .await;
}

/// Checks all servers of a cluster once, and records the results; returns the health of its index.
pub(crate) async fn check_all(cluster: &Cluster) -> Presence {
    let (of_index, of_texts) = cluster.status_requests();
    let index_servers = join_all(cluster.partitions.iter().flat_map(|group| {
        let replicas = group.replicas.iter();
        let of_index = &of_index;
        replicas.map(move |replica| check(replica, &group.chunks, of_index, cluster))
    }));
    let document_servers = join_all(cluster.texts.iter().flat_map(|group| {
        let replicas = group.replicas.iter();
        let of_texts = &of_texts;
        replicas.map(move |replica| check(replica, &group.chunks, of_texts, cluster))
    }));
    let (index_servers, document_servers) = tokio::join!(index_servers, document_servers);
    let mut presence = Presence::Silent;
    for checked in index_servers.into_iter().chain(document_servers) {
        match checked {
            Ok(_) => return Presence::Served,
            Err(Trouble::Unknown(_) | Trouble::Replaced(_)) => presence = Presence::Gone,
            Err(Trouble::Silent(_) | Trouble::Misplaced(_)) => {}
        }
    }
    presence
}

/// Whether an index is at its servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// At some of them.
    Served,
    /// None of those that answer has it, or those have another one of its name.
    Gone,
    /// None answers.
    Silent,
}

/// Failed health check of a server.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The server does not answer, or cannot; it may recover.
    Silent(String),
    /// The server contradicts the cluster file, and waiting will not help.
    Misplaced(String),
    /// The server has another index than the others.
    Replaced(String),
    /// The server has no such index, or several where none is named.
    Unknown(String),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Trouble::Silent(reason)
        | Trouble::Misplaced(reason)
        | Trouble::Replaced(reason)
        | Trouble::Unknown(reason)) = self;
        f.write_str(reason)
    }
}

/// Checks one server and records the result; fails with its trouble.
pub(crate) async fn check<S: Server + ?Sized>(
    replica: &Replica<S>,
    chunks: &Chunks,
    request: &StatusRequest,
    cluster: &Cluster,
) -> Result<Status, Trouble> {
    let (reply, answer) = Reply::channel();
    replica.server.status(request, reply);
    let silent = || format!("no answer within {} ms", ANSWER_MAX.as_millis());
    let checked = match tokio::time::timeout(ANSWER_MAX, answer).await {
        Ok(Ok(Ok(status))) => accept(status, chunks, cluster),
        Ok(Ok(Err(error @ PartError::NotServed { .. }))) => {
            Err(Trouble::Unknown(error.to_string()))
        }
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
        let (server, index) = (&replica.name, cluster.index_name());
        match (&checked, health) {
            (Err(reason), _) => tracing::warn!(%server, index, %reason, "left out"),
            (Ok(_), Health::Draining) => tracing::info!(%server, index, "about to end"),
            (Ok(_), _) => tracing::info!(%server, index, "taken back"),
        }
    }
    checked
}

/// Checks that a server is the one that the cluster file names.
fn accept(status: Status, chunks: &Chunks, cluster: &Cluster) -> Result<Status, Trouble> {
    let of_another = |known: &String| {
        Trouble::Replaced(format!(
            "it serves index {}, and the other servers index {known}; give all of them the same index",
            status.index_id
        ))
    };
    let known = cluster.remote.as_ref().map(|remote| &remote.index_id);
    if let Some(id) = known.and_then(OnceLock::get)
        && *id != status.index_id
    {
        return Err(of_another(id));
    }
    if status.chunks != *chunks {
        return Err(Trouble::Misplaced(format!(
            "it serves chunks {}, and the cluster file says {}; start it with --chunks {}, or correct the file",
            chunks_shown(&status.chunks),
            chunks_shown(chunks),
            chunks_shown(chunks)
        )));
    }
    if let Some(known) = known {
        let id = known.get_or_init(|| status.index_id.clone());
        if *id != status.index_id {
            return Err(of_another(id));
        }
    }
    Ok(status)
}
