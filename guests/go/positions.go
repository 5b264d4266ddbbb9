package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
)

func inclusive(options *pulsar.ConsumerOptions) { options.StartMessageIDInclusive = true }

func next(reader pulsar.Reader) string {
	ctx, cancel := context.WithTimeout(context.Background(), receiveTime)
	defer cancel()
	return string(must(reader.Next(ctx)).Payload())
}

func readers(place *place) {
	client := place.client()
	name := topic("reader")
	ids := publish(client, name, 0, 10)
	open := func(start pulsar.MessageID, inclusive bool) pulsar.Reader {
		return must(client.CreateReader(pulsar.ReaderOptions{
			Topic: name, StartMessageID: start, StartMessageIDInclusive: inclusive,
		}))
	}
	reader := open(pulsar.EarliestMessageID(), false)
	var got []string
	for reader.HasNext() {
		got = append(got, next(reader))
	}
	equal(got, numbered(0, 10), "all of it")
	publish(client, name, 10, 11)
	equal(reader.HasNext(), true, "more after a publish")
	equal(next(reader), "m10", "what came")
	equal(reader.HasNext(), false, "more at the end")
	reader.Close()
	reader = open(ids[4], false)
	equal(next(reader), "m5", "the first one after the start")
	reader.Close()
	reader = open(ids[4], true)
	equal(next(reader), "m4", "the start itself")
	try(reader.Seek(ids[8]))
	equal(next(reader), "m8", "the place sought, as the reader includes its start")
	reader.Close()
	// A reader that began later drops what lies before its start, whatever it sought.
	reader = open(pulsar.EarliestMessageID(), false)
	equal(next(reader), "m0", "the first one")
	try(reader.SeekByTime(time.Now().Add(-time.Hour)))
	equal(next(reader), "m0", "an hour back")
	reader.Close()
	reader = open(pulsar.LatestMessageID(), false)
	equal(reader.HasNext(), false, "anything at the latest position")
	publish(client, name, 11, 12)
	equal(next(reader), "m11", "what came later")
}

// A consumer's seek asks for a partition of the id, which the client's own constants lack.
var (
	firstOfAll = pulsar.NewMessageID(-1, -1, -1, 0)
	lastOfAll  = pulsar.NewMessageID(math.MaxInt64, math.MaxInt64, -1, 0)
)

func seek(place *place) {
	client := place.client()
	name := topic("seek")
	consumer := subscribe(client, name, pulsar.Shared)
	ids := publish(client, name, 0, 10)
	before := receiveAll(consumer, 10, true)
	try(consumer.Seek(ids[3]))
	equal(texts(receiveAll(consumer, 6, true)), numbered(4, 10), "after a seek by id")
	try(consumer.Seek(firstOfAll))
	equal(texts(receiveAll(consumer, 10, true)), numbered(0, 10), "from the beginning")
	moment := before[6].PublishTime()
	try(consumer.SeekByTime(moment))
	if first := receive(consumer); first.PublishTime().Before(moment) {
		panic(fmt.Sprintf("a seek by time gave %q, which is older", first.Payload()))
	}
	try(consumer.Seek(lastOfAll))
	expectSilence(consumer, "nothing after the latest position")
}

func seekIntoBatch(place *place) {
	client := place.client()
	name := topic("seekbatch")
	consumer := subscribe(client, name, pulsar.Exclusive, inclusive)
	publishBatch(client, name, 10)
	messages := receiveAll(consumer, 10, false)
	equal(messages[6].ID().BatchIdx(), 6, "index in the batch")
	try(consumer.Seek(messages[6].ID()))
	equal(texts(receiveAll(consumer, 4, true)), numbered(6, 10), "from within the batch")
	expectSilence(consumer, "nothing more")
}

func lastMessageID(place *place) {
	client := place.client()
	name := topic("last")
	consumer := subscribe(client, name, pulsar.Exclusive)
	ids := publish(client, name, 0, 3)
	last := must(consumer.GetLastMessageIDs())
	equal(len(last), 1, "topics with a last message id")
	equal(last[0].LedgerID(), ids[2].LedgerID(), "ledger of the last message")
	equal(last[0].EntryID(), ids[2].EntryID(), "entry of the last message")
}
