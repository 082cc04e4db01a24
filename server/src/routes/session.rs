//! Signing in and out, and who one is.

use dibao::desk::Actor;
use http::header;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::answer::{Done, Shown, With};
use crate::auth::{self, Credentials};
use crate::call::{Call, Route, Routes, Sent};
use crate::caller::{Caller, Scope, Via};
use crate::checked::Nothing;
use crate::problem::Problem;
use crate::session::cookie;

/// Who one is.
#[derive(Serialize, JsonSchema)]
pub struct Me {
    /// Whether somebody is known.
    signed_in: bool,
    /// Whether one has to sign in to see anything.
    required: bool,
    /// The name.
    user: Option<String>,
    /// What he may do.
    scope: Option<Scope>,
    /// How he proved it.
    via: Via,
    /// When the session ends if it is not used.
    expires_at: Option<dibao::Timestamp>,
}

/// What one signs in with: name and password, or a token.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    #[schemars(length(max = 1024))]
    user: Option<String>,
    #[schemars(length(max = 1024))]
    password: Option<String>,
    #[schemars(length(max = 1024))]
    token: Option<String>,
}

pub fn add(routes: &mut Routes) {
    routes
        .add(Route::get("/admin/api/me", None, "Who one is; answered to strangers as well"), me)
        .add(Route::post("/admin/api/session", None, "Signs in; the answer sets a cookie"), sign_in)
        .add(Route::delete("/admin/api/session", None, "Signs out"), sign_out);
}

fn of(call: &Caller, required: bool) -> Me {
    Me {
        signed_in: call.scope.is_some(),
        required,
        user: call.scope.map(|_| call.name.clone()),
        scope: call.scope,
        via: call.via,
        expires_at: call.until.map(dibao::Timestamp),
    }
}

async fn me(call: Call) -> Result<Shown<Me>, Problem> {
    Ok(Shown(of(&call.caller, !call.app.auth.open)))
}

async fn sign_in(call: Call<Nothing, Nothing, Sent<SignIn>>) -> Result<With<Shown<Me>>, Problem> {
    let SignIn { user, password, token } = &call.body.0;
    let credentials = match (user, password, token) {
        (Some(user), Some(password), None) => Credentials::Password(user, password),
        (None, None, Some(token)) => Credentials::Token(token),
        _ => return Err(Problem::invalid("user", "send user and password, or token")),
    };
    let auth = &call.app.auth;
    let (number, caller) =
        auth.sign_in(&call.app.engine, credentials, &call.headers, call.peer.0.ip()).await?;
    tracing::info!(user = caller.name, request = %call.request.0, "signed in");
    note(&call, &caller, "session.begin").await?;
    Ok(With(Shown(of(&caller, !auth.open)), header::SET_COOKIE, cookie(Some(&number), auth.secure)))
}

async fn sign_out(call: Call) -> Result<With<Done>, Problem> {
    if let Some(number) = auth::number(&call.headers) {
        call.app.auth.sessions.end(number);
        call.app.auth.ended();
        if call.caller.via == Via::Session {
            note(&call, &call.caller, "session.end").await?;
        }
    }
    Ok(With(Done, header::SET_COOKIE, cookie(None, call.app.auth.secure)))
}

/// The audit row of coming and going, in the name of who did: before he came he was a stranger.
async fn note<B>(
    call: &Call<Nothing, Nothing, B>,
    caller: &Caller,
    action: &'static str,
) -> Result<(), Problem> {
    let actor = Actor::new(caller.name.clone(), "page").request(call.request.0.to_string());
    let desk = call.app.engine.desk(actor);
    Ok(desk.note(action, &caller.name, "ok", json!({ "scope": caller.scope })).await?)
}
