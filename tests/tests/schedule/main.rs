//! What the scheduler promises: nothing twice, nothing missed, nothing early, whatever clocks and processes do.

mod bed;
mod clock;
mod crash;
mod crawls;
mod model;
mod once;
mod remembered;
mod service;
mod timer;
