//! AWS Signature Version 4, as requests to S3 need it.
//!
//! Source: "Authenticating Requests (AWS Signature Version 4)", Amazon S3 API Reference.

use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

/// Characters that are not encoded in a path.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Who asks.
pub(super) struct S3Credentials {
    id: String,
    secret: String,
    token: Option<String>,
}

impl S3Credentials {
    /// Returns those that environment variables hold.
    pub(super) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        Some(Self {
            id: variable("AWS_ACCESS_KEY_ID")?,
            secret: variable("AWS_SECRET_ACCESS_KEY")?,
            token: variable("AWS_SESSION_TOKEN"),
        })
    }
}

/// A request to sign.
pub(super) struct SignedRequest<'r> {
    /// GET or PUT.
    pub(super) method: &'r str,
    /// As in the header `host`.
    pub(super) host: &'r str,
    /// The encoded path.
    pub(super) path: &'r str,
    /// The body.
    pub(super) content: &'r [u8],
    /// Whether an object that is there must stay as it is.
    pub(super) only_if_absent: bool,
}

/// Returns a part of a path, percent-encoded.
pub(super) fn encoded(part: &str) -> String {
    utf8_percent_encode(part, ENCODED).to_string()
}

/// Returns the headers that a request needs besides `host`.
pub(super) fn headers(
    request: &SignedRequest<'_>,
    credentials: &S3Credentials,
    region: &str,
    now: Timestamp,
) -> Vec<(&'static str, String)> {
    let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let day = &time[..8];
    let content = hex(&Sha256::digest(request.content));
    // By name, as they are signed.
    let mut signed = vec![("host", request.host.to_owned())];
    if request.only_if_absent {
        signed.push(("if-none-match", "*".to_owned()));
    }
    signed.push(("x-amz-content-sha256", content.clone()));
    signed.push(("x-amz-date", time.clone()));
    if let Some(token) = &credentials.token {
        signed.push(("x-amz-security-token", token.clone()));
    }
    let lines: String = signed
        .iter()
        .map(|(name, value)| format!("{name}:{value}\n"))
        .collect();
    let names: Vec<&str> = signed.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let canonical = format!(
        "{}\n{}\n\n{lines}\n{names}\n{content}",
        request.method, request.path
    );
    let scope = format!("{day}/{region}/s3/aws4_request");
    let digest = hex(&Sha256::digest(canonical.as_bytes()));
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}");
    let mut key = keyed(format!("AWS4{}", credentials.secret).as_bytes(), day);
    for part in [region, "s3", "aws4_request"] {
        key = keyed(&key, part);
    }
    let signature = hex(&keyed(&key, &text));
    signed.remove(0);
    signed.push((
        "authorization",
        format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
            credentials.id
        ),
    ));
    signed
}

fn keyed(key: &[u8], text: &str) -> Vec<u8> {
    // Keys may have any length: nothing can go wrong.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of the examples in the documentation of AWS.
    fn example() -> S3Credentials {
        S3Credentials {
            id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            token: None,
        }
    }

    // From botocore 1.44.5 (`S3SigV4Auth`), with these keys, this time and these headers.
    #[test]
    fn requests_are_signed_as_aws_signs_them() {
        let now = "2013-05-24T00:00:00Z".parse().expect("a time");
        let authorization = |request: &SignedRequest<'_>, credentials: &S3Credentials| {
            let headers = headers(request, credentials, "us-east-1", now);
            headers.last().map(|(_, value)| value.clone())
        };
        let get = SignedRequest {
            method: "GET",
            host: "examplebucket.s3.amazonaws.com",
            path: "/segments/00000001.jsonl.gz",
            content: b"",
            only_if_absent: false,
        };
        assert_eq!(
            authorization(&get, &example()).as_deref(),
            Some(
                "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
                 SignedHeaders=host;x-amz-content-sha256;x-amz-date, \
                 Signature=106b01c0243368ffc1848dc5895cc8cdf4898242f279ffe69cc8878cafcab66c"
            )
        );
        let put = SignedRequest {
            method: "PUT",
            path: "/a%20b/lapwing.json",
            content: b"content",
            only_if_absent: true,
            ..get
        };
        let with_token = S3Credentials {
            token: Some("token".to_owned()),
            ..example()
        };
        assert_eq!(
            authorization(&put, &with_token).as_deref(),
            Some(
                "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
                 SignedHeaders=host;if-none-match;x-amz-content-sha256;x-amz-date;x-amz-security-token, \
                 Signature=cbdce99cc6a51e93716a582654889e847aea581493e6aff1d88d36415d8ded2c"
            )
        );
    }

    #[test]
    fn what_has_a_meaning_in_a_path_is_encoded() {
        assert_eq!(encoded("a b/ü+~_.-"), "a%20b%2F%C3%BC%2B~_.-");
    }
}
