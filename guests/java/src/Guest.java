import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.pulsar.client.api.BatchReceivePolicy;
import org.apache.pulsar.client.api.CompressionType;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.ConsumerBuilder;
import org.apache.pulsar.client.api.CryptoKeyReader;
import org.apache.pulsar.client.api.EncryptionKeyInfo;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.MessageIdAdv;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.SubscriptionType;

/**
 * The Java client of Apache Pulsar, unmodified, as a guest of a running broker.
 *
 * <pre>
 * Guest PULSAR_URL HTTP_URL KEYS_DIR [scenario ...]   against a broker that somebody else runs
 * Guest --own HULSE_BINARY KEYS_DIR [scenario ...]    starts its own, where the scenario needs to kill it
 * </pre>
 *
 * Prints a line per scenario, {@code ok NAME} or {@code FAILED NAME: why}, and ends with 1 if any failed.
 */
public final class Guest {
    static final int RECEIVE_SECONDS = 20;
    static final int QUIET_MS = 700;

    interface Scenario {
        void run(Place place) throws Exception;
    }

    static class Place {
        String url;
        String http;
        final String keys;

        Place(String url, String http, String keys) {
            this.url = url;
            this.http = http;
            this.keys = keys;
        }

        PulsarClient client() throws Exception {
            return PulsarClient.builder().serviceUrl(url).build();
        }

        void kill() throws Exception {}

        void start() throws Exception {}

        void remove() throws Exception {}
    }

    static final class OwnBroker extends Place {
        final String binary;
        final Path directory = Files.createTempDirectory("hulse-guest-");
        int port;
        int httpPort;
        Process process;

        OwnBroker(String binary, String keys) throws Exception {
            super(null, null, keys);
            this.binary = binary;
            start();
        }

