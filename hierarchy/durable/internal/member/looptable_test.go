package member

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// table is what the members share.
type table struct {
	loop    *loop
	records map[string]storage.Record
	past    []map[string]storage.Record // as it was before the last changes
	last    uint64
	written map[string]time.Duration // when each key was last written
	deleted map[string]bool          // the keys that were ever deleted
	ahead   time.Duration            // by how much its clock is ahead
}

// all returns all records, the oldest first.
func (t *table) all() []storage.Record {
	return slices.SortedFunc(maps.Values(t.records), func(a, b storage.Record) int { return cmp.Compare(a.Revision, b.Revision) })
}

// change writes or deletes a record, if its revision is last. by is the process that does it.
func (t *table) change(by *member, r storage.Record, last uint64) (storage.Record, error) {
	was := t.records[r.Key]
	if was.Revision != last { // that of a deletion, for an hour
		return r, storage.ErrRefused
	}
	t.loop.judgeChange(by, was, r)
	return t.write(r), nil
}

// write writes or deletes a record.
func (t *table) write(r storage.Record) storage.Record {
	if t.past = append(t.past, maps.Clone(t.records)); len(t.past) > 20 {
		t.past = t.past[1:]
	}
	if t.records == nil {
		t.records, t.written = make(map[string]storage.Record), make(map[string]time.Duration)
		t.deleted = make(map[string]bool)
	}
	t.deleted[r.Key] = t.deleted[r.Key] || r.Deleted
	t.last++
	r.Revision, r.Time = t.last, time.Now().Add(t.ahead)
	t.records[r.Key], t.written[r.Key] = r, t.loop.now()
	for _, p := range t.loop.processes {
		if p.watching && !p.mute && !p.dead {
			if p.cut { // a watch that is behind does not see what was replaced meanwhile
				p.inbox = slices.DeleteFunc(p.inbox, func(c late) bool { return c.Key == r.Key })
			}
			p.inbox = append(p.inbox, late{t.loop.now() + t.loop.little(), storage.Change{Record: r}})
			t.loop.wake(p.follows)
		}
	}
	return r
}

// forget forgets deletions, which the table does after an hour.
func (t *table) forget() {
	t.past = nil
	maps.DeleteFunc(t.records, func(_ string, r storage.Record) bool { return r.Deleted })
}

// get reads a record, as it is or was some changes ago.
func (t *table) get(key string, behind int) (storage.Record, error) {
	records := t.records
	if n := len(t.past); behind > 0 && n > 0 {
		records = t.past[max(0, n-behind)]
	}
	if r, ok := records[key]; ok && !r.Deleted {
		return r, nil
	}
	return storage.Record{Key: key, Revision: records[key].Revision, Deleted: true}, storage.ErrAbsent
}

// little returns the usual delay of a message.
func (l *loop) little() time.Duration { return time.Duration(1 + l.r.IntN(20_000_000)) }

// fate is what becomes of a call of the table.
type fate struct {
	before, after time.Duration
	drop, lose    bool
	err           error
	behind        int
}

// fate draws the fate of a call.
func (p *member) fate() fate {
	f := fate{before: p.little(), after: p.little()}
	if p.r.IntN(100) >= p.level {
		return f
	}
	long := time.Duration(p.r.Int64N(int64(2 * testLease)))
	switch p.r.IntN(8) {
	case 0:
		f.before = long
	case 1:
		f.after = long / 12 // an answer that still counts
	case 2:
		f.drop = true
	case 3:
		f.lose = true
	case 4:
		f.err = errCall
	case 5:
		f.drop, f.err = true, errCall
	case 6:
		f.err = storage.ErrRefused
	case 7:
		f.behind = p.r.IntN(20)
	}
	return f
}

// call sends a call to the table, and waits for its answer.
func (p *member) call(ctx context.Context, do func(f fate) (storage.Record, error)) (r storage.Record, err error) {
	p.Operations++
	deadline, _ := ctx.Deadline()
	l, caller, f, answered := p.loop, p.current, p.fate(), false
	answer := func() {
		if answered = !p.cut; answered {
			l.wake(caller)
		}
	}
	arrive := func() {
		if r, err = do(f); f.err != nil {
			err = f.err
		}
		if !f.lose && !p.unheard {
			l.fiber(nil, f.after, answer)
		}
	}
	if p.cut || f.drop {
		if err = f.err; err == nil {
			err = context.DeadlineExceeded
		}
		l.sleep(time.Until(deadline))
		return r, err
	}
	l.fiber(nil, f.before, arrive)
	for ctx.Err() == nil && !answered && time.Until(deadline) > 0 {
		if !l.sleep(time.Until(deadline)) {
			return r, errCall
		}
	}
	if !answered {
		return storage.Record{}, context.DeadlineExceeded
	}
	return r, err
}

// The methods of storage.Table.

func (p *member) Put(ctx context.Context, key string, value []byte, last uint64) (uint64, error) {
	sent := p.m.cfg.Boot()
	p.sent(key, value, sent)
	r, err := p.call(ctx, func(fate) (storage.Record, error) {
		return p.table.change(p, storage.Record{Key: key, Value: slices.Clone(value)}, last)
	})
	p.renewals.answered(p, key, err)
	return r.Revision, err
}

func (p *member) Delete(ctx context.Context, key string, last uint64) error {
	own, resigns := p.renewed(), key == memberKey(p.m.id)
	_, err := p.call(ctx, func(fate) (storage.Record, error) {
		p.renewals.decided, p.renewals.resigns = own, resigns
		r, err := p.table.change(p, storage.Record{Key: key, Deleted: true}, last)
		if err == nil && strings.HasPrefix(key, memberPrefix) {
			p.Add("%v process %d deletes %v", p.now(), p.n, key)
		}
		return r, err
	})
	return err
}

func (p *member) Get(ctx context.Context, key string) (storage.Record, error) {
	return p.call(ctx, func(f fate) (storage.Record, error) { return p.table.get(key, f.behind) })
}

func (p *member) Watch(context.Context) (<-chan storage.Change, error) {
	return nil, fmt.Errorf("the loop shows changes itself")
}
