//! API tokens: made, listed, taken back. A token is shown once.

use std::time::Duration;

use dibao::desk::{NewToken, Page, Scope, TokenRow};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Made, Shown};
use crate::call::{Call, Route, Routes, Sent};
use crate::checked::Nothing;
use crate::paging::{Listed, list_query};
use crate::problem::{Code, Problem};

list_query! {
    /// Which part.
    Part {}
}

/// A token to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct New {
    /// A name that no other has.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// What it may do.
    scope: Scope,
    /// It ends after so many days; never, when nothing is said.
    #[schemars(range(min = 1, max = 3660))]
    days: Option<u32>,
}

/// A token by its number.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Id {
    #[schemars(range(min = 1))]
    id: i64,
}

pub fn add(routes: &mut Routes) {
    routes
        .add(Route::get("/admin/api/tokens", Scope::Admin, "Tokens, those that were taken back too"), tokens)
        .add(
            Route::post("/admin/api/tokens", Scope::Admin, "Makes a token, which is shown this once")
                .may(&[Code::Conflict]),
            create,
        )
        .add(
            Route::delete("/admin/api/tokens/{id}", Scope::Admin, "Takes a token back")
                .may(&[Code::Conflict]),
            revoke,
        );
}

async fn tokens(call: Call<Nothing, Part>) -> Result<Shown<Page<TokenRow>>, Problem> {
    let rows = call.desk().tokens().await?;
    Ok(Shown(Page::of(rows, &call.query.paging(), "tokens")?))
}

async fn create(call: Call<Nothing, Nothing, Sent<New>>) -> Result<Made<NewToken>, Problem> {
    let New { name, scope, days } = &call.body.0;
    let lives = days.map(|days| Duration::from_secs(u64::from(days) * 86_400));
    let token = call.desk().create_token(name, *scope, lives).await?;
    call.app.events.changed("token", token.row.id);
    Ok(Made(token))
}

async fn revoke(call: Call<Id>) -> Result<Shown<TokenRow>, Problem> {
    let row = call.desk().revoke_token(&call.path.id.to_string()).await?;
    call.app.auth.ended();
    call.app.events.changed("token", row.id);
    Ok(Shown(row))
}
