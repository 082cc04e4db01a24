//! Departments (S2-58).

use serde_json::json;

use super::Desk;
use crate::Result;
use crate::desk::{Department, DepartmentEdit};

impl Desk {
    /// All departments, or those of a region or category.
    pub async fn departments(&self, region: Option<&str>, category: Option<&str>) -> Result<Vec<Department>> {
        Ok(self.store().departments(region.map(str::to_owned), category.map(str::to_owned)).await?)
    }

    /// Makes a department.
    pub async fn create_department(&self, edit: DepartmentEdit) -> Result<Department> {
        let entry = self.entry("department.create", edit.full_name.clone().unwrap_or_default(), json!(edit));
        let done = self.store().add_department(edit, entry.clone()).await;
        self.settle(entry, done.map_err(Into::into)).await
    }

    /// Changes a department; what is not said stays.
    pub async fn update_department(&self, id: i64, edit: DepartmentEdit) -> Result<Department> {
        let entry = self.entry("department.update", id.to_string(), json!(edit));
        let done = self.store().edit_department(id, edit, entry.clone()).await;
        self.settle(entry, done.map_err(Into::into)).await
    }

    /// Removes a department; its targets and articles stay, without one.
    pub async fn delete_department(&self, id: i64) -> Result<()> {
        let entry = self.entry("department.delete", id.to_string(), json!(null));
        let done = self.store().drop_department(id, entry.clone()).await;
        self.settle(entry, done.map_err(Into::into)).await
    }
}
