//! WHO knows the site: loads WASM components, checks them before they are compiled, and calls
//! them one turn at a time in a sandbox.
//!
//! The life of an adapter: bytes → [`Inspection`] (what it is, what it wants; nothing compiled
//! yet) → compiled code, from the disk cache where it has been seen → `describe()` checked →
//! [`Adapter`]. Each [`Adapter::turn`] then runs in an instance of its own with the numbers of
//! [`Limits`]; what comes back is validated before anyone else sees it.
//!
//! [`Registry`] decides which bytes may be loaded at all and which hosts they were granted.
//!
//! For authors: a [`fixture`] is a recorded step on disk, [`replay`] runs it again without any network, and [`scrub`] takes secrets
//! out of it.

pub mod bindings;
mod cost;
mod error;
pub mod fixture;
mod gate;
mod host;
mod inspect;
mod limits;
mod load;
mod lock;
mod registry;
mod reload;
pub mod replay;
mod said;
mod schema;
pub mod scrub;
mod state;
mod turn;
mod validate;
mod wasi;

pub use bindings::contract;
pub use cost::Cost;
pub use error::{AdapterError, TrapKind, TurnError};
pub use host::{AdapterHost, HostOptions};
pub use inspect::{CONTRACT_VERSION, Inspection};
pub use limits::Limits;
pub use load::Adapter;
pub use registry::{Entry as RegistryEntry, Loaded, PinState, Registry};
pub(crate) use reload::Live;
pub use state::LogLine;
pub use turn::{Call, MAX_TURNS, Step, Turn};
