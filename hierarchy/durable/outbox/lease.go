package outbox

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"time"
)

// lease is the right to relay, which one process has at a time. The lease is a row in the database, with the holder and
// the number of renewals. A holder that has not renewed the lease for three quarters of Config.Lease passes nothing on.
// A claimant takes the lease after it has seen no renewal for five quarters of Config.Lease. Both measure these times
// by their own monotonic clocks, so no two clocks are compared.
type lease struct {
	holder  string
	renewed int64     // the number of renewals that a claimant has seen
	until   time.Time // when the lease ends for this process; monotonic
}

// leaseQuery reads the lease, for claimants.
const leaseQuery = `SELECT holder, renewed FROM %s_relay WHERE one = 1`

// acquire waits until this process has the lease, or ctx ends.
func (b *Box[K, V]) acquire(ctx context.Context) (*lease, error) {
	l := &lease{holder: rand.Text()}
	var seen lease
	since := time.Now()
	for first := true; ; first = false {
		var now lease
		err := b.cfg.DB.QueryRowContext(ctx, fmt.Sprintf(leaseQuery, b.cfg.Table)).Scan(&now.holder, &now.renewed)
		if err != nil {
			return nil, err
		}
		if first || now.holder != seen.holder || now.renewed != seen.renewed {
			seen, since = now, time.Now()
		}
		if now.holder == "" || time.Since(since) >= b.cfg.Lease*5/4 {
			if ok, err := b.claim(ctx, l, now); ok || err != nil {
				return l, err
			}
		}
		if err := pause(ctx, b.cfg.Lease/8); err != nil {
			return nil, err
		}
	}
}

// claim takes the lease if its row is still the same as seen. It reports whether it has taken the lease.
func (b *Box[K, V]) claim(ctx context.Context, l *lease, seen lease) (bool, error) {
	sent := time.Now()
	ok, err := b.update(ctx, `holder = %s, renewed = %d WHERE one = 1 AND holder = %s AND renewed = %d`,
		quote(l.holder), seen.renewed+1, quote(seen.holder), seen.renewed)
	l.until = sent.Add(b.cfg.Lease * 3 / 4)
	return ok, err
}

// update changes the row of the lease. It reports whether the row was as the condition says.
func (b *Box[K, V]) update(ctx context.Context, change string, args ...any) (ok bool, err error) {
	err = b.transact(ctx, func(tx Execer) (err error) {
		ok, err = changed(tx.ExecContext(ctx, "UPDATE "+b.cfg.Table+"_relay SET "+fmt.Sprintf(change, args...)))
		return err
	})
	return ok, err
}

// renew renews the lease in a transaction, together with the statements of more. If another process has the lease,
// nothing is committed.
func (b *Box[K, V]) renew(ctx context.Context, l *lease, more func(tx Execer) error) error {
	sent := time.Now()
	err := b.transact(ctx, func(tx Execer) error {
		ok, err := changed(tx.ExecContext(ctx, fmt.Sprintf(`UPDATE %s_relay SET renewed = renewed + 1
			WHERE one = 1 AND holder = %s`, b.cfg.Table, quote(l.holder))))
		switch {
		case err != nil:
			return err
		case !ok:
			return errLost
		}
		return more(tx)
	})
	if err == nil {
		l.until = sent.Add(b.cfg.Lease * 3 / 4)
	}
	return err
}

// release lets the next process begin at once. If release fails, the next process waits until the lease has ended.
func (b *Box[K, V]) release(ctx context.Context, l *lease) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.cfg.Lease)
	defer cancel()
	_, _ = b.update(ctx, `holder = '' WHERE one = 1 AND holder = %s`, quote(l.holder))
}

// changed reports whether a statement has changed a row.
func changed(r sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n > 0, err
}

// pause waits for d. It returns the error of ctx if ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
