import java.util.List;
import java.util.Map;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.PulsarClientException.IncompatibleSchemaException;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.SubscriptionType;
import org.apache.pulsar.client.api.schema.GenericRecord;
import org.apache.pulsar.client.api.schema.RecordSchemaBuilder;
import org.apache.pulsar.client.api.schema.SchemaBuilder;
import org.apache.pulsar.common.schema.SchemaType;

/** What is in messages, and topics that keep none. */
final class Payloads {
    static final List<Map.Entry<String, Guest.Scenario>> VISITS = List.of(
            Map.entry("seek_chunks", Payloads::seekChunks),
            Map.entry("schemas", Payloads::schemas),
            Map.entry("non_persistent", Payloads::nonPersistent));

    static void seekChunks(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = Guest.topic("seekchunks");
            Consumer<byte[]> consumer = Guest.consumer(client, name, SubscriptionType.Exclusive)
                    .startMessageIdInclusive().subscribe();
            Producer<byte[]> producer = client.newProducer().topic(name).enableBatching(false).enableChunking(true)
                    .chunkMaxMessageSize(1000).create();
            String big = "chunk ".repeat(1000);
            producer.send(Guest.bytes("before"));
            MessageId sought = producer.send(Guest.bytes(big));
            producer.send(Guest.bytes("after"));
            Guest.equal(Guest.texts(Guest.receiveAll(consumer, 3, true)), List.of("before", big, "after"), "all of it");
            consumer.seek(sought);
            // The id of a chunked message leads to its first chunk.
            Guest.equal(Guest.texts(Guest.receiveAll(consumer, 2, true)), List.of(big, "after"), "from the chunks on");
        }
    }

    static Schema<GenericRecord> person(SchemaType kind, SchemaType kindOfAge) {
        RecordSchemaBuilder builder = SchemaBuilder.record("Person");
        builder.field("name").type(SchemaType.STRING);
        builder.field("age").type(kindOfAge);
        return Schema.generic(builder.build(kind));
    }

    static void schemas(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            for (SchemaType kind : List.of(SchemaType.JSON, SchemaType.AVRO)) {
                String name = Guest.topic("schema");
                Schema<GenericRecord> schema = person(kind, SchemaType.INT32);
                Producer<GenericRecord> producer = client.newProducer(schema).topic(name).create();
                Producer<GenericRecord> second = client.newProducer(person(kind, SchemaType.INT32)).topic(name).create();
                Consumer<GenericRecord> knowing = client.newConsumer(schema).topic(name).subscriptionName("knowing")
                        .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe();
                // Asks the broker for the schema of each message.
                Consumer<GenericRecord> asking = client.newConsumer(Schema.AUTO_CONSUME()).topic(name)
                        .subscriptionName("asking").subscribe();
                var generic = (org.apache.pulsar.client.api.schema.GenericSchema<GenericRecord>) schema;
                producer.send(generic.newRecordBuilder().set("name", "Ada").set("age", 36).build());
                second.send(generic.newRecordBuilder().set("name", "Ada").set("age", 37).build());
                for (Consumer<GenericRecord> consumer : List.of(knowing, asking)) {
                    for (int age = 36; age < 38; age++) {
                        Message<GenericRecord> message =
                                consumer.receive(Guest.RECEIVE_SECONDS, java.util.concurrent.TimeUnit.SECONDS);
                        Guest.equal(message.getValue().getField("age"), age, "a field in " + kind);
                        Guest.equal(new java.math.BigInteger(message.getSchemaVersion()).intValue(), 0, "version");
                        consumer.acknowledge(message);
                    }
                }
                try {
                    client.newProducer(person(kind, SchemaType.STRING)).topic(name).create();
                    throw new AssertionError("a producer with another type of a field was let in");
                } catch (IncompatibleSchemaException expected) {
                    // as it should be
                }
                try {
                    client.newConsumer(person(kind, SchemaType.STRING)).topic(name).subscriptionName("other").subscribe();
                    throw new AssertionError("a consumer with another type of a field was let in");
                } catch (IncompatibleSchemaException expected) {
                    // as it should be
                }
            }
            String name = Guest.topic("text");
            Consumer<String> consumer =
                    client.newConsumer(Schema.STRING).topic(name).subscriptionName("sub").subscribe();
            client.newProducer(Schema.STRING).topic(name).create().send("wörds");
            Guest.equal(consumer.receive().getValue(), "wörds", "the text");
        }
    }

    static void nonPersistent(Guest.Place place) throws Exception {
        try (PulsarClient client = place.client()) {
            String name = "non-" + Guest.topic("volatile");
            Producer<byte[]> producer = client.newProducer().topic(name).enableBatching(false).create();
            producer.send(Guest.bytes("nobody is there"));
            Consumer<byte[]> first = Guest.consumer(client, name, SubscriptionType.Shared)
                    .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe();
            Consumer<byte[]> second = Guest.consumer(client, name, SubscriptionType.Exclusive)
                    .subscriptionName("second").subscribe();
            for (int i = 0; i < 20; i++) {
                producer.send(Guest.bytes("m" + i));
            }
            for (Consumer<byte[]> consumer : List.of(first, second)) {
                Guest.equal(Guest.texts(Guest.receiveAll(consumer, 20, false)), Guest.numbered(0, 20),
                        "messages while somebody was there");
            }
            // Nothing is kept: what was not acknowledged does not come again.
            first.close();
            producer.send(Guest.bytes("nobody is there"));
            first = Guest.consumer(client, name, SubscriptionType.Shared)
                    .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe();
            Guest.expectSilence(first);
            producer.send(Guest.bytes("later"));
            Guest.equal(Guest.text(Guest.receive(first)), "later", "the next message");
        }
    }

    private Payloads() {}
}
