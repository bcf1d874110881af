package recipes

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

const timeToPay = 30 * time.Minute

// shop cancels orders that are not paid in time, also if it is restarted meanwhile.
type shop struct {
	orders orders // the database
	unpaid *durable.Keyed[string, struct{}]
}

func openShop(ctx context.Context, dir string, db orders, c clock.Clock) (s *shop, err error) {
	s = &shop{orders: db}
	s.unpaid, err = durable.Open(ctx, durable.Config[string, struct{}]{
		Dir: dir, Clock: c, Name: "unpaid-orders",
		Handle: func(ctx context.Context, f durable.Firing[string, struct{}]) error {
			return s.orders.cancelIfUnpaid(ctx, f.Key)
		},
	})
	return s, err
}

// place sets the timer first: one that finds no order does no harm, but an order without a timer
// would never be cancelled.
func (s *shop) place(ctx context.Context, number string) error {
	if _, err := s.unpaid.Set(ctx, number, struct{}{}, timeToPay); err != nil {
		return err
	}
	return s.orders.insert(ctx, number)
}

// pay removes the timer last. If the process ends before, the timer finds a paid order.
func (s *shop) pay(ctx context.Context, number string) error {
	if err := s.orders.markPaid(ctx, number); err != nil {
		return err
	}
	_, _, err := s.unpaid.Remove(ctx, number)
	return err
}

// orders stands for the table of orders.
type orders interface {
	insert(ctx context.Context, number string) error
	markPaid(ctx context.Context, number string) error
	cancelIfUnpaid(ctx context.Context, number string) error
}

// table is orders in memory.
type table struct {
	mu    sync.Mutex
	state map[string]string
}

func (t *table) change(number, from, to string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state[number] == from {
		t.state[number] = to
	}
	return nil
}

func (t *table) insert(_ context.Context, n string) error   { return t.change(n, "", "unpaid") }
func (t *table) markPaid(_ context.Context, n string) error { return t.change(n, "unpaid", "paid") }
func (t *table) cancelIfUnpaid(_ context.Context, n string) error {
	return t.change(n, "unpaid", "cancelled")
}

func TestUnpaidOrdersAreCancelled(t *testing.T) {
	ctx, mock, dir := t.Context(), clock.NewMock(), filepath.Join(t.TempDir(), "timers")
	db := &table{state: map[string]string{}}
	s, err := openShop(ctx, dir, db, mock)
	require.NoError(t, err)
	for _, number := range []string{"1", "2", "3"} {
		require.NoError(t, s.place(ctx, number))
	}
	require.NoError(t, s.pay(ctx, "1"))
	require.NoError(t, db.markPaid(ctx, "2")) // the process is killed before the timer is removed
	require.NoError(t, s.unpaid.Close())

	mock.Add(timeToPay - 1)
	s, err = openShop(ctx, dir, db, mock)
	require.NoError(t, err)
	defer s.unpaid.Close()
	require.Equal(t, map[string]string{"1": "paid", "2": "paid", "3": "unpaid"}, db.state)
	mock.Add(1)
	require.Equal(t, map[string]string{"1": "paid", "2": "paid", "3": "cancelled"}, db.state)
}
