//! gkmlpt on saved answers, one for each thing that a host of the platform was seen to do. Each turn is made twice, natively and
//! in the sandbox, and must give the same answer.

mod both;
mod documents;
mod hostile;
mod lists;
#[path = "../support/native.rs"]
mod native;
