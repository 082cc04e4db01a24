//! What the queue promises: in one process by its workers, over several by leases and the fence. Real files, real
//! processes, real signals.

mod channels;
mod crash;
mod crawls;
mod credentials;
mod hammer;
mod mail;
mod outbox;
mod receiver;
mod workers;
