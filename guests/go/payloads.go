package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/crypto"
)

func chunked(options *pulsar.ProducerOptions) {
	options.EnableChunking = true
	options.DisableBatching = true
}

func chunks(place *place) {
	client := place.client()
	name := topic("chunks")
	consumer := subscribe(client, name, pulsar.Exclusive)
	one := producer(client, name, chunked)
	big := make([]byte, 20*1024*1024)
	rand.Read(big)
	must(one.Send(context.Background(), &pulsar.ProducerMessage{Payload: big}))
	send(one, "after")
	first := receive(consumer)
	equal(len(first.Payload()), len(big), "length of the chunked message")
	if !bytes.Equal(first.Payload(), big) {
		panic("the chunked message came with other bytes")
	}
	equal(string(receive(consumer).Payload()), "after", "the message behind it")
}

func seekChunks(place *place) {
	client := place.client()
	name := topic("seekchunks")
	consumer := subscribe(client, name, pulsar.Exclusive, inclusive)
	one := producer(client, name, chunked, func(options *pulsar.ProducerOptions) { options.ChunkMaxMessageSize = 1000 })
	send(one, "before")
	big := strings.Repeat("chunk ", 1000)
	id := send(one, big)
	send(one, "after")
	equal(texts(receiveAll(consumer, 3, true)), []string{"before", big, "after"}, "all of it")
	try(consumer.Seek(id))
	// The id of a chunked message leads to its first chunk.
	equal(texts(receiveAll(consumer, 2, true)), []string{big, "after"}, "from the chunked message on")
}

func compressions(place *place) {
	client := place.client()
	kinds := []pulsar.CompressionType{pulsar.NoCompression, pulsar.LZ4, pulsar.ZLib, pulsar.ZSTD, pulsar.SNAPPY}
	for _, kind := range kinds {
		for _, batching := range []bool{false, true} {
			name := topic(fmt.Sprintf("compressed-%d", kind))
			consumer := subscribe(client, name, pulsar.Exclusive)
			one := producer(client, name, func(options *pulsar.ProducerOptions) {
				options.CompressionType = kind
				options.DisableBatching = !batching
			})
			body := strings.Repeat("word ", 2000)
			for range 5 {
				one.SendAsync(context.Background(), &pulsar.ProducerMessage{Payload: []byte(body)},
					func(pulsar.MessageID, *pulsar.ProducerMessage, error) {})
			}
			try(one.FlushWithCtx(context.Background()))
			for _, message := range receiveAll(consumer, 5, true) {
				if string(message.Payload()) != body {
					panic(fmt.Sprintf("compression %d (batching %v) came back changed", kind, batching))
				}
			}
			one.Close()
			consumer.Close()
		}
	}
}

func encryption(place *place) {
	client := place.client()
	name := topic("encrypted")
	keys := keyFiles(place.keys)
	consumer := subscribe(client, name, pulsar.Exclusive, func(options *pulsar.ConsumerOptions) {
		options.Decryption = &pulsar.MessageDecryptionInfo{KeyReader: keys}
	})
	blind := subscribe(client, name, pulsar.Exclusive, func(options *pulsar.ConsumerOptions) {
		options.SubscriptionName = "blind"
		options.Decryption = &pulsar.MessageDecryptionInfo{
			ConsumerCryptoFailureAction: crypto.ConsumerCryptoFailureActionConsume, KeyReader: nowhere{},
		}
	})
	one := producer(client, name, func(options *pulsar.ProducerOptions) {
		options.Encryption = &pulsar.ProducerEncryptionInfo{KeyReader: keys, Keys: []string{"guest"}}
	})
	var expected []string
	for i := range 20 {
		expected = append(expected, fmt.Sprintf("secret %d", i))
		send(one, expected[i])
	}
	equal(texts(receiveAll(consumer, 20, true)), expected, "decrypted")
	if raw := receive(blind); bytes.Contains(raw.Payload(), []byte("secret")) {
		panic("a consumer without the key read a message")
	}
}

