package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// An export consists of pages, which are numbered from 0. The owner keeps the rest of the export and its latest page,
// so that copies of a request get the same page.

const (
	maxExports = 8                // the largest number of exports of one partition at once
	exportIdle = 30 * time.Second // the time for which an owner keeps an export that nobody continues
	// exportTries is the largest number of times that an export is begun. It has to start over after a change of owner.
	exportTries = 16
)

// What follows a page of an export.
const (
	exportEnd  = iota // nothing
	exportMore        // another page
	exportGone        // nothing, since the owner does not know the export; the page is empty
)

// export is an export in progress. Server.mu guards it.
type export struct {
	of   *partition.Snapshot // nil once all timers were read
	rest []state.Timer       // timers that did not fit into the latest page
	page uint64
	last []byte // the answer with the latest page
	idle *time.Timer
}

// export answers a request for a page of an export.
func (s *Server) export(body []byte) error {
	c := newCutter(body)
	id, page := c.Fixed(), c.Uvarint()
	if err := c.end(); err != nil {
		return err
	}
	e := s.exports[id]
	switch {
	case e == nil && page == 0:
		var err error
		if e, err = s.newExport(id); err != nil {
			return err
		}
	case e != nil && page == e.page: // a copy of the last request
	case e != nil && page == e.page+1 && e.of != nil:
		s.nextPage(e)
	default:
		s.room = append(startAnswer(s.room[:0], done), exportGone)
		return nil
	}
	e.idle.Reset(exportIdle)
	s.room = append(s.room[:0], e.last...)
	return nil
}

// newExport begins an export, and makes its first page.
func (s *Server) newExport(id uint64) (*export, error) {
	if len(s.exports) >= maxExports {
		return nil, errBusy
	}
	of, err := s.owner.Snapshot()
	if err != nil {
		return nil, err
	}
	e := &export{of: of}
	e.idle = time.AfterFunc(exportIdle, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.endExport(id)
	})
	s.exports[id] = e
	e.page--
	s.nextPage(e)
	return e, nil
}

// nextPage makes the next page.
func (s *Server) nextPage(e *export) {
	most := min(pageBytes, s.cfg.Bus.MaxMessage()-headers)
	e.page++
	e.last = append(startAnswer(e.last[:0], done), exportMore)
	for size := 0; ; {
		if len(e.rest) == 0 {
			if e.rest = e.of.Next(); len(e.rest) == 0 {
				break
			}
		}
		if size += e.rest[0].Size(); size > most && len(e.last) > 3 {
			return
		}
		e.last = e.rest[0].Append(e.last)
		e.rest = e.rest[1:]
	}
	e.last[2] = exportEnd
	e.of.Close()
	e.of = nil
}

// endExport forgets an export.
func (s *Server) endExport(id uint64) {
	e := s.exports[id]
	if e == nil {
		return
	}
	delete(s.exports, id)
	e.idle.Stop()
	if e.of != nil {
		e.of.Close()
	}
}

var errChanged = errors.New("the partition changes hands again and again")

// Export is Partition.Export at the owner of a partition. It starts over when the owner changes, and calls begin before
// each start.
func (c *Client) Export(ctx context.Context, at int, begin func() error, f func(state.Timer) error) error {
	for range exportTries {
		if err := begin(); err != nil {
			return err
		}
		if whole, err := c.exportOnce(ctx, at, f); whole || err != nil {
			return err
		}
	}
	return unavailable(errChanged)
}

// exportOnce tries to export the whole partition from one owner. whole reports whether that has succeeded.
func (c *Client) exportOnce(ctx context.Context, at int, f func(state.Timer) error) (whole bool, err error) {
	id := rand.Uint64()
	for page := uint64(0); ; page++ {
		b := binary.LittleEndian.AppendUint64(startMessage(nil, exportKind), id)
		body, err := c.read(ctx, at, binary.AppendUvarint(b, page))
		if err != nil {
			return false, err
		}
		in := newCutter(body)
		follows := in.Byte()
		for len(in.B) > 0 {
			if t := state.ReadTimer(&in.Reader); !in.Failed {
				if err := f(t); err != nil {
					return false, err
				}
			}
		}
		switch {
		case in.end() != nil || follows > exportGone:
			return false, unavailable(errMessage)
		case follows == exportGone:
			return false, nil
		case follows == exportEnd:
			return true, nil
		}
	}
}
