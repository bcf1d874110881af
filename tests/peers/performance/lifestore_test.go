package main

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server/thw"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/peers/driven/hashwheel"
	"github.com/epicycle-go/epicycle/tests/peers/internal/thwclock"
)

// thwStore is NATS's hash wheel. A store knows when an entry expires, as that is in the
// message.
type thwStore struct{ *thw.HashWheel }

func openTHW(int) expirer                       { return thwStore{thw.NewHashWheel()} }
func (s thwStore) set(i int, at int64)          { _ = s.Add(uint64(i), at) }
func (s thwStore) update(i int, from, to int64) { _ = s.Update(uint64(i), from, to) }
func (s thwStore) settle()                      {}
func (s thwStore) expire(now int64) (expired int) {
	thwclock.ExpireTasks(s.HashWheel, now, func(uint64, int64) bool {
		expired++
		return true
	})
	return expired
}

// drivenStore is a store that has adopted Driven. It keeps the Handle of each message.
type drivenStore struct {
	hierarchy.Driven[uint64]
	handles []hierarchy.Handle
}

func openDriven(n int) expirer {
	s := &drivenStore{handles: make([]hierarchy.Handle, n)}
	s.expire(lifeStart)
	return s
}

func (s *drivenStore) set(i int, at int64)       { s.handles[i] = s.Set(uint64(i), time.Duration(at)) }
func (s *drivenStore) update(i int, _, to int64) { s.Move(s.handles[i], time.Duration(to)) }
func (s *drivenStore) settle()                   {}
func (s *drivenStore) expire(now int64) (expired int) {
	for range s.Expire(time.Duration(now)) {
		expired++
	}
	return expired
}

// faceStore is a Driven behind the methods of NATS's hash wheel.
type faceStore struct{ *hashwheel.HashWheel }

func openFace(int) expirer {
	s := faceStore{hashwheel.NewHashWheel()}
	s.expire(lifeStart)
	return s
}

func (s faceStore) set(i int, at int64)          { _ = s.Add(uint64(i), at) }
func (s faceStore) update(i int, from, to int64) { _ = s.Update(uint64(i), from, to) }
func (s faceStore) settle()                      {}
func (s faceStore) expire(now int64) (expired int) {
	s.ExpireTasksAt(now, func(uint64, int64) bool {
		expired++
		return true
	})
	return expired
}

var storeImpls = []struct {
	name string
	open func(n int) expirer
}{{"thw", openTHW}, {"driven", openDriven}, {"face", openFace}}

// BenchmarkStoreLife sets n messages, updates each and expires them: every second what is
// due then, or all at once.
func BenchmarkStoreLife(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		for _, life := range []struct {
			name  string
			lives func(n int) lives
			step  time.Duration
		}{
			{secondBySecond, livesAnywhere, time.Second},
			{allAtOnce, livesAnywhere, 0},
			{ordered, livesInOrder, time.Second},
			{inADay, livesInADay, time.Second},
		} {
			for _, s := range storeImpls {
				sub(b, s.name+life.name, n, func(b *testing.B) {
					l, open := life.lives(n), func() expirer { return s.open(n) }
					benchmarkLife(b, l, life.step, open)
					if life.name == secondBySecond {
						b.ReportMetric(float64(l.longestCall(b, open(), life.step)), longestCall)
					}
				})
			}
		}
	}
}

// BenchmarkStoreAdd adds a message to n others.
func BenchmarkStoreAdd(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		l := livesAnywhere(n + atOnce)
		for _, s := range storeImpls {
			sub(b, s.name, n, func(b *testing.B) { benchmarkAdd(b, l, s.open(n+atOnce)) })
		}
	}
}

// BenchmarkStoreUpdate updates a random one of n messages.
func BenchmarkStoreUpdate(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		l := livesAnywhere(n)
		for _, s := range storeImpls {
			sub(b, s.name, n, func(b *testing.B) { benchmarkUpdate(b, l, s.open(n)) })
		}
	}
}

func (s thwStore) remove(i int, at int64)    { _ = s.Remove(uint64(i), at) }
func (s *drivenStore) remove(i int, _ int64) { s.Remove(s.handles[i]) }
func (s faceStore) remove(i int, at int64)   { _ = s.Remove(uint64(i), at) }
