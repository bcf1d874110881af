package service

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
)

// limiting has the limits of attempts, which hold before the first attempt begins.
type limiting struct {
	keeper limits.Keeper

	mu  sync.Mutex
	all limits.All
}

// Limited is a limit, and how many timers wait because of it.
type Limited struct {
	limits.Scope
	limits.Limit
	Waiting int `json:"waiting"`
}

// openLimits reads the limits. The timers are open, and none is passed on yet.
func (s *Service) openLimits(ctx context.Context, dir string) (err error) {
	changed := func(all limits.All) {
		s.limits.mu.Lock()
		s.limits.all = all
		s.limits.mu.Unlock()
		s.gate.Set(all)
	}
	if s.conn == nil {
		s.limits.keeper, err = limits.OpenFile(filelog.OS{}, filepath.Join(dir, "limits-"+s.name+".json"), changed)
		return err
	}
	table, err := jetstream.FindTable(ctx, jetstream.TableConfig{Conn: s.conn, Name: s.name})
	if err != nil {
		return err
	}
	s.limits.keeper, err = limits.OpenTable(ctx, table, s.logger, changed)
	return err
}

func (l *limiting) close() {
	if l.keeper != nil {
		l.keeper.Close()
	}
}

func (l *limiting) are() limits.All {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}

// ChangeLimit replaces the limit of a scope by what f returns of it.
func (s *Service) ChangeLimit(ctx context.Context, scope limits.Scope, f func(limits.Limit) (limits.Limit, error)) (limits.Limit, error) {
	return s.limits.keeper.Change(ctx, scope, f)
}

// opLimited is a question for the timers of another server that wait because of limits.
const opLimited = "limited"

// Limits returns all limits, sorted by what they are for, with the timers of all servers that answer in time.
func (s *Service) Limits(ctx context.Context) []Limited {
	list := s.LimitsHere()
	if s.peers == nil || len(list) == 0 {
		return list
	}
	others := len(s.Stats().Members) - 1
	data, err := json.Marshal(&request{Op: opLimited, From: s.peers.id})
	if err != nil || others <= 0 {
		return list
	}
	s.peers.collect(ctx, data, others, func(r *reply) bool {
		for _, l := range r.Waiting {
			if i := slices.IndexFunc(list, func(here Limited) bool { return here.Scope == l.Scope }); i >= 0 {
				list[i].Waiting += l.Waiting
			}
		}
		return false
	})
	return list
}

// LimitsHere is Limits with the timers of this server alone.
func (s *Service) LimitsHere() []Limited {
	all := s.limits.are()
	counts := make(map[limits.Scope]int)
	if len(all) > 0 {
		s.hosts.Limited(counts)
		s.queues.Limited(counts)
	}
	list := make([]Limited, 0, len(all))
	for _, scope := range slices.SortedFunc(maps.Keys(all), func(a, b limits.Scope) int {
		return cmp.Or(cmp.Compare(slices.Index(limits.Kinds, a.Kind), slices.Index(limits.Kinds, b.Kind)), cmp.Compare(a.Name, b.Name))
	}) {
		list = append(list, Limited{scope, all[scope], counts[scope]})
	}
	return list
}

// Limit returns the limit of a scope, if it has one.
func (s *Service) Limit(ctx context.Context, scope limits.Scope) (l Limited, ok bool) {
	for _, l := range s.Limits(ctx) {
		if l.Scope == scope {
			return l, true
		}
	}
	return l, false
}

// LimitedBy returns the limit because of which a timer waits that is due, as far as this server knows.
func (s *Service) LimitedBy(e *Entry) (limits.Scope, bool) {
	at := e.Due
	if e.Next.After(at) {
		at = e.Next
	}
	if e.State != durable.StateWaiting || at.After(time.Now()) {
		return limits.Scope{}, false
	}
	return s.gate.Holds(scopesOf(e.Value.To), e.Key, s.peers == nil || s.Owns(e.Key))
}

// scopesOf returns the scopes of a target.
func scopesOf(t task.Target) []limits.Scope {
	switch t.Kind {
	case task.Queue:
		return []limits.Scope{{Kind: limits.Queue, Name: t.Name}}
	case task.Subject:
		return []limits.Scope{{Kind: limits.Subject, Name: t.Name}}
	default:
		return limits.HostScopes(t.Host())
	}
}
