//! Argo CD through its API server: the REST form of `server/application/application.proto`, as `assets/swagger.json`
//! describes it.

mod answer;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::application::Application;
use super::port::{
    ApplicationRef, ArgoCd, ManagedResource, ObjectRef, RefreshRequest, SyncRequest, SyncWindows,
    TreeNode, Trouble, is_rolling_sync,
};
use crate::clock::{Allowance, Deadline};
use crate::http::{Address, Client, HttpError, Method, Options, Request, Response, Retry, Secret};
use answer::{Items, RawManaged, RawTree, RawWindows};

/// How long one answer may take.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// How long a refresh is listened to. The server has asked for it long before it answers, which it only does once some
/// comparison has ended; so no answer is no error.
const REFRESH_TIME: Duration = Duration::from_secs(3);

/// How long one stream of changes is read, and how long it may be silent; then it is opened again.
const STREAM_TIME: Duration = Duration::from_secs(3600);
const STREAM_SILENCE: Duration = Duration::from_secs(120);

/// The most bytes of an answer: lists of hundreds of Applications have tens of megabytes.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// An API server, and the credential for it.
pub struct Rest {
    client: Client,
    base: Address,
    token: Option<Secret>,
    allowance: Option<Allowance>,
}

/// Where the API server is, as the user names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerName {
    /// `ARGOCD_SERVER`: a host with or without port, or an address with scheme and maybe a path.
    pub server: String,
    /// Whether a host without scheme is asked by `http`.
    pub is_plaintext: bool,
    /// The path below which the API stands; empty for the top.
    pub root_path: String,
}

impl ServerName {
    /// Its address.
    ///
    /// # Errors
    /// Where it is none.
    pub fn address(&self) -> Result<Address, HttpError> {
        let scheme = if self.is_plaintext { "http" } else { "https" };
        let text = match self.server.contains("://") {
            true => self.server.clone(),
            false => format!("{scheme}://{}", self.server),
        };
        let parts = self.root_path.split('/').filter(|part| !part.is_empty());
        Ok(Address::parse(&text)?.below(&parts.collect::<Vec<_>>()))
    }
}

impl Rest {
    /// The API server at `base`.
    #[must_use]
    pub fn new(options: &Options, base: Address, token: Option<Secret>) -> Self {
        Self { client: Client::new(options), base, token, allowance: None }
    }

    /// Waits for no answer beyond that time, when the caller has given up.
    #[must_use]
    pub fn until(self, allowance: Option<Allowance>) -> Self {
        Self { allowance, ..self }
    }

    fn allowed(&self, time: Duration) -> Deadline {
        self.allowance.map_or_else(|| Deadline::after(time), |allowance| allowance.answer(time))
    }

    fn request(&self, method: Method, segments: &[&str]) -> Request {
        let path = ["api", "v1"].iter().chain(segments).copied().collect::<Vec<_>>();
        self.with_token(Request::new(method, self.base.below(&path)))
    }

    fn with_token(&self, request: Request) -> Request {
        let request = request.body_limit(MOST_BYTES).header("Accept", "application/json");
        match &self.token {
            Some(token) => request.bearer(token),
            None => request,
        }
    }

    /// A request about one Application, with the parameters that find it.
    fn about(&self, app: &ApplicationRef, segments: &[&str]) -> Request {
        let path = [&["applications", &app.name], segments].concat();
        with_parameters(
            self.request(Method::Get, &path),
            &[
                ("appNamespace", app.namespace.as_deref().unwrap_or_default()),
                ("project", app.project.as_deref().unwrap_or_default()),
            ],
        )
    }

    fn send(&self, request: &Request) -> Result<Response, Trouble> {
        let retry = Retry { attempts: 3, ..Retry::default() };
        let response = self.client.send_patiently(request, self.allowed(ANSWER_TIME), &retry);
        let response = response.map_err(|error| of_http(&error))?;
        match response.is_success() {
            true => Ok(response),
            false => Err(answer::trouble(&response)),
        }
    }

    /// What only some installations, versions or accounts give.
    fn send_optional(&self, request: &Request, what: &str) -> Result<Response, Trouble> {
        self.send(request).map_err(|trouble| match trouble {
            Trouble::NotFound { .. } => Trouble::NotServed { what: what.to_owned() },
            other => other,
        })
    }
}

fn with_parameters(mut request: Request, parameters: &[(&str, &str)]) -> Request {
    for (name, value) in parameters.iter().filter(|(_, value)| !value.is_empty()) {
        request.address = request.address.with_parameter(name, value);
    }
    request
}

/// What cannot be sent or read, as the loop sees it: some of it passes by itself.
fn of_http(error: &HttpError) -> Trouble {
    let message = error.to_string();
    match error.is_transient() {
        true => Trouble::Unreachable { message },
        false => Trouble::Invalid { message },
    }
}

fn read<T: for<'de> Deserialize<'de>>(response: &Response) -> Result<T, Trouble> {
    response.json().map_err(|error| Trouble::Invalid { message: error.to_string() })
}

