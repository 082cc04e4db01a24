//! `dibao org`: departments, to which targets and their articles belong.

use clap::{Args, Subcommand};
use dibao::desk::{Department, DepartmentEdit};

use crate::exit::Exit;
use crate::open::OpenArgs;
use crate::output::{note, print_rows};

#[derive(Subcommand)]
pub enum OrgCommand {
    /// List departments
    Ls {
        /// Only of this region
        #[arg(long)]
        region: Option<String>,
        /// Only of this kind
        #[arg(long)]
        category: Option<String>,
    },
    /// Make a department
    Add {
        /// Its name
        name: String,
        /// A number of your own [default: the next]
        #[arg(long, value_name = "N")]
        id: Option<i64>,
        #[command(flatten)]
        more: More,
    },
    /// Change a department; an empty text takes it back
    Set {
        /// Its number
        id: i64,
        /// Its name
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        more: More,
    },
    /// Remove a department; its targets and articles stay, without one
    Rm {
        /// Its number
        id: i64,
    },
}

#[derive(Args)]
pub struct More {
    /// The name for small places
    #[arg(long)]
    short_name: Option<String>,
    /// Where
    #[arg(long)]
    region: Option<String>,
    /// Of what kind
    #[arg(long)]
    category: Option<String>,
}

impl More {
    fn edit(self, dept_id: Option<i64>, full_name: Option<String>) -> DepartmentEdit {
        let More { short_name, region, category } = self;
        DepartmentEdit { dept_id, full_name, short_name, region, category }
    }
}

pub async fn run(open: &OpenArgs, command: OrgCommand) -> anyhow::Result<Exit> {
    let desk = open.desk().await?;
    match command {
        OrgCommand::Ls { region, category } => {
            print(&desk.departments(region.as_deref(), category.as_deref()).await?)?;
        }
        OrgCommand::Add { name, id, more } => {
            print(&[desk.create_department(more.edit(id, Some(name))).await?])?;
        }
        OrgCommand::Set { id, name, more } => {
            print(&[desk.update_department(id, more.edit(None, name)).await?])?;
        }
        OrgCommand::Rm { id } => {
            desk.delete_department(id).await?;
            note(format_args!("department {id}: removed; its targets and articles stay"));
        }
    }
    Ok(Exit::Ok)
}

fn print(departments: &[Department]) -> anyhow::Result<()> {
    print_rows(departments, &["id", "name", "short", "region", "kind"], |department| {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        vec![
            department.dept_id.to_string(),
            department.full_name.clone(),
            text(&department.short_name),
            text(&department.region),
            text(&department.category),
        ]
    })
}
