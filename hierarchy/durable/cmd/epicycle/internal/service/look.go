package service

import (
	"container/heap"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// Entry is a timer as it is.
type Entry struct {
	Key     string
	Value   task.Task
	Due     time.Time
	ID      durable.ID
	Attempt int
	State   string
}

// each calls f for all timers until it is false.
func (s *Service) each(ctx context.Context, state string, f func(Entry) bool) error {
	if state != "dead" {
		for e, err := range s.All(ctx) {
			if err != nil {
				return err
			}
			if !f(Entry{e.Key, e.Value, e.Due, e.ID, e.Attempt, "waiting"}) {
				return nil
			}
		}
	}
	if state == "" || state == "dead" {
		for e, err := range s.Dead(ctx) {
			if err != nil {
				return err
			}
			if !f(Entry{e.Key, e.Value, e.Due, e.ID, e.Attempt, "dead"}) {
				return nil
			}
		}
	}
	return nil
}

// Lookup returns the timer of a key, dead or not.
func (s *Service) Lookup(ctx context.Context, key string) (found Entry, ok bool, err error) {
	err = s.each(ctx, "", func(e Entry) bool {
		if e.Key == key {
			found, ok = e, true
		}
		return !ok
	})
	return found, ok, err
}

// List returns the first timers with a prefix after a key, in order of their keys.
func (s *Service) List(ctx context.Context, prefix, state, after string, limit int) ([]Entry, error) {
	var last latest
	err := s.each(ctx, state, func(e Entry) bool {
		if !strings.HasPrefix(e.Key, prefix) || e.Key <= after || state != "" && e.State != state {
			return true
		}
		if len(last) < limit {
			heap.Push(&last, e)
		} else if e.Key < last[0].Key {
			last[0] = e
			heap.Fix(&last, 0)
		}
		return true
	})
	slices.SortFunc(last, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return last, err
}

// latest is a heap whose first element has the last key.
type latest []Entry

func (l latest) Len() int           { return len(l) }
func (l latest) Less(i, j int) bool { return l[i].Key > l[j].Key }
func (l latest) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *latest) Push(x any)        { *l = append(*l, x.(Entry)) }
func (l *latest) Pop() any          { e := (*l)[len(*l)-1]; *l = (*l)[:len(*l)-1]; return e }

// Each calls f with the keys of all timers until it returns an error.
func (s *Service) Each(ctx context.Context, f func(key string) error) (err error) {
	if e := s.each(ctx, "", func(e Entry) bool { err = f(e.Key); return err == nil }); e != nil {
		return e
	}
	return err
}
