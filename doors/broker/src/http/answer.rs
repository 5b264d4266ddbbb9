//! What a page says.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use letters::{Refusal, RefusalCode};
use serde::Serialize;
use serde_json::json;
use vocabulary::TopicName;

/// A status and a body.
pub struct Answer {
    status: u16,
    content_type: &'static str,
    body: Vec<u8>,
    headers: Vec<(&'static str, String)>,
    notice: Option<String>,
}

impl Answer {
    /// A status and nothing more.
    pub fn nothing(status: u16) -> Answer {
        Answer {
            status,
            content_type: "application/json",
            body: Vec::new(),
            headers: Vec::new(),
            notice: None,
        }
    }

    /// With something to be noticed beside it: a `Warning` header (RFC 7234, 199). Refusals need none.
    pub fn with_notice(self, notice: Option<String>) -> Answer {
        let notice = notice.filter(|_| self.status < 300);
        Answer { notice, ..self }
    }

    /// 200 with plain text.
    pub fn text(body: String) -> Answer {
        Answer {
            status: 200,
            content_type: "text/plain; charset=utf-8",
            body: body.into(),
            headers: Vec::new(),
            notice: None,
        }
    }

    /// 200 with Prometheus' text format.
    pub fn metrics(body: String) -> Answer {
        Answer {
            status: 200,
            content_type: "text/plain; version=0.0.4; charset=utf-8",
            body: body.into(),
            headers: Vec::new(),
            notice: None,
        }
    }

    /// 200 with JSON.
    pub fn json(value: &impl Serialize) -> Answer {
        match serde_json::to_string(value) {
            Ok(body) => Answer {
                status: 200,
                content_type: "application/json",
                body: body.into(),
                headers: Vec::new(),
                notice: None,
            },
            Err(error) => Answer::refused(
                500,
                &format!("the answer cannot be written as JSON: {error}"),
            ),
        }
    }

    /// 200 with bytes, and what is said of them in headers.
    pub fn bytes(body: Vec<u8>, headers: Vec<(&'static str, String)>) -> Answer {
        Answer {
            content_type: "application/octet-stream",
            body,
            headers,
            ..Answer::nothing(200)
        }
    }

    /// Whether what was asked for is done.
    pub fn is_done(&self) -> bool {
        self.status < 300
    }

    /// With another status than 200.
    pub fn with_status(self, status: u16) -> Answer {
        Answer { status, ..self }
    }

    /// An error, in Pulsar's form.
    pub fn refused(status: u16, reason: &str) -> Answer {
        let body = json!({"reason": reason}).to_string();
        Answer {
            status,
            content_type: "application/json",
            body: body.into(),
            headers: Vec::new(),
            notice: None,
        }
    }

    /// A topic's refusal, with the status that Pulsar has for it.
    pub fn refusal(refusal: &Refusal) -> Answer {
        let status = match refusal.code {
            RefusalCode::TopicNotFound | RefusalCode::SubscriptionNotFound => 404,
            RefusalCode::AuthorizationError => 403,
            RefusalCode::AuthenticationError => 401,
            RefusalCode::InvalidTopicName
            | RefusalCode::NotAllowedError
            | RefusalCode::ConsumerBusy => 412,
            RefusalCode::ServiceNotReady | RefusalCode::TooManyRequests => 503,
            _ => 500,
        };
        Answer::refused(status, &refusal.message)
    }
}

impl Answer {
    /// A topic's refusal, in Pulsar's words where it is not there.
    pub fn of_topic(topic: &TopicName, refusal: &Refusal) -> Answer {
        match refusal.code {
            RefusalCode::TopicNotFound if refusal.message.starts_with("Namespace") => {
                Answer::refused(404, "Namespace not found")
            }
            RefusalCode::TopicNotFound => Answer::refused(404, &format!("Topic {topic} not found")),
            _ => Answer::refusal(refusal),
        }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response.headers_mut().insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static(self.content_type),
        );
        for (name, value) in self.headers {
            let name = HeaderName::from_static(name);
            // What a producer wrote may be no header: then it is left out.
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().append(name, value);
            }
        }
        let notice = self.notice.map(|text| format!("199 hulse {text:?}"));
        if let Some(notice) = notice.and_then(|text| HeaderValue::from_str(&text).ok()) {
            response.headers_mut().insert(header::WARNING, notice);
        }
        response
    }
}
