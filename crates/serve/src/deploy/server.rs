//! The server process: binds an address, answers until told to stop, then drains.

use crate::admin::{AdminOptions, AdminServer};
use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::cluster::Cluster;
use crate::deploy::partitioning::Topology;
use crate::front_end::FrontEnd;
use crate::front_end::FrontEndOptions;
use crate::http;
use crate::http::App;
use crate::index_server::options::HandlerOptions;
use crate::net::listener;
use crate::net::listener::ConnectionLimits;
use crate::net::reload_signal;
use crate::net::socket::{io_runtime, listen_on};
use crate::snapshot::generations::Generations;
use index::Index;
use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Handle, Runtime};

/// How often metrics are folded together.
const UPKEEP: Duration = Duration::from_secs(5);

/// How to serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServeOptions {
    /// Address and port to listen on.
    pub listen: String,
    /// Partitions, each with an index server of its own.
    pub partitions: usize,
    /// Handlers of each index server.
    pub handlers: usize,
    /// Requests that may wait for each index server's handlers; 0 lets it decide.
    pub queue_length: usize,
    /// What the front-end does on its own account.
    pub front_end: FrontEndOptions,
    /// How connections are treated.
    pub limits: ConnectionLimits,
    /// The admin address, for metrics and reloads.
    pub admin: AdminOptions,
}

impl Default for ServeOptions {
    fn default() -> Self {
        let topology = Topology::default();
        ServeOptions {
            listen: "127.0.0.1:7700".into(),
            partitions: topology.partitions,
            handlers: topology.handlers,
            queue_length: topology.queue_length,
            front_end: FrontEndOptions::default(),
            limits: ConnectionLimits::default(),
            admin: AdminOptions::default(),
        }
    }
}

impl ServeOptions {
    /// How the index is spread over index servers in this process.
    pub fn topology(&self) -> Topology {
        Topology {
            partitions: self.partitions,
            handlers: self.handlers,
            queue_length: self.queue_length,
        }
    }
}

/// A server that listens already: connections made from now on will be answered.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
    limits: ConnectionLimits,
    admin: Option<AdminServer>,
    runtime: Runtime,
}

/// What the system keeps of an answer for a client that does not read; it doubles the figure for its own needs.
const SEND_BUFFER_BYTES: usize = 256 << 10;

impl Server {
    /// Starts all parts of a server for an index that never changes, and takes the address.
    pub fn bind(index: Arc<Index>, options: &ServeOptions) -> Result<Server, ServeError> {
        Server::bind_generations(&Generations::fixed(index), options)
    }

    /// Starts all parts of a server, and takes the address.
    pub fn bind_generations(
        generations: &Arc<Generations>,
        options: &ServeOptions,
    ) -> Result<Server, ServeError> {
        let cluster = Cluster::in_process(
            generations,
            &options.topology(),
            &[],
            &HandlerOptions::default(),
        )?;
        Server::bind_cluster(cluster, options, io_runtime()?)
    }

    /// Takes the address for a front-end before given servers.
    pub fn bind_cluster(
        cluster: Cluster,
        options: &ServeOptions,
        runtime: Runtime,
    ) -> Result<Server, ServeError> {
        let front_end = FrontEnd::new(cluster, options.front_end.clone());
        let (listener, address) = listen_on(&options.listen)?;
        // Kernel memory of an answer that its client does not read. Connections inherit it.
        rustix::net::sockopt::set_socket_send_buffer_size(&listener, SEND_BUFFER_BYTES).map_err(
            |errno| ServeError::System {
                operation: "set the buffers of sockets",
                source: errno.into(),
            },
        )?;
        let is_any_port = options.listen.ends_with(":0");
        let admin = AdminServer::bind(&options.admin, address, is_any_port)?;
        Ok(Server {
            listener,
            address,
            app: Arc::new(App::new(front_end, Draining::default())),
            limits: options.limits.clone(),
            admin,
            runtime,
        })
    }

    /// Where it listens, with the port that was taken for port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it is administered, if anywhere.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(AdminServer::address)
    }

    /// The front-end behind it, for searches without HTTP.
    pub fn front_end(&self) -> &FrontEnd {
        &self.app.front_end
    }

    /// The threads that it runs on.
    pub fn runtime(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Answers until `shutdown` is ready; then takes no more connections, finishes the requests
    /// that are there, and returns. `SIGHUP` opens the newest generation. Blocks the thread.
    pub fn run_until(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError> {
        let system = |operation| move |source| ServeError::System { operation, source };
        let app = self.app;
        let draining = app.draining.clone();
        let admin = self.admin.map(|admin| admin.start(Arc::clone(&app)));
        let admin = admin.transpose()?;
        let served = self.runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let upkeep = tokio::spawn(keep_up(Arc::clone(&app)));
            let watch = tokio::spawn(watch_cluster(Arc::clone(&app)));
            let reloads = tokio::spawn(reload_on_hangup(Arc::clone(&app)));
            let router = http::router(app);
            let served = listener::serve(listener, router, &self.limits, &draining, shutdown).await;
            for task in [upkeep, watch, reloads] {
                task.abort();
            }
            served
        });
        // It tells of the end until there is nothing more to tell of.
        drop(admin);
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        served.map_err(system("serve"))
    }
}

async fn keep_up(app: Arc<App>) {
    let mut ticks = tokio::time::interval(UPKEEP);
    loop {
        ticks.tick().await;
        app.metrics.upkeep();
    }
}

async fn watch_cluster(app: Arc<App>) {
    crate::cluster::health::watch(&app.front_end.cluster).await;
}

async fn reload_on_hangup(app: Arc<App>) {
    reload_signal::reload_on_hangup(|| {
        let app = Arc::clone(&app);
        Box::pin(async move { app.reload().await })
    })
    .await;
}

/// Ready when the process is asked to end: Ctrl-C, or the signal that service supervisors send.
pub async fn termination() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without a way to hear the signal, its default action ends the process.
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminated) => tokio::select! {
                () = interrupted => {}
                _ = terminated.recv() => {}
            },
            Err(_) => interrupted.await,
        }
    }
    #[cfg(not(unix))]
    interrupted.await;
}
