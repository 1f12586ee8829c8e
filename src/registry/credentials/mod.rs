//! The credentials that people already have: Docker's and Podman's files, and the helpers that those name.
//!
//! Nothing is read before a registry asks. A credential is found by the *user's* configuration alone, by the host (and, with
//! Podman, the path) that is really asked; nothing of a repository can change which.

mod config_file;
mod helper;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use self::config_file::{AuthFile, Found};
use super::{RegistryError, Repository};
use crate::http::Secret;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Login {
    /// A user with a password or a personal token.
    Password {
        /// The user.
        user: String,
        /// The password.
        password: Secret,
    },
    /// A token that the token service exchanges for others (OAuth 2's refresh token).
    Identity(Secret),
    /// A token that the registry takes as it is.
    Registry(Secret),
}

/// A login and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Credential {
    pub(super) login: Login,
    /// A file or helper.
    pub(super) origin: String,
}

/// What of the environment decides where credentials are looked for.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// Every variable; helpers get them all.
    pub variables: Vec<(OsString, OsString)>,
}

impl Environment {
    fn path(&self, name: &str) -> Option<PathBuf> {
        let found = self.variables.iter().find(|(key, value)| key == name && !value.is_empty());
        found.map(|(_, value)| PathBuf::from(value))
    }
}

/// The user's credentials for registries.
pub struct Credentials {
    environment: Environment,
    files: OnceLock<Result<Vec<AuthFile>, RegistryError>>,
}

impl Credentials {
    /// Those that this environment leads to; nothing is read yet.
    pub fn new(environment: Environment) -> Self {
        Self { environment, files: OnceLock::new() }
    }

    /// The credential for a repository, the first file that has one deciding.
    ///
    /// # Errors
    /// [`RegistryError::Credentials`] for a file that is broken, or a helper of exactly this host that fails.
    pub(super) fn find(
        &self,
        repository: &Repository,
    ) -> Result<Option<Credential>, RegistryError> {
        for file in self.files()? {
            match file.find(repository) {
                Some(Found::Login(credential)) => return Ok(Some(credential)),
                Some(Found::Helper { name, server, is_general }) => {
                    match helper::ask(&self.environment, &name, &server) {
                        Ok(Some(credential)) => return Ok(Some(credential)),
                        Ok(None) => {}
                        // A store for everything that is not installed here (a desktop's, in a container) hides nothing.
                        Err(_) if is_general => {}
                        Err(error) => return Err(error),
                    }
                }
                None => {}
            }
        }
        Ok(None)
    }

    /// Where was looked, for a message.
    pub(super) fn looked(&self) -> String {
        match self.files() {
            Ok([]) => "no configuration of Docker or Podman was found".to_owned(),
            Ok(files) => {
                let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
                format!("looked in {}", names.join(", "))
            }
            Err(error) => error.to_string(),
        }
    }

    fn files(&self) -> Result<&[AuthFile], RegistryError> {
        let loaded = self.files.get_or_init(|| {
            let mut files = Vec::new();
            for path in self.paths() {
                files.extend(AuthFile::load(&path)?);
            }
            Ok(files)
        });
        loaded.as_deref().map_err(Clone::clone)
    }

    /// The order of containers-auth.json(5); a directory that the user names outright comes before what is found by itself.
    fn paths(&self) -> Vec<PathBuf> {
        let environment = &self.environment;
        if let Some(named) = environment.path("REGISTRY_AUTH_FILE") {
            return vec![named];
        }
        let home = environment.home.clone();
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let config = environment.path("XDG_CONFIG_HOME").or_else(|| below_home(".config"));
        let docker = environment.path("DOCKER_CONFIG");
        let own = docker.is_none().then(|| below_home(".docker/config.json")).flatten();
        [
            docker.map(|directory| directory.join("config.json")),
            environment.path("XDG_RUNTIME_DIR").map(|d| d.join("containers/auth.json")),
            config.map(|directory| directory.join("containers/auth.json")),
            own,
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
