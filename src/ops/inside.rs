//! Whether a command runs in the cluster that it is about: a roll, or a drain of its node, would end it half way.

use super::Context;
use crate::error::{Error, codes};
use crate::ship::{Place, inside_of};

/// Refuses where one of the servers is in the cluster in which this runs. They are asked for only within a pod; an empty
/// one stands for the account that a pod gets by itself.
///
/// # Errors
/// [`codes::INSIDE_CLUSTER`].
pub(super) fn refuse(
    context: &Context,
    servers: impl FnOnce() -> Vec<String>,
) -> Result<(), Error> {
    let place = place(context);
    if place.api_host.is_none() {
        return Ok(());
    }
    let servers = servers();
    let servers: Vec<&str> = servers.iter().map(String::as_str).collect();
    match inside_of(&place, &servers) {
        None => Ok(()),
        Some(server) => Err(inside(server)),
    }
}

/// Where the environment says that the program runs.
fn place(context: &Context) -> Place {
    let text = |name: &str| context.environment.variable(name)?.to_str().map(str::to_owned);
    Place { api_host: text("KUBERNETES_SERVICE_HOST"), api_port: text("KUBERNETES_SERVICE_PORT") }
}

fn inside(server: &str) -> Error {
    let server = if server.is_empty() { "the cluster of this pod" } else { server };
    let message = format!(
        "this runs in the cluster that it is about ({server}), and may be ended by a roll or a drain there"
    );
    Error::new(codes::INSIDE_CLUSTER, message)
        .hint("run it outside, such as in CI; --from-inside does it all the same")
}