        @Override
        void start() throws Exception {
            process = new ProcessBuilder(binary, "standalone", "--data-dir", directory.toString(),
                    "--set", "brokerServicePort=" + port, "--set", "webServicePort=" + httpPort,
                    "--set", "bindAddress=127.0.0.1", "--set", "advertisedAddress=127.0.0.1")
                    .redirectError(ProcessBuilder.Redirect.DISCARD).start();
            BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream()));
            String line = out.readLine();
            List<String> urls = Arrays.stream((line == null ? "" : line).split("\\s+"))
                    .filter(w -> w.startsWith("pulsar://") || w.startsWith("http://")).collect(Collectors.toList());
            if (urls.size() < 2) {
                throw new IllegalStateException("the broker did not start: " + line);
            }
            url = urls.get(0);
            http = urls.get(1);
            port = portOf(url);
            httpPort = portOf(http);
        }

        static int portOf(String url) {
            return Integer.parseInt(url.substring(url.lastIndexOf(':') + 1).replaceAll("[^0-9]", ""));
        }

        @Override
        void kill() throws Exception {
            process.destroyForcibly().waitFor();
        }

        @Override
        void remove() throws Exception {
            try (var files = Files.walk(directory)) {
                for (Path file : files.sorted(java.util.Comparator.reverseOrder()).collect(Collectors.toList())) {
                    Files.delete(file);
                }
            }
        }
    }

    static final class Keys implements CryptoKeyReader {
        final String directory;

        Keys(String directory) {
            this.directory = directory;
        }

        static EncryptionKeyInfo read(Path path) {
            try {
                return new EncryptionKeyInfo(Files.readAllBytes(path), Map.of());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public EncryptionKeyInfo getPublicKey(String name, Map<String, String> metadata) {
            return read(Path.of(directory, "public.pem"));
        }

        @Override
        public EncryptionKeyInfo getPrivateKey(String name, Map<String, String> metadata) {
            return read(Path.of(directory, "private.pem"));
        }
    }

    static String topic(String name) {
        return "persistent://public/default/java-" + name + "-" + UUID.randomUUID().toString().substring(0, 8);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(Message<byte[]> message) {
        return new String(message.getData(), StandardCharsets.UTF_8);
    }

    static List<String> numbered(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "m" + i).collect(Collectors.toList());
    }

    static void equal(Object got, Object expected, String what) {
        if (!got.equals(expected)) {
            throw new AssertionError(what + ": expected " + expected + ", got " + got);
        }
    }

    static Message<byte[]> receive(Consumer<byte[]> consumer) throws Exception {
        Message<byte[]> message = consumer.receive(RECEIVE_SECONDS, TimeUnit.SECONDS);
        if (message == null) {
            throw new AssertionError("nothing came within " + RECEIVE_SECONDS + " s on " + consumer.getTopic());
        }
        return message;
    }

    static List<Message<byte[]>> receiveAll(Consumer<byte[]> consumer, int count, boolean ack) throws Exception {
        List<Message<byte[]>> got = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Message<byte[]> message = receive(consumer);
            got.add(message);
            if (ack) {
                consumer.acknowledge(message);
            }
        }
        return got;
    }

    static List<String> texts(List<Message<byte[]>> messages) {
        return messages.stream().map(Guest::text).collect(Collectors.toList());
    }

    static void expectSilence(Consumer<byte[]> consumer) throws Exception {
        Message<byte[]> message = consumer.receive(QUIET_MS, TimeUnit.MILLISECONDS);
        if (message != null) {
            throw new AssertionError("expected nothing more, got " + text(message) + " " + message.getMessageId());
        }
    }

    static void publish(PulsarClient client, String topic, int count) throws Exception {
        try (Producer<byte[]> producer = client.newProducer().topic(topic).enableBatching(false).create()) {
            for (int i = 0; i < count; i++) {
                producer.send(bytes("m" + i));
            }
        }
    }

    static ConsumerBuilder<byte[]> consumer(PulsarClient client, String topic, SubscriptionType type) {
        return client.newConsumer().topic(topic).subscriptionName("sub").subscriptionType(type);
    }

    static void exclusive(Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = topic("exclusive");
            Consumer<byte[]> first = consumer(client, name, SubscriptionType.Exclusive).subscribe();
            try (PulsarClient other = place.client()) {
                consumer(other, name, SubscriptionType.Exclusive).subscribe();
                throw new AssertionError("a second exclusive consumer was let in");
            } catch (PulsarClientException.ConsumerBusyException expected) {
                // as it should be
            }
            publish(client, name, 100);
            equal(texts(receiveAll(first, 100, true)), numbered(0, 100), "order");
            expectSilence(first);
            first.close();
            expectSilence(consumer(client, name, SubscriptionType.Exclusive).subscribe());
        }
    }

    static void shared(Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = topic("shared");
            List<Consumer<byte[]>> consumers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                consumers.add(consumer(client, name, SubscriptionType.Shared).receiverQueueSize(10).subscribe());
            }
            publish(client, name, 90);
            Set<String> seen = new HashSet<>();
            Set<Integer> shares = new HashSet<>();
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (seen.size() < 90 && System.nanoTime() < deadline) {
                for (int i = 0; i < 3; i++) {
                    Message<byte[]> message = consumers.get(i).receive(20, TimeUnit.MILLISECONDS);
                    if (message != null) {
                        seen.add(text(message));
                        shares.add(i);
                        consumers.get(i).acknowledge(message);
                    }
                }
            }
            equal(seen.size(), 90, "distinct messages over three consumers");
            equal(shares, Set.of(0, 1, 2), "consumers that got a share");
        }
    }

    static void failover(Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = topic("failover");
            Consumer<byte[]> a = consumer(client, name, SubscriptionType.Failover).consumerName("a").subscribe();
            Consumer<byte[]> b = consumer(client, name, SubscriptionType.Failover).consumerName("b").subscribe();
            publish(client, name, 20);
            Message<byte[]> first = null;
            Consumer<byte[]> active = null;
            Consumer<byte[]> standby = null;
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (first == null && System.nanoTime() < deadline) {
                first = a.receive(50, TimeUnit.MILLISECONDS);
                active = a;
                standby = b;
                if (first == null) {
                    first = b.receive(50, TimeUnit.MILLISECONDS);
                    active = b;
                    standby = a;
                }
            }
            equal(text(first), "m0", "the first message");
            active.acknowledge(first);
            List<Message<byte[]>> rest = receiveAll(active, 9, true);
            equal(texts(rest), numbered(1, 10), "messages of the active consumer");
            expectSilence(standby);
            active.close();
            Set<String> got = new TreeSet<>(texts(receiveAll(standby, 10, true)));
            equal(got, new TreeSet<>(numbered(10, 20)), "what the next one gets");
        }
    }

    static void batchesAndPartialAcks(Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = topic("batch");
            ConsumerBuilder<byte[]> builder = consumer(client, name, SubscriptionType.Shared)
                    .enableBatchIndexAcknowledgment(true).isAckReceiptEnabled(true);
            Consumer<byte[]> consumer = builder.subscribe();
            Producer<byte[]> producer = client.newProducer().topic(name).batchingMaxMessages(50)
                    .batchingMaxPublishDelay(200, TimeUnit.MILLISECONDS).create();
            List<CompletableFuture<MessageId>> sent = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                sent.add(producer.sendAsync(bytes("m" + i)));
            }
            producer.flush();
            Set<Long> entries = new HashSet<>();
            for (CompletableFuture<MessageId> future : sent) {
                entries.add(((MessageIdAdv) future.get(20, TimeUnit.SECONDS)).getEntryId());
            }
            if (entries.size() == 50) {
                throw new AssertionError("the client did not batch, so nothing was shown");
            }
            List<Message<byte[]>> messages = receiveAll(consumer, 50, false);
            equal(texts(messages), numbered(0, 50), "order in batches");
            for (int i = 0; i < 50; i += 2) {
                consumer.acknowledge(messages.get(i));
            }
            consumer.close();
            consumer = builder.subscribe();
            List<String> expected = numbered(0, 50).stream()
                    .filter(m -> Integer.parseInt(m.substring(1)) % 2 == 1).collect(Collectors.toList());
            equal(texts(receiveAll(consumer, 25, true)), expected, "what was left of the batch");
            expectSilence(consumer);
            consumer.close();
            expectSilence(builder.subscribe());
        }
    }

    static void cumulative(Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = topic("cumulative");
            ConsumerBuilder<byte[]> builder =
                    consumer(client, name, SubscriptionType.Exclusive).isAckReceiptEnabled(true);
            Consumer<byte[]> consumer = builder.subscribe();
            publish(client, name, 30);
            consumer.acknowledgeCumulative(receiveAll(consumer, 30, false).get(19));
            consumer.close();
            consumer = builder.subscribe();
            equal(texts(receiveAll(consumer, 10, true)), numbered(20, 30), "what was left");
        }
    }

    static void chunks(Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = topic("chunks");
            Consumer<byte[]> consumer = consumer(client, name, SubscriptionType.Exclusive).subscribe();
            Producer<byte[]> producer =
                    client.newProducer().topic(name).enableChunking(true).enableBatching(false).create();
            byte[] big = new byte[20 * 1024 * 1024];
            new Random(7).nextBytes(big);
            producer.send(big);
            producer.send(bytes("after"));
            Message<byte[]> first = consumer.receive(60, TimeUnit.SECONDS);
            if (first == null || !Arrays.equals(first.getData(), big)) {
                throw new AssertionError("the chunked message came with other bytes, or not at all");
            }
            equal(text(receive(consumer)), "after", "the message behind it");
        }
    }

    static void compressions(Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            for (CompressionType kind : CompressionType.values()) {
                for (boolean batching : new boolean[] {false, true}) {
                    String name = topic("compressed-" + kind);
                    Consumer<byte[]> consumer = consumer(client, name, SubscriptionType.Exclusive).subscribe();
                    Producer<byte[]> producer = client.newProducer().topic(name).compressionType(kind)
                            .enableBatching(batching).create();
                    String body = (kind + " ").repeat(2000);
                    for (int i = 0; i < 5; i++) {
                        producer.sendAsync(bytes(body));
                    }
                    producer.flush();
                    for (Message<byte[]> message : receiveAll(consumer, 5, true)) {
                        equal(text(message).equals(body), true, kind + " unchanged (batching " + batching + ")");
                    }
                    producer.close();
                    consumer.close();
                }
            }
        }
    }

    static void encryption(Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = topic("encrypted");
            Keys keys = new Keys(place.keys);
            Consumer<byte[]> consumer =
                    consumer(client, name, SubscriptionType.Exclusive).cryptoKeyReader(keys).subscribe();
            Producer<byte[]> producer =
                    client.newProducer().topic(name).addEncryptionKey("guest").cryptoKeyReader(keys).create();
            for (int i = 0; i < 20; i++) {
                producer.send(bytes("m" + i));
            }
            equal(texts(receiveAll(consumer, 20, true)), numbered(0, 20), "decrypted");
        }
    }

    static void negativeAck(Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = topic("nack");
            Consumer<byte[]> consumer = consumer(client, name, SubscriptionType.Shared)
                    .negativeAckRedeliveryDelay(100, TimeUnit.MILLISECONDS).subscribe();
            publish(client, name, 10);
            List<Message<byte[]>> messages = receiveAll(consumer, 10, false);
            for (int i = 0; i < 10; i++) {
                if (i >= 3 && i < 6) {
                    consumer.negativeAcknowledge(messages.get(i));
                } else {
                    consumer.acknowledge(messages.get(i));
                }
            }
            List<Message<byte[]>> again = receiveAll(consumer, 3, true);
            equal(new TreeSet<>(texts(again)), new TreeSet<>(numbered(3, 6)), "messages that came again");
            for (Message<byte[]> message : again) {
                equal(message.getRedeliveryCount(), 1, "redelivery count");
            }
            expectSilence(consumer);
        }
    }

    static void negativeAckOfExclusive(Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = topic("nack-exclusive");
            Consumer<byte[]> consumer = consumer(client, name, SubscriptionType.Exclusive)
                    .negativeAckRedeliveryDelay(100, TimeUnit.MILLISECONDS).subscribe();
            publish(client, name, 10);
            List<Message<byte[]>> messages = receiveAll(consumer, 10, false);
            consumer.acknowledgeCumulative(messages.get(3));
            consumer.redeliverUnacknowledgedMessages();
            equal(texts(receiveAll(consumer, 6, true)), numbered(4, 10), "after a rewind");
        }
    }

    static void ackTimeout(Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = topic("acktimeout");
            Consumer<byte[]> consumer = consumer(client, name, SubscriptionType.Shared)
                    .ackTimeout(1, TimeUnit.SECONDS).ackTimeoutTickTime(200, TimeUnit.MILLISECONDS).subscribe();
            publish(client, name, 3);
            consumer.acknowledge(receiveAll(consumer, 3, false).get(0));
            equal(new TreeSet<>(texts(receiveAll(consumer, 2, true))), new TreeSet<>(numbered(1, 3)), "again");
        }
    }

    static void batchReceiveAndListAcks(Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = topic("batchreceive");
            Consumer<byte[]> consumer = consumer(client, name, SubscriptionType.Shared).isAckReceiptEnabled(true)
                    .batchReceivePolicy(BatchReceivePolicy.builder().maxNumMessages(40)
                            .timeout(2, TimeUnit.SECONDS).build()).subscribe();
            publish(client, name, 100);
            List<String> got = new ArrayList<>();
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (got.size() < 100 && System.nanoTime() < deadline) {
                List<MessageId> ids = new ArrayList<>();
                for (Message<byte[]> message : consumer.batchReceive()) {
                    got.add(text(message));
                    ids.add(message.getMessageId());
                }
                consumer.acknowledge(ids);
            }
            equal(got, numbered(0, 100), "messages by batch receive");
            consumer.close();
            expectSilence(consumer(client, name, SubscriptionType.Shared).subscribe());
        }
    }

    static void zeroQueue(Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = topic("zero");
            Consumer<byte[]> consumer =
                    consumer(client, name, SubscriptionType.Shared).receiverQueueSize(0).subscribe();
            publish(client, name, 10);
            List<String> got = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                Message<byte[]> message = consumer.receive();
                got.add(text(message));
                consumer.acknowledge(message);
            }
            equal(got, numbered(0, 10), "messages one permit at a time");
        }
    }

    static void httpLookup(Place place) throws Exception {
        try (PulsarClient client = PulsarClient.builder().serviceUrl(place.http).build()) {
            String name = topic("http");
            Consumer<byte[]> consumer = consumer(client, name, SubscriptionType.Shared).subscribe();
            publish(client, name, 5);
            equal(receiveAll(consumer, 5, true).size(), 5, "messages after a lookup over HTTP");
        }
    }

    static void killWithResend(Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = topic("kill");
            Consumer<byte[]> consumer = consumer(client, name, SubscriptionType.Exclusive)
                    .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe();
            Producer<byte[]> producer = client.newProducer().topic(name).blockIfQueueFull(true)
                    .sendTimeout(0, TimeUnit.SECONDS).create();
            int total = 3000;
            List<CompletableFuture<MessageId>> sent = new ArrayList<>();
            for (int i = 0; i < total; i++) {
                sent.add(producer.sendAsync(bytes("m" + i)));
                if (i == 700 || i == 1900) {
                    place.kill();
                    place.start();
                }
            }
            producer.flush();
            for (CompletableFuture<MessageId> future : sent) {
                future.get(60, TimeUnit.SECONDS);
            }
            List<String> firstSeen = new ArrayList<>();
            Set<String> known = new HashSet<>();
            while (known.size() < total) {
                Message<byte[]> message = receive(consumer);
                if (known.add(text(message))) {
                    firstSeen.add(text(message));
                }
                consumer.acknowledge(message);
            }
            equal(firstSeen, numbered(0, total), "order of first deliveries");
        }
    }

    static final Map<String, Scenario> OWN = Map.of("kill_with_resend", Guest::killWithResend);
    static final List<Map.Entry<String, Scenario>> VISITS = List.of(
            Map.entry("exclusive", Guest::exclusive),
            Map.entry("shared", Guest::shared),
            Map.entry("failover", Guest::failover),
            Map.entry("batches_and_partial_acks", Guest::batchesAndPartialAcks),
            Map.entry("cumulative", Guest::cumulative),
            Map.entry("chunks", Guest::chunks),
            Map.entry("compressions", Guest::compressions),
            Map.entry("encryption", Guest::encryption),
            Map.entry("negative_ack", Guest::negativeAck),
            Map.entry("negative_ack_of_exclusive", Guest::negativeAckOfExclusive),
            Map.entry("ack_timeout", Guest::ackTimeout),
            Map.entry("batch_receive_and_list_acks", Guest::batchReceiveAndListAcks),
            Map.entry("zero_queue", Guest::zeroQueue),
            Map.entry("http_lookup", Guest::httpLookup));

    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 3) {
            System.err.println("usage: Guest PULSAR_URL HTTP_URL KEYS_DIR [scenario ...]"
                    + " | Guest --own HULSE_BINARY KEYS_DIR [scenario ...]");
            System.exit(2);
        }
        boolean own = arguments[0].equals("--own");
        List<String> wanted = List.of(arguments).subList(3, arguments.length);
        int failures = 0;
        List<Map.Entry<String, Scenario>> visits = new ArrayList<>(VISITS);
        visits.addAll(Wider.VISITS);
        visits.addAll(Payloads.VISITS);
        for (Map.Entry<String, Scenario> entry : own ? List.copyOf(OWN.entrySet()) : visits) {
            if (!wanted.isEmpty() && !wanted.contains(entry.getKey())) {
                continue;
            }
            Place place = own ? new OwnBroker(arguments[1], arguments[2])
                    : new Place(arguments[0], arguments[1], arguments[2]);
            try {
                entry.getValue().run(place);
                System.out.println("ok " + entry.getKey());
            } catch (Throwable problem) { // every scenario is reported, whatever went wrong in it
                failures++;
                String reason = String.valueOf(problem).replace('\n', ' ');
                System.out.println("FAILED " + entry.getKey() + ": " + reason);
                problem.printStackTrace();
            } finally {
                place.kill();
                place.remove();
            }
        }
        System.exit(failures == 0 ? 0 : 1);
    }

    private Guest() {}
}
