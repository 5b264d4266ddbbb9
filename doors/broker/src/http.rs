//! The HTTP door: the metrics page, health, and of Pulsar's admin surface what clients need for a lookup.
//!
//! Paths are matched as they came, since topic names in them are encoded by Java's rules (a space is `+`) and are
//! decoded exactly once.

mod admin;
mod answer;
mod brokers;
mod bundles;
mod internal_stats;
mod messages;
mod metrics;
pub(crate) mod metrics_lines;
mod policies;
mod rates;
mod schemas;
mod subscriptions;
mod topic_pages;
mod topic_stats;
mod topics;
mod visitors;

use crate::asks::Asks;
use crate::connection::Stage;
use crate::finder::Finder;
use crate::house::House;
use crate::threads::journal::JournalDoor;
pub use rates::Rates;

use admin::Call;
use answer::Answer;
use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::Method;
use shard::ShardAsk;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use topics::TopicPath;
use visitors::Visitors;

/// How long a page waits for a disk.
const DISK_WAIT: Duration = Duration::from_secs(10);

/// Longest body that is read, bytes: policies of a namespace are the largest.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// What pages can ask.
pub struct Pages {
    /// Settings, registry, desks.
    pub house: Arc<House>,
    /// Questions to shards.
    pub asks: Arc<Asks>,
    /// Questions to topics.
    pub finder: Arc<Finder>,
    /// For the health page.
    pub journal: JournalDoor,
    /// Where clients find the binary protocol.
    pub binary_url: String,
    /// Where clients find these pages.
    pub web_url: String,
    /// For the metrics page.
    pub rates: Rates,
}

/// Serves until the process leaves.
pub async fn serve(pages: Arc<Pages>, listener: TcpListener, mut stage: watch::Receiver<Stage>) {
    let router = Router::new().fallback(page).with_state(pages);
    let served = axum::serve(Visitors::of(listener), router)
        .with_graceful_shutdown(async move {
            let _ = stage.wait_for(|stage| *stage == Stage::Gone).await;
        })
        .await;
    if let Err(error) = served {
        tracing::error!("the HTTP door closed: {error}; the binary protocol is served on");
    }
}

async fn page(State(pages): State<Arc<Pages>>, request: Request) -> Answer {
    let (head, body) = request.into_parts();
    let path = head.uri.path().trim_matches('/').to_owned();
    let segments: Vec<&str> = path.split('/').collect();
    let query = head.uri.query().unwrap_or_default();
    let is_reading = head.method == Method::GET || head.method == Method::HEAD;
    if is_reading && let Some(answer) = pages.get(&segments, query).await {
        return answer;
    }
    let body = match to_bytes(body, BODY_BYTES_MAX).await {
        Ok(body) => body,
        Err(error) => {
            let text = format!("the body cannot be read (at most {BODY_BYTES_MAX} bytes): {error}");
            return Answer::refused(413, &text);
        }
    };
    if let ["admin", "v2", rest @ ..] = segments.as_slice() {
        let call = Call {
            method: &head.method,
            query,
            body: &body,
        };
        if let Some(answer) = pages.admin(rest, &call).await {
            return answer;
        }
    }
    let (method, path) = (&head.method, head.uri.path());
    match is_reading {
        true => Answer::refused(404, &format!("{path} is not served by this broker")),
        false => Answer::refused(
            501,
            &format!("{method} {path} is not served by this broker yet"),
        ),
    }
}

impl Pages {
    async fn get(&self, segments: &[&str], query: &str) -> Option<Answer> {
        let answer = match *segments {
            ["metrics"] => self.metrics_page().await,
            ["lookup", "v2", "topic", domain, tenant, namespace, topic] => {
                let path = TopicPath {
                    domain,
                    tenant,
                    namespace,
                    topic,
                };
                self.lookup(&path, query).await
            }
            [
                "lookup",
                "v2",
                "topic",
                domain,
                tenant,
                namespace,
                topic,
                "bundle",
            ] => {
                let path = TopicPath {
                    domain,
                    tenant,
                    namespace,
                    topic,
                };
                match path.name() {
                    Ok(topic) => self.bundle_of(&topic).await,
                    Err(answer) => answer,
                }
            }
            [
                "admin",
                "v2",
                domain @ ("persistent" | "non-persistent"),
                tenant,
                namespace,
                topic,
                "partitions",
            ] => {
                let path = TopicPath {
                    domain,
                    tenant,
                    namespace,
                    topic,
                };
                self.partitions(&path, query).await
            }
            _ => return None,
        };
        Some(answer)
    }

    /// A round trip through every desk and through the journal: whoever hangs, hangs here.
    async fn health(&self) -> Answer {
        for (number, desk) in self.house.desks.iter().enumerate() {
            if self
                .asks
                .ask(desk, |id| ShardAsk::Ping { id })
                .await
                .is_none()
            {
                return Answer::refused(503, &format!("desk {number} does not answer"));
            }
        }
        let (sender, receiver) = oneshot::channel();
        self.journal.ping(sender);
        match timeout(DISK_WAIT, receiver).await {
            Ok(Ok(())) => Answer::text("ok".to_owned()),
            _ => Answer::refused(503, "the journal does not answer: is the disk stuck?"),
        }
    }
}
