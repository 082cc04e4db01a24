//! What an operator can count on from the admin page.

mod files;
