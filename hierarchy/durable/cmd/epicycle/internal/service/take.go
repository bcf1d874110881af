package service

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// allows returns a function that reports whether a key has a prefix. It returns nil if the prefix is empty.
func allows(prefix string) func(key string) bool {
	if prefix == "" {
		return nil
	}
	return func(key string) bool { return strings.HasPrefix(key, prefix) }
}

// Take takes the firings of a queue that are due, at most max, and waits for the first one until ctx is done. It takes
// only firings whose keys have the prefix. All taken firings are from one server: from this server if it has firings.
func (s *Service) Take(ctx context.Context, queue string, max int, prefix string) []Taken {
	all := s.takeHere(queue, max, math.MaxInt, prefix)
	for late := false; len(all) == 0 && !late && !s.Draining(); {
		late = ctx.Err() != nil
		found, ok := s.await(ctx, queue, prefix)
		switch {
		case !ok:
			return nil
		case found.server == "":
			all = s.takeHere(queue, max, math.MaxInt, prefix)
		default:
			var err error
			if all, err = s.peers.take(found.server, queue, max, prefix); err != nil {
				s.logger.Debug("epicycle: another server's firings were not taken", "err", err)
				pause(ctx)
			}
		}
		if found.key != "" {
			s.queues.Pass(queue, found.key)
		}
	}
	return all
}

// found is a server that may have firings: this one, if server is empty. If the taker was woken for the timer of a key of
// this server, key is that key.
type found struct{ server, key string }

// await waits until this server or another one may have firings for Take. If ctx is done already, it asks the others once.
func (s *Service) await(ctx context.Context, queue, prefix string) (f found, ok bool) {
	if s.peers != nil {
		return s.peers.await(ctx, queue, prefix)
	}
	f.key, ok = s.queues.Wait(ctx, queue, allows(prefix))
	return f, ok
}

// pauseTime is how long a taker waits after another server has not answered.
const pauseTime = 100 * time.Millisecond

func pause(ctx context.Context) {
	t := time.NewTimer(pauseTime)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// TakeWithin is Take with the time limit wait for the first firing. If ctx is done meanwhile, the firings that were
// taken are given back.
func (s *Service) TakeWithin(ctx context.Context, queue string, max int, wait time.Duration, prefix string) []Taken {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	all := s.Take(waiting, queue, max, prefix)
	if ctx.Err() != nil {
		s.GiveBack(all)
		return nil
	}
	return all
}

// errUnread is the error of firings that were given back.
var errUnread = durable.RetryAfter(0, errors.New("the connection ended before the firing was sent"))

// GiveBack ends attempts whose firings did not reach the worker that took them. Their timers are due again at once.
func (s *Service) GiveBack(all []Taken) {
	tokens := make([]string, len(all))
	for i := range all {
		tokens[i] = all[i].Token
	}
	for server, at := range s.serversOf(tokens) {
		for some := range slices.Chunk(at, maxTokens) {
			if server != "" {
				s.peers.giveBack(server, pick(tokens, some))
				continue
			}
			for _, i := range some {
				s.end(tokens[i], errUnread)
			}
		}
	}
}

// maxTokens is how many tokens a request to another server has at most.
const maxTokens = 1000

// End ends the attempts with these tokens, which were taken from a queue. If result is nil, the attempts have
// succeeded. It returns an error for each attempt that it could not end.
func (s *Service) End(ctx context.Context, queue string, tokens []string, result error, prefix string) []error {
	errs := make([]error, len(tokens))
	var wg sync.WaitGroup
	for server, at := range s.serversOf(tokens) {
		for at := range slices.Chunk(at, maxTokens) {
			wg.Go(func() {
				var some []error
				if server == "" {
					some = s.endHere(ctx, queue, pick(tokens, at), result, prefix)
				} else {
					some = s.peers.end(ctx, server, queue, pick(tokens, at), result, prefix)
				}
				for n, i := range at {
					errs[i] = some[n]
				}
			})
		}
	}
	wg.Wait()
	return errs
}

// serversOf returns the indices of the tokens of each server. The key "" stands for this server.
func (s *Service) serversOf(tokens []string) map[string][]int {
	all := make(map[string][]int)
	for i, token := range tokens {
		server, _, _ := strings.Cut(token, separator)
		if s.peers == nil || server == s.peers.id || !isServerID(server) {
			server = ""
		}
		all[server] = append(all[server], i)
	}
	return all
}

func pick(tokens []string, at []int) []string {
	some := make([]string, len(at))
	for n, i := range at {
		some[n] = tokens[i]
	}
	return some
}
