//! The server: each call of a tool is one command in a process of its own, so that it can be cancelled.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, ReadBuf};
use tokio::process::{Child, Command};
use tokio::sync::{RwLock, watch};
use tokio::time::{sleep, timeout};

use super::tools::{TOOLS, ToolKind};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::session;

/// What a client is told first.
const INSTRUCTIONS: &str = "Lapwing measures how fast software is and judges it with statistics. Loop: doctor, measure (or judge against a Git revision), \
    then say only what the verdict says. `undecided` and `inconclusive` mean that nothing is known yet, not that nothing changed; the answer's \
    `next` has the command line that decides; its options are parameters of the tool. The unit of replication is the instance, a fresh start: fewer than 3 per side give no verdict. \
    When you try several changes, give them one `campaign`, or the best of them is luck.";

/// A command that is cancelled has so long to store what it measured.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longer answers are not repeated as text.
const LONGEST_TEXT: usize = 20_000;
/// The exit code of an answer that could not be given.
const USAGE: i32 = 2;

struct Tools {
    /// The folder that tools work in.
    root: PathBuf,
    allow_outside: bool,
    /// The store, if it is not the usual one.
    store: Option<PathBuf>,
    program: PathBuf,
    /// Becomes true when the server is to end.
    closing: watch::Sender<bool>,
    /// Calls hold it for reading.
    busy: Arc<RwLock<()>>,
}

/// Standard input, which says when it is closed.
struct ClosedInput {
    input: tokio::io::Stdin,
    closing: watch::Sender<bool>,
}

impl AsyncRead for ClosedInput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.input).poll_read(context, buffer);
        if read.is_ready() && buffer.filled().len() == before {
            self.closing.send_replace(true);
        }
        read
    }
}

/// Serves until standard input is closed or a signal comes; what is being measured is interrupted then.
pub(super) fn serve(allow_outside: bool, context: &Context) -> Result<ExitStatus, CliError> {
    let failed = |error: io::Error| CliError::input(format!("cannot serve: {error}"));
    session::catch_signals()?;
    let (closing, mut closed) = watch::channel(false);
    let busy = Arc::new(RwLock::new(()));
    let tools = Tools {
        root: std::env::current_dir()
            .and_then(|it| it.canonicalize())
            .map_err(failed)?,
        allow_outside,
        store: match context.has_usual_store() {
            true => None,
            false => Some(std::path::absolute(&context.store).map_err(failed)?),
        },
        program: std::env::current_exe().map_err(failed)?,
        closing: closing.clone(),
        busy: Arc::clone(&busy),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(failed)?;
    let served = runtime.block_on(async {
        let input = ClosedInput {
            input: tokio::io::stdin(),
            closing: closing.clone(),
        };
        let service = tools.serve((input, tokio::io::stdout())).await;
        let service = service.map_err(|error| error.to_string())?;
        let ended = tokio::select! {
            ended = service.waiting() => ended.map(|_| ()).map_err(|error| error.to_string()),
            _ = closed.wait_for(|it| *it) => Ok(()),
            () = interrupted() => Ok(()),
        };
        closing.send_replace(true);
        // What is being measured is stored.
        let _stopped = timeout(2 * PATIENCE, busy.write()).await;
        ended
    });
    // A read of standard input may still wait.
    runtime.shutdown_background();
    match served {
        Ok(()) => Ok(ExitStatus::Fine),
        Err(error) => Err(CliError::input(format!("cannot serve: {error}"))
            .hint("a client that speaks the Model Context Protocol starts this command")),
    }
}

/// Waits for a signal.
async fn interrupted() {
    while session::interrupts().count() == 0 {
        sleep(Duration::from_millis(100)).await;
    }
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let own = Implementation::new("lapwing", env!("CARGO_PKG_VERSION"));
        let info = ServerConfig::new(capabilities);
        info.with_server_info(own).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            TOOLS.iter().map(described).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = TOOLS.iter().find(|it| it.name == request.name) else {
            let error = format!("there is no tool `{}`", request.name);
            return Err(ErrorData::invalid_params(error, None));
        };
        let called = self.call(tool, request, &context).await;
        Ok(called.unwrap_or_else(refused).into())
    }
}

fn described(tool: &ToolKind) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(tool.reads_only)
        .destructive(false)
        .open_world(tool.executes);
    let mut described = Tool::new(tool.name, tool.description, tool.schema());
    described.annotations = Some(annotations);
    described
}

fn refused(error: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error)])
}

