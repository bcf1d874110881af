package service

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"regexp"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
)

// peers let workers take from any of the servers that share timers over NATS. The firings of a queue are at the servers
// that own their partitions. A server whose own queue is empty asks all other servers (opHas), and takes firings from
// the first one that has some (opTake). It then tells the others to forget the question (opForget).
type peers struct {
	service *Service
	conn    *nats.Conn
	id      string // the ID of this server
	subject string // the subject of all servers. Each server has a subject of its own below it
	subs    []*nats.Subscription
	running sync.WaitGroup // counts the answers in progress

	relay     relay
	following following

	mu     sync.Mutex
	closed bool                 // no answer begins any more
	asked  map[string]*question // questions of other servers that wait for a firing
}

// question is an opHas of another server.
type question struct{ cancel context.CancelFunc }

// The operations of a request. There are more in peersfeed.go.
const (
	opHas    = "has"
	opForget = "forget"
	opTake   = "take"
)

// request is a message from a server to all other servers, or to one of them.
type request struct {
	Op       string        `json:"op"`
	From     string        `json:"from"`               // the server that sends it
	Question string        `json:"question,omitempty"` // opHas and opForget
	Wait     time.Duration `json:"wait,omitempty"`     // opHas: the wait for a firing; 0: the answer comes at once
	Queue    string        `json:"queue,omitempty"`
	Prefix   string        `json:"prefix,omitempty"`
	Max      int           `json:"max,omitempty"`
	Key      string        `json:"key,omitempty"`  // opAttempts
	Scope    limits.Scope  `json:"scope,omitzero"` // opAsk, opHeld, opEnded and opTell
	Want     int           `json:"want,omitempty"`
	Held     int           `json:"held,omitempty"`
	Ended    int           `json:"ended,omitempty"`
}

// reply is the answer to a request.
type reply struct {
	Server  string    `json:"server,omitempty"` // opHas
	Has     bool      `json:"has,omitempty"`
	Taken   []Taken   `json:"taken,omitempty"`   // opTake
	Tried   []Tried   `json:"tried,omitempty"`   // opAttempts
	Granted int       `json:"granted,omitempty"` // opAsk
	Waiting []Limited `json:"waiting,omitempty"` // opLimited
}

// serverID is the form of an ID. It becomes a part of a subject.
var serverID = regexp.MustCompile(`^[A-Z2-7]{12}$`)

func isServerID(s string) bool { return serverID.MatchString(s) }

func newPeers(s *Service, conn *nats.Conn, name string) *peers {
	return &peers{service: s, conn: conn, id: rand.Text()[:12], subject: "epicycle." + name + ".queue", asked: make(map[string]*question)}
}

// open begins to answer the other servers.
func (p *peers) open() error {
	for subject, handle := range map[string]nats.MsgHandler{p.subject: p.fromOne, p.subject + "." + p.id: p.forThis} {
		sub, err := p.conn.Subscribe(subject, handle)
		if err != nil {
			p.close()
			return err
		}
		p.subs = append(p.subs, sub)
	}
	return p.hello()
}

// close stops answering, and waits for the answers that are in progress. It is called after the end of Service.life.
func (p *peers) close() {
	p.unfollow(true)
	for _, sub := range p.subs {
		_ = sub.Unsubscribe()
	}
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.running.Wait()
}

// request sends a request to another server, and returns its answer.
func (p *peers) request(ctx context.Context, server string, r *request) (*reply, error) {
	r.From = p.id
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	m, err := p.conn.RequestWithContext(ctx, p.subject+"."+server, data)
	if err != nil {
		return nil, err
	}
	got := new(reply)
	return got, json.Unmarshal(m.Data, got)
}

// takeTime is the time limit for the answer of another server.
const takeTime = 5 * time.Second

// take takes firings of another server. If ctx is done before the answer comes, they are given back then. If the answer
// is lost, the firings are tried again after their timeouts.
func (p *peers) take(ctx context.Context, server, queue string, max int, prefix string) ([]Taken, error) {
	answers := make(chan answer)
	p.service.work.begin(func() {
		limited, cancel := context.WithTimeout(p.service.life, takeTime)
		defer cancel()
		got, err := p.request(limited, server, &request{Op: opTake, Queue: queue, Max: max, Prefix: prefix})
		select {
		case answers <- answer{got, err}:
		case <-ctx.Done():
			if err == nil {
				p.service.GiveBack(queue, got.Taken)
			}
		}
	})
	select {
	case got := <-answers:
		if got.err != nil {
			return nil, got.err
		}
		return got.Taken, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// answer is the answer to a request, or why there is none.
type answer struct {
	*reply
	err error
}
