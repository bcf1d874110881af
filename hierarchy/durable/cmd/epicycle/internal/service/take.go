package service

import (
	"context"
	"time"
)

// mostTaken limits the bytes of the firings that are taken at once, in JSON: a firing that makes them more is the last one.
// An attempt begins when its firing is taken, so what is taken must be sent long before its timeout.
const mostTaken = 8 << 20

// grantTime is the least wait for firings if servers share limits: what may be taken has to be asked for.
const grantTime = 100 * time.Millisecond

// TakeWithin takes the firings of a queue that are due, at most max, and no more than mostTaken. It waits for the first
// one, for no longer than wait. It takes only firings whose keys have the prefix. All taken firings are from one server:
// from this server if it has firings. If ctx is done meanwhile, what was taken is given back.
func (s *Service) TakeWithin(ctx context.Context, queue string, max int, wait time.Duration, prefix string) []Taken {
	if s.share != nil && len(s.limits.are()) > 0 && wait < grantTime {
		wait = grantTime
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	all := s.take(ctx, waiting, queue, max, prefix)
	if ctx.Err() != nil {
		s.GiveBack(queue, all)
		return nil
	}
	return all
}

// take is TakeWithin. It waits for the first firing until waiting is done, and for other servers until ctx is done.
func (s *Service) take(ctx, waiting context.Context, queue string, max int, prefix string) []Taken {
	all := s.takeHere(queue, max, mostTaken, prefix)
	for late := false; len(all) == 0 && !late && ctx.Err() == nil && !s.Draining(); {
		late = waiting.Err() != nil
		found, ok := s.await(waiting, queue, prefix)
		switch {
		case !ok:
			return nil
		case found.server == "":
			all = s.takeHere(queue, max, mostTaken, prefix)
		default:
			var err error
			if all, err = s.peers.take(ctx, found.server, queue, max, prefix); err != nil {
				s.logger.Debug("epicycle: another server's firings were not taken", "err", err)
				pause(waiting)
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

// await waits until this server or another one may have firings. If ctx is done already, it asks the others once.
func (s *Service) await(ctx context.Context, queue, prefix string) (f found, ok bool) {
	if s.peers != nil {
		return s.peers.await(ctx, queue, prefix)
	}
	f.key, ok = s.queues.Wait(ctx, queue, prefix)
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
