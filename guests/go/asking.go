package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
)

const (
	receiveTime = 20 * time.Second
	quietTime   = 700 * time.Millisecond
)

func must[T any](value T, err error) T {
	try(err)
	return value
}

func try(err error) {
	if err != nil {
		panic(err)
	}
}

func equal[T any](got, expected T, what string) {
	if !reflect.DeepEqual(got, expected) {
		panic(fmt.Sprintf("%s: expected %v, got %v", what, expected, got))
	}
}

func refused(err error, what string) {
	if err == nil {
		panic(what)
	}
}

func receive(consumer pulsar.Consumer) pulsar.Message {
	ctx, cancel := context.WithTimeout(context.Background(), receiveTime)
	defer cancel()
	message, err := consumer.Receive(ctx)
	if err != nil {
		panic(fmt.Sprintf("nothing came within %v on subscription %s: %v", receiveTime, consumer.Subscription(), err))
	}
	return message
}

func maybe(consumer pulsar.Consumer, wait time.Duration) pulsar.Message {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	message, err := consumer.Receive(ctx)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		panic(err)
	}
	return message
}

func receiveAll(consumer pulsar.Consumer, count int, ack bool) []pulsar.Message {
	var got []pulsar.Message
	for range count {
		message := receive(consumer)
		got = append(got, message)
		if ack {
			try(consumer.Ack(message))
		}
	}
	return got
}

func expectSilence(consumer pulsar.Consumer, what string) {
	if message := maybe(consumer, quietTime); message != nil {
		panic(fmt.Sprintf("expected %s, got %.60q from %v", what, message.Payload(), message.ID()))
	}
}

func texts(messages []pulsar.Message) []string {
	var all []string
	for _, message := range messages {
		all = append(all, string(message.Payload()))
	}
	return all
}

func numbered(from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprintf("m%d", i))
	}
	return all
}

func sorted(all []string) []string {
	slices.Sort(all)
	return all
}

func subscribe(client pulsar.Client, topic string, kind pulsar.SubscriptionType,
	change ...func(*pulsar.ConsumerOptions)) pulsar.Consumer {
	return must(trySubscribe(client, topic, kind, change...))
}

func trySubscribe(client pulsar.Client, topic string, kind pulsar.SubscriptionType,
	change ...func(*pulsar.ConsumerOptions)) (pulsar.Consumer, error) {
	options := pulsar.ConsumerOptions{Topic: topic, SubscriptionName: "sub", Type: kind}
	for _, one := range change {
		one(&options)
	}
	return client.Subscribe(options)
}

func earliest(options *pulsar.ConsumerOptions) {
	options.SubscriptionInitialPosition = pulsar.SubscriptionPositionEarliest
}

func producer(client pulsar.Client, topic string, change ...func(*pulsar.ProducerOptions)) pulsar.Producer {
	return must(tryProducer(client, topic, change...))
}

func tryProducer(client pulsar.Client, topic string,
	change ...func(*pulsar.ProducerOptions)) (pulsar.Producer, error) {
	options := pulsar.ProducerOptions{Topic: topic}
	for _, one := range change {
		one(&options)
	}
	return client.CreateProducer(options)
}

func unbatched(options *pulsar.ProducerOptions) { options.DisableBatching = true }

func access(mode pulsar.ProducerAccessMode) func(*pulsar.ProducerOptions) {
	return func(options *pulsar.ProducerOptions) { options.ProducerAccessMode = mode }
}

func send(producer pulsar.Producer, body string) pulsar.MessageID {
	return must(producer.Send(context.Background(), &pulsar.ProducerMessage{Payload: []byte(body)}))
}

func sendKeyed(producer pulsar.Producer, key, body string) {
	must(producer.Send(context.Background(), &pulsar.ProducerMessage{Key: key, Payload: []byte(body)}))
}

// publish sends m0, m1, ... one by one.
func publish(client pulsar.Client, topic string, from, to int) []pulsar.MessageID {
	one := producer(client, topic, unbatched)
	defer one.Close()
	var ids []pulsar.MessageID
	for i := from; i < to; i++ {
		ids = append(ids, send(one, fmt.Sprintf("m%d", i)))
	}
	return ids
}

// publishBatch sends m0, m1, ... as one batch.
func publishBatch(client pulsar.Client, topic string, count int) []pulsar.MessageID {
	one := producer(client, topic, func(options *pulsar.ProducerOptions) {
		options.BatchingMaxMessages = uint(count)
		options.BatchingMaxPublishDelay = time.Minute
	})
	defer one.Close()
	type receipt struct {
		id  pulsar.MessageID
		err error
	}
	receipts := make(chan receipt, count)
	for i := range count {
		one.SendAsync(context.Background(), &pulsar.ProducerMessage{Payload: []byte(fmt.Sprintf("m%d", i))},
			func(id pulsar.MessageID, _ *pulsar.ProducerMessage, err error) { receipts <- receipt{id, err} })
	}
	try(one.FlushWithCtx(context.Background()))
	var ids []pulsar.MessageID
	entries := map[int64]bool{}
	for range count {
		got := <-receipts
		try(got.err)
		ids = append(ids, got.id)
		entries[got.id.EntryID()] = true
	}
	if len(entries) == count {
		panic("the client did not batch, so nothing was shown")
	}
	return ids
}
