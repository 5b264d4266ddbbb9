import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.SubscriptionType;

/**
 * {@code Kills HULSE_BINARY KEYS_DIR COUNT [SEED]}: kills the broker with SIGKILL again and again under the load of the
 * unmodified Java client, and checks what a user relies on: no confirmed message is lost, messages of a producer come in
 * their order, and a message whose acknowledgement was confirmed never comes again.
 *
 * <p>Needs a client with the mend of apache/pulsar 25208: before it, a client that acknowledges by batch index now and
 * then took a message of a batch for acknowledged, threw it away, and looked as if the broker had left it out.
 */
public final class Kills {
    static final int PRODUCERS = 3;

    /** What one producer sent and what became of it. Numbers are sequence ids, dense from 0. */
    static final class Track {
        final BitSet confirmed = new BitSet();
        final BitSet received = new BitSet();
        int highestSeen = -1;
        String highestId;
        int next;
    }

    static final List<Track> tracks = new ArrayList<>();
    static final List<String> violations = new ArrayList<>();
    /** What came last, for the reader of a violation. */
    static final ArrayDeque<String> recent = new ArrayDeque<>();
    static final int RECENT = 50_000;
    static final int SHOWN = 10;
    /** The acknowledgements that were confirmed, each with the round and the moment in which it was. */
    static final Map<MessageId, String> ackConfirmed = new ConcurrentHashMap<>();
    /** Which life of the broker this is. */
    static volatile int life;
    static volatile long lifeBegan = System.nanoTime();
    /** While the broker is dead, the receiver takes what is left of its last life out of the client's queue. */
    static volatile boolean dead;
    static volatile boolean drained;
    static final AtomicInteger unconfirmedSends = new AtomicInteger();

    static void violation(String text) {
        synchronized (violations) {
            if (violations.isEmpty()) {
                tellWhatCameBefore();
            }
            if (violations.size() < 20) {
                violations.add(text);
            }
        }
    }

    /** The last messages, and all that came of the same entry and its neighbours. */
    static void tellWhatCameBefore() {
        synchronized (recent) {
            String last = recent.isEmpty() ? "" : recent.peekLast();
            String[] entry = last.replaceAll(".*\\(([0-9]+):([0-9]+):.*", "$1 $2").split(" ");
            int at = 0;
            for (String line : recent) {
                boolean near = recent.size() - at++ <= SHOWN;
                for (int offset = -1; offset <= 1 && entry.length == 2; offset++) {
                    near |= line.contains("(" + entry[0] + ":" + (Long.parseLong(entry[1]) + offset) + ":");
                }
                if (near) {
                    System.out.println("before that: " + line);
                }
            }
        }
    }

    static void receivedOne(int producer, int number, MessageId id) {
        synchronized (recent) {
            recent.add(producer + "/" + number + " (" + id + ") in " + moment() + (dead ? ", left over" : ""));
            if (recent.size() > RECENT) {
                recent.removeFirst();
            }
        }
        // By message id: a producer that did not get its receipt sends again, and the copy is another message.
        String confirmed = ackConfirmed.get(id);
        if (confirmed != null) {
            violation("message " + producer + "/" + number + " (" + id + ") came again in " + moment()
                    + " after its acknowledgement was confirmed in " + confirmed);
        }
        Track track = tracks.get(producer);
        synchronized (track) {
            if (!track.received.get(number)) {
                if (number < track.highestSeen) {
                    violation("message " + producer + "/" + number + " (" + id + ") first came in " + moment()
                            + " after " + track.highestSeen + " (" + track.highestId + ")");
                }
                if (number > track.highestSeen) {
                    track.highestSeen = number;
                    track.highestId = id + " in " + moment();
                }
                track.received.set(number);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[2]);
        long seed = arguments.length > 3 ? Long.parseLong(arguments[3]) : 1;
        Random dice = new Random(seed);
        Guest.OwnBroker broker = new Guest.OwnBroker(arguments[0], arguments[1]);
        AtomicBoolean sending = new AtomicBoolean(true);
        AtomicBoolean receiving = new AtomicBoolean(true);
        try (PulsarClient client = PulsarClient.builder().serviceUrl(broker.url)
                .startingBackoffInterval(5, TimeUnit.MILLISECONDS).maxBackoffInterval(50, TimeUnit.MILLISECONDS)
                .operationTimeout(60, TimeUnit.SECONDS).build()) {
            String topic = Guest.topic("kills");
            Consumer<byte[]> consumer = client.newConsumer().topic(topic).subscriptionName("sub")
                    .subscriptionType(SubscriptionType.Exclusive).isAckReceiptEnabled(true)
                    .enableBatchIndexAcknowledgment(true)
                    .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest)
                    .acknowledgmentGroupTime(5, TimeUnit.MILLISECONDS).subscribe();
            List<Thread> threads = new ArrayList<>();
            for (int p = 0; p < PRODUCERS; p++) {
                tracks.add(new Track());
                Producer<byte[]> producer = client.newProducer().topic(topic).producerName("kills-" + p)
                        .sendTimeout(0, TimeUnit.SECONDS).maxPendingMessages(200).blockIfQueueFull(true)
                        .enableBatching(p > 0).batchingMaxMessages(20).create();
                threads.add(sender(p, producer, sending));
            }
            threads.add(receiver(consumer, receiving));
            threads.forEach(Thread::start);
            for (int at = 1; at <= count && violations.isEmpty(); at++) {
                Thread.sleep(20 + dice.nextInt(180)); // the moment of the kill, not a synchronisation
                broker.kill();
                await("the client to see that the broker is dead", () -> !consumer.isConnected());
                drained = false;
                dead = true;
                await("the receiver to take out what the last life sent", () -> drained);
                dead = false;
                life = at;
                lifeBegan = System.nanoTime();
                broker.start();
                awaitProgress();
            }
            sending.set(false);
            await("all sends to be confirmed", () -> unconfirmedSends.get() == 0);
            await("all confirmed messages to arrive", Kills::allArrived);
            receiving.set(false);
            for (Thread thread : threads) {
                thread.join();
            }
        } finally {
            broker.kill();
        }
        int sent = tracks.stream().mapToInt(t -> t.confirmed.cardinality()).sum();
        System.out.println("kills " + count + ", confirmed messages " + sent + ", confirmed acknowledgements "
                + ackConfirmed.size() + ", violations " + violations.size());
        violations.forEach(v -> System.out.println("FAILED kills: " + v));
        if (violations.isEmpty()) {
            System.out.println("ok kills");
        }
        System.exit(violations.isEmpty() ? 0 : 1);
    }

