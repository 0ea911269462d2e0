//! Remotes of a shared history, by URL.

#[cfg(feature = "remote")]
mod http;
#[cfg(feature = "remote")]
mod s3;
#[cfg(feature = "remote")]
mod signature;
#[cfg(feature = "remote")]
mod web;

use std::path::Path;

use clap::Args;
use lapwing_record::sharing::{Remote, SharedFolder};

use crate::error::CliError;

/// URL of a shared history.
#[derive(Debug, Args)]
pub struct HistoryUrl {
    /// A folder, file:///FOLDER, http(s)://SERVER/PATH or s3://BUCKET/PREFIX
    #[arg(value_name = "URL")]
    pub url: String,
    /// Server for s3:// URLs, if not AWS [default: AWS_ENDPOINT_URL]
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,
    /// Region for s3:// URLs [default: AWS_REGION, or us-east-1]
    #[arg(long, value_name = "NAME")]
    pub region: Option<String>,
}

impl HistoryUrl {
    /// Opens the remote that holds the history.
    pub fn open(&self) -> Result<Box<dyn Remote>, CliError> {
        let Some((scheme, rest)) = self.url.split_once("://") else {
            return folder(Path::new(&self.url));
        };
        match scheme.to_ascii_lowercase().as_str() {
            "file" => match rest.strip_prefix("localhost").unwrap_or(rest) {
                path if path.starts_with('/') => folder(Path::new(path)),
                _relative => Err(CliError::input(format!(
                    "`{}` is not a folder on this machine",
                    self.url
                ))
                .hint("write it like file:///mnt/history, or as a path")),
            },
            "http" | "https" | "s3" => self.open_web(scheme, rest),
            _other => Err(CliError::input(format!(
                "`{scheme}://` is not supported for a shared history"
            ))
            .hint("use a folder, http://, https:// or s3://")),
        }
    }

    #[cfg(feature = "remote")]
    fn open_web(&self, scheme: &str, rest: &str) -> Result<Box<dyn Remote>, CliError> {
        if scheme.eq_ignore_ascii_case("s3") {
            return Ok(Box::new(s3::BucketFolder::open(
                rest,
                self.endpoint.as_deref(),
                self.region.as_deref(),
            )?));
        }
        Ok(Box::new(http::HttpFolder::open(&self.url)?))
    }

    #[cfg(not(feature = "remote"))]
    fn open_web(&self, scheme: &str, _rest: &str) -> Result<Box<dyn Remote>, CliError> {
        Err(CliError::input(format!(
            "this lapwing was built without support for {scheme}://"
        ))
        .hint("build it with `cargo install --path crates/cli --features remote`; folders work without it"))
    }
}

fn folder(path: &Path) -> Result<Box<dyn Remote>, CliError> {
    Ok(Box::new(SharedFolder::new(path)?))
}
