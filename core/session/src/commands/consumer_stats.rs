//! CONSUMER_STATS: how does a consumer fare? Answer: CONSUMER_STATS_RESPONSE, errors inside.

use super::asked_of;
use crate::answers;
use crate::gate::{Action, Resource};
use crate::session::{Session, Turn};
use crate::waiting::Waiter;
use letters::{ConsumerReport, Refusal, RefusalCode, SubscriptionType, TopicLetter};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{CommandConsumerStats, CommandConsumerStatsResponse};
use vocabulary::{TopicName, WallTime};

pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, command: &CommandConsumerStats) {
    let (consumer_id, request_id) = (command.consumer_id(), command.request_id());
    let topic = match allow(session, consumer_id) {
        Ok(topic) => topic,
        Err(refusal) => return refused(session, turn, request_id, refusal),
    };
    let ticket = session.await_answer(Waiter::ConsumerStats { request_id });
    let letter = TopicLetter::ReadConsumerStats {
        request_id: ticket,
        consumer_id,
    };
    session.write(turn, &topic, letter);
}

/// Pulsar closes the connection where the id is unknown, by mistake; what it meant to say is said here.
fn allow(session: &Session, consumer_id: u64) -> Result<TopicName, Refusal> {
    if session.consumers.ready(consumer_id).is_none() {
        session.may(Action::ReadConsumerStats, Resource::Broker)?;
        let text = format!("Consumer {consumer_id} not found");
        return Err(Refusal::new(RefusalCode::ConsumerNotFound, text));
    }
    let consumer = asked_of(session, Action::ReadConsumerStats, consumer_id)?;
    Ok(consumer.topic.clone())
}

pub(crate) fn refused(
    session: &mut Session,
    turn: &mut Turn<'_>,
    request_id: u64,
    refusal: Refusal,
) {
    let command = CommandConsumerStats {
        request_id: Some(request_id),
        ..Default::default()
    };
    let answer = answers::refusing(&Cmd::ConsumerStats(command), refusal);
    session.refuse(turn, answer);
}

/// The error code is left out: clients take its presence for an error.
pub(crate) fn told(session: &mut Session, turn: &mut Turn<'_>, report: ConsumerReport) {
    let Some(Waiter::ConsumerStats { request_id }) = session.answered(report.request_id) else {
        return;
    };
    let kind = match report.subscription_type {
        SubscriptionType::Exclusive => "Exclusive",
        SubscriptionType::Shared => "Shared",
        SubscriptionType::Failover => "Failover",
        SubscriptionType::KeyShared => "Key_Shared",
    };
    let response = CommandConsumerStatsResponse {
        request_id: Some(request_id),
        msg_rate_out: Some(report.messages_out_rate),
        msg_throughput_out: Some(report.bytes_out_rate),
        msg_rate_redeliver: Some(report.redelivered_rate),
        consumer_name: Some(report.name),
        // On the wire the number is unsigned; Java reads a negative one back.
        available_permits: Some(report.permits as u64),
        unacked_messages: Some(report.unacked_messages),
        blocked_consumer_on_unacked_msgs: Some(report.blocked_on_unacked),
        address: Some(report.address),
        connected_since: Some(in_utc(report.connected_since)),
        r#type: Some(kind.to_owned()),
        msg_rate_expired: Some(0.0),
        msg_backlog: Some(report.backlog_entries),
        message_ack_rate: Some(report.acks_rate),
        ..Default::default()
    };
    session.send(turn, Cmd::ConsumerStatsResponse(response));
}

/// As Pulsar writes moments: `2024-02-29T23:59:59.5Z`, the fraction without zeros at its end.
fn in_utc(time: WallTime) -> String {
    let (seconds, millis) = (time.0 / 1000, time.0 % 1000);
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let fraction = match millis {
        0 => String::new(),
        _ => format!(".{millis:03}").trim_end_matches('0').to_owned(),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// The Gregorian date so many days after 1970-01-01. Years are counted from March, so that leap days come last, in
/// eras of 400 years, which all have the same number of days.
fn date(days: u64) -> (u64, u64, u64) {
    const ERA_DAYS: u64 = 146_097;
    // 0000-03-01 lies 719 468 days before 1970-01-01.
    let days = days.saturating_add(719_468);
    let (era, day) = (days / ERA_DAYS, days % ERA_DAYS);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + later, month, day_of_month)
}

#[cfg(test)]
#[path = "consumer_stats_tests.rs"]
mod tests;
