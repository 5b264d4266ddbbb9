package main

import (
	"fmt"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
)

func exclusive(place *place) {
	client := place.client()
	name := topic("exclusive")
	consumer := subscribe(client, name, pulsar.Exclusive)
	_, err := trySubscribe(client, name, pulsar.Exclusive)
	refused(err, "a second exclusive consumer was let in")
	publish(client, name, 0, 100)
	equal(texts(receiveAll(consumer, 100, true)), numbered(0, 100), "order")
	expectSilence(consumer, "nothing more")
	consumer.Close()
	// What was acknowledged does not come back to the next consumer.
	expectSilence(subscribe(client, name, pulsar.Exclusive), "no acknowledged message again")
}

func shared(place *place) {
	client := place.client()
	name := topic("shared")
	var consumers []pulsar.Consumer
	for range 3 {
		consumers = append(consumers, subscribe(client, name, pulsar.Shared,
			func(options *pulsar.ConsumerOptions) { options.ReceiverQueueSize = 10 }))
	}
	publish(client, name, 0, 90)
	seen, shares := gather(consumers, 90)
	equal(len(seen), 90, "distinct messages over three consumers")
	equal(len(shares), 3, "consumers that got a share")
	// A consumer that leaves gives back what it held.
	publish(client, name, 90, 99)
	held := receive(consumers[0])
	consumers[0].Close()
	seen, _ = gather(consumers[1:], 9)
	equal(len(seen), 9, fmt.Sprintf("messages after a consumer left with %q unacknowledged", held.Payload()))
}

// gather receives until count different messages have come.
func gather(consumers []pulsar.Consumer, count int) (map[string]bool, map[int]bool) {
	seen, shares := map[string]bool{}, map[int]bool{}
	deadline := time.Now().Add(30 * time.Second)
	for len(seen) < count && time.Now().Before(deadline) {
		for at, consumer := range consumers {
			if message := maybe(consumer, 20*time.Millisecond); message != nil {
				seen[string(message.Payload())] = true
				shares[at] = true
				try(consumer.Ack(message))
			}
		}
	}
	return seen, shares
}

func failover(place *place) {
	client := place.client()
	name := topic("failover")
	named := func(name string) func(*pulsar.ConsumerOptions) {
		return func(options *pulsar.ConsumerOptions) { options.Name = name }
	}
	a := subscribe(client, name, pulsar.Failover, named("a"))
	b := subscribe(client, name, pulsar.Failover, named("b"))
	publish(client, name, 0, 20)
	active, standby := a, b
	var first pulsar.Message
	for deadline := time.Now().Add(30 * time.Second); first == nil && time.Now().Before(deadline); {
		if first = maybe(a, 50*time.Millisecond); first == nil {
			if first = maybe(b, 50*time.Millisecond); first != nil {
				active, standby = b, a
			}
		}
	}
	if first == nil {
		panic("no consumer got anything")
	}
	equal(string(first.Payload()), "m0", "the first message")
	try(active.Ack(first))
	equal(texts(receiveAll(active, 9, true)), numbered(1, 10), "messages of the active consumer")
	expectSilence(standby, "nothing for the one that waits")
	active.Close()
	equal(sorted(texts(receiveAll(standby, 10, true))), numbered(10, 20), "what the next one gets")
}

func partitionsByKey(place *place) {
	client := place.client()
	name := topic("parts")
	place.partitioned(name, 4)
	equal(len(must(client.TopicPartitions(name))), 4, "partitions")
	consumer := subscribe(client, name, pulsar.Shared)
	one := producer(client, name)
	for i := range 60 {
		sendKeyed(one, fmt.Sprintf("key%d", i%6), fmt.Sprintf("%d:%d", i%6, i))
	}
	partitionOf, lastOf := map[string]string{}, map[string]int{}
	for _, message := range receiveAll(consumer, 60, true) {
		var key, number int
		must(fmt.Sscanf(string(message.Payload()), "%d:%d", &key, &number))
		equal(message.Key(), fmt.Sprintf("key%d", key), "key")
		if known, there := partitionOf[message.Key()]; there {
			equal(message.Topic(), known, "partition of "+message.Key())
			if number <= lastOf[message.Key()] {
				panic(fmt.Sprintf("order of %s: %d after %d", message.Key(), number, lastOf[message.Key()]))
			}
		}
		partitionOf[message.Key()], lastOf[message.Key()] = message.Topic(), number
	}
	used := map[string]bool{}
	for _, partition := range partitionOf {
		used[partition] = true
	}
	if len(used) < 2 {
		panic("all keys went to one partition")
	}
}