impl ArgoCd for Rest {
    fn application(&self, app: &ApplicationRef) -> Result<Arc<Application>, Trouble> {
        let response = self.send(&self.about(app, &[])).map_err(|trouble| match trouble {
            // The server hides what is not there from accounts that may not know.
            Trouble::Denied { message } => Trouble::NotFound {
                message: format!("there is no Application {app}, or it may not be seen: {message}"),
            },
            other => other,
        })?;
        read(&response).map(Arc::new)
    }

    fn applications(&self) -> Result<Vec<Arc<Application>>, Trouble> {
        let response = self.send(&self.request(Method::Get, &["applications"]))?;
        let list: Items<Application> = read(&response)?;
        Ok(list.items.unwrap_or_default().into_iter().map(Arc::new).collect())
    }

    fn refresh(&self, app: &ApplicationRef, request: RefreshRequest) -> Result<(), Trouble> {
        let kind = if request.is_hard { "hard" } else { "normal" };
        // The server asks for hydration by itself where there is a hydrator.
        let request = with_parameters(self.about(app, &[]), &[("refresh", kind)]);
        match self.client.send(&request, self.allowed(REFRESH_TIME)) {
            Ok(response) if response.is_success() => Ok(()),
            Ok(response) => Err(answer::trouble(&response)),
            Err(HttpError::TimedOut { .. }) => Ok(()),
            Err(error) => Err(of_http(&error)),
        }
    }

    fn sync(&self, app: &ApplicationRef, request: &SyncRequest) -> Result<(), Trouble> {
        let mut body = json!({
            "name": app.name,
            "prune": request.prune,
            "infos": [{"name": "overlay", "value": request.token}],
        });
        for (key, value) in [("appNamespace", &app.namespace), ("project", &app.project)] {
            if let Some(value) = value {
                body[key] = Value::from(value.as_str());
            }
        }
        let asked = self.request(Method::Post, &["applications", &app.name, "sync"]);
        let wrong = |error: serde_json::Error| Trouble::Invalid { message: error.to_string() };
        self.send(&asked.json(&body).map_err(wrong)?).map(drop)
    }

    fn managed_resources(
        &self,
        app: &ApplicationRef,
        objects: &[ObjectRef],
    ) -> Result<Vec<ManagedResource>, Trouble> {
        let request = self.about(app, &["managed-resources"]);
        let request = match objects {
            [object] => with_parameters(
                request,
                &[("group", &*object.group), ("kind", &*object.kind), ("name", &*object.name)],
            ),
            _ => request,
        };
        let list: Items<RawManaged> = read(&self.send_optional(&request, "what is managed")?)?;
        list.items.unwrap_or_default().into_iter().map(RawManaged::parse).collect()
    }

    fn resource_tree(&self, app: &ApplicationRef) -> Result<Vec<TreeNode>, Trouble> {
        let request = self.about(app, &["resource-tree"]);
        let tree: RawTree = read(&self.send_optional(&request, "the resource tree")?)?;
        Ok(tree.nodes())
    }

    fn sync_windows(&self, app: &ApplicationRef) -> Result<SyncWindows, Trouble> {
        let request = self.about(app, &["syncwindows"]);
        let windows: RawWindows = read(&self.send_optional(&request, "sync windows")?)?;
        Ok(windows.parse())
    }

    fn has_rolling_sync(&self, app: &ApplicationRef, set: &str) -> Result<bool, Trouble> {
        let request = with_parameters(
            self.request(Method::Get, &["applicationsets", set]),
            &[("appsetNamespace", app.namespace.as_deref().unwrap_or_default())],
        );
        let set: Value = read(&self.send_optional(&request, "ApplicationSets")?)?;
        Ok(is_rolling_sync(&set))
    }

    fn watch(
        &self,
        app: &ApplicationRef,
        changed: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<(), Trouble> {
        let request = with_parameters(
            self.request(Method::Get, &["stream", "applications"]),
            &[
                ("name", &*app.name),
                ("appNamespace", app.namespace.as_deref().unwrap_or_default()),
                ("project", app.project.as_deref().unwrap_or_default()),
            ],
        );
        let opened = self.client.open(&request, self.allowed(STREAM_TIME), STREAM_SILENCE);
        let mut stream = opened.map_err(|error| of_http(&error))?;
        if !(200..300).contains(&stream.status) {
            return Err(Trouble::NotServed { what: "a stream of changes".to_owned() });
        }
        while let Some(line) = stream.next_line().map_err(|error| of_http(&error))? {
            if !line.is_empty() && changed().is_break() {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_host_or_address() {
        let of = |server: &str, is_plaintext, root_path: &str| {
            let (server, root_path) = (server.to_owned(), root_path.to_owned());
            ServerName { server, is_plaintext, root_path }.address().unwrap().to_string()
        };
        assert_eq!(of("argocd.test", false, ""), "https://argocd.test");
        assert_eq!(of("argocd.test:8080", true, ""), "http://argocd.test:8080");
        assert_eq!(of("http://argocd.test", false, ""), "http://argocd.test");
        assert_eq!(of("argocd.test", false, "/argo/cd/"), "https://argocd.test/argo/cd");
        assert_eq!(of("https://argocd.test/argo", false, ""), "https://argocd.test/argo");
    }
}
