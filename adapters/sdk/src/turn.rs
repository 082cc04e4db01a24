//! One turn: settings and session are read, the adapter is asked, the session is written.
//!
//! The same functions serve the component and native tests; only the [`Host`] differs.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Adapter, Context, Ctx, DetailTurn, Entry, Failure, Host, ListTurn, Reply};

/// One turn of a list page.
pub fn list_turn<A: Adapter>(
    host: &impl Host,
    context: Context,
    cursor: Option<&str>,
    replies: &[Reply],
) -> Result<ListTurn, Failure> {
    let mut ctx = typed::<A>(context)?;
    let step = A::list_page(host, &mut ctx, cursor, replies)?;
    Ok(ListTurn { step, session: session_bytes(&ctx.session)? })
}

/// One turn of a document.
pub fn detail_turn<A: Adapter>(
    host: &impl Host,
    context: Context,
    entry: &Entry,
    replies: &[Reply],
) -> Result<DetailTurn, Failure> {
    let mut ctx = typed::<A>(context)?;
    let step = A::detail(host, &mut ctx, entry, replies)?;
    Ok(DetailTurn { step, session: session_bytes(&ctx.session)? })
}

fn typed<A: Adapter>(context: Context) -> Result<Ctx<A::Config, A::Session>, Failure> {
    Ok(Ctx {
        config: parse_config(&context.config)?,
        session: parse_session(&context.session)?,
        target: context.target,
        base: context.base,
        now: context.now,
        seed: context.seed,
    })
}

fn parse_config<C: DeserializeOwned>(json: &str) -> Result<C, Failure> {
    serde_json::from_str(json).map_err(|error| Failure::Config(format!("the settings do not fit: {error}")))
}

fn parse_session<S: DeserializeOwned + Default>(bytes: &[u8]) -> Result<S, Failure> {
    if bytes.is_empty() {
        return Ok(S::default());
    }
    serde_json::from_slice(bytes)
        .map_err(|error| Failure::Stale(format!("the stored session does not parse: {error}")))
}

/// A session that says nothing is stored as nothing.
fn session_bytes<S: Serialize + Default + PartialEq>(session: &S) -> Result<Vec<u8>, Failure> {
    if *session == S::default() {
        return Ok(Vec::new());
    }
    serde_json::to_vec(session)
        .map_err(|error| Failure::Config(format!("the session cannot be written: {error}")))
}

/// An adapter as a component: the type the `export!` macro exports.
#[cfg(target_arch = "wasm32")]
pub struct Exported<A>(std::marker::PhantomData<A>);

#[cfg(target_arch = "wasm32")]
impl<A: Adapter + 'static> crate::bindings::exports::dibao::adapter::site::Guest for Exported<A> {
    fn describe() -> crate::About {
        say_last_words();
        A::about()
    }

    fn list_page(ctx: Context, cursor: Option<String>, replies: Vec<Reply>) -> Result<ListTurn, Failure> {
        say_last_words();
        list_turn::<A>(&crate::host::Imports, ctx, cursor.as_deref(), &replies)
    }

    fn detail(ctx: Context, entry: Entry, replies: Vec<Reply>) -> Result<DetailTurn, Failure> {
        say_last_words();
        detail_turn::<A>(&crate::host::Imports, ctx, &entry, &replies)
    }
}

/// A panic ends the instance without unwinding; its message still reaches the run's log.
#[cfg(target_arch = "wasm32")]
fn say_last_words() {
    std::panic::set_hook(Box::new(|panic| {
        crate::host::Imports.log(crate::Level::Error, &panic.to_string());
    }));
}
