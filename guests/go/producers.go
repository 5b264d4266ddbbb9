package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
)

func accessModes(place *place) {
	client := place.client()
	name := topic("access")
	first := producer(client, name, access(pulsar.ProducerAccessModeExclusive))
	_, err := tryProducer(client, name, access(pulsar.ProducerAccessModeExclusive))
	refused(err, "a second exclusive producer was let in")
	_, err = tryProducer(client, name)
	refused(err, "a shared producer was let in beside an exclusive one")
	send(first, "one")
	first.Close()
	second := producer(client, name)
	third := producer(client, name)
	send(second, "two")
	send(third, "three")
	_, err = tryProducer(client, name, access(pulsar.ProducerAccessModeExclusive))
	refused(err, "an exclusive producer was let in beside shared ones")
	consumer := subscribe(client, name, pulsar.Exclusive, earliest)
	equal(texts(receiveAll(consumer, 3, true)), []string{"one", "two", "three"}, "what was published")
}

func waitForExclusive(place *place) {
	client := place.client()
	name := topic("wait")
	first := producer(client, name, access(pulsar.ProducerAccessModeExclusive))
	type result struct {
		producer pulsar.Producer
		err      error
	}
	waiting := make(chan result, 1)
	go func() {
		one, err := tryProducer(client, name, access(pulsar.ProducerAccessModeWaitForExclusive))
		waiting <- result{one, err}
	}()
	send(first, "one")
	select {
	case <-waiting:
		panic("the second producer had its turn beside the first")
	case <-time.After(quietTime):
	}
	first.Close()
	var second result
	select {
	case second = <-waiting:
		try(second.err)
	case <-time.After(receiveTime):
		panic("the second producer never had its turn")
	}
	send(second.producer, "two")
	consumer := subscribe(client, name, pulsar.Exclusive, earliest)
	equal(texts(receiveAll(consumer, 2, true)), []string{"one", "two"}, "what was published")
}

// A client has one connection per broker unless told otherwise.
func thousandProducers(place *place) {
	client := place.client()
	name := topic("thousand")
	consumer := subscribe(client, name, pulsar.Exclusive)
	const count = 1000
	producers, failures := make([]pulsar.Producer, count), make([]error, count)
	var wait sync.WaitGroup
	for i := range count {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if producers[i], failures[i] = tryProducer(client, name, unbatched); failures[i] == nil {
				_, failures[i] = producers[i].Send(context.Background(),
					&pulsar.ProducerMessage{Payload: []byte(fmt.Sprintf("m%d", i))})
			}
		}()
	}
	wait.Wait()
	names, got := map[string]bool{}, map[string]bool{}
	for i := range count {
		try(failures[i])
		names[producers[i].Name()] = true
	}
	equal(len(names), count, "different names")
	for _, message := range receiveAll(consumer, count, true) {
		got[string(message.Payload())] = true
	}
	equal(len(got), count, "different messages")
}

// A broker killed under a producer that keeps sending: everything confirmed is there, in the order it was sent.
func killWithResend(place *place) {
	client := place.client()
	name := topic("kill")
	consumer := subscribe(client, name, pulsar.Exclusive)
	one := producer(client, name)
	const total = 3000
	receipts := make(chan error, total)
	for i := range total {
		one.SendAsync(context.Background(), &pulsar.ProducerMessage{Payload: []byte(fmt.Sprint(i))},
			func(_ pulsar.MessageID, _ *pulsar.ProducerMessage, err error) { receipts <- err })
		if i == 700 || i == 1900 {
			place.kill()
			place.start()
		}
	}
	try(one.FlushWithCtx(context.Background()))
	for range total {
		select {
		case err := <-receipts:
			if err != nil {
				panic(fmt.Sprintf("a send failed although the client may send again: %v", err))
			}
		case <-time.After(time.Minute):
			panic("receipts are missing")
		}
	}
	known, last := map[int]bool{}, -1
	for len(known) < total {
		message := receive(consumer)
		var number int
		must(fmt.Sscan(string(message.Payload()), &number))
		if !known[number] {
			known[number] = true
			if number < last {
				panic(fmt.Sprintf("order of first deliveries: %d after %d", number, last))
			}
			last = number
		}
		try(consumer.Ack(message))
	}
}
