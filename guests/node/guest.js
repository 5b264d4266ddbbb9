#!/usr/bin/env node
/**
 * The Node client pulsar-flex, unmodified, as a guest of a running broker.
 *
 *     guest.js PULSAR_URL HTTP_URL KEYS_DIR [scenario ...]   against a broker that somebody else runs
 *     guest.js --own HULSE_BINARY KEYS_DIR [scenario ...]    starts its own, where the scenario needs to kill it
 *
 * Prints a line per scenario, `ok NAME`, `gap NAME: what the client lacks` or `FAILED NAME: why`, and ends with 1 if
 * any failed.
 */
'use strict';

const { randomBytes } = require('crypto');
const { spawn } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { isDeepStrictEqual, inspect } = require('util');
const { Producer, Consumer, logLevel } = require('pulsar-flex');

const RECEIVE_MS = 20_000;
// The client looks into its queue once a second.
const QUIET_MS = 2_500;

const { EXCLUSIVE, SHARED, FAILOVER } = Consumer.SUB_TYPES;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const topic = (name) => `persistent://public/default/node-${name}-${randomBytes(4).toString('hex')}`;
const numbered = (from, to) => Array.from({ length: to - from }, (_, i) => `m${from + i}`);

function equal(got, expected, what) {
  if (!isDeepStrictEqual(got, expected)) {
    throw new Error(`${what}: expected ${inspect(expected)}, got ${inspect(got)}`);
  }
}

async function refused(promise, what) {
  let done;
  try {
    done = await promise;
  } catch (expected) {
    return;
  }
  throw new Error(`${what} (${inspect(done)})`);
}

/** Where the broker is. */
class Place {
  constructor(url) {
    this.address = url.replace('pulsar://', '');
  }

  common() {
    return { discoveryServers: [this.address], logLevel: logLevel.NOTHING };
  }

  async producer(name, more = {}) {
    const shared = Producer.ACCESS_MODES.SHARED;
    const producer = new Producer({ ...this.common(), topic: name, producerAccessMode: shared, ...more });
    await producer.create();
    return producer;
  }

  /** A consumer that keeps what comes in `inbox`, and asks for it with `receive`. */
  async subscribe(name, subType, more = {}) {
    const consumer = new Consumer({
      ...this.common(), topic: name, subscription: 'sub', subType, consumerName: 'guest', ...more,
    });
    await consumer.subscribe();
    consumer.inbox = [];
    await consumer.run({ autoAck: false, onMessage: async (message) => void consumer.inbox.push(message) });
    return consumer;
  }
}

/** A broker of our own on free ports, in a directory of its own, which may be killed and started again. */
class OwnBroker extends Place {
  static async start(binary) {
    const place = new OwnBroker('pulsar://');
    place.binary = binary;
    place.directory = fs.mkdtempSync(path.join(os.tmpdir(), 'hulse-guest-'));
    place.ports = [0, 0];
    await place.start();
    return place;
  }

