// The Go client of Apache Pulsar, unmodified, as a guest of a running broker.
//
//	guest PULSAR_URL HTTP_URL KEYS_DIR [scenario ...]   against a broker that somebody else runs
//	guest --own HULSE_BINARY KEYS_DIR [scenario ...]    starts its own, where the scenario needs to kill it
//
// Prints a line per scenario, `ok NAME`, `gap NAME: what the client lacks` or `FAILED NAME: why`, and ends with 1 if
// any failed.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

type scenario struct {
	name string
	play func(*place)
}

var visits = []scenario{
	{"exclusive", exclusive},
	{"shared", shared},
	{"failover", failover},
	{"access_modes", accessModes},
	{"wait_for_exclusive", waitForExclusive},
	{"readers", readers},
	{"seek", seek},
	{"seek_into_batch", seekIntoBatch},
	{"partitions_by_key", partitionsByKey},
	{"pattern", pattern},
	{"cumulative", cumulative},
	{"batches_and_partial_acks", batchesAndPartialAcks},
	{"negative_ack", negativeAck},
	{"dead_letters", deadLetters},
	{"retry_topic", retryTopic},
	{"zero_queue", zeroQueue},
	{"last_message_id", lastMessageID},
	{"chunks", chunks},
	{"seek_chunks", seekChunks},
	{"compressions", compressions},
	{"encryption", encryption},
	{"schemas", schemas},
	{"unsubscribe", unsubscribe},
	{"http_lookup", httpLookup},
	{"thousand_producers", thousandProducers},
	{"non_persistent", nonPersistent},
}

var ownVisits = []scenario{{"kill_with_resend", killWithResend}}

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: guest PULSAR_URL HTTP_URL KEYS_DIR [scenario ...]"+
			" | guest --own HULSE_BINARY KEYS_DIR [scenario ...]")
		os.Exit(2)
	}
	own := os.Args[1] == "--own"
	wanted := os.Args[4:]
	list := visits
	if own {
		list = ownVisits
	}
	failures := 0
	for _, one := range list {
		if len(wanted) > 0 && !slices.Contains(wanted, one.name) {
			continue
		}
		if why := played(one, own); why != "" {
			failures++
			fmt.Printf("FAILED %s: %s\n", one.name, strings.ReplaceAll(why, "\n", " "))
		} else {
			fmt.Printf("ok %s\n", one.name)
		}
	}
	if failures > 0 {
		os.Exit(1)
	}
}

// played gives the reason of the failure, or nothing.
func played(one scenario, own bool) (why string) {
	// Every scenario is reported, whatever went wrong in it.
	defer func() {
		if problem := recover(); problem != nil {
			why = fmt.Sprint(problem)
			debug.PrintStack()
		}
	}()
	here := &place{url: os.Args[1], http: os.Args[2], keys: os.Args[3]}
	if own {
		here = ownBroker(os.Args[2], os.Args[3])
		defer here.remove()
	}
	defer here.closeClients()
	one.play(here)
	return ""
}
