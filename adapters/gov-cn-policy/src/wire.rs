//! Answers of these back ends: worth reading or not, and then JSON.

pub use dibao_adapter::json::{Node, read};
use dibao_adapter::{Failure, Reply};

/// Whether an answer is worth reading.
pub fn usable(reply: &Reply, setting: &str) -> Result<(), Failure> {
    match reply.status {
        0..=399 => Ok(()),
        404 | 410 => Err(Failure::Shape(format!(
            "{} answered {}: it has moved; correct {setting}",
            reply.url, reply.status
        ))),
        status => Err(Failure::Refused(format!("{} answered {status}", reply.url))),
    }
}
