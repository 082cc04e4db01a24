//! What an operator asks of an engine, as plain data: rows to look at, changes to make, numbers to watch.
//!
//! The verbs are on [`Desk`](crate::Desk), which [`Engine::desk`](crate::Engine::desk) gives to whoever says who he is: every change leaves an
//! audit row with that name, in the transaction of the change. What cannot be done is a [`Refusal`](crate::Refusal).

mod access;
mod advice;
mod page;
mod rows;
mod search;
mod stats;

pub use access::{Begun, NewToken, Scope, TokenRow};
pub use advice::{Advice, advice};
pub(crate) use page::Cursor;
pub use page::{MAX_LIMIT, Page, Paging};
pub use rows::{
    Actor, AlertRow, AuditQuery, AuditRow, BulkAct, BulkOutcome, Department, DepartmentEdit, LogQuery,
    LogRow, LookedAgain, PageVersion, ParserView, RunAsk, SiteRow, TargetQuery, TargetRow,
};
pub use search::{FoundIds, Piece, SearchHit, SearchQuery};
pub use stats::{
    DayCount, DeptCount, Freshness, HourCount, JobCounts, KindWaiting, Overview, Pulse, RunRow, SiteCount,
    TargetHealth, Trouble,
};
