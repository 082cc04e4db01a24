//! Tables: each rule of the standard, each case that Google publishes, files that mean harm, and the book.

mod book;
mod google;
mod hostile;
mod standard;
