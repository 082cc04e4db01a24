//! What a crawl promises, end to end: real TLS sockets, the real adapter in its sandbox, the real store on a real
//! disk. The replica lives in the test's process; the crawler is the library, or the `dibao` program where the
//! promise is about a process that dies. One file per promise.

mod articles;
mod backup;
mod bed;
mod crash;
mod desk;
mod failures;
mod feeds;
mod files;
mod firewall;
mod gkmlpt;
mod incremental;
mod languages;
mod limits;
mod pace;
mod policy;
mod program;
mod reload;
mod restart;
mod resume;
mod robots;
mod signals;
mod snapshot;
mod streaming;
mod turned_away;
mod unchanged;
