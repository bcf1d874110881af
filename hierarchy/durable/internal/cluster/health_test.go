package cluster

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// health is the Health of a process, as one error.
func (p *process) health() error {
	if p.caller != nil {
		return errors.Join(p.caller.Health()...)
	}
	return errors.Join(p.Health()...)
}

func (p *process) becomesHealthy() {
	p.w.t.Helper()
	var last atomic.Value
	defer func() {
		if p.w.t.Failed() {
			p.w.t.Log("it says: ", last.Load())
		}
	}()
	p.w.eventually("healthy", func() bool {
		err := p.health()
		last.Store(fmt.Sprint(err))
		return err == nil
	})
}

// becomes waits until a process says what is wrong, and returns that.
func (p *process) becomes(is error) (err error) {
	p.w.t.Helper()
	p.w.eventually(is.Error(), func() bool { err = p.health(); return errors.Is(err, is) })
	return err
}

// A process is healthy while it owns all that it should. Without its lease it is not, and says since when.
func TestHealthOfTheLease(t *testing.T) {
	w := newWorld(t)
	a, b := w.open(), w.open()
	w.eventually("two each", func() bool { return a.owns() == 2 && b.owns() == 2 })
	a.becomesHealthy()
	b.becomesHealthy()
	b.store.Cut(true)
	err := b.becomes(errLease)
	w.Contains(err.Error(), "the lease of this process has ended, since 20")
	b.store.Cut(false)
	b.becomesHealthy()
	b.store.Cut(true)
	b.becomes(errLease) // it may have been taken over before, and not have its share again yet
	w.eventually("taken over", func() bool { return a.owns() == 4 })
	a.becomesHealthy()
	w.ErrorIs(b.health(), errLease)
	b.store.Cut(false)
	b.becomesHealthy()
	w.eventually("two each", func() bool { return a.owns() == 2 && b.owns() == 2 })
}

// A log that does not answer is said by its owner, with its partition.
func TestHealthOfASilentLog(t *testing.T) {
	w := newWorld(t)
	a := w.process()
	a.lease = time.Minute
	w.NoError(a.open(t.Context()))
	w.NoError(a.health())
	w.disks[1].SetSilent(true)
	set := make(chan error)
	go func() {
		_, _, err := a.do(frame.Set, "key1", "", time.Hour)
		set <- err
	}()
	err := a.becomes(errSilence)
	w.Contains(err.Error(), "partition 1: its log does not answer, since 20")
	w.eventually("with the reason", func() bool { // it is known a moment later
		err := a.health()
		return err != nil && strings.Contains(err.Error(), "no answer")
	})
	w.Len(a.Health(), 1)
	w.disks[1].SetSilent(false)
	w.NoError(<-set)
	a.becomesHealthy()
}

// Damage is said until the log is restored, and a log that can't be taken over until it can.
func TestHealthOfDamage(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	for i := range 4 {
		a.set(fmt.Sprint("key", i), "", time.Hour)
	}
	w.NoError(a.Shutdown(t.Context()))
	w.Equal(core.ErrClosed, a.Health()[0])
	good, err := w.disks[1].Open().Get(t.Context(), 1)
	w.NoError(err)
	w.disks[1].Change(1, []byte("no frame"))
	b := w.process()
	b.lease, b.reread = time.Minute, lease/4
	w.NoError(b.open(t.Context()))
	err = b.becomes(partition.ErrDamaged)
	w.Contains(err.Error(), "partition 1: ")
	w.Contains(err.Error(), ", since 20")
	w.Len(b.Health(), 1)
	w.disks[1].Change(1, good)
	b.becomesHealthy()
}

// What nobody can take is said by all.
func TestHealthOfAPartitionOfNobody(t *testing.T) {
	w := newWorld(t)
	w.disks[1].SetSilent(true)
	a, b := w.process(), w.process()
	for _, p := range []*process{a, b} {
		p.lease, p.behind, p.answer = time.Minute, lease/4, patience // see steady
		w.NoError(p.open(t.Context()))
	}
	w.eventually("one of them says so", func() bool { return a.health() != nil || b.health() != nil })
	w.eventually("with the reason", func() bool {
		err := errors.Join(a.health(), b.health())
		return err != nil && errors.Is(err, errNoOwner)
	})
	w.disks[1].SetSilent(false)
	a.becomesHealthy()
	b.becomesHealthy()
}

// A caller is healthy while each partition has an owner that lives, and it has a connection.
func TestHealthOfACaller(t *testing.T) {
	w := newWorld(t)
	c := w.openCaller()
	err := c.becomes(errNoOwner)
	w.Contains(err.Error(), "partition 3: no process owns the partition, since 20")
	w.Len(c.caller.Health(), partitions)
	a := w.open()
	c.becomesHealthy()
	a.kill()
	c.becomes(errNoOwner) // nobody is there to delete its record
	w.open()
	c.becomesHealthy()
	c.conn.Close()
	w.eventually("the connection", func() bool {
		err := c.health() // until it is known, another lease may have ended
		return err != nil && strings.Contains(err.Error(), "is closed, since 20")
	})
	w.Len(c.caller.Health(), 1)
	c.caller.Close()
	w.Equal(core.ErrClosed, c.caller.Health()[0])
}
