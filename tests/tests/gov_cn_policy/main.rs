//! gov-cn-policy on saved answers: every oddity of its back ends has a file. Each call is made twice, natively and in the
//! sandbox, and must give the same answer.

mod both;
mod cipher;
mod documents;
mod gateway;
mod malformed;
mod search;
