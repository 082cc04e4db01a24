//! What the scheduler promises: nothing twice, nothing missed, nothing early, whatever clocks and processes do.

mod bed;
mod clock;
mod model;
mod timer;
