//! A simulated day in bad weather: 200 targets on 20 hosts that fail in every way there is, and a server that counts.
//!
//! The sockets are real, the day is not: time stands still while anything is under way and leaps to the next moment
//! somebody waits for. What the gate promises is checked where it matters, at the server (`judge`).

mod clock;
mod day;
mod judge;
mod server;
mod weather;
