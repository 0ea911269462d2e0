//! Requests, repeated after temporary failures.

use std::io::Read;
use std::time::Duration;

use ureq::config::RedirectAuthHeaders;
use ureq::http::{HeaderMap, Response};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, Proxy};
use uuid::Uuid;

use crate::error::CliError;

/// Maximum number of attempts.
const ATTEMPTS: u32 = 5;

/// Pause before the second attempt; doubled before each further one.
const PAUSE: Duration = Duration::from_millis(200);

/// Maximum size of an answer that only says whether something was done.
pub(super) const SHORT: u64 = 64 << 10;

/// The answer of a server.
pub(super) struct ServerAnswer {
    /// The status.
    pub(super) status: u16,
    /// The headers.
    pub(super) headers: HeaderMap,
    /// The body.
    pub(super) body: Vec<u8>,
}

/// The reason why an object cannot be fetched or created.
#[derive(Debug, thiserror::Error)]
pub(super) enum WebError {
    /// The server cannot be reached, or goes away.
    #[error("{what}")]
    Transport {
        /// The request.
        what: String,
        /// Why it failed.
        source: ureq::Error,
    },
    /// The server refuses.
    #[error("{what}: the server answers {status}{says}")]
    Status {
        /// The request.
        what: String,
        /// The status.
        status: u16,
        /// The message of the server.
        says: String,
    },
}

/// Returns the HTTP client.
pub(super) fn agent() -> Result<Agent, CliError> {
    let patience = |seconds| Some(Duration::from_secs(seconds));
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .user_agent(concat!("lapwing/", env!("CARGO_PKG_VERSION")))
        .proxy(Proxy::try_from_env())
        .tls_config(TlsConfig::builder().root_certs(roots()?).build())
        .timeout_connect(patience(20))
        .timeout_recv_response(patience(120))
        .timeout_send_body(patience(600))
        .timeout_recv_body(patience(600))
        .max_redirects_will_error(false)
        .redirect_auth_headers(RedirectAuthHeaders::Never)
        .build();
    Ok(config.new_agent())
}

/// Returns the trusted authorities: those of this program, or of the file in an environment variable.
fn roots() -> Result<RootCerts, CliError> {
    for name in ["AWS_CA_BUNDLE", "SSL_CERT_FILE"] {
        let Some(path) = std::env::var_os(name).filter(|path| !path.is_empty()) else {
            continue;
        };
        let shown = std::path::Path::new(&path).display().to_string();
        let text = std::fs::read(&path).map_err(|error| {
            CliError::input(format!("cannot read {shown}, which {name} names: {error}"))
        })?;
        let certificates: Vec<Certificate<'static>> = parse_pem(&text)
            .filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                Ok(_) | Err(_) => None,
            })
            .collect();
        if certificates.is_empty() {
            return Err(CliError::input(format!(
                "{shown}, which {name} names, holds no certificate"
            )));
        }
        return Ok(RootCerts::from(certificates));
    }
    Ok(RootCerts::WebPki)
}

/// Makes a request until the answer is final, of which no more than `limit` bytes are read. `what` names the request in errors. Each attempt is
/// signed again, because signatures are valid for minutes only.
pub(super) fn request(
    what: &str,
    limit: u64,
    attempt: impl Fn() -> Result<Response<Body>, ureq::Error>,
) -> Result<ServerAnswer, WebError> {
    let mut pause = PAUSE;
    for left in (0..ATTEMPTS).rev() {
        match attempt().and_then(|response| read(response, limit)) {
            Ok(answer) if left > 0 && is_passing(answer.status) => {}
            Ok(answer) => return Ok(answer),
            Err(error) if left > 0 && may_pass(&error) => {}
            Err(source) => {
                let what = what.to_owned();
                return Err(WebError::Transport { what, source });
            }
        }
        // Clients that failed at the same time must not return at the same time.
        let share = u32::from(Uuid::new_v4().as_bytes()[0]);
        std::thread::sleep(pause / 2 + pause * share / 256);
        pause *= 2;
    }
    Err(WebError::Transport {
        what: what.to_owned(),
        source: ureq::Error::ConnectionFailed,
    })
}

fn read(mut response: Response<Body>, limit: u64) -> Result<ServerAnswer, ureq::Error> {
    let status = response.status().as_u16();
    let mut body = Vec::new();
    let reader = response.body_mut().as_reader();
    let read = reader.take(limit + 1).read_to_end(&mut body)? as u64;
    if read > limit && status == 200 {
        return Err(ureq::Error::BodyExceedsLimit(limit));
    }
    Ok(ServerAnswer {
        status,
        headers: response.headers().clone(),
        body,
    })
}

/// Returns whether a status is temporary. S3 answers 409 to simultaneous creations.
fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429 | 500 | 502..=599)
}

fn may_pass(error: &ureq::Error) -> bool {
    matches!(
        error,
        ureq::Error::Io(_)
            | ureq::Error::Timeout(_)
            | ureq::Error::Protocol(_)
            | ureq::Error::ConnectionFailed
    )
}

/// Returns a foreign text as part of a sentence; empty for an empty one.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 200;
    let text = text.trim();
    if text.is_empty() {
        return String::new();
    }
    let clean = text.chars().take(LONGEST);
    let clean: String = clean
        .map(|it| if it.is_control() { ' ' } else { it })
        .collect();
    format!(" ({clean})")
}
