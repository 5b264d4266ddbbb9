import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.DeadLetterPolicy;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.MessageIdAdv;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.ProducerAccessMode;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.api.Reader;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.SubscriptionType;

/** Scenarios beyond publish, consume and acknowledge: partitions, patterns, readers, seeks, access modes. */
final class Wider {
    static final List<Map.Entry<String, Guest.Scenario>> VISITS = List.of(
            Map.entry("partitions_by_key", Wider::partitionsByKey),
            Map.entry("pattern", Wider::pattern),
            Map.entry("pattern_pushed", Wider::patternPushed),
            Map.entry("readers", Wider::readers),
            Map.entry("seek", Wider::seek),
            Map.entry("seek_into_batch", Wider::seekIntoBatch),
            Map.entry("last_message_id", Wider::lastMessageId),
            Map.entry("unsubscribe", Wider::unsubscribe),
            Map.entry("dead_letters", Wider::deadLetters),
            Map.entry("retry_topic", Wider::retryTopic),
            Map.entry("access_modes", Wider::accessModes),
            Map.entry("wait_for_exclusive", Wider::waitForExclusive),
            Map.entry("thousand_producers", Wider::thousandProducers));

    static final int RECEIVE_SECONDS = Guest.RECEIVE_SECONDS;

    static void partitioned(Guest.Place place, String topic, int partitions) throws Exception {
        String local = topic.substring(topic.lastIndexOf('/') + 1);
        URI uri = URI.create(place.http + "/admin/v2/persistent/public/default/" + local + "/partitions");
        HttpRequest request = HttpRequest.newBuilder(uri).header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofString(Integer.toString(partitions))).build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        Guest.equal(answer.statusCode(), 204, "status of making " + partitions + " partitions: " + answer.body());
    }

    static void partitionsByKey(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = Guest.topic("parts");
            partitioned(place, name, 4);
            Guest.equal(client.getPartitionsForTopic(name).get(),
                    IntStream.range(0, 4).mapToObj(i -> name + "-partition-" + i).collect(Collectors.toList()),
                    "partitions");
            Consumer<byte[]> consumer = Guest.consumer(client, name, SubscriptionType.Failover).subscribe();
            Producer<byte[]> producer = client.newProducer().topic(name).enableBatching(false).create();
            for (int i = 0; i < 60; i++) {
                producer.newMessage().key("key" + i % 6).value(Guest.bytes(i % 6 + ":" + i)).send();
            }
            Map<String, String> partitionOf = new HashMap<>();
            Map<String, Integer> lastOf = new HashMap<>();
            for (Message<byte[]> message : Guest.receiveAll(consumer, 60, true)) {
                String[] parts = Guest.text(message).split(":");
                Guest.equal(partitionOf.computeIfAbsent(parts[0], key -> message.getTopicName()),
                        message.getTopicName(), "partition of key" + parts[0]);
                int number = Integer.parseInt(parts[1]);
                if (number <= lastOf.getOrDefault(parts[0], -1)) {
                    throw new AssertionError("order of key" + parts[0]);
                }
                lastOf.put(parts[0], number);
            }
            if (Set.copyOf(partitionOf.values()).size() < 2) {
                throw new AssertionError("all keys went to one partition");
            }
        }
    }

    static void pattern(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String prefix = "persistent://public/default/java-" + UUID.randomUUID().toString().substring(0, 8);
            Guest.publish(client, prefix + "-a1", 3);
            Guest.publish(client, prefix + "-b1", 3);
            partitioned(place, prefix + "-a2", 2);
            Guest.publish(client, prefix + "-a2", 4);
            Consumer<byte[]> consumer = client.newConsumer().topicsPattern(Pattern.compile(prefix + "-a.*"))
                    .patternAutoDiscoveryPeriod(1, TimeUnit.SECONDS).subscriptionName("sub")
                    .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe();
            List<Message<byte[]>> got = Guest.receiveAll(consumer, 7, true);
            Guest.equal(got.stream().anyMatch(m -> m.getTopicName().contains("-b1")), false, "a topic that does not match");
            Guest.expectSilence(consumer);
            // A topic that is made later is found.
            Guest.publish(client, prefix + "-a3", 2);
            Guest.receiveAll(consumer, 2, true);
        }
    }

    /** The client asks for the list once in ten minutes; the broker tells it what comes meanwhile. */
    static void patternPushed(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String prefix = "persistent://public/default/java-" + UUID.randomUUID().toString().substring(0, 8);
            Guest.publish(client, prefix + "-a1", 1);
            Consumer<byte[]> consumer = client.newConsumer().topicsPattern(Pattern.compile(prefix + "-a.*"))
                    .patternAutoDiscoveryPeriod(10, TimeUnit.MINUTES).subscriptionName("sub")
                    .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe();
            Guest.receiveAll(consumer, 1, true);
            Guest.publish(client, prefix + "-b1", 1);
            Guest.publish(client, prefix + "-a2", 1);
            List<Message<byte[]>> got = Guest.receiveAll(consumer, 1, true);
            Guest.equal(got.get(0).getTopicName(), prefix + "-a2", "the topic");
            Guest.expectSilence(consumer);
        }
    }

    static List<MessageId> publish(PulsarClient client, String topic, int from, int to) throws Exception {
        List<MessageId> ids = new ArrayList<>();
        try (Producer<byte[]> producer = client.newProducer().topic(topic).enableBatching(false).create()) {
            for (int i = from; i < to; i++) {
                ids.add(producer.send(Guest.bytes("m" + i)));
            }
        }
        return ids;
    }

    static String next(Reader<byte[]> reader) throws Exception {
        Message<byte[]> message = reader.readNext(RECEIVE_SECONDS, TimeUnit.SECONDS);
        if (message == null) {
            throw new AssertionError("nothing came within " + RECEIVE_SECONDS + " s");
        }
        return Guest.text(message);
    }

    static void readers(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = Guest.topic("reader");
            List<MessageId> ids = publish(client, name, 0, 10);
            try (Reader<byte[]> reader = client.newReader().topic(name).startMessageId(MessageId.earliest).create()) {
                List<String> got = new ArrayList<>();
                while (reader.hasMessageAvailable()) {
                    got.add(next(reader));
                }
                Guest.equal(got, Guest.numbered(0, 10), "all of it");
                publish(client, name, 10, 11);
                Guest.equal(reader.hasMessageAvailable(), true, "more after a publish");
                Guest.equal(next(reader), "m10", "what came");
                Guest.equal(reader.hasMessageAvailable(), false, "more at the end");
            }
            try (Reader<byte[]> reader = client.newReader().topic(name).startMessageId(ids.get(4)).create()) {
                Guest.equal(next(reader), "m5", "the first one after the start");
            }
            try (Reader<byte[]> reader = client.newReader().topic(name).startMessageId(ids.get(4))
                    .startMessageIdInclusive().create()) {
                Guest.equal(next(reader), "m4", "the start itself");
                reader.seek(ids.get(8));
                Guest.equal(next(reader), "m8", "the place sought, as the reader includes its start");
            }
            try (Reader<byte[]> reader = client.newReader().topic(name).startMessageId(MessageId.latest).create()) {
                Guest.equal(reader.hasMessageAvailable(), false, "anything at the latest position");
                publish(client, name, 11, 12);
                Guest.equal(next(reader), "m11", "what came later");
            }
            try (Reader<byte[]> reader = client.newReader().topic(name)
                    .startMessageFromRollbackDuration(1, TimeUnit.HOURS).create()) {
                Guest.equal(next(reader), "m0", "an hour back");
            }
        }
    }

    static void seek(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = Guest.topic("seek");
            Consumer<byte[]> consumer = Guest.consumer(client, name, SubscriptionType.Shared).subscribe();
            List<MessageId> ids = publish(client, name, 0, 10);
            List<Message<byte[]>> before = Guest.receiveAll(consumer, 10, true);
            consumer.seek(ids.get(3));
            Guest.equal(Guest.texts(Guest.receiveAll(consumer, 6, true)), Guest.numbered(4, 10), "after a seek by id");
            consumer.seek(MessageId.earliest);
            Guest.equal(Guest.texts(Guest.receiveAll(consumer, 10, true)), Guest.numbered(0, 10), "from the beginning");
            long time = before.get(6).getPublishTime();
            consumer.seek(time);
            Message<byte[]> first = Guest.receive(consumer);
            if (first.getPublishTime() < time) {
                throw new AssertionError("a seek by time gave an older message");
            }
            consumer.seek(MessageId.latest);
            Guest.expectSilence(consumer);
        }
    }

    static void seekIntoBatch(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = Guest.topic("seekbatch");
            Consumer<byte[]> consumer = Guest.consumer(client, name, SubscriptionType.Exclusive)
                    .startMessageIdInclusive().subscribe();
            try (Producer<byte[]> producer = client.newProducer().topic(name).enableBatching(true)
                    .batchingMaxPublishDelay(1, TimeUnit.MINUTES).create()) {
                List<CompletableFuture<MessageId>> sent = new ArrayList<>();
                for (int i = 0; i < 10; i++) {
                    sent.add(producer.sendAsync(Guest.bytes("m" + i)));
                }
                producer.flush();
            }
            List<Message<byte[]>> got = Guest.receiveAll(consumer, 10, false);
            Guest.equal(((MessageIdAdv) got.get(6).getMessageId()).getBatchIndex(), 6, "index in the batch");
            consumer.seek(got.get(6).getMessageId());
            Guest.equal(Guest.texts(Guest.receiveAll(consumer, 4, true)), Guest.numbered(6, 10), "from within the batch");
            Guest.expectSilence(consumer);
        }
    }

    static void lastMessageId(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = Guest.topic("last");
            Consumer<byte[]> consumer = Guest.consumer(client, name, SubscriptionType.Exclusive).subscribe();
            List<MessageId> ids = publish(client, name, 0, 3);
            MessageIdAdv last = (MessageIdAdv) consumer.getLastMessageIds().get(0);
            MessageIdAdv expected = (MessageIdAdv) ids.get(2);
            Guest.equal(last.getLedgerId() + ":" + last.getEntryId(),
                    expected.getLedgerId() + ":" + expected.getEntryId(), "last message id");
        }
    }

    static void unsubscribe(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = Guest.topic("unsubscribe");
            Consumer<byte[]> consumer = Guest.consumer(client, name, SubscriptionType.Shared).subscribe();
            publish(client, name, 0, 3);
            Consumer<byte[]> second = Guest.consumer(client, name, SubscriptionType.Shared).subscribe();
            try {
                consumer.unsubscribe();
                throw new AssertionError("a subscription was removed under another consumer");
            } catch (PulsarClientException expected) {
                // as it should be
            }
            second.close();
            consumer.unsubscribe();
            Guest.expectSilence(Guest.consumer(client, name, SubscriptionType.Shared).subscribe());
        }
    }

    static void deadLetters(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = Guest.topic("dead");
            Consumer<byte[]> consumer = Guest.consumer(client, name, SubscriptionType.Shared)
                    .negativeAckRedeliveryDelay(100, TimeUnit.MILLISECONDS)
                    .deadLetterPolicy(DeadLetterPolicy.builder().maxRedeliverCount(2).deadLetterTopic(name + "-DLQ")
                            .initialSubscriptionName("kept").build())
                    .subscribe();
            publish(client, name, 0, 1);
            for (int i = 0; i < 3; i++) {
                Message<byte[]> message = Guest.receive(consumer);
                Guest.equal(message.getRedeliveryCount(), i, "redelivery count");
                consumer.negativeAcknowledge(message);
            }
            try (Consumer<byte[]> dead = client.newConsumer().topic(name + "-DLQ").subscriptionName("kept").subscribe()) {
                Guest.equal(Guest.texts(Guest.receiveAll(dead, 1, true)), Guest.numbered(0, 1), "the dead letter");
            }
            Guest.expectSilence(consumer);
        }
    }

    static void retryTopic(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = Guest.topic("retry");
            Consumer<byte[]> consumer = Guest.consumer(client, name, SubscriptionType.Shared).enableRetry(true)
                    .deadLetterPolicy(DeadLetterPolicy.builder().maxRedeliverCount(2).build()).subscribe();
            publish(client, name, 0, 1);
            for (int i = 0; i < 3; i++) {
                Message<byte[]> message = Guest.receive(consumer);
                String times = message.getProperties().getOrDefault("RECONSUMETIMES", "0");
                Guest.equal(times, Integer.toString(i), "RECONSUMETIMES");
                consumer.reconsumeLater(message, 1, TimeUnit.MILLISECONDS);
            }
            Guest.expectSilence(consumer);
        }
    }

    static Producer<byte[]> producer(PulsarClient client, String topic, ProducerAccessMode mode) throws Exception {
        return client.newProducer().topic(topic).accessMode(mode).create();
    }

    static void accessModes(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = Guest.topic("access");
            Producer<byte[]> first = producer(client, name, ProducerAccessMode.Exclusive);
            try {
                producer(client, name, ProducerAccessMode.Exclusive);
                throw new AssertionError("a second exclusive producer was let in");
            } catch (PulsarClientException.ProducerFencedException expected) {
                // as it should be
            }
            try {
                producer(client, name, ProducerAccessMode.Shared);
                throw new AssertionError("a shared producer was let in beside an exclusive one");
            } catch (PulsarClientException.ProducerBusyException expected) {
                // as it should be
            }
            first.send(Guest.bytes("one"));
            Producer<byte[]> second = producer(client, name, ProducerAccessMode.ExclusiveWithFencing);
            second.send(Guest.bytes("two"));
            try {
                first.send(Guest.bytes("three"));
                throw new AssertionError("a fenced producer published");
            } catch (PulsarClientException expected) {
                // as it should be
            }
            Consumer<byte[]> consumer = Guest.consumer(client, name, SubscriptionType.Exclusive)
                    .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe();
            Guest.equal(Guest.texts(Guest.receiveAll(consumer, 2, true)), List.of("one", "two"), "what was published");
        }
    }

    static void waitForExclusive(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = Guest.topic("wait");
            Producer<byte[]> first = producer(client, name, ProducerAccessMode.Exclusive);
            CompletableFuture<Producer<byte[]>> waiting = client.newProducer().topic(name)
                    .accessMode(ProducerAccessMode.WaitForExclusive).createAsync();
            first.send(Guest.bytes("one"));
            Guest.equal(waiting.isDone(), false, "whether the second one has its turn already");
            first.close();
            Producer<byte[]> second = waiting.get(RECEIVE_SECONDS, TimeUnit.SECONDS);
            second.send(Guest.bytes("two"));
            Consumer<byte[]> consumer = Guest.consumer(client, name, SubscriptionType.Exclusive)
                    .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe();
            Guest.equal(Guest.texts(Guest.receiveAll(consumer, 2, true)), List.of("one", "two"), "what was published");
        }
    }

    static void thousandProducers(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = Guest.topic("thousand");
            Consumer<byte[]> consumer = Guest.consumer(client, name, SubscriptionType.Exclusive).subscribe();
            List<CompletableFuture<Producer<byte[]>>> coming = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                coming.add(client.newProducer().topic(name).enableBatching(false).createAsync());
            }
            List<CompletableFuture<MessageId>> sent = new ArrayList<>();
            Set<String> names = new TreeSet<>();
            for (int i = 0; i < 1000; i++) {
                Producer<byte[]> producer = coming.get(i).get(60, TimeUnit.SECONDS);
                names.add(producer.getProducerName());
                sent.add(producer.sendAsync(Guest.bytes("m" + i)));
            }
            Guest.equal(names.size(), 1000, "different names");
            for (CompletableFuture<MessageId> one : sent) {
                one.get(60, TimeUnit.SECONDS);
            }
            Set<String> got = new TreeSet<>(Guest.texts(Guest.receiveAll(consumer, 1000, true)));
            Guest.equal(got.size(), 1000, "different messages");
        }
    }

    private Wider() {}
}
