//! Server process: binds an address, answers until told to stop, then drains.

use crate::admin::{AdminOptions, AdminServer};
use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::api::observed_crawl::ObservedCrawl;
use crate::cluster::Cluster;
use crate::deploy::partitioning::Topology;
use crate::front_end::FrontEnd;
use crate::front_end::FrontEndOptions;
use crate::handlers::options::HandlerOptions;
use crate::http::app::App;
use crate::http::host_names::HostNames;
use crate::http::routes::router;
use crate::net::listener;
use crate::net::listener::ConnectionLimits;
use crate::net::reload_signal;
use crate::net::socket::{io_runtime, listen_on};
use engine::Generations;
use index::Index;
use ingest::{LiveWriter, ResumingWriter};
use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Handle, Runtime};

/// Interval of the upkeep of metrics.
const UPKEEP: Duration = Duration::from_secs(5);

/// Options of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServeOptions {
    /// Address and port to listen on.
    pub listen: String,
    /// Number of partitions, each with an index server of its own.
    pub partitions: usize,
    /// Number of handlers of each index server.
    pub handlers: usize,
    /// Queue capacity of each index server, in requests; 0 derives it from the mean search time.
    pub queue_length: usize,
    /// Options of the front-end.
    pub front_end: FrontEndOptions,
    /// Limits of the connections.
    pub limits: ConnectionLimits,
    /// Names by which clients ask for the server, beside those of loopback: on loopback the only ones that are
    /// answered, elsewhere too where there are any.
    pub host_names: Vec<String>,
    /// Administration options: metrics and reloads.
    pub admin: AdminOptions,
    /// Interval between two looks for a newer generation, which is opened then. `None`: only where asked.
    pub refresh: Option<Duration>,
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
            host_names: Vec::new(),
            admin: AdminOptions::default(),
            refresh: None,
        }
    }
}

impl ServeOptions {
    /// Returns the distribution of the index over index servers in this process.
    pub fn topology(&self) -> Topology {
        Topology {
            partitions: self.partitions,
            handlers: self.handlers,
            queue_length: self.queue_length,
        }
    }
}

/// Listening server: connections made from now on will be answered.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
    limits: ConnectionLimits,
    host_names: HostNames,
    admin: Option<AdminServer>,
    refresh: Option<Duration>,
    runtime: Runtime,
}

/// Kernel buffer for an answer that its client does not read, in bytes; the kernel doubles it for its
/// own needs.
const SEND_BUFFER_BYTES: usize = 256 << 10;

impl Server {
    /// Starts all parts of a server for an index that never changes, and binds the address.
    pub fn bind(index: Arc<Index>, options: &ServeOptions) -> Result<Server, ServeError> {
        Server::bind_generations(&Generations::fixed(index), options)
    }

    /// Starts all parts of a server, and binds the address.
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

    /// Binds the address for a front-end of a given cluster.
    pub fn bind_cluster(
        cluster: Cluster,
        options: &ServeOptions,
        runtime: Runtime,
    ) -> Result<Server, ServeError> {
        let front_end = FrontEnd::new(cluster, options.front_end.clone());
        let (listener, address) = listen_on(&options.listen)?;
        // Limit the kernel memory of an answer that its client does not read. Connections inherit it.
        rustix::net::sockopt::set_socket_send_buffer_size(&listener, SEND_BUFFER_BYTES).map_err(
            |errno| ServeError::System {
                operation: "set the buffers of sockets",
                source: errno.into(),
            },
        )?;
        let is_any_port = options.listen.ends_with(":0");
        let names = &options.host_names;
        let admin = AdminServer::bind(&options.admin, address, is_any_port, names)?;
        Ok(Server {
            listener,
            address,
            app: Arc::new(App::new(front_end, Draining::default())),
            limits: options.limits.clone(),
            host_names: HostNames::new(address, names),
            admin,
            refresh: options.refresh,
            runtime,
        })
    }

    /// Makes this a server that writes, at the admin address. What a refresh commits is searched when the refresh ends.
    ///
    /// # Errors
    /// No admin address.
    pub fn with_writer(self, writer: LiveWriter) -> Result<Server, ServeError> {
        if self.admin.is_none() {
            return Err(ServeError::Options {
                option: "--writable",
                reason: "documents are written at the admin address; leave --admin off out".into(),
            });
        }
        let (app, runtime) = (Arc::downgrade(&self.app), self.runtime.handle().clone());
        writer.call_after_refresh(move |_| {
            if let Some(app) = app.upgrade()
                && let Err(error) = runtime.block_on(app.reload())
            {
                tracing::warn!(%error, "cannot open what was written; the next refresh tries again");
            }
        });
        let writer = ResumingWriter::new(writer)?;
        // A server is given one writer, before it runs.
        let _ = self.app.writer.set(Arc::new(writer));
        Ok(self)
    }

    /// Makes the admin address and the metrics tell of the crawl that fills the index.
    pub fn with_crawl(self, crawl: Arc<dyn ObservedCrawl>) -> Server {
        // A server is given one crawl, before it runs.
        let _ = self.app.crawl.set(crawl);
        self
    }

    /// Returns the address on which the server listens, with the actual port in place of port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address of the administration, if there is one.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(AdminServer::address)
    }

    /// Returns the front-end of the server, for searches without HTTP.
    pub fn front_end(&self) -> &FrontEnd {
        &self.app.front_end
    }

    /// Returns the runtime of the server.
    pub fn runtime(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Answers until `shutdown` completes; then refuses new connections, finishes the requests in work,
    /// and returns. `SIGHUP` opens the newest generation. Blocks the thread.
    pub fn run_until(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError> {
        self.run(Box::pin(shutdown))
    }

    /// Not generic, so that what answers requests is compiled in this crate, and not with the optimization of the caller's.
    fn run(self, shutdown: Pin<Box<dyn Future<Output = ()> + Send>>) -> Result<(), ServeError> {
        let system = |operation| move |source| ServeError::System { operation, source };
        let app = self.app;
        let draining = app.draining.clone();
        let writer = app.writer.get().cloned();
        let admin = self.admin.map(|admin| admin.start(Arc::clone(&app)));
        let admin = admin.transpose()?;
        let served = self.runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let upkeep = tokio::spawn(keep_up(Arc::clone(&app)));
            let watch = tokio::spawn(watch_cluster(Arc::clone(&app)));
            let reloads = tokio::spawn(reload_on_hangup(Arc::clone(&app)));
            let refreshing = tokio::spawn(refresh(Arc::clone(&app), self.refresh));
            let router = router(app, self.host_names);
            let served = listener::serve(listener, router, &self.limits, &draining, shutdown).await;
            for task in [upkeep, watch, reloads, refreshing] {
                task.abort();
            }
            served
        });
        if let Some(writer) = writer {
            writer.close();
        }
        // The administration reports the shutdown to its end.
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

/// Opens newer generations as they appear. A failure that repeats is logged once.
async fn refresh(app: Arc<App>, every: Option<Duration>) {
    let Some(every) = every else {
        return;
    };
    let mut logged = None;
    loop {
        tokio::time::sleep(every).await;
        let failure = app.reload().await.err().map(|error| error.to_string());
        if let Some(error) = &failure
            && logged != failure
        {
            tracing::warn!(%error, "cannot refresh; the index served before goes on being served");
        }
        logged = failure;
    }
}

/// Completes when the process is asked to end: Ctrl-C, or the signal of service supervisors.
pub async fn termination() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without a handler for the signal, its default action ends the process.
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
