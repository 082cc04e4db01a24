//! `dibao serve`: timer, workers, REST API and admin page in one process, until a signal ends them.

use std::io::{IsTerminal, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use dibao_server::{Options, Password, Server};

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::note;
use crate::signals::drain_then_abort;
use crate::work::WorkArgs;

/// The largest file of a password.
const LARGEST: u64 = 4 << 10;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  dibao serve\n  ADMIN_PASSWORD_FILE=/run/secrets/dibao dibao serve --listen 0.0.0.0:8787 --host dibao.example.org\n  dibao serve --hash-password < password.txt > /run/secrets/dibao"
)]
pub struct ServeArgs {
    /// Where to listen; others than loopback need a password
    #[arg(long, short, env = "DIBAO_LISTEN", default_value = "127.0.0.1:8787", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,

    /// A name under which the page is opened, besides addresses and localhost; may be given several times
    #[arg(long, env = "DIBAO_HOST", value_name = "NAME", value_delimiter = ',')]
    host: Vec<String>,

    /// A proxy before it speaks TLS: the cookie of the page is sent over TLS only
    #[arg(long, env = "DIBAO_HTTPS")]
    https: bool,

    /// Name of the administrator
    #[arg(long, env = "ADMIN_USER", default_value = "admin", value_name = "NAME")]
    admin_user: String,

    /// A file with the administrator's password or its Argon2 hash; ADMIN_PASSWORD is read as well
    #[arg(long, env = "ADMIN_PASSWORD_FILE", value_name = "FILE")]
    admin_password_file: Option<PathBuf>,

    /// Read a password from standard input, print its Argon2 hash, and end
    #[arg(long)]
    hash_password: bool,

    #[command(flatten)]
    work: WorkArgs,
}

pub async fn run(open: &OpenArgs, args: ServeArgs) -> anyhow::Result<Exit> {
    if args.hash_password {
        return hash();
    }
    let admin = password(&args)?.map(|password| (args.admin_user.clone(), password));
    // A mistake in the options must not leave a data directory behind, and a server without one begins with it.
    let options = Options { listen: args.listen, admin, names: args.host, https: args.https };
    let engine = open
        .builder_in(open.data.clone())?
        // For the figures: an adapter that grew expensive is seen before its sites are slow.
        .measure_turns(true)
        .reconcile_every(args.work.reconcile)
        .build()
        .await?;
    let server = Server::bind(engine.clone(), options).await?;
    let stop = drain_then_abort(Some(engine.queue().clone()));
    let addr = server.addr()?;
    // Whoever started it may have left the port to the system: this line tells where it is.
    note(format_args!("dibao: serving at http://{addr}/admin/; Ctrl-C ends it"));
    open.note_missing_contact();
    let handlers = server.handlers();
    let options = args.work.options();
    // Answers are given until the last job has ended: whoever watches sees the drain.
    let answers_end = tokio_util::sync::CancellationToken::new();
    let work = async {
        let worked = match args.work.jobs {
            0 => {
                stop.cancelled().await;
                Ok(())
            }
            _ => engine.run(handlers, options, stop.clone()).await,
        };
        // A worker that cannot go on ends the process, so that whoever runs it starts it again.
        stop.cancel();
        answers_end.cancel();
        worked
    };
    let (worked, served) = tokio::join!(work, server.run(answers_end.clone()));
    engine.gate().flush().await;
    worked?;
    served?;
    note("dibao: ended; the next start goes on from here");
    Ok(Exit::Ok)
}

fn password(args: &ServeArgs) -> anyhow::Result<Option<Password>> {
    if let Some(file) = &args.admin_password_file {
        return Ok(Some(Password::new(read(file)?)));
    }
    // Not an argument: those are seen by everybody on the machine.
    match std::env::var("ADMIN_PASSWORD") {
        Ok(password) if !password.is_empty() => Ok(Some(Password::new(password))),
        _ => Ok(None),
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    let file =
        std::fs::File::open(path).with_context(|| format!("ADMIN_PASSWORD_FILE {}", path.display()))?;
    let mut text = String::new();
    file.take(LARGEST)
        .read_to_string(&mut text)
        .with_context(|| format!("ADMIN_PASSWORD_FILE {}", path.display()))?;
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() {
        return Err(Usage(format!("ADMIN_PASSWORD_FILE {} is empty", path.display())).into());
    }
    Ok(text.to_owned())
}

fn hash() -> anyhow::Result<Exit> {
    if std::io::stdin().is_terminal() {
        note("type the password, then Enter and Ctrl-D");
    }
    let mut text = String::new();
    std::io::stdin().take(LARGEST).read_to_string(&mut text)?;
    let hash = Password::new(text.trim_end_matches(['\r', '\n'])).hash()?;
    writeln!(std::io::stdout(), "{hash}")?;
    Ok(Exit::Ok)
}
