//! The server process: binds an address, answers until told to stop, then drains.
use crate::http::{self, App};
use crate::{FrontEnd, ServeError, Topology};
use axum::serve::ListenerExt;
use index::Index;
use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Connections that are still busy get so long to finish at shutdown.
const DRAIN: Duration = Duration::from_secs(10);
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
}

impl Default for ServeOptions {
    fn default() -> Self {
        let topology = Topology::default();
        ServeOptions {
            listen: "127.0.0.1:7700".into(),
            partitions: topology.partitions,
            handlers: topology.handlers,
        }
    }
}

/// A server that listens already: connections made from now on will be answered.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
}

impl Server {
    /// Starts the parts of the server and takes the address.
    pub fn bind(index: Arc<Index>, options: &ServeOptions) -> Result<Server, ServeError> {
        let topology = Topology {
            partitions: options.partitions,
            handlers: options.handlers,
            ..Topology::default()
        };
        let front_end = FrontEnd::start(index, &topology)?;
        Server::bind_front_end(front_end, options)
    }

    /// Takes the address for a front-end that runs already.
    pub fn bind_front_end(
        front_end: FrontEnd,
        options: &ServeOptions,
    ) -> Result<Server, ServeError> {
        let refused = |source| ServeError::Listen {
            address: options.listen.clone(),
            source,
        };
        let listener = TcpListener::bind(&options.listen).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let app = Arc::new(App::new(front_end, options.partitions));
        Ok(Server {
            listener,
            address,
            app,
        })
    }

    /// Where it listens, with the port that was taken for port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The front-end behind it, for searches without HTTP.
    pub fn front_end(&self) -> &FrontEnd {
        &self.app.front_end
    }

    /// Answers until `shutdown` is ready; then takes no more connections, finishes the requests
    /// that are there, and returns. Blocks the thread.
    pub fn run_until(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError> {
        let system = |operation| move |source| ServeError::System { operation, source };
        // Searches run in place on these threads (see `http`), and others take over meanwhile.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .thread_name("http")
            .enable_io()
            .enable_time()
            .build()
            .map_err(system("start the threads of the server"))?;
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            serve(listener, self.app, shutdown).await
        });
        runtime.shutdown_timeout(Duration::from_secs(1));
        served.map_err(system("serve"))
    }
}

async fn serve(
    listener: tokio::net::TcpListener,
    app: Arc<App>,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let upkeep = tokio::spawn(keep_up(Arc::clone(&app)));
    let (stop, mut stopped) = watch::channel(false);
    let mut draining = stopped.clone();
    tokio::spawn(async move {
        shutdown.await;
        // Fails only when the server has ended already.
        let _ = stop.send(true);
    });
    // An answer is one small write: waiting to fill a packet would only add to its time. That
    // fails only on a connection that is gone, which reading it will notice.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let server = axum::serve(listener, http::router(app)).with_graceful_shutdown(async move {
        let _ = stopped.wait_for(|stop| *stop).await;
    });
    let drained = async move {
        let _ = draining.wait_for(|stop| *stop).await;
        tokio::time::sleep(DRAIN).await;
    };
    let served = tokio::select! {
        served = std::future::IntoFuture::into_future(server) => served,
        () = drained => Ok(()),
    };
    upkeep.abort();
    served
}

async fn keep_up(app: Arc<App>) {
    let mut ticks = tokio::time::interval(UPKEEP);
    loop {
        ticks.tick().await;
        app.metrics.upkeep();
    }
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
