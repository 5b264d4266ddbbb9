package main

import (
	"fmt"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
)

// answered makes acknowledgements wait for the broker's answer.
func answered(options *pulsar.ConsumerOptions) { options.AckWithResponse = true }

func nackAfter(delay time.Duration) func(*pulsar.ConsumerOptions) {
	return func(options *pulsar.ConsumerOptions) { options.NackRedeliveryDelay = delay }
}

func cumulative(place *place) {
	client := place.client()
	name := topic("cumulative")
	consumer := subscribe(client, name, pulsar.Exclusive, answered)
	publish(client, name, 0, 30)
	try(consumer.AckCumulative(receiveAll(consumer, 30, false)[19]))
	consumer.Close()
	consumer = subscribe(client, name, pulsar.Exclusive, answered)
	equal(texts(receiveAll(consumer, 10, true)), numbered(20, 30), "what was left")
	expectSilence(consumer, "nothing more")
}

func batchesAndPartialAcks(place *place) {
	client := place.client()
	name := topic("batch")
	byIndex := func(options *pulsar.ConsumerOptions) { options.EnableBatchIndexAcknowledgment = true }
	consumer := subscribe(client, name, pulsar.Shared, answered, byIndex)
	publishBatch(client, name, 50)
	messages := receiveAll(consumer, 50, false)
	equal(texts(messages), numbered(0, 50), "order in batches")
	var left []string
	for i, message := range messages {
		if i%2 == 0 {
			try(consumer.Ack(message))
		} else {
			left = append(left, fmt.Sprintf("m%d", i))
		}
	}
	consumer.Close()
	consumer = subscribe(client, name, pulsar.Shared, answered, byIndex)
	equal(texts(receiveAll(consumer, 25, true)), left, "what was left of the batch")
	expectSilence(consumer, "nothing more")
	consumer.Close()
	expectSilence(subscribe(client, name, pulsar.Shared, byIndex), "nothing of the finished batch")
}

func negativeAck(place *place) {
	client := place.client()
	name := topic("nack")
	consumer := subscribe(client, name, pulsar.Shared, nackAfter(200*time.Millisecond))
	publish(client, name, 0, 10)
	for i, message := range receiveAll(consumer, 10, false) {
		if i >= 3 && i < 6 {
			consumer.Nack(message)
		} else {
			try(consumer.Ack(message))
		}
	}
	again := receiveAll(consumer, 3, true)
	equal(sorted(texts(again)), numbered(3, 6), "messages that came again")
	for _, message := range again {
		equal(message.RedeliveryCount(), 1, "redelivery count")
	}
	expectSilence(consumer, "nothing more")
}

func deadLetters(place *place) {
	client := place.client()
	name := topic("dead")
	consumer := subscribe(client, name, pulsar.Shared, nackAfter(200*time.Millisecond),
		func(options *pulsar.ConsumerOptions) {
			options.DLQ = &pulsar.DLQPolicy{
				MaxDeliveries: 2, DeadLetterTopic: name + "-DLQ", InitialSubscriptionName: "kept",
			}
		})
	publish(client, name, 0, 1)
	for i := range 2 {
		message := receive(consumer)
		equal(message.RedeliveryCount(), uint32(i), "redelivery count")
		consumer.Nack(message)
	}
	expectSilence(consumer, "no more of the message")
	// The subscription was made with the topic, before anything was in it.
	dead := subscribe(client, name+"-DLQ", pulsar.Shared,
		func(options *pulsar.ConsumerOptions) { options.SubscriptionName = "kept" })
	equal(texts(receiveAll(dead, 1, true)), numbered(0, 1), "the dead letter")
}

func retryTopic(place *place) {
	client := place.client()
	name := topic("retry")
	consumer := subscribe(client, name, pulsar.Shared, func(options *pulsar.ConsumerOptions) {
		options.RetryEnable = true
		options.DLQ = &pulsar.DLQPolicy{
			MaxDeliveries: 2, RetryLetterTopic: name + "-RETRY", DeadLetterTopic: name + "-DLQ",
			InitialSubscriptionName: "kept",
		}
	})
	publish(client, name, 0, 1)
	for i := range 3 {
		message := receive(consumer)
		times := message.Properties()["RECONSUMETIMES"]
		if i == 0 {
			equal(times, "", "RECONSUMETIMES of the first delivery")
		} else {
			equal(times, fmt.Sprint(i), "RECONSUMETIMES")
			equal(message.Topic(), name+"-RETRY", "where it came from")
		}
		consumer.ReconsumeLater(message, time.Millisecond)
	}
	expectSilence(consumer, "no more of the message")
	dead := subscribe(client, name+"-DLQ", pulsar.Shared,
		func(options *pulsar.ConsumerOptions) { options.SubscriptionName = "kept" })
	equal(texts(receiveAll(dead, 1, true)), numbered(0, 1), "the dead letter")
}
