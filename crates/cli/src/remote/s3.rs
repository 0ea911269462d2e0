//! A shared history in an S3-compatible object store.

use jiff::Timestamp;
use lapwing_record::sharing::{ObjectCreation, Remote, RemoteError};
use ureq::Agent;
use ureq::http::Uri;

use super::signature::{S3Credentials, SignedRequest, encoded, headers};
use super::web::{SHORT, ServerAnswer, WebError, agent, quoted, request};
use crate::error::CliError;

/// A part of a bucket.
pub(super) struct BucketFolder {
    agent: Agent,
    credentials: S3Credentials,
    region: String,
    /// `https://server`, without path.
    server: String,
    /// As it stands in requests: `server` or `server:port`.
    host: String,
    /// The encoded path of the prefix, with a slash at the beginning and none at the end.
    path: String,
    address: String,
}

impl BucketFolder {
    /// Opens `BUCKET/PREFIX`. What is not given comes from the environment variables that other
    /// programs for S3 have, too.
    pub(super) fn open(
        rest: &str,
        endpoint: Option<&str>,
        region: Option<&str>,
    ) -> Result<Self, CliError> {
        let variable = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.trim_matches('/');
        if bucket.is_empty() || bucket.contains(['@', '?', ':']) {
            return Err(CliError::input("the address names no bucket")
                .hint("write it like s3://bucket/prefix"));
        }
        let credentials = S3Credentials::from_variables(variable).ok_or_else(|| {
            CliError::input("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set").hint(
                "set them; `eval \"$(aws configure export-credentials --format env)\"` takes them \
                 from a profile",
            )
        })?;
        let region = region
            .map(str::to_owned)
            .or_else(|| variable("AWS_REGION"))
            .or_else(|| variable("AWS_DEFAULT_REGION"))
            .unwrap_or_else(|| "us-east-1".to_owned());
        let endpoint = endpoint
            .map(str::to_owned)
            .or_else(|| variable("AWS_ENDPOINT_URL_S3"))
            .or_else(|| variable("AWS_ENDPOINT_URL"));
        let (server, in_path) = match &endpoint {
            Some(endpoint) => (endpoint.trim_end_matches('/').to_owned(), true),
            // A certificate does not hold for the further dots of a bucket's name.
            None if bucket.contains('.') => (format!("https://s3.{region}.amazonaws.com"), true),
            None => (format!("https://{bucket}.s3.{region}.amazonaws.com"), false),
        };
        let host = host_of(&server).ok_or_else(|| {
            CliError::input("the endpoint is not the address of a server")
                .hint("write it like --endpoint https://server:9000")
        })?;
        let mut path = String::new();
        for part in in_path
            .then_some(bucket)
            .into_iter()
            .chain(prefix.split('/'))
        {
            if !part.is_empty() {
                path.push('/');
                path.push_str(&encoded(part));
            }
        }
        let place = format!("{bucket}/{prefix}");
        let place = place.trim_end_matches('/');
        Ok(Self {
            agent: agent()?,
            credentials,
            region,
            address: match endpoint {
                Some(_) => format!("{server}/{place}"),
                None => format!("s3://{place}"),
            },
            server,
            host,
            path,
        })
    }

    fn request(
        &self,
        what: &str,
        method: &'static str,
        name: &str,
        (content, limit): (&[u8], u64),
    ) -> Result<ServerAnswer, WebError> {
        let path = format!("{}/{name}", self.path);
        let url = format!("{}{path}", self.server);
        request(what, limit, || {
            let signed = headers(
                &SignedRequest {
                    method,
                    host: &self.host,
                    path: &path,
                    content,
                    only_if_absent: method == "PUT",
                },
                &self.credentials,
                &self.region,
                Timestamp::now(),
            );
            if method == "PUT" {
                let mut request = self.agent.put(&url).config().max_redirects(0).build();
                for (name, value) in &signed {
                    request = request.header(*name, value);
                }
                return request.send(content);
            }
            let mut request = self.agent.get(&url).config().max_redirects(0).build();
            for (name, value) in &signed {
                request = request.header(*name, value);
            }
            request.call()
        })
    }
}

/// Returns the host of `http(s)://host[:port]`, as a request names it.
fn host_of(server: &str) -> Option<String> {
    let uri: Uri = server.parse().ok()?;
    let scheme = uri.scheme_str()?;
    let authority = uri.authority()?;
    let plain = !authority.as_str().contains('@') && matches!(uri.path(), "" | "/");
    if !plain || !matches!(scheme, "http" | "https") || uri.query().is_some() {
        return None;
    }
    let usual = if scheme == "http" { 80 } else { 443 };
    Some(match authority.port_u16() {
        Some(port) if port != usual => authority.as_str().to_owned(),
        Some(_) | None => authority.host().to_owned(),
    })
}

impl Remote for BucketFolder {
    fn address(&self) -> &str {
        &self.address
    }

    fn get(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, RemoteError> {
        let what = format!("cannot fetch {name}");
        let answer = self.request(&what, "GET", name, (b"", limit.max(SHORT)))?;
        let code = element(&answer, "Code");
        match (answer.status, code.as_deref()) {
            (200, _) => Ok(Some(answer.body)),
            (404, code) if code != Some("NoSuchBucket") => Ok(None),
            (403, _) => Err(refusal(
                what,
                &answer,
                "; without the right to list (s3:ListBucket) what is not there looks forbidden",
            )),
            (_, _) => Err(refusal(what, &answer, "")),
        }
    }

    fn create(&self, name: &str, content: &[u8]) -> Result<ObjectCreation, RemoteError> {
        let what = format!("cannot create {name}");
        let answer = self.request(&what, "PUT", name, (content, SHORT))?;
        match answer.status {
            200 | 201 | 204 => Ok(ObjectCreation::New),
            412 => Ok(ObjectCreation::Refused),
            _other => Err(refusal(what, &answer, "")),
        }
    }
}

/// Says why: with the answer's code and message, and nothing else of it, since it may repeat keys.
fn refusal(what: String, answer: &ServerAnswer, besides: &str) -> RemoteError {
    let code = element(answer, "Code").unwrap_or_default();
    let message = element(answer, "Message").unwrap_or_default();
    let mut says = quoted(format!("{code}: {message}").trim_matches([':', ' ']));
    says.push_str(besides);
    let status = answer.status;
    Box::new(WebError::Status { what, status, says })
}

/// Returns the text of the first element of that name.
fn element(answer: &ServerAnswer, name: &str) -> Option<String> {
    let text = std::str::from_utf8(&answer.body).ok()?;
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inside, _) = rest.split_once('<')?;
    Some(inside.to_owned())
}
