//! WHO hears of it: messages to people and programs, at least once, under a key that stays the same.
//!
//! There is no second queue: the outbox *is* the queue. What is to be announced is a job of kind [`DELIVER`] in the lane
//! `deliver:<channel>`, submitted in the transaction of what it announces; so there is no article without its
//! announcement and no announcement without its article, whatever dies in between. A channel that is down keeps
//! nobody waiting but itself: each has its own lane. Whoever hears the same thing twice (a worker died between the
//! sending and the noting) can tell by the key.
//!
//! Channels are the operator's: `channels.toml` in the data directory, see [`Channels`]. Their addresses may be private
//! ones, on purpose: a webhook in the same network is the common case. They are never taken from a page. Nothing here
//! goes through the crawler's gate, and nothing there comes here.
//!
//! | kind | what is sent | how it is signed |
//! |---|---|---|
//! | `webhook` | JSON, [Standard Webhooks](https://www.standardwebhooks.com) headers, `Idempotency-Key` | HMAC-SHA256 |
//! | `dingtalk` | markdown of a robot | `timestamp` and `sign` in the address |
//! | `feishu` | a post of a bot | `timestamp` and `sign` in the body |
//! | `wecom` | markdown of a robot | the key in its address |
//! | `telegram` | `sendMessage` with HTML | the bot's token |
//! | `email` | text over SMTP with TLS | user and password |
//! | `file` | a line of JSON, appended | – |
//! | `command` | JSON on standard input of a program; no shell | – |
//!
//! An own channel is a [`Delivery`], added with [`Channels::with`].

pub mod alert;
mod channel;
mod channels;
mod handler;
mod message;
mod rest;
mod secret;
mod template;

pub use channel::{Delivery, DeliveryError, Receipt};
pub use channels::{Announces, Channels};
pub use handler::{DELIVER, DeliverHandler, Notice, lane};
pub use message::Message;
pub use secret::{CredentialProvider, Secret, SystemCredentials};
pub use template::{Format, Template};
