//! Departments, the operator's own.

use dibao::desk::{Department, DepartmentEdit, Page};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Done, Made, Shown};
use crate::call::{Call, Route, Routes, Sent};
use crate::caller::Scope;
use crate::checked::Nothing;
use crate::paging::{Listed, list_query};
use crate::problem::{Code as Kind, Problem};

list_query! {
    /// Which departments.
    Departments {
        /// Only of this region.
        #[schemars(length(max = 200))]
        region: String,
        /// Only of this category.
        #[schemars(length(max = 200))]
        category: String,
        /// Only with this in a name.
        #[schemars(length(max = 200))]
        q: String,
    }
}

/// A department by its number.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Id {
    id: i64,
}

const ALL: &str = "/admin/api/local-departments";
const ONE: &str = "/admin/api/local-departments/{id}";

pub fn add(routes: &mut Routes) {
    routes
        .add(Route::get(ALL, Scope::Read, "Departments"), departments)
        .add(Route::post(ALL, Scope::Admin, "Makes one").may(&[Kind::Conflict]), create)
        .add(
            Route::put(ONE, Scope::Admin, "Changes it; what is not said stays").may(&[Kind::Conflict]),
            update,
        )
        .add(
            Route::delete(ONE, Scope::Admin, "Removes it; targets and articles stay").may(&[Kind::Conflict]),
            remove,
        );
}

async fn departments(call: Call<Nothing, Departments>) -> Result<Shown<Page<Department>>, Problem> {
    let paging = call.query.paging();
    let Departments { region, category, q, .. } = &call.query;
    let mut all = call.desk().departments(region.as_deref(), category.as_deref()).await?;
    if let Some(q) = q {
        all.retain(|one| {
            one.full_name.contains(q) || one.short_name.as_deref().is_some_and(|name| name.contains(q))
        });
    }
    Ok(Shown(Page::of(all, &paging, "departments")?))
}

async fn create(call: Call<Nothing, Nothing, Sent<DepartmentEdit>>) -> Result<Made<Department>, Problem> {
    let made = call.desk().create_department(call.body.0.clone()).await?;
    call.app.events.changed("department", made.dept_id);
    Ok(Made(made))
}

async fn update(call: Call<Id, Nothing, Sent<DepartmentEdit>>) -> Result<Shown<Department>, Problem> {
    let changed = call.desk().update_department(call.path.id, call.body.0.clone()).await?;
    call.app.events.changed("department", changed.dept_id);
    Ok(Shown(changed))
}

async fn remove(call: Call<Id>) -> Result<Done, Problem> {
    call.desk().delete_department(call.path.id).await?;
    call.app.events.changed("department", call.path.id);
    Ok(Done)
}
