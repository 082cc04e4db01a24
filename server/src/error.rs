//! Why a server does not start.

use std::net::SocketAddr;

/// The server cannot start, or had to end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The address cannot be had.
    #[error("cannot listen on {listen}: {source}; choose another address with --listen")]
    Bind {
        /// The address.
        listen: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// Others could reach it, and nobody would have to say who he is.
    #[error(
        "{listen} can be reached from other machines and no credentials are set: set ADMIN_PASSWORD (or ADMIN_PASSWORD_FILE), or listen on 127.0.0.1"
    )]
    Open {
        /// The address.
        listen: SocketAddr,
    },
    /// A setting that cannot work.
    #[error("{what}: {message}")]
    Setting {
        /// Which.
        what: &'static str,
        /// Why not, and what to do.
        message: String,
    },
    /// The library's.
    #[error(transparent)]
    Engine(#[from] dibao::Error),
}
