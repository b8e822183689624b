//! Server process: binds an address, answers until told to stop, then drains.

use crate::admin::{self, AdminOptions, AdminServer};
use crate::api::error::ServeError;
use crate::api::observed_crawl::ObservedCrawl;
use crate::catalog::{self, Catalog, CatalogOptions, RemoteIndexes};
use crate::cluster::Cluster;
use crate::front_end::FrontEnd;
use crate::front_end::FrontEndOptions;
use crate::handlers::options::HandlerOptions;
use crate::http::app::{App, ServerState};
use crate::http::host_names::HostNames;
use crate::http::origins::{Origin, Origins};
use crate::http::routes::router;
use crate::in_process::partitioning::Topology;
use crate::net::listener;
use crate::net::listener::ConnectionLimits;
use crate::net::reload_signal;
use crate::net::socket::{io_runtime, listen_on};
use engine::Generations;
use index::Index;
use ingest::LiveWriter;
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
    /// Origins of the pages that may read answers, beside those of the server.
    pub origins: Vec<Origin>,
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
            origins: Vec::new(),
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
    served: Served,
    limits: ConnectionLimits,
    host_names: HostNames,
    origins: Origins,
    admin: Option<AdminServer>,
    refresh: Option<Duration>,
    runtime: Runtime,
}

/// What a server answers for.
#[derive(Clone)]
enum Served {
    /// One index, at the root of the addresses.
    One(Arc<App>),
    /// Many indexes, each at its name.
    Many(Arc<Catalog>),
}

impl Served {
    fn state(&self) -> &Arc<ServerState> {
        match self {
            Served::One(app) => &app.server,
            Served::Many(catalog) => &catalog.server,
        }
    }

    /// Closes all writers; changes that wait are committed.
    fn close(&self) {
        match self {
            Served::One(app) => app.writer.close(),
            Served::Many(catalog) => catalog.close(),
        }
    }
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
        let app = Arc::new(App::only(front_end));
        Server::bind_served(Served::One(app), options, runtime)
    }

    /// Binds the address for the indexes of a catalog. `handlers` are those of all indexes; each index is searched whole,
    /// by as many of them as the policy gives a query.
    ///
    /// # Errors
    /// The address cannot be bound, threads cannot be started, or more than one partition is asked for.
    pub fn bind_catalog(
        catalog: CatalogOptions,
        options: &ServeOptions,
        handlers: &HandlerOptions,
        runtime: Runtime,
    ) -> Result<Server, ServeError> {
        if options.partitions > 1 {
            return Err(ServeError::Options {
                option: "--partitions",
                reason: "indexes that share handlers are searched whole; leave it out".into(),
            });
        }
        let handlers = HandlerOptions {
            handlers: options.handlers,
            queue_length: options.queue_length,
            ..handlers.clone()
        };
        options.topology().check_handlers()?;
        let front_end = options.front_end.clone();
        let catalog = Catalog::start(catalog, front_end, &handlers, runtime.handle())?;
        let catalog = Arc::new(catalog);
        catalog.verify_in_background()?;
        Server::bind_served(Served::Many(catalog), options, runtime)
    }

    /// Binds the address for the indexes of servers in other processes.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub fn bind_servers(
        servers: RemoteIndexes,
        options: &ServeOptions,
        runtime: Runtime,
    ) -> Result<Server, ServeError> {
        let front_end = options.front_end.clone();
        let catalog = Catalog::of_servers(servers, front_end, runtime.handle());
        Server::bind_served(Served::Many(Arc::new(catalog)), options, runtime)
    }

    fn bind_served(
        served: Served,
        options: &ServeOptions,
        runtime: Runtime,
    ) -> Result<Server, ServeError> {
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
            served,
            limits: options.limits.clone(),
            host_names: HostNames::new(address, names),
            origins: Origins::new(&options.origins),
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
        if let Served::One(app) = &self.served {
            let runtime = self.runtime.handle();
            let writer = App::hooked(&Arc::downgrade(app), runtime, writer)?;
            app.writer.set(writer);
        }
        Ok(self)
    }

    /// Makes the admin address and the metrics tell of the crawl that fills the index.
    pub fn with_crawl(self, crawl: Arc<dyn ObservedCrawl>) -> Server {
        if let Served::One(app) = &self.served {
            // A server is given one crawl, before it runs.
            let _ = app.crawl.set(crawl);
        }
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

    /// Returns the front-end of a server of one index, for searches without HTTP.
    pub fn front_end(&self) -> Option<&FrontEnd> {
        match &self.served {
            Served::One(app) => Some(&app.front_end),
            Served::Many(_) => None,
        }
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
        let served = self.served;
        let state = Arc::clone(served.state());
        let draining = state.draining.clone();
        let admin_routes = match &served {
            Served::One(app) => admin::routes(Arc::clone(app)),
            Served::Many(catalog) => catalog::admin_routes(catalog),
        };
        let admin = self.admin.map(|admin| admin.start(admin_routes, &state));
        let admin = admin.transpose()?;
        let answered = self.runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let upkeep = tokio::spawn(keep_up(served.clone()));
            let watch = tokio::spawn(watch_cluster(served.clone()));
            let reloads = tokio::spawn(reload_on_hangup(served.clone()));
            let refreshing = tokio::spawn(refresh(served.clone(), self.refresh));
            let router = match &served {
                Served::One(app) => router(Arc::clone(app), self.host_names, self.origins),
                Served::Many(catalog) => {
                    catalog::public_router(catalog, self.host_names, self.origins)
                }
            };
            let answered =
                listener::serve(listener, router, &self.limits, &draining, shutdown).await;
            for task in [upkeep, watch, reloads, refreshing] {
                task.abort();
            }
            answered
        });
        served.close();
        // The administration reports the shutdown to its end.
        drop(admin);
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        answered.map_err(system("serve"))
    }
}

async fn keep_up(served: Served) {
    let mut ticks = tokio::time::interval(UPKEEP);
    loop {
        ticks.tick().await;
        match &served {
            Served::One(app) => {
                app.upkeep();
                app.server.metrics.upkeep();
            }
            Served::Many(catalog) => catalog.keep_up().await,
        }
    }
}

/// Checks the servers of other processes.
async fn watch_cluster(served: Served) {
    match served {
        Served::One(app) => crate::cluster::health::watch(&app.front_end.cluster).await,
        Served::Many(catalog) => catalog.watch().await,
    }
}

async fn reload_on_hangup(served: Served) {
    reload_signal::reload_on_hangup(|| {
        let served = served.clone();
        Box::pin(async move {
            let reloaded = match served {
                Served::One(app) => vec![(Arc::clone(&app), app.reload().await)],
                Served::Many(catalog) => catalog.reload().await,
            };
            for (app, generation) in reloaded {
                reload_signal::log_reload(app.front_end.name(), generation);
            }
        })
    })
    .await;
}

/// Opens newer generations as they appear. A failure that repeats is logged once.
async fn refresh(served: Served, every: Option<Duration>) {
    let app = match served {
        Served::One(app) => app,
        Served::Many(catalog) => return catalog.refresh(every).await,
    };
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
