//! The door of the binary protocol: lets connections in, or tells them why not.

use crate::connection::{Connection, Stage, linger};
use crate::counters::add;
use crate::house::House;
use crate::registry::Limits;
use bytes::BytesMut;
use letters::RefusalCode;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::sleep;

/// How long to wait when the system has no more descriptors or memory for a connection.
const TROUBLE_WAIT: Duration = Duration::from_millis(100);

/// Accepts until the process leaves.
pub async fn listen(house: Arc<House>, listener: TcpListener, mut stage: watch::Receiver<Stage>) {
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stage.wait_for(|stage| *stage != Stage::Serving) => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((socket, peer)) => welcome(&house, socket, peer, &stage),
            Err(error) => {
                tracing::warn!(
                    "cannot accept a connection: {error}; if this lasts, raise the limit of open files (ulimit -n)"
                );
                sleep(TROUBLE_WAIT).await;
            }
        }
    }
}

fn welcome(
    house: &Arc<House>,
    socket: TcpStream,
    peer: SocketAddr,
    stage: &watch::Receiver<Stage>,
) {
    // Without it, small answers would wait for more; a socket that refuses it works all the same.
    if let Err(error) = socket.set_nodelay(true) {
        tracing::debug!("cannot set TCP_NODELAY for {peer}: {error}");
    }
    let limits = Limits {
        connections_max: house.settings.connections_max,
        per_address_max: house.settings.connections_per_address_max,
    };
    match house.registry.admit(peer.ip(), limits) {
        Ok((session, letterbox)) => {
            add(&house.counters.connections_opened, 1);
            tracing::debug!("{peer} connected as {session}");
            let connection = Connection::new(
                Arc::clone(house),
                socket,
                peer,
                session,
                letterbox,
                stage.clone(),
            );
            tokio::spawn(connection.serve());
        }
        Err(why) => {
            add(&house.counters.connections_refused, 1);
            tracing::warn!("turned {peer} away: {why}");
            tokio::spawn(turn_away(socket, why));
        }
    }
}

/// Said right after the accept, before CONNECT (SEMANTICS 3.1).
async fn turn_away(mut socket: TcpStream, why: String) {
    let frame = session::handshake_error(RefusalCode::NotAllowedError, &why);
    let mut bytes = BytesMut::new();
    pulsar_wire::frame::encode_command(&frame.command, &mut bytes);
    if socket.write_all(&bytes).await.is_ok() {
        linger(socket).await;
    }
}
