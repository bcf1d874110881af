package remote

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// otherVersion is an owner whose answers have another version. It says when it was asked.
func (b *bench) otherVersion() (asked chan bool, end func()) {
	asked = make(chan bool, 1000)
	sub, err := conn.Subscribe(b.cfg.subject(0), func(m *nats.Msg) {
		_ = m.Respond([]byte{Version + 1, byte(done), 0xff})
		asked <- true
	})
	b.NoError(err)
	return asked, func() { b.NoError(sub.Unsubscribe()) }
}

// While the owner is of another version, calls wait for the next one, as while one version replaces another.
func TestOwnerOfAnotherVersion(t *testing.T) {
	b := newBench(t)
	asked, end := b.otherVersion()
	c := b.client()
	c.count()
	ended := make(chan error, 2)
	go func() { _, err := c.try(t.Context(), setOp("a", "1")); ended <- err }()
	go func() { _, err := c.Len(t.Context(), 0); ended <- err }()
	for range 10 {
		select {
		case <-asked:
		case err := <-ended:
			b.FailNow("a call has ended", "%v", err)
		}
	}
	end()
	b.own()
	b.NoError(<-ended)
	b.NoError(<-ended)
}

// If it stays so, the error says which versions these are.
func TestOwnerOfAnotherVersionStays(t *testing.T) {
	b := newBench(t)
	_, end := b.otherVersion()
	defer end()
	b.cfg.GiveUp = time.Second // in which there is an answer
	c := b.client()
	c.count()
	_, err := c.try(t.Context(), setOp("a", "1"))
	b.ErrorIs(err, partition.ErrUnavailable)
	b.ErrorContains(err, "the answer has 2 instead of 1")
}

// A question of another version is to be asked again, and the answer says which version is read here.
func TestRequestOfAnotherVersion(t *testing.T) {
	b := newBench(t)
	b.own()
	m, err := conn.Request(b.cfg.subject(0), []byte{Version + 1, byte(lenKind)}, time.Minute)
	b.NoError(err)
	require.Equal(t, []byte{Version, byte(again)}, m.Data[:2])
	require.Equal(t, "another version: the message has 2 instead of 1", string(m.Data[2:]))
}
