#!/usr/bin/env python3
"""The Python client of Apache Pulsar, unmodified, as a guest of a running broker.

    guest.py PULSAR_URL HTTP_URL KEYS_DIR [scenario ...]      against a broker that somebody else runs
    guest.py --own HULSE_BINARY KEYS_DIR [scenario ...]       starts its own, where the scenario needs to kill it

Prints a line per scenario, `ok NAME`, `gap NAME: what the client lacks` or `FAILED NAME: why`, and ends with 1 if any
failed.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.request
import uuid

import pulsar
import pulsar.schema

RECEIVE_MS = 20_000
QUIET_MS = 700


class Gap(Exception):
    """What the client itself lacks."""


class Place:
    """Where the broker is, and how to kill it if it is ours."""

    def __init__(self, url, http, keys):
        self.url, self.http, self.keys = url, http, keys

    def client(self, **kwargs):
        logger = pulsar.ConsoleLogger(log_level=pulsar.LoggerLevel.Error)
        return pulsar.Client(kwargs.pop("url", self.url), logger=logger, **kwargs)


class OwnBroker(Place):
    """A broker of our own on free ports, in a directory of its own, which may be killed and started again."""

    def __init__(self, binary, keys):
        self.binary, self.directory, self.process = binary, tempfile.mkdtemp(prefix="hulse-guest-"), None
        super().__init__(None, None, keys)
        self.ports = None
        self.start()

    def start(self):
        ports = self.ports or (0, 0)
        self.process = subprocess.Popen(
            [self.binary, "standalone", "--data-dir", self.directory,
             "--set", f"brokerServicePort={ports[0]}", "--set", f"webServicePort={ports[1]}",
             "--set", "bindAddress=127.0.0.1", "--set", "advertisedAddress=127.0.0.1"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        words = line.split()
        urls = [w for w in words if w.startswith(("pulsar://", "http://"))]
        if len(urls) < 2:
            raise RuntimeError(f"the broker did not start: {line!r}")
        self.url, self.http = urls[0], urls[1]
        self.ports = tuple(int(u.rstrip("/,").rsplit(":", 1)[1]) for u in urls[:2])
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=20)


def topic(name):
    return f"persistent://public/default/{name}-{uuid.uuid4().hex[:8]}"


def receive_all(consumer, count, ack=True):
    got = []
    for _ in range(count):
        message = consumer.receive(RECEIVE_MS)
        got.append(message)
        if ack:
            consumer.acknowledge(message)
    return got


def expect_silence(consumer, what="nothing more"):
    try:
        message = consumer.receive(QUIET_MS)
    except pulsar.Timeout:
        return
    raise AssertionError(f"expected {what}, got {message.data()[:60]!r} from {message.message_id()}")


def equal(got, expected, what):
    if got != expected:
        raise AssertionError(f"{what}: expected {expected!r}, got {got!r}")


def publish(client, name, count, **kwargs):
    producer = client.create_producer(name, **kwargs)
    ids = [producer.send(f"m{i}".encode()) for i in range(count)]
    producer.close()
    return ids


def exclusive(place):
    client = place.client()
    name = topic("exclusive")
    consumer = client.subscribe(name, "sub", pulsar.ConsumerType.Exclusive)
    try:
        client.subscribe(name, "sub", pulsar.ConsumerType.Exclusive)
        raise AssertionError("a second exclusive consumer was let in")
    except pulsar.ConsumerBusy:
        pass
    publish(client, name, 100)
    equal([m.data() for m in receive_all(consumer, 100)], [f"m{i}".encode() for i in range(100)], "order")
    expect_silence(consumer)
    consumer.close()
    # What was acknowledged does not come back to the next consumer.
    consumer = client.subscribe(name, "sub", pulsar.ConsumerType.Exclusive)
    expect_silence(consumer, "no acknowledged message again")
    client.close()


def initial_positions(place):
    client = place.client()
    name = topic("initial")
    publish(client, name, 10)
    early = client.subscribe(name, "early", initial_position=pulsar.InitialPosition.Earliest)
    late = client.subscribe(name, "late", initial_position=pulsar.InitialPosition.Latest)
    equal(len(receive_all(early, 10)), 10, "messages from the earliest position")
    expect_silence(late)
    publish(client, name, 1)
    equal(receive_all(late, 1)[0].data(), b"m0", "the first message after the subscription")
    client.close()


def shared(place):
    client = place.client()
    name = topic("shared")
    consumers = [client.subscribe(name, "sub", pulsar.ConsumerType.Shared, receiver_queue_size=10) for _ in range(3)]
    publish(client, name, 90)
    seen, shares = set(), []
    deadline = time.time() + 30
    while len(seen) < 90 and time.time() < deadline:
        for at, consumer in enumerate(consumers):
            try:
                message = consumer.receive(50)
            except pulsar.Timeout:
                continue
            seen.add(message.data())
            shares.append(at)
            consumer.acknowledge(message)
    equal(len(seen), 90, "distinct messages over three consumers")
    equal(set(shares), {0, 1, 2}, "consumers that got a share")
    # A consumer that leaves gives back what it held.
    publish(client, name, 9)
    held = consumers[0].receive(RECEIVE_MS)
    consumers[0].close()
    again, deadline = set(), time.time() + 30
    while len(again) < 9 and time.time() < deadline:
        for consumer in consumers[1:]:
            try:
                message = consumer.receive(50)
            except pulsar.Timeout:
                continue
            again.add(message.data())
            consumer.acknowledge(message)
    equal(len(again), 9, f"messages after a consumer left with {held.data()!r} unacknowledged")
    client.close()


def failover(place):
    client = place.client()
    name = topic("failover")
    first = client.subscribe(name, "sub", pulsar.ConsumerType.Failover, consumer_name="a")
    second = client.subscribe(name, "sub", pulsar.ConsumerType.Failover, consumer_name="b")
    publish(client, name, 20)
    actives = {}
    deadline = time.time() + 30
    while sum(actives.values()) < 20 and time.time() < deadline:
        for which, consumer in (("a", first), ("b", second)):
            try:
                message = consumer.receive(100)
            except pulsar.Timeout:
                continue
            actives[which] = actives.get(which, 0) + 1
            if actives[which] <= 10:
                consumer.acknowledge(message)
    equal(sum(actives.values()), 20, f"messages to the one active consumer ({actives})")
    equal(len(actives), 1, f"number of active consumers ({actives})")
    active, standby = (first, second) if "a" in actives else (second, first)
    active.close()
    got = {m.data() for m in receive_all(standby, 10)}
    equal(got, {f"m{i}".encode() for i in range(10, 20)}, "what the next one gets of what was not acknowledged")
    client.close()


def batches_and_partial_acks(place):
    client = place.client()
    name = topic("batch")
    kwargs = dict(consumer_type=pulsar.ConsumerType.Shared, batch_index_ack_enabled=True)
    consumer = client.subscribe(name, "sub", **kwargs)
    producer = client.create_producer(name, batching_enabled=True, batching_max_messages=50,
                                      batching_max_publish_delay_ms=200)
    done = threading.Event()
    confirmed = []

    def sent(result, message_id):
        confirmed.append((result, message_id))
        if len(confirmed) == 50:
            done.set()

    for i in range(50):
        producer.send_async(f"m{i}".encode(), sent)
    producer.flush()
    done.wait(20)
    equal([r for r, _ in confirmed], [pulsar.Result.Ok] * 50, "receipts")
    entries = {(i.ledger_id(), i.entry_id()) for _, i in confirmed}
    messages = [consumer.receive(RECEIVE_MS) for _ in range(50)]
    equal([m.data() for m in messages], [f"m{i}".encode() for i in range(50)], "order in batches")
    if len(entries) == 50:
        raise AssertionError("the client did not batch, so nothing was shown")
    for message in messages[::2]:
        consumer.acknowledge(message)
    time.sleep(0.5)  # the client groups acknowledgements for 100 ms
    consumer.close()
    consumer = client.subscribe(name, "sub", **kwargs)
    left = receive_all(consumer, 25)
    equal([m.data() for m in left], [f"m{i}".encode() for i in range(1, 50, 2)], "what was left of the batch")
    expect_silence(consumer)
    client.close()


def cumulative(place):
    client = place.client()
    name = topic("cumulative")
    consumer = client.subscribe(name, "sub")
    publish(client, name, 30)
    messages = receive_all(consumer, 30, ack=False)
    consumer.acknowledge_cumulative(messages[19])
    time.sleep(0.5)  # the client groups acknowledgements for 100 ms
    consumer.close()
    consumer = client.subscribe(name, "sub")
    equal([m.data() for m in receive_all(consumer, 10)], [f"m{i}".encode() for i in range(20, 30)], "what was left")
    client.close()


def chunks(place):
    client = place.client()
    name = topic("chunks")
    consumer = client.subscribe(name, "sub")
    producer = client.create_producer(name, chunking_enabled=True, batching_enabled=False)
    big = os.urandom(20 * 1024 * 1024)
    producer.send(big)
    producer.send(b"after")
    first = consumer.receive(60_000)
    equal(len(first.data()), len(big), "length of the chunked message")
    if first.data() != big:
        raise AssertionError("the chunked message came with other bytes")
    equal(consumer.receive(RECEIVE_MS).data(), b"after", "the message behind it")
    client.close()


def seek_chunks(place):
    client = place.client()
    name = topic("seekchunks")
    consumer = client.subscribe(name, "sub", start_message_id_inclusive=True)
    producer = client.create_producer(name, chunking_enabled=True, batching_enabled=False)
    big = os.urandom(6 * 1024 * 1024)
    producer.send(b"before")
    sought = producer.send(big)
    producer.send(b"after")
    for _ in range(2):
        equal([len(m.data()) for m in receive_all(consumer, 3)][-2:], [len(big), len(b"after")], "lengths")
        consumer.seek(sought)
        # The id of a chunked message leads to its first chunk.
        if consumer.receive(RECEIVE_MS).data() != big:
            raise AssertionError("the chunked message came with other bytes after a seek to it")
        equal(consumer.receive(RECEIVE_MS).data(), b"after", "the message behind it")
        consumer.seek(pulsar.MessageId.earliest)
    client.close()


def compressions(place):
    client = place.client()
    kinds = pulsar.CompressionType
    for label, kind in (("none", kinds.NONE), ("lz4", kinds.LZ4), ("zlib", kinds.ZLib), ("zstd", kinds.ZSTD),
                        ("snappy", kinds.SNAPPY)):
        for batching in (False, True):
            name = topic(f"compressed-{label}")
            consumer = client.subscribe(name, "sub")
            producer = client.create_producer(name, compression_type=kind, batching_enabled=batching)
            body = (f"{label} " * 2000).encode()
            for _ in range(5):
                producer.send_async(body, lambda *_: None)
            producer.flush()
            for message in receive_all(consumer, 5):
                if message.data() != body:
                    raise AssertionError(f"{label} (batching {batching}) came back changed")
            producer.close()
            consumer.close()
    client.close()


def encryption(place):
    client = place.client()
    name = topic("encrypted")
    reader = pulsar.CryptoKeyReader(f"{place.keys}/public.pem", f"{place.keys}/private.pem")
    consumer = client.subscribe(name, "sub", crypto_key_reader=reader)
    producer = client.create_producer(name, encryption_key="guest", crypto_key_reader=reader)
    for i in range(20):
        producer.send(f"secret {i}".encode())
    equal([m.data() for m in receive_all(consumer, 20)], [f"secret {i}".encode() for i in range(20)], "decrypted")
    client.close()


def negative_ack(place):
    client = place.client()
    name = topic("nack")
    consumer = client.subscribe(name, "sub", pulsar.ConsumerType.Shared, negative_ack_redelivery_delay_ms=100)
    publish(client, name, 10)
    messages = receive_all(consumer, 10, ack=False)
    for message in messages[3:6]:
        consumer.negative_acknowledge(message)
    for message in messages[:3] + messages[6:]:
        consumer.acknowledge(message)
    again = receive_all(consumer, 3)
    equal(sorted(m.data() for m in again), [b"m3", b"m4", b"m5"], "messages that came again")
    equal({m.redelivery_count() for m in again}, {1}, "their redelivery count")
    expect_silence(consumer)
    client.close()


def ack_timeout(place):
    client = place.client()
    name = topic("acktimeout")
    consumer = client.subscribe(name, "sub", pulsar.ConsumerType.Shared, unacked_messages_timeout_ms=10_000)
    publish(client, name, 3)
    first = receive_all(consumer, 3, ack=False)
    consumer.acknowledge(first[0])
    again = receive_all(consumer, 2)
    equal(sorted(m.data() for m in again), [b"m1", b"m2"], "messages that came again after the time-out")
    client.close()


def zero_queue(place):
    client = place.client()
    name = topic("zero")
    consumer = client.subscribe(name, "sub", pulsar.ConsumerType.Shared, receiver_queue_size=0)
    publish(client, name, 10)
    got = []
    for _ in range(10):
        message = consumer.receive()
        got.append(message.data())
        consumer.acknowledge(message)
    equal(got, [f"m{i}".encode() for i in range(10)], "messages one permit at a time")
    client.close()


def names_and_properties(place):
    client = place.client()
    name = topic("named")
    first = client.create_producer(name)
    second = client.create_producer(name)
    if first.producer_name() == second.producer_name():
        raise AssertionError("two producers got the same generated name")
    mine = client.create_producer(name, producer_name="mine")
    try:
        client.create_producer(name, producer_name="mine")
        raise AssertionError("the same producer name was let in twice")
    except pulsar.ProducerBusy:
        pass
    consumer = client.subscribe(name, "sub", initial_position=pulsar.InitialPosition.Earliest)
    mine.send(b"x", properties={"a": "1", "b": "ü"}, partition_key="key", event_timestamp=12345)
    message = consumer.receive(RECEIVE_MS)
    equal(message.properties(), {"a": "1", "b": "ü"}, "properties")
    equal(message.partition_key(), "key", "key")
    equal(message.event_timestamp(), 12345, "event time")
    client.close()


def http_lookup(place):
    client = place.client(url=place.http)
    name = topic("http")
    consumer = client.subscribe(name, "sub")
    publish(client, name, 5)
    equal(len(receive_all(consumer, 5)), 5, "messages after a lookup over HTTP")
    client.close()


def bad_names(place):
    client = place.client(operation_timeout_seconds=3)
    for name in ("a/b", "persistent://public/default", "kafka://a/b/c", "persistent://no-such-tenant/ns/t"):
        try:
            client.create_producer(name)
        except pulsar.PulsarException:
            continue
        raise AssertionError(f"a producer was created on {name}")
    client.close()


def put(place, path, body):
    request = urllib.request.Request(f"{place.http}/admin/v2/{path}", data=body.encode(), method="PUT",
                                     headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.status


def partitioned(place, name, partitions):
    """Makes a partitioned topic."""
    local = name.rsplit("/", 1)[1]
    equal(put(place, f"persistent/public/default/{local}/partitions", str(partitions)), 204, "status of its making")
    return name


def partitions_by_key(place):
    client = place.client()
    name = partitioned(place, topic("parts"), 4)
    equal(sorted(client.get_topic_partitions(name)), [f"{name}-partition-{i}" for i in range(4)], "partitions")
    consumer = client.subscribe(name, "sub", pulsar.ConsumerType.Shared)
    producer = client.create_producer(name)
    for i in range(60):
        producer.send(f"{i % 6}:{i}".encode(), partition_key=f"key{i % 6}")
    partition_of, last_of = {}, {}
    for message in receive_all(consumer, 60):
        key, number = message.data().decode().split(":")
        equal(message.partition_key(), f"key{key}", "key")
        equal(partition_of.setdefault(key, message.topic_name()), message.topic_name(), f"partition of key{key}")
        if int(number) <= last_of.get(key, -1):
            raise AssertionError(f"order of key{key}: {number} after {last_of[key]}")
        last_of[key] = int(number)
    if len(set(partition_of.values())) < 2:
        raise AssertionError(f"all keys went to one partition: {partition_of}")
    client.close()


def partitions_round_robin(place):
    client = place.client()
    name = partitioned(place, topic("robin"), 3)
    consumer = client.subscribe(name, "sub", pulsar.ConsumerType.Failover)
    producer = client.create_producer(name, message_routing_mode=pulsar.PartitionsRoutingMode.RoundRobinDistribution)
    for i in range(30):
        producer.send(f"m{i}".encode())
    topics = [m.topic_name() for m in receive_all(consumer, 30)]
    equal(sorted(set(topics)), [f"{name}-partition-{i}" for i in range(3)], "partitions that got messages")
    client.close()


def pattern(place):
    client = place.client()
    prefix = uuid.uuid4().hex[:8]
    names = [f"persistent://public/default/{prefix}-{kind}" for kind in ("a1", "a2", "b1")]
    for name in names:
        publish(client, name, 5)
    parts = partitioned(place, f"persistent://public/default/{prefix}-a3", 2)
    publish(client, parts, 4)
    consumer = client.subscribe(re.compile(f"persistent://public/default/{prefix}-a.*"), "sub",
                                initial_position=pulsar.InitialPosition.Earliest)
    seen = {}
    for message in receive_all(consumer, 14):
        seen[message.topic_name()] = seen.get(message.topic_name(), 0) + 1
    equal(sum(seen.values()), 14, "messages of all topics that match")
    equal(any("-b1" in name for name in seen), False, "messages of a topic that does not match")
    expect_silence(consumer)
    client.close()


def readers(place):
    client = place.client()
    name = topic("reader")
    ids = publish(client, name, 10)
    reader = client.create_reader(name, pulsar.MessageId.earliest)
    equal([reader.read_next(RECEIVE_MS).data() for _ in range(10)], [f"m{i}".encode() for i in range(10)], "all of it")
    equal(reader.has_message_available(), False, "more at the end")
    publish(client, name, 1)
    equal(reader.has_message_available(), True, "more after a publish")
    equal(reader.read_next(RECEIVE_MS).data(), b"m0", "what came")
    reader.close()
    reader = client.create_reader(name, ids[4])
    equal(reader.read_next(RECEIVE_MS).data(), b"m5", "the first one after the start")
    reader.close()
    reader = client.create_reader(name, ids[4], start_message_id_inclusive=True)
    equal(reader.read_next(RECEIVE_MS).data(), b"m4", "the start itself")
    reader.seek(ids[8])
    equal(reader.read_next(RECEIVE_MS).data(), b"m8", "the place sought, as the reader includes its start")
    reader.close()
    reader = client.create_reader(name, pulsar.MessageId.latest)
    equal(reader.has_message_available(), False, "anything at the latest position")
    publish(client, name, 1)
    equal(reader.read_next(RECEIVE_MS).data(), b"m0", "what came later")
    client.close()


def seek(place):
    client = place.client()
    name = topic("seek")
    consumer = client.subscribe(name, "sub")
    ids = publish(client, name, 10)
    before = receive_all(consumer, 10)
    consumer.seek(ids[3])
    # An inclusive subscription begins at the place sought, an ordinary one after it.
    equal([m.data() for m in receive_all(consumer, 6)], [f"m{i}".encode() for i in range(4, 10)], "after a seek by id")
    consumer.seek(pulsar.MessageId.earliest)
    equal([m.data() for m in receive_all(consumer, 10)], [f"m{i}".encode() for i in range(10)], "from the beginning")
    consumer.seek(before[6].publish_timestamp())
    first = consumer.receive(RECEIVE_MS)
    if first.publish_timestamp() < before[6].publish_timestamp():
        raise AssertionError(f"a seek by time gave {first.data()!r}, which is older")
    consumer.seek(pulsar.MessageId.latest)
    expect_silence(consumer)
    client.close()


def last_message_id(place):
    client = place.client()
    name = topic("last")
    consumer = client.subscribe(name, "sub")
    ids = publish(client, name, 3)
    last = consumer.get_last_message_id()
    equal((last.ledger_id(), last.entry_id()), (ids[-1].ledger_id(), ids[-1].entry_id()), "last message id")
    client.close()


def unsubscribe(place):
    client = place.client()
    name = topic("unsubscribe")
    consumer = client.subscribe(name, "sub")
    publish(client, name, 3)
    consumer.unsubscribe()
    # A new subscription of the same name knows nothing of the old one.
    consumer = client.subscribe(name, "sub", initial_position=pulsar.InitialPosition.Latest)
    expect_silence(consumer)
    client.close()


def dead_letters(place):
    client = place.client()
    name = topic("dead")
    policy = pulsar.ConsumerDeadLetterPolicy(max_redeliver_count=2, dead_letter_topic=f"{name}-DLQ",
                                             initial_subscription_name="kept")
    consumer = client.subscribe(name, "sub", pulsar.ConsumerType.Shared, negative_ack_redelivery_delay_ms=100,
                                dead_letter_policy=policy)
    publish(client, name, 1)
    for _ in range(3):
        consumer.negative_acknowledge(consumer.receive(RECEIVE_MS))
    dead = client.subscribe(f"{name}-DLQ", "kept")
    equal(receive_all(dead, 1)[0].data(), b"m0", "the dead letter")
    expect_silence(consumer, "no more of the message")
    client.close()


def retry_topic(place):
    if not hasattr(pulsar.Consumer, "reconsume_later"):
        raise Gap("the Python client cannot send a message to a retry topic: it has no `reconsume_later`")
    raise AssertionError("this client has reconsume_later: it is time to play the scenario")


class Person(pulsar.schema.Record):
    """What is published with a schema."""
    name = pulsar.schema.String()
    age = pulsar.schema.Integer()


class OtherPerson(pulsar.schema.Record):
    """The same with another type of a field."""
    name = pulsar.schema.String()
    age = pulsar.schema.String()


OtherPerson.__name__ = "Person"


def schemas(place):
    client = place.client()
    name = topic("schema")
    equal_schema, other = pulsar.schema.JsonSchema(Person), pulsar.schema.JsonSchema(OtherPerson)
    producers = [client.create_producer(name, schema=equal_schema) for _ in range(2)]
    consumer = client.subscribe(name, "sub", schema=equal_schema)
    for age, producer in enumerate(producers):
        producer.send(Person(name="Ada", age=age))
    got = receive_all(consumer, 2)
    equal([(m.value().name, m.value().age) for m in got], [("Ada", 0), ("Ada", 1)], "values")
    for refused in (lambda: client.create_producer(name, schema=other),
                    lambda: client.subscribe(name, "other", schema=other)):
        try:
            refused()
            raise AssertionError("another type of a field was let in")
        except pulsar.IncompatibleSchema:
            pass
    name = topic("text")
    consumer = client.subscribe(name, "sub", schema=pulsar.schema.StringSchema())
    client.create_producer(name, schema=pulsar.schema.StringSchema()).send("wörds")
    equal(receive_all(consumer, 1)[0].value(), "wörds", "the text")
    client.close()


def thousand_producers(place):
    """All on the one connection that a client has per broker unless told otherwise."""
    client = place.client()
    name = topic("thousand")
    consumer = client.subscribe(name, "sub")
    producers = [client.create_producer(name) for _ in range(1000)]
    equal(len({producer.producer_name() for producer in producers}), 1000, "different names")
    for i, producer in enumerate(producers):
        producer.send_async(f"m{i}".encode(), lambda *_: None)
    equal(len({message.data() for message in receive_all(consumer, 1000)}), 1000, "different messages")
    client.close()


def non_persistent(place):
    client = place.client()
    name = "non-" + topic("volatile")
    producer = client.create_producer(name)
    producer.send(b"nobody is there")
    earliest = pulsar.InitialPosition.Earliest
    consumers = [client.subscribe(name, "sub", pulsar.ConsumerType.Shared, initial_position=earliest),
                 client.subscribe(name, "second")]
    for i in range(20):
        producer.send(f"m{i}".encode())
    for consumer in consumers:
        got = [m.data() for m in receive_all(consumer, 20, ack=False)]
        equal(got, [f"m{i}".encode() for i in range(20)], "messages while somebody was there")
    # Nothing is kept: what was not acknowledged does not come again.
    consumers[0].close()
    producer.send(b"nobody is there")
    consumer = client.subscribe(name, "sub", pulsar.ConsumerType.Shared, initial_position=earliest)
    expect_silence(consumer, "nothing that was published before")
    producer.send(b"later")
    equal(consumer.receive(RECEIVE_MS).data(), b"later", "the next message")
    client.close()


def access_modes(place):
    client = place.client()
    name = topic("access")
    mode = pulsar.ProducerAccessMode
    first = client.create_producer(name, access_mode=mode.Exclusive)
    for refused in (mode.Exclusive, mode.Shared):
        try:
            client.create_producer(name, access_mode=refused)
            raise AssertionError(f"a {refused} producer was let in beside an exclusive one")
        except (pulsar.ProducerFenced, pulsar.ProducerBusy):
            pass
    first.send(b"one")
    second = client.create_producer(name, access_mode=mode.ExclusiveWithFencing)
    second.send(b"two")
    try:
        first.send(b"three")
        raise AssertionError("a fenced producer published")
    except pulsar.PulsarException:
        pass
    consumer = client.subscribe(name, "sub", initial_position=pulsar.InitialPosition.Earliest)
    equal([m.data() for m in receive_all(consumer, 2)], [b"one", b"two"], "what was published")
    client.close()


def kill_with_resend(place):
    """A broker killed under a producer that keeps sending: everything confirmed is there, once each was sent."""
    client = place.client()
    name = topic("kill")
    consumer = client.subscribe(name, "sub", pulsar.ConsumerType.Exclusive)
    producer = client.create_producer(name, block_if_queue_full=True)
    confirmed, failed = {}, []

    def sent(i):
        def callback(result, message_id):
            if result == pulsar.Result.Ok:
                confirmed[i] = message_id
            else:
                failed.append((i, result))
        return callback

    total = 3000
    for i in range(total):
        producer.send_async(f"{i}".encode(), sent(i))
        if i in (700, 1900):
            place.kill()
            place.start()
    producer.flush()
    deadline = time.time() + 60
    while len(confirmed) + len(failed) < total and time.time() < deadline:
        time.sleep(0.05)
    equal(failed, [], "sends that failed although the client may send again")
    equal(len(confirmed), total, "receipts")
    first_seen, deadline = [], time.time() + 60
    known = set()
    while len(known) < total and time.time() < deadline:
        message = consumer.receive(RECEIVE_MS)
        number = int(message.data())
        if number not in known:
            known.add(number)
            first_seen.append(number)
        consumer.acknowledge(message)
    equal(len(known), total, "confirmed messages that arrived")
    equal(first_seen, sorted(first_seen), "order of first deliveries")
    client.close()


def graceful_stop(place):
    """A stop by SIGTERM keeps acknowledgements, and clients come back by themselves."""
    client = place.client()
    name = topic("stop")
    consumer = client.subscribe(name, "sub", pulsar.ConsumerType.Shared)
    producer = client.create_producer(name)
    for i in range(20):
        producer.send(f"m{i}".encode())
    messages = receive_all(consumer, 20, ack=False)
    for message in messages[:15]:
        consumer.acknowledge(message)
    time.sleep(0.5)  # the client groups acknowledgements for 100 ms
    equal(place.stop(), 0, "exit code after SIGTERM")
    place.start()
    got = {m.data() for m in receive_all(consumer, 5)}
    equal(got, {f"m{i}".encode() for i in range(15, 20)}, "unacknowledged messages after the restart")
    producer.send(b"after")
    equal(consumer.receive(RECEIVE_MS).data(), b"after", "a message after the restart")
    client.close()


def non_persistent_drops(place):
    client = place.client()
    name = topic("passing").replace("persistent://", "non-persistent://")
    producer = client.create_producer(name)
    # Who comes later has missed it.
    producer.send(b"to nobody")
    consumers = [client.subscribe(name, "shared", consumer_type=pulsar.ConsumerType.Shared) for _ in range(2)]
    alone = client.subscribe(name, "alone", receiver_queue_size=2)
    for i in range(10):
        producer.send(f"m{i}".encode())
    # Turn by turn.
    equal([len(receive_all(consumer, 5)) for consumer in consumers], [5, 5], "shared by two")
    # Beyond what its queue asked for, everything is dropped, and nothing comes again.
    equal([m.data() for m in receive_all(alone, 2, ack=False)], [b"m0", b"m1"], "what there was room for")
    alone.redeliver_unacknowledged_messages()
    expect_silence(alone)
    producer.send(b"later")
    equal(alone.receive(RECEIVE_MS).data(), b"later", "what came when there was room again")
    # A subscription is gone with its consumers, an unsubscribed one at once.
    alone.unsubscribe()
    alone = client.subscribe(name, "alone", consumer_type=pulsar.ConsumerType.Failover,
                             initial_position=pulsar.InitialPosition.Earliest)
    expect_silence(alone)
    producer.send(b"for all")
    equal(alone.receive(RECEIVE_MS).data(), b"for all", "what a failover consumer gets")
    client.close()


def non_persistent_reader(place):
    if pulsar.__version__ == "3.5.0":
        raise Gap("version 3.5.0 of the Python client crashes when it reads from a non-persistent topic")
    client = place.client()
    name = "non-" + topic("passing")
    producer = client.create_producer(name)
    reader = client.create_reader(name, pulsar.MessageId.earliest)
    producer.send(b"for all")
    equal(reader.read_next(RECEIVE_MS).data(), b"for all", "what a reader gets")
    client.close()


SCENARIOS = [exclusive, initial_positions, shared, failover, batches_and_partial_acks, cumulative, chunks,
             compressions, encryption, negative_ack, ack_timeout, zero_queue, names_and_properties, http_lookup,
             bad_names, partitions_by_key, partitions_round_robin, pattern, readers, seek, last_message_id, unsubscribe,
             dead_letters, retry_topic, access_modes, seek_chunks, schemas, thousand_producers, non_persistent,
             non_persistent_drops, non_persistent_reader]
OWN_SCENARIOS = [kill_with_resend, graceful_stop]


def main(arguments):
    own = arguments and arguments[0] == "--own"
    if len(arguments) < 3:
        sys.exit(__doc__)
    wanted = arguments[3:]
    place = None if own else Place(arguments[0], arguments[1], arguments[2])
    failures = 0
    for scenario in OWN_SCENARIOS if own else SCENARIOS:
        if wanted and scenario.__name__ not in wanted:
            continue
        here = OwnBroker(arguments[1], arguments[2]) if own else place
        try:
            scenario(here)
            print(f"ok {scenario.__name__}", flush=True)
        except Gap as gap:
            print(f"gap {scenario.__name__}: {gap}", flush=True)
        except Exception as problem:  # every scenario is reported, whatever went wrong in it
            failures += 1
            reason = f"{type(problem).__name__}: {problem}".replace("\n", " ")
            print(f"FAILED {scenario.__name__}: {reason}", flush=True)
            traceback.print_exc()
        finally:
            if own:
                here.kill()
                shutil.rmtree(here.directory, ignore_errors=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