func pattern(place *place) {
	client := place.client()
	prefix := "persistent://public/default/go-" + unique()
	publish(client, prefix+"-a1", 0, 3)
	publish(client, prefix+"-b1", 0, 3)
	place.partitioned(prefix+"-a2", 2)
	publish(client, prefix+"-a2", 0, 4)
	consumer := must(client.Subscribe(pulsar.ConsumerOptions{
		TopicsPattern: prefix + "-a.*", AutoDiscoveryPeriod: time.Second, SubscriptionName: "sub",
		SubscriptionInitialPosition: pulsar.SubscriptionPositionEarliest,
	}))
	for _, message := range receiveAll(consumer, 7, true) {
		equal(message.Topic()[len(prefix):len(prefix)+2], "-a", "the name of a topic that matches")
	}
	expectSilence(consumer, "nothing more")
	// A topic that is made later is found.
	publish(client, prefix+"-a3", 0, 2)
	receiveAll(consumer, 2, true)
}

func zeroQueue(place *place) {
	client := place.client()
	name := topic("zero")
	zero := func(options *pulsar.ConsumerOptions) { options.EnableZeroQueueConsumer = true }
	first := subscribe(client, name, pulsar.Shared, zero)
	second := subscribe(client, name, pulsar.Shared, zero)
	publish(client, name, 0, 10)
	// One of them takes five, nothing waits in the other one, so the rest is there for whoever asks.
	equal(texts(receiveAll(first, 5, true)), numbered(0, 5), "messages one permit at a time")
	equal(texts(receiveAll(second, 5, true)), numbered(5, 10), "messages that nobody had asked for")
}

func unsubscribe(place *place) {
	client := place.client()
	name := topic("unsubscribe")
	consumer := subscribe(client, name, pulsar.Shared)
	publish(client, name, 0, 3)
	second := subscribe(client, name, pulsar.Shared)
	refused(consumer.Unsubscribe(), "a subscription was removed under another consumer")
	second.Close()
	try(consumer.Unsubscribe())
	expectSilence(subscribe(client, name, pulsar.Shared), "nothing that the removed subscription had kept")
}

func httpLookup(place *place) {
	client := place.clientAt(place.http)
	name := topic("http")
	consumer := subscribe(client, name, pulsar.Exclusive)
	publish(client, name, 0, 5)
	equal(texts(receiveAll(consumer, 5, true)), numbered(0, 5), "messages after a lookup over HTTP")
}

func nonPersistent(place *place) {
	client := place.client()
	name := "non-" + topic("volatile")
	one := producer(client, name, unbatched)
	send(one, "nobody is there")
	consumer := subscribe(client, name, pulsar.Shared, earliest)
	second := subscribe(client, name, pulsar.Exclusive,
		func(options *pulsar.ConsumerOptions) { options.SubscriptionName = "second" })
	// A consumer of this client is there before it has asked for messages, and what comes in between is dropped.
	for _, each := range []pulsar.Consumer{consumer, second} {
		for asked := false; !asked; asked = maybe(each, 50*time.Millisecond) != nil {
			send(one, "anybody?")
		}
	}
	for i := range 20 {
		send(one, fmt.Sprintf("m%d", i))
	}
	for _, each := range []pulsar.Consumer{consumer, second} {
		var got []string
		for len(got) < 20 {
			if body := string(receive(each).Payload()); body != "anybody?" {
				got = append(got, body)
			}
		}
		equal(got, numbered(0, 20), "messages of "+each.Subscription()+" while it was there")
	}
	// Nothing is kept: what was not acknowledged does not come again.
	consumer.Close()
	send(one, "nobody is there")
	consumer = subscribe(client, name, pulsar.Shared, earliest)
	expectSilence(consumer, "nothing that was published before")
	send(one, "later")
	equal(string(receive(consumer).Payload()), "later", "the next message")
}
