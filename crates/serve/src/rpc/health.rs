//! Health of the services of a process, as `grpc.health.v1.Health` reports it to orchestrators and to gRPC clients.
//!
//! ```text
//! serving ─ the end is announced ─► not serving ─ the notice is over ─► unknown; streams of watchers end
//! ```

use super::offered::RpcServices;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};
use wire::rpc::document_server_server::SERVICE_NAME as DOCUMENT_SERVER;
use wire::rpc::index_server_server::SERVICE_NAME as INDEX_SERVER;

/// Health of the services of a process; the empty name is the whole process.
pub(super) struct Health {
    reporter: HealthReporter,
    names: Vec<&'static str>,
}

impl Health {
    /// Reports every offered service as serving.
    pub(super) async fn of(offered: &RpcServices) -> Health {
        let index_server = offered.index_servers.as_ref();
        let document_server = offered.document_servers.as_ref();
        let named = [
            Some(""),
            index_server.map(|_| INDEX_SERVER),
            document_server.map(|_| DOCUMENT_SERVER),
        ];
        let health = Health {
            reporter: HealthReporter::new(),
            names: named.into_iter().flatten().collect(),
        };
        health.report(ServingStatus::Serving).await;
        health
    }

    async fn report(&self, status: ServingStatus) {
        for name in &self.names {
            self.reporter.set_service_status(name, status).await;
        }
    }

    /// Reports that the services are about to end.
    pub(super) async fn is_ending(&self) {
        self.report(ServingStatus::NotServing).await;
    }

    /// Ends the streams of clients that watch; they would keep the process from ending.
    pub(super) async fn ends(mut self) {
        for name in &self.names {
            self.reporter.clear_service_status(name).await;
        }
    }

    /// Returns the service that reports.
    pub(super) fn service(&self) -> HealthServer<HealthService> {
        HealthServer::new(HealthService::from_health_reporter(self.reporter.clone()))
    }
}
