//! A Prometheus server, asked for numbers (`/api/v1/query` of its HTTP API).

use std::time::Duration;

use super::VerifyRequest;
use crate::clock::Deadline;
use crate::error::{Error, Location, codes};
use crate::http::{Address, Client, Options, Proxies, Request, Secret};
use crate::ops::Context;
use crate::rollout::Conditions;

/// How long one query may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most bytes of an answer.
const MOST: u64 = 4 << 20;

/// Where the address of the server comes from: what may go there depends on it.
enum From {
    /// The command line or the environment: whoever runs the program.
    User(String),
    /// `.overlay.yaml`: whoever writes to the repository. No credential ever goes there.
    Repository(String),
}

/// The server, and who asks it.
pub(super) struct Metrics {
    client: Client,
    address: Address,
    token: Option<Secret>,
}

impl Metrics {
    /// The server that is meant; why there is none, where nobody names one.
    ///
    /// # Errors
    /// Where an address is none, or a token would go over an open connection.
    pub(super) fn new(
        context: &Context,
        request: &VerifyRequest,
        conditions: &Conditions,
    ) -> Result<Result<Self, String>, Error> {
        if context.offline {
            return Ok(Err("--offline".to_owned()));
        }
        let variable = |name: &str| context.environment.variable(name)?.to_str().map(str::to_owned);
        let by_user = request.prometheus.clone().or_else(|| variable("PROMETHEUS_URL"));
        let by_repository = || conditions.prometheus.clone().map(From::Repository);
        let Some(from) = by_user.map(From::User).or_else(by_repository) else {
            let why = "no server is named: --prometheus URL, PROMETHEUS_URL, or verify.prometheus of .overlay.yaml";
            return Ok(Err(why.to_owned()));
        };
        let (address, token) = match &from {
            From::User(text) => {
                let address = Address::parse(text)
                    .map_err(|error| Error::new(codes::USAGE, error.to_string()))?;
                let token = variable("PROMETHEUS_TOKEN").map(Secret::new);
                let is_open = !address.origin().secure && !address.origin().is_loopback();
                if token.is_some() && is_open {
                    let message = format!("{address}: PROMETHEUS_TOKEN does not go over http");
                    return Err(Error::new(codes::USAGE, message).hint("write https://"));
                }
                (address, token)
            }
            From::Repository(text) => {
                let address = Address::parse(text).map_err(|error| {
                    let place = Location::file(crate::config::FILE_NAME);
                    Error::new(codes::CONFIG_INVALID, error.to_string()).at(place)
                })?;
                (address, None)
            }
        };
        let options = Options {
            proxies: Proxies::from_variables(&context.environment.variables),
            body_limit: MOST,
            ..Options::default()
        };
        Ok(Ok(Self { client: Client::new(&options), address, token }))
    }

    /// The body of the answer to a query, whatever its status; why there is none.
    pub(super) fn ask(&self, query: &str) -> Result<String, String> {
        let address = self.address.below(&["api", "v1", "query"]).with_parameter("query", query);
        let request = Request::get(address).header("Accept", "application/json");
        let request = match &self.token {
            Some(token) => request.bearer(token),
            None => request,
        };
        let answer = self.client.send(&request, Deadline::after(PATIENCE));
        let answer = answer.map_err(|error| error.to_string())?;
        match answer.status {
            401 | 403 => {
                Err(format!("{}: it wants another login ({})", self.address, answer.status))
            }
            _ => Ok(String::from_utf8_lossy(&answer.body).into_owned()),
        }
    }
}
