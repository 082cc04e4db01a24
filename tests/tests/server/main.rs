//! `dibao serve` as those who use it see it: a real process, real sockets, the replica's sites behind it.

mod audit;
mod bed;
mod drain;
mod figures;
mod guard;
mod look;
mod messages;
mod operate;
mod rights;
mod serving;
mod versions;
