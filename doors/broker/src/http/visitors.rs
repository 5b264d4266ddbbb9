//! The connections of the HTTP door: not more than a few, and none that says nothing.
//!
//! Each costs a file descriptor, which clients of the binary protocol need.

use axum::serve::Listener;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// Connections at a time; those beyond wait in the system's queue.
const VISITORS_MAX: usize = 256;

/// How long a connection may take nothing and say nothing.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// A listener that lets in so many.
pub struct Visitors {
    listener: TcpListener,
    room: Arc<Semaphore>,
}

/// A connection that is closed when it has been silent for too long.
pub struct Visitor<Io> {
    socket: Io,
    silence: Pin<Box<Sleep>>,
    _room: OwnedSemaphorePermit,
}

impl Visitors {
    /// Of this listener.
    pub fn of(listener: TcpListener) -> Visitors {
        Visitors {
            listener,
            room: Arc::new(Semaphore::new(VISITORS_MAX)),
        }
    }
}

impl Listener for Visitors {
    type Io = Visitor<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            // Nobody closes the semaphore, so this waits and does not fail.
            let Ok(room) = Arc::clone(&self.room).acquire_owned().await else {
                continue;
            };
            // This one goes on after an error, and waits where descriptors are short.
            let (socket, address) = Listener::accept(&mut self.listener).await;
            return (Visitor::new(socket, room), address);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl<Io> Visitor<Io> {
    fn new(socket: Io, room: OwnedSemaphorePermit) -> Visitor<Io> {
        Visitor {
            socket,
            silence: Box::pin(sleep(SILENCE_MAX)),
            _room: room,
        }
    }

    /// What became of an attempt: something happened, or nothing yet, or nothing for too long.
    fn heard<T>(
        &mut self,
        context: &mut Context<'_>,
        attempt: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match attempt {
            Poll::Ready(outcome) => {
                self.silence.as_mut().reset(Instant::now() + SILENCE_MAX);
                Poll::Ready(outcome)
            }
            Poll::Pending => {
                ready!(self.silence.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for Visitor<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let attempt = Pin::new(&mut self.socket).poll_read(context, into);
        self.heard(context, attempt)
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for Visitor<Io> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.heard(context, attempt)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test(start_paused = true)]
    async fn who_says_nothing_is_closed_and_who_speaks_now_and_then_is_not() {
        let room = Arc::new(Semaphore::new(1));
        let permit = Arc::clone(&room).acquire_owned().await.unwrap();
        let (ours, mut theirs) = duplex(64);
        let mut visitor = Visitor::new(ours, permit);
        for _ in 0..3 {
            tokio::time::advance(SILENCE_MAX - Duration::from_secs(1)).await;
            theirs.write_all(b"x").await.unwrap();
            assert_eq!(visitor.read_u8().await.unwrap(), b'x');
        }
        let silent = visitor.read_u8().await.unwrap_err();
        assert_eq!(silent.kind(), io::ErrorKind::TimedOut);
        assert_eq!(room.available_permits(), 0);
        drop(visitor);
        assert_eq!(room.available_permits(), 1);
    }

    #[tokio::test]
    async fn one_too_many_waits_until_another_has_left() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut visitors = Visitors::of(listener);
        visitors.room = Arc::new(Semaphore::new(1));
        let address = visitors.local_addr().unwrap();
        let _clients = [
            TcpStream::connect(address).await.unwrap(),
            TcpStream::connect(address).await.unwrap(),
        ];
        let (first, _) = Listener::accept(&mut visitors).await;
        {
            let second = Listener::accept(&mut visitors);
            tokio::pin!(second);
            let polled = std::future::poll_fn(|context| Poll::Ready(second.as_mut().poll(context)));
            assert!(polled.await.is_pending());
            drop(first);
            second.await;
        }
    }
}
