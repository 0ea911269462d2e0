//! A shared history on a plain HTTP server: GET, and PUT with `If-None-Match: *`.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lapwing_record::sharing::{ObjectCreation, Remote, RemoteError};
use percent_encoding::percent_decode_str;
use ureq::Agent;
use ureq::http::Uri;

use super::web::{SHORT, ServerAnswer, WebError, agent, quoted, request};
use crate::error::CliError;

/// A folder of an HTTP server.
pub(super) struct HttpFolder {
    agent: Agent,
    /// Without password, query and trailing slash.
    address: String,
    /// The part after `?`, such as an access token.
    query: Option<String>,
    authorization: Option<String>,
}

impl HttpFolder {
    pub(super) fn open(url: &str) -> Result<Self, CliError> {
        let unclear = || {
            CliError::input("the address is not one of HTTP")
                .hint("write it like https://server/path or https://user:password@server/path")
        };
        let url = url.split('#').next().unwrap_or(url);
        let (base, query) = match url.split_once('?') {
            Some((base, query)) => (base, Some(query.to_owned())),
            None => (url, None),
        };
        let (scheme, rest) = base.split_once("://").ok_or_else(unclear)?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let address = format!("{scheme}://{host}/{}", path.trim_matches('/'));
        let address = address.trim_end_matches('/').to_owned();
        // Without the cause, which could contain the password.
        let _valid: Uri = address.parse().map_err(|_invalid| unclear())?;
        Ok(Self {
            agent: agent()?,
            address,
            query,
            authorization: user.map(basic),
        })
    }

    fn url(&self, name: &str) -> String {
        match &self.query {
            Some(query) => format!("{}/{name}?{query}", self.address),
            None => format!("{}/{name}", self.address),
        }
    }
}

/// Returns the header for `user:password` of an address.
fn basic(user: &str) -> String {
    let decoded: Vec<u8> = percent_decode_str(user).collect();
    let text = BASE64_STANDARD.encode(decoded);
    format!("Basic {text}")
}

impl Remote for HttpFolder {
    fn address(&self) -> &str {
        &self.address
    }

    fn get(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, RemoteError> {
        let what = format!("cannot fetch {name}");
        let answer = request(&what, limit, || {
            // A cache may not know that the object exists by now.
            let mut request = self
                .agent
                .get(self.url(name))
                .header("cache-control", "no-cache");
            if let Some(authorization) = &self.authorization {
                request = request.header("authorization", authorization);
            }
            request.call()
        })?;
        match answer.status {
            200 => Ok(Some(answer.body)),
            404 | 410 => Ok(None),
            _other => Err(refusal(what, &answer, RefusedAction::Reading)),
        }
    }

    fn create(&self, name: &str, content: &[u8]) -> Result<ObjectCreation, RemoteError> {
        let what = format!("cannot create {name}");
        let answer = request(&what, SHORT, || {
            let mut request = self
                .agent
                .put(self.url(name))
                .header("if-none-match", "*")
                .header("content-type", "application/octet-stream")
                // A redirected PUT may become a GET, whose success means nothing.
                .config()
                .max_redirects(0)
                .build();
            if let Some(authorization) = &self.authorization {
                request = request.header("authorization", authorization);
            }
            request.send(content)
        })?;
        match answer.status {
            200 | 201 | 204 => Ok(ObjectCreation::New),
            412 => Ok(ObjectCreation::Refused),
            _other => Err(refusal(what, &answer, RefusedAction::Writing)),
        }
    }
}

/// The refused action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefusedAction {
    Reading,
    Writing,
}

fn refusal(what: String, answer: &ServerAnswer, doing: RefusedAction) -> RemoteError {
    let writing = doing == RefusedAction::Writing;
    let header = |name| answer.headers.get(name).and_then(|it| it.to_str().ok());
    let says = match answer.status {
        300..=399 => match header("location") {
            // The part after `?` may be a secret.
            Some(to) => quoted(&format!("moved to {}", to.split('?').next().unwrap_or(to))),
            None => String::new(),
        },
        401 | 403 => {
            quoted("user and password can stand in the address: https://user:password@server/path")
        }
        405 | 501 if writing => quoted("it does not take PUT"),
        404 | 409 if writing => {
            quoted("it does not take PUT here, or only where there is a folder")
        }
        _other => String::new(),
    };
    let status = answer.status;
    Box::new(WebError::Status { what, status, says })
}