impl Tools {
    /// Calls a tool.
    ///
    /// # Errors
    /// With why it cannot be called.
    async fn call(
        &self,
        tool: &ToolKind,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, String> {
        let given = request.arguments.unwrap_or_default();
        let (folder, words) = tool.command(given)?;
        let folder = self.folder(folder.as_deref())?;
        let mut command = Command::new(&self.program);
        command.args(["--format", "json"]);
        if let Some(store) = &self.store {
            command.arg("--store").arg(store);
        }
        command
            .args(words)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let _busy = self.busy.read().await;
        let mut closed = self.closing.subscribe();
        let started = command.spawn();
        let mut child = started.map_err(|error| format!("cannot start lapwing: {error}"))?;
        let (Some(output), Some(said)) = (child.stdout.take(), child.stderr.take()) else {
            return Err("lapwing has no output".to_owned());
        };
        let reading = async {
            let mut text = String::new();
            let mut output = BufReader::new(output);
            output.read_to_string(&mut text).await.map(|_| text)
        };
        let telling = tell(said, context);
        let working = async { tokio::join!(reading, telling) };
        let closing = async {
            let _is_closing = closed.wait_for(|it| *it).await.is_ok();
        };
        let (text, said) = tokio::select! {
            done = working => done,
            () = context.ct.cancelled() => {
                stop(&mut child).await;
                return Err("cancelled; what was measured until then is stored".to_owned());
            }
            () = closing => {
                stop(&mut child).await;
                return Err("the server ends; what was measured until then is stored".to_owned());
            }
        };
        let text = text.map_err(|error| format!("cannot read the answer: {error}"))?;
        let status = child.wait().await.map_err(|error| error.to_string())?;
        Ok(answered(&text, &said, status.code()))
    }

    /// Returns a folder that the tool may work in.
    ///
    /// # Errors
    /// If it is not there, or outside of the server's.
    fn folder(&self, folder: Option<&str>) -> Result<PathBuf, String> {
        let Some(folder) = folder else {
            return Ok(self.root.clone());
        };
        let path = self.root.join(folder).canonicalize();
        let path = path.map_err(|error| format!("`{folder}` cannot be used: {error}"))?;
        if !self.allow_outside && !path.starts_with(&self.root) {
            return Err(format!(
                "`{folder}` is outside of the folder that `lapwing mcp` was started in; --allow-outside permits it"
            ));
        }
        Ok(path)
    }
}

/// Passes what a command says on as progress, and returns the last lines.
async fn tell(
    said: impl tokio::io::AsyncRead + Unpin,
    context: &RequestContext<RoleServer>,
) -> Vec<String> {
    const KEPT: usize = 20;
    let token = context.meta.get_progress_token();
    let mut lines = BufReader::new(said).lines();
    let (mut kept, mut progress) = (Vec::new(), 0.0);
    while let Ok(Some(line)) = lines.next_line().await {
        let line = line.trim().to_owned();
        if line.is_empty() {
            continue;
        }
        progress += 1.0;
        if let Some(token) = &token {
            let told = ProgressNotificationParam::new(token.clone(), progress);
            // A client that is gone ends the server anyway.
            let _gone = context
                .peer
                .notify_progress(told.with_message(line.clone()))
                .await;
        }
        kept.push(line);
        if kept.len() > KEPT {
            kept.remove(0);
        }
    }
    kept
}

/// Ends a command, which stores what it measured.
async fn stop(child: &mut Child) {
    let id = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw);
    if let Some(id) = id {
        let _ended = kill_process(id, Signal::INT);
    }
    if timeout(PATIENCE, child.wait()).await.is_err() {
        let _ended = child.kill().await;
    }
}

/// Returns the answer of a command: what it says in a few lines, and all of it.
fn answered(text: &str, said: &[String], code: Option<i32>) -> CallToolResult {
    let Ok(mut answer) = serde_json::from_str::<Value>(text) else {
        let said = said.join("\n");
        return refused(match said.is_empty() {
            true => format!("lapwing ended without an answer, with exit code {code:?}"),
            false => said,
        });
    };
    let is_error = answer.get("error").is_some_and(Value::is_string) || code == Some(USAGE);
    let mut content = vec![ContentBlock::text(in_short(&answer))];
    if let Value::Object(answer) = &mut answer {
        answer.insert("exit_code".to_owned(), code.into());
    }
    let whole = answer.to_string();
    if whole.len() <= LONGEST_TEXT {
        content.push(ContentBlock::text(whole));
    }
    let mut result = match is_error {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    result.structured_content = Some(answer);
    result
}

/// Returns the headline of an answer, its verdict, its notes and the commands that continue.
fn in_short(answer: &Value) -> String {
    let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
    let each = |key: &str, of: &dyn Fn(&Value) -> Option<String>| -> Vec<String> {
        let all = answer.get(key).and_then(Value::as_array);
        all.into_iter().flatten().filter_map(of).collect()
    };
    let member = |it: &Value, key: &str| it.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut lines: Vec<String> = Vec::new();
    lines.extend(text("error").map(|it| format!("error: {it}")));
    lines.extend(text("hint").map(|it| format!("hint: {it}")));
    lines.extend(text("headline").filter(|it| !it.is_empty()));
    lines.extend(text("verdict").map(|it| format!("verdict: {it}")));
    lines.extend(each("notes", &|it| {
        Some(format!("note: {}", member(it, "text")?))
    }));
    lines.extend(each("next", &|it| {
        let why = member(it, "why").unwrap_or_default();
        Some(format!("next: `{}` {why}", member(it, "command")?))
    }));
    lines.join("\n")
}