    static Thread sender(int p, Producer<byte[]> producer, AtomicBoolean sending) {
        return new Thread(() -> {
            Track track = tracks.get(p);
            while (sending.get()) {
                int number = track.next++;
                unconfirmedSends.incrementAndGet();
                producer.sendAsync(Guest.bytes(p + "/" + number)).whenComplete((id, problem) -> {
                    unconfirmedSends.decrementAndGet();
                    if (problem != null) {
                        violation("message " + p + "/" + number + " failed: " + problem);
                        return;
                    }
                    synchronized (track) {
                        track.confirmed.set(number);
                    }
                });
                if (number % 50 == 0) {
                    pause();
                }
            }
        }, "sender-" + p);
    }

    static Thread receiver(Consumer<byte[]> consumer, AtomicBoolean receiving) {
        return new Thread(() -> {
            while (receiving.get()) {
                try {
                    Message<byte[]> message = consumer.receive(20, TimeUnit.MILLISECONDS);
                    if (message == null) {
                        drained = dead;
                        continue;
                    }
                    String[] parts = Guest.text(message).split("/");
                    receivedOne(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), message.getMessageId());
                    if (!dead) {
                        acknowledge(consumer, message.getMessageId());
                    }
                } catch (Exception problem) {
                    violation("the consumer failed: " + problem);
                    return;
                }
            }
        }, "receiver");
    }

    /**
     * Counts only what this life of the broker answered to an acknowledgement of what this life delivered: an entry
     * may be on its way a second time before the acknowledgement of its first copy arrives. And without a connection
     * the client answers itself and sends nothing, at once or when it meets the loss while it flushes
     * (PersistentAcknowledgmentsGroupingTracker): no receipt that.
     */
    static void acknowledge(Consumer<byte[]> consumer, MessageId id) {
        int before = life;
        CompletableFuture<Void> ack = consumer.acknowledgeAsync(id);
        if (!ack.isDone()) {
            ack.thenRun(() -> {
                if (consumer.isConnected() && !dead && life == before) {
                    ackConfirmed.put(id, moment());
                }
            });
        }
    }

    static String moment() {
        return "life " + life + " after " + (System.nanoTime() - lifeBegan) / 1000 + " us";
    }

    static boolean allArrived() {
        for (Track track : tracks) {
            synchronized (track) {
                BitSet missing = (BitSet) track.confirmed.clone();
                missing.andNot(track.received);
                if (!missing.isEmpty()) {
                    return false;
                }
            }
        }
        return true;
    }

    interface Condition {
        boolean holds();
    }

    static int totalConfirmed() {
        int sum = 0;
        for (Track track : tracks) {
            synchronized (track) {
                sum += track.confirmed.cardinality();
            }
        }
        return sum;
    }

    /** Each round has to confirm something, or the kills would show nothing. */
    static void awaitProgress() throws InterruptedException {
        int before = totalConfirmed();
        await("a message to be confirmed after a restart", () -> totalConfirmed() > before);
    }

    static void await(String what, Condition condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.holds()) {
            if (!violations.isEmpty()) {
                return;
            }
            if (System.nanoTime() > deadline) {
                violation("waited 60 s for " + what + (allArrived() ? "" : "; missing " + missing()));
                return;
            }
            Thread.sleep(2); // polling a condition
        }
    }

    static String missing() {
        StringBuilder text = new StringBuilder();
        for (int p = 0; p < tracks.size(); p++) {
            Track track = tracks.get(p);
            synchronized (track) {
                BitSet missing = (BitSet) track.confirmed.clone();
                missing.andNot(track.received);
                text.append(p).append("/").append(missing.cardinality()).append(" from ").append(missing.nextSetBit(0))
                        .append(' ');
            }
        }
        return text.toString();
    }

    static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Kills() {}
}