  async start() {
    const settings = [
      `brokerServicePort=${this.ports[0]}`, `webServicePort=${this.ports[1]}`,
      'bindAddress=127.0.0.1', 'advertisedAddress=127.0.0.1',
    ].flatMap((setting) => ['--set', setting]);
    this.process = spawn(this.binary, ['standalone', '--data-dir', this.directory, ...settings], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const line = await new Promise((resolve) => this.process.stdout.once('data', (data) => resolve(String(data))));
    const ports = [...line.matchAll(/(?:pulsar|http):\/\/[^:]+:(\d+)/g)].map((match) => Number(match[1]));
    if (ports.length < 2) {
      throw new Error(`the broker did not start: ${line}`);
    }
    this.ports = ports;
    this.address = `127.0.0.1:${ports[0]}`;
  }

  async kill() {
    const gone = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGKILL');
    await gone;
  }
}

async function receiveAll(consumer, count, ack = true) {
  const got = [];
  const deadline = Date.now() + RECEIVE_MS;
  while (got.length < count) {
    const message = consumer.inbox.shift();
    if (message !== undefined) {
      got.push(message);
      if (ack) {
        await message.ack();
      }
    } else if (Date.now() > deadline) {
      throw new Error(`only ${got.length} of ${count} messages came within ${RECEIVE_MS} ms`);
    } else {
      await sleep(10);
    }
  }
  return got;
}

const texts = (messages) => messages.map((one) => Buffer.from(one.message).toString());

async function expectSilence(consumer, what) {
  await sleep(QUIET_MS);
  equal(texts(consumer.inbox), [], what);
}

async function publish(place, name, from, to) {
  const producer = await place.producer(name);
  for (const payload of numbered(from, to)) {
    await producer.sendMessage({ payload, properties: {} });
  }
  await producer.close();
}

async function exclusive(place) {
  const name = topic('exclusive');
  const consumer = await place.subscribe(name, EXCLUSIVE);
  await refused(place.subscribe(name, EXCLUSIVE), 'a second exclusive consumer was let in');
  await publish(place, name, 0, 100);
  equal(texts(await receiveAll(consumer, 100)), numbered(0, 100), 'order');
  await consumer.unsubscribe(); // what the client calls so is a close
  // What was acknowledged does not come back to the next consumer.
  await expectSilence(await place.subscribe(name, EXCLUSIVE), 'acknowledged messages again');
}

async function shared(place) {
  const name = topic('shared');
  const consumers = [];
  for (let i = 0; i < 3; i++) {
    consumers.push(await place.subscribe(name, SHARED, { receiveQueueSize: 10 }));
  }
  await publish(place, name, 0, 90);
  const seen = new Set();
  const shares = new Set();
  const deadline = Date.now() + RECEIVE_MS;
  while (seen.size < 90 && Date.now() < deadline) {
    for (const [at, consumer] of consumers.entries()) {
      for (const message of await receiveAll(consumer, consumer.inbox.length)) {
        seen.add(texts([message])[0]);
        shares.add(at);
      }
    }
    await sleep(10);
  }
  equal(seen.size, 90, 'distinct messages over three consumers');
  equal(shares.size, 3, 'consumers that got a share');
}

async function failover(place) {
  const name = topic('failover');
  const a = await place.subscribe(name, FAILOVER, { consumerName: 'a' });
  const b = await place.subscribe(name, FAILOVER, { consumerName: 'b' });
  await publish(place, name, 0, 10);
  const deadline = Date.now() + RECEIVE_MS;
  while (a.inbox.length + b.inbox.length < 10 && Date.now() < deadline) {
    await sleep(10);
  }
  const [active, standby] = a.inbox.length > 0 ? [a, b] : [b, a];
  equal(texts(await receiveAll(active, 10)), numbered(0, 10), 'messages of the active consumer');
  equal(standby.inbox.length, 0, 'messages of the one that waits');
  await active.unsubscribe();
  await publish(place, name, 10, 20);
  equal(texts(await receiveAll(standby, 10)), numbered(10, 20), 'what the next one gets');
}

async function accessModes(place) {
  const name = topic('access');
  const producerAccessMode = Producer.ACCESS_MODES.EXCLUSIVE;
  const first = await place.producer(name, { producerAccessMode });
  await refused(place.producer(name, { producerAccessMode }), 'a second exclusive producer was let in');
  await refused(place.producer(name), 'a shared producer was let in beside an exclusive one');
  const consumer = await place.subscribe(name, EXCLUSIVE);
  await first.sendMessage({ payload: 'one', properties: {} });
  await first.close();
  const second = await place.producer(name);
  await second.sendMessage({ payload: 'two', properties: {} });
  equal(texts(await receiveAll(consumer, 2)), ['one', 'two'], 'what was published');
}

async function cumulative(place) {
  const name = topic('cumulative');
  const consumer = await place.subscribe(name, EXCLUSIVE);
  await publish(place, name, 0, 30);
  const messages = await receiveAll(consumer, 30, false);
  await messages[19].ack({ type: Consumer.ACK_TYPES.CUMULATIVE });
  await consumer.unsubscribe();
  const next = await place.subscribe(name, EXCLUSIVE);
  equal(texts(await receiveAll(next, 10)), numbered(20, 30), 'what was left');
}

async function batches(place) {
  const name = topic('batch');
  const consumer = await place.subscribe(name, SHARED);
  const producer = await place.producer(name);
  const messages = numbered(0, 50).map((payload) => ({ payload, properties: { pulsar: 'flex' } }));
  await producer.sendBatch({ messages });
  const got = await receiveAll(consumer, 50, false);
  equal(texts(got), numbered(0, 50), 'order in the batch');
  equal(got[7].properties, { pulsar: 'flex' }, 'properties');
  equal(new Set(got.map((one) => one.command.messageId.entryid)).size, 1, 'entries of the batch');
  await got[49].ack(); // of the entry, with all that is in it
  await consumer.unsubscribe();
  await expectSilence(await place.subscribe(name, SHARED), 'messages of the finished batch');
}

async function negativeAck(place) {
  const name = topic('nack');
  const consumer = await place.subscribe(name, SHARED);
  await publish(place, name, 0, 10);
  const got = await receiveAll(consumer, 10, false);
  for (const [at, message] of got.entries()) {
    await message.ack(at >= 3 && at < 6 ? { type: Consumer.ACK_TYPES.NEGATIVE } : {});
  }
  const again = await receiveAll(consumer, 3);
  equal(texts(again).sort(), numbered(3, 6), 'messages that came again');
  equal(again.map((one) => one.redeliveryCount), [1, 1, 1], 'redelivery counts');
}

async function nonPersistent(place) {
  const name = 'non-' + topic('volatile');
  const producer = await place.producer(name);
  const send = (payload) => producer.sendMessage({ payload, properties: {} });
  await send('nobody is there');
  const first = await place.subscribe(name, SHARED);
  const second = await place.subscribe(name, EXCLUSIVE, { subscription: 'second' });
  // Each has a connection of its own: what comes before it has asked for messages is dropped.
  while (first.inbox.length === 0 || second.inbox.length === 0) {
    await send('anybody?');
    await sleep(50);
  }
  for (const payload of numbered(0, 20)) {
    await send(payload);
  }
  for (const consumer of [first, second]) {
    const got = [];
    while (got.length < 20) {
      got.push(...texts(await receiveAll(consumer, 1, false)).filter((text) => text !== 'anybody?'));
    }
    equal(got, numbered(0, 20), 'messages while somebody was there');
  }
  // Nothing is kept: what was not acknowledged does not come again.
  await first.unsubscribe();
  await send('nobody is there');
  const next = await place.subscribe(name, SHARED);
  await expectSilence(next, 'messages that were published before');
  await send('later');
  equal(texts(await receiveAll(next, 1)), ['later'], 'the next message');
}

// The client resends only what it knew of as unsent, so nothing is under way at the moment of the kill.
async function killWithResend(place) {
  const name = topic('kill');
  const consumer = await place.subscribe(name, EXCLUSIVE);
  const producer = await place.producer(name);
  for (const payload of numbered(0, 100)) {
    await producer.sendMessage({ payload, properties: {} });
  }
  await place.kill();
  await sleep(200); // the client hears of it
  const sent = numbered(100, 200).map((payload) => producer.sendMessage({ payload, properties: {} }));
  await place.start();
  await Promise.all(sent);
  const seen = [];
  const deadline = Date.now() + 2 * RECEIVE_MS;
  while (seen.length < 200 && Date.now() < deadline) {
    for (const text of texts(await receiveAll(consumer, consumer.inbox.length))) {
      if (!seen.includes(text)) {
        seen.push(text);
      }
    }
    await sleep(10);
  }
  equal(seen, numbered(0, 200), 'confirmed messages, in the order of first deliveries');
}

const SCENARIOS = {
  exclusive, shared, failover, access_modes: accessModes, cumulative, batches, negative_ack: negativeAck,
  non_persistent: nonPersistent,
};
const OWN_SCENARIOS = { kill_with_resend: killWithResend };

const NO = (what) => `the Node client pulsar-flex has no ${what}`;
const GAPS = {
  readers: NO('readers'),
  seek: NO('seek'),
  seek_chunks: NO('chunks of messages'),
  partitions_by_key: NO('partitioned topics: it knows single topics only'),
  pattern: NO('patterns of topics'),
  batches_and_partial_acks: NO('acknowledgement within a batch: it acknowledges the whole'),
  dead_letters: NO('dead-letter topics'),
  retry_topic: NO('retry topics'),
  zero_queue: NO('receiver queue of zero: it would ask for no message'),
  last_message_id: NO('last message id'),
  chunks: NO('chunks of messages'),
  encryption: NO('encryption'),
  schemas: NO('schemas'),
  thousand_producers: NO('shared connections: each producer and consumer opens its own'),
};

async function main([url, http, keys, ...wanted]) {
  if (keys === undefined) {
    process.stderr.write('usage: guest.js PULSAR_URL HTTP_URL KEYS_DIR [scenario ...]'
      + ' | guest.js --own HULSE_BINARY KEYS_DIR [scenario ...]\n');
    process.exit(2);
  }
  const own = url === '--own';
  const isWanted = ([name]) => wanted.length === 0 || wanted.includes(name);
  let failures = 0;
  for (const [name, play] of Object.entries(own ? OWN_SCENARIOS : SCENARIOS).filter(isWanted)) {
    const place = own ? await OwnBroker.start(http) : new Place(url);
    try {
      await play(place);
      console.log(`ok ${name}`);
    } catch (problem) { // every scenario is reported, whatever went wrong in it
      failures += 1;
      console.log(`FAILED ${name}: ${String(problem).replaceAll('\n', ' ')}`);
      console.error(problem);
    } finally {
      if (own) {
        await place.kill();
        fs.rmSync(place.directory, { recursive: true });
      }
    }
  }
  for (const [name, why] of own ? [] : Object.entries(GAPS).filter(isWanted)) {
    console.log(`gap ${name}: ${why}`);
  }
  process.exit(failures > 0 ? 1 : 0);
}

// A refused consumer of this client leaves a rejection that nobody waits for.
process.on('unhandledRejection', () => {});
main(process.argv.slice(2));