// keyFiles reads the keys of a folder. The client takes a private key in PKCS 1 only, the folder has one in PKCS 8.
type keyFiles string

func (folder keyFiles) PublicKey(name string, properties map[string]string) (*crypto.EncryptionKeyInfo, error) {
	return crypto.NewEncryptionKeyInfo(name, must(os.ReadFile(string(folder)+"/public.pem")), properties), nil
}

func (folder keyFiles) PrivateKey(name string, properties map[string]string) (*crypto.EncryptionKeyInfo, error) {
	block, _ := pem.Decode(must(os.ReadFile(string(folder) + "/private.pem")))
	key := must(x509.ParsePKCS8PrivateKey(block.Bytes)).(*rsa.PrivateKey)
	block = &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return crypto.NewEncryptionKeyInfo(name, pem.EncodeToMemory(block), properties), nil
}

// nowhere is a key reader without keys.
type nowhere struct{}

func (nowhere) PublicKey(string, map[string]string) (*crypto.EncryptionKeyInfo, error) {
	return nil, fmt.Errorf("no keys here")
}

func (nowhere) PrivateKey(string, map[string]string) (*crypto.EncryptionKeyInfo, error) {
	return nil, fmt.Errorf("no keys here")
}

type person struct {
	Name string `json:"name" avro:"name"`
	Age  int    `json:"age" avro:"age"`
}

func schemaText(kindOfAge string) string {
	return `{"type":"record","name":"Person","namespace":"guest","fields":[{"name":"name","type":"string"},` +
		`{"name":"age","type":"` + kindOfAge + `"}]}`
}

func schemas(place *place) {
	client := place.client()
	with := func(schema pulsar.Schema) func(*pulsar.ProducerOptions) {
		return func(options *pulsar.ProducerOptions) { options.Schema = schema }
	}
	kinds := map[string]func(string) pulsar.Schema{
		"json": func(age string) pulsar.Schema { return pulsar.NewJSONSchema(schemaText(age), nil) },
		"avro": func(age string) pulsar.Schema { return pulsar.NewAvroSchema(schemaText(age), nil) },
	}
	for label, schema := range kinds {
		name := topic("schema-" + label)
		one := producer(client, name, with(schema("int")))
		equal1 := producer(client, name, with(schema("int")))
		consumer := subscribe(client, name, pulsar.Exclusive, earliest,
			func(options *pulsar.ConsumerOptions) { options.Schema = schema("int") })
		for i, from := range []pulsar.Producer{one, equal1} {
			must(from.Send(context.Background(), &pulsar.ProducerMessage{Value: &person{"Ada", 36 + i}}))
		}
		var versions []string
		for i, message := range receiveAll(consumer, 2, true) {
			var got person
			try(message.GetSchemaValue(&got))
			equal(got, person{"Ada", 36 + i}, "the value in "+label)
			versions = append(versions, fmt.Sprintf("%x", message.SchemaVersion()))
		}
		equal(versions[0], versions[1], "the versions of equal schemas")
		_, err := tryProducer(client, name, with(schema("string")))
		refused(err, "a producer with another type of a field was let in: "+label)
		_, err = trySubscribe(client, name, pulsar.Exclusive, func(options *pulsar.ConsumerOptions) {
			options.Schema, options.SubscriptionName = schema("string"), "other"
		})
		refused(err, "a consumer with another type of a field was let in: "+label)
	}
	name := topic("schema-string")
	consumer := subscribe(client, name, pulsar.Exclusive,
		func(options *pulsar.ConsumerOptions) { options.Schema = pulsar.NewStringSchema(nil) })
	text := "words"
	must(producer(client, name, with(pulsar.NewStringSchema(nil))).Send(context.Background(),
		&pulsar.ProducerMessage{Value: text}))
	var got *string
	try(receive(consumer).GetSchemaValue(&got))
	equal(*got, text, "the text")
}
