//! The answers to requests that nobody can carry out.

use letters::{LogError, LogReply, LogRequest};

/// What a request is answered with when it fails; nothing where nothing would have been answered.
pub(crate) fn of(request: LogRequest, error: &LogError) -> Option<LogReply> {
    let error = error.clone();
    Some(match request {
        LogRequest::Find { ticket } => LogReply::Found {
            ticket,
            result: Err(error),
        },
        LogRequest::Open { .. } => LogReply::OpenFailed { error },
        LogRequest::Append { ticket, .. } => LogReply::NotStored { ticket, error },
        LogRequest::Read { ticket, .. } | LogRequest::ReadAt { ticket, .. } => LogReply::Read {
            ticket,
            result: Err(error),
            damaged: Vec::new(),
        },
        LogRequest::CreateCursor { ticket, name, .. }
        | LogRequest::SaveCursor { ticket, name, .. } => LogReply::CursorSaved {
            ticket,
            name,
            result: Err(error),
        },
        LogRequest::DeleteCursor { ticket, name } => LogReply::CursorDeleted {
            ticket,
            name,
            result: Err(error),
        },
        LogRequest::SetProperty { ticket, .. } => LogReply::PropertySet {
            ticket,
            result: Err(error),
        },
        LogRequest::Delete => LogReply::Deleted { result: Err(error) },
        LogRequest::Close => LogReply::Closed,
        LogRequest::Trim { .. } => return None,
    })
}
