package main

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
)

// place says where the broker is, and kills it if it is ours.
type place struct {
	url, http, keys   string
	binary, directory string
	process           *exec.Cmd
	clients           []pulsar.Client
}

// client of the place; closed when the scenario ends, however it ends.
func (p *place) client() pulsar.Client { return p.clientAt(p.url) }

func (p *place) clientAt(url string) pulsar.Client {
	client := must(pulsar.NewClient(pulsar.ClientOptions{
		URL:    url,
		Logger: log.NewLoggerWithSlog(slog.New(slog.DiscardHandler)),
	}))
	p.clients = append(p.clients, client)
	return client
}

func (p *place) closeClients() {
	for _, client := range p.clients {
		client.Close()
	}
}

// put sends a body to the HTTP admin.
func (p *place) put(path, body string) {
	request := must(http.NewRequest(http.MethodPut, p.http+"/admin/v2/"+path, strings.NewReader(body)))
	request.Header.Set("Content-Type", "application/json")
	answer := must(http.DefaultClient.Do(request))
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		said, _ := io.ReadAll(answer.Body)
		panic(fmt.Sprintf("PUT %s: %s: %s", path, answer.Status, said))
	}
}

func (p *place) partitioned(topic string, partitions int) {
	local := topic[strings.LastIndex(topic, "/")+1:]
	p.put("persistent/public/default/"+local+"/partitions", fmt.Sprint(partitions))
}

// ownBroker starts a broker on free ports in a directory of its own, which may be killed and started again.
func ownBroker(binary, keys string) *place {
	p := &place{binary: binary, keys: keys, directory: must(os.MkdirTemp("", "hulse-guest-"))}
	p.start()
	return p
}

func (p *place) start() {
	p.process = exec.Command(p.binary, "standalone", "--data-dir", p.directory,
		"--set", "brokerServicePort="+portOf(p.url), "--set", "webServicePort="+portOf(p.http),
		"--set", "bindAddress=127.0.0.1", "--set", "advertisedAddress=127.0.0.1")
	out := must(p.process.StdoutPipe())
	try(p.process.Start())
	reader := bufio.NewReader(out)
	line, _ := reader.ReadString('\n')
	p.url, p.http = "", ""
	for _, word := range strings.Fields(line) {
		word = strings.TrimRight(word, ",/")
		if strings.HasPrefix(word, "pulsar://") {
			p.url = word
		} else if strings.HasPrefix(word, "http://") {
			p.http = word
		}
	}
	if p.url == "" || p.http == "" {
		panic(fmt.Sprintf("the broker did not start: %q", line))
	}
	go io.Copy(io.Discard, reader)
}

func (p *place) kill() {
	try(p.process.Process.Kill())
	p.process.Wait()
}

func (p *place) remove() {
	p.process.Process.Kill()
	p.process.Wait()
	os.RemoveAll(p.directory)
}

func portOf(url string) string {
	if url == "" {
		return "0"
	}
	return url[strings.LastIndex(url, ":")+1:]
}

func topic(name string) string {
	return "persistent://public/default/go-" + name + "-" + unique()
}

func unique() string {
	bytes := make([]byte, 4)
	rand.Read(bytes)
	return hex.EncodeToString(bytes)
}
