package storage_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// commit appends with one fault after the other, then none.
func commit(ctx context.Context, disk *memlog.Disk, last uint64, text string, faults ...memlog.Fault) error {
	log := disk.Open()
	log.SetFault(func([]byte) (f memlog.Fault) {
		if len(faults) > 0 {
			f, faults = faults[0], faults[1:]
		}
		return f
	})
	return storage.Patience{}.Commit(ctx, log, last, []byte(text))
}

func text(t *testing.T, disk *memlog.Disk, number uint64) string {
	data, err := disk.Open().Get(t.Context(), number)
	require.NoError(t, err)
	return string(data)
}

// Whatever goes wrong, the message is there once when Commit returns nil.
func TestCommitSettlesLostAnswers(t *testing.T) {
	for fault := memlog.None; fault <= memlog.Twice; fault++ {
		for next := memlog.None; next <= memlog.Twice; next++ {
			synctest.Test(t, func(t *testing.T) {
				disk := new(memlog.Disk)
				require.NoError(t, commit(t.Context(), disk, 0, "a", fault, next))
				disk.Arrive()
				require.Equal(t, 1, disk.Appends(), "%d, %d", fault, next)
				require.Equal(t, "a", text(t, disk, 1))
			})
		}
	}
}

// What another owner has appended meanwhile decides, and nothing of ours comes after it.
func TestCommitIsRefusedByAnotherOwner(t *testing.T) {
	for fault := memlog.None; fault <= memlog.Twice; fault++ {
		synctest.Test(t, func(t *testing.T) {
			disk := new(memlog.Disk)
			require.NoError(t, commit(t.Context(), disk, 0, "other"))
			require.ErrorIs(t, commit(t.Context(), disk, 0, "ours", fault), storage.ErrTaken)
			disk.Arrive()
			require.Equal(t, 1, disk.Appends())
		})
	}
}

// A copy that is on its way can be committed before or after another owner's frame. Commit tells
// which.
func TestCommitWhileACopyIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := new(memlog.Disk)
		log := disk.Open()
		log.SetFault(func([]byte) memlog.Fault { return memlog.Later })
		require.Error(t, log.Append(t.Context(), 0, []byte("ours")))
		// The first answer to our next copy is a refusal, as the late copy comes just before.
		require.NoError(t, commit(t.Context(), disk, 0, "ours", memlog.Drop))
		require.Equal(t, 1, disk.Appends())
	})
}

// When a later owner has deleted the place, it is lost too.
func TestCommitAfterTheLogWasTrimmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := new(memlog.Disk)
		require.NoError(t, commit(t.Context(), disk, 0, "a"))
		require.NoError(t, commit(t.Context(), disk, 1, "b"))
		require.NoError(t, disk.Open().Trim(t.Context(), 3))
		require.ErrorIs(t, commit(t.Context(), disk, 1, "ours"), storage.ErrTaken)
	})
}

// replaced is a log whose first answer is lost, as its owner stands still. Meanwhile another has taken
// it over, and has trimmed it.
type replaced struct {
	storage.Log
	disk *memlog.Disk
}

func (r replaced) Append(ctx context.Context, last uint64, data []byte) error {
	err := r.Log.Append(ctx, last, data)
	if err != nil {
		return err
	}
	other := r.disk.Open()
	if err := other.Append(ctx, last+1, []byte("other")); err != nil {
		return err
	}
	if err := other.Trim(ctx, last+2); err != nil {
		return err
	}
	return errors.New("no answer")
}

// What was appended, and has been deleted by a later owner, is not said to have been refused.
func TestCommitOfWhatALaterOwnerHasTrimmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := new(memlog.Disk)
		err := storage.Patience{}.Commit(t.Context(), replaced{disk.Open(), disk}, 0, []byte("ours"))
		require.ErrorIs(t, err, storage.ErrReplaced)
		require.NotErrorIs(t, err, storage.ErrTaken)
	})
}

// While the log does not answer, nothing is decided, until the context ends.
func TestCommitGivesUpOnlyWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := new(memlog.Disk)
		disk.SetFull(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		doubts := 0
		err := storage.Patience{Doubt: func(error) { doubts++ }}.Commit(ctx, disk.Open(), 0, []byte("a"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "no space left")
		require.False(t, errors.Is(err, storage.ErrTaken))
		require.Equal(t, time.Minute, time.Since(begun))
		require.Equal(t, 1, doubts)
	})
}

// silent is a log that does not answer.
type silent struct{ storage.Log }

func (silent) Append(ctx context.Context, _ uint64, _ []byte) error {
	<-ctx.Done()
	return ctx.Err()
}

func (silent) Get(ctx context.Context, _ uint64) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A doubt is no error of a context: that of the caller is fine.
func TestDoubtOfASilentLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var doubt error
		patience := storage.Patience{Doubt: func(err error) { doubt = err }}
		require.ErrorIs(t, patience.Commit(ctx, silent{}, 0, []byte("a")), context.DeadlineExceeded)
		require.EqualError(t, doubt, "no answer within 5s")
		require.NotErrorIs(t, doubt, context.DeadlineExceeded)
	})
}

func TestCommitOfTooMuch(t *testing.T) {
	log := new(memlog.Disk).Open()
	log.Max = 3
	require.ErrorIs(t, storage.Patience{}.Commit(t.Context(), log, 0, []byte("four")), storage.ErrTooLarge)
}

func TestMarksAreChecked(t *testing.T) {
	m := storage.Mark{Number: 1 << 50, Checksum: 99}
	b := m.Encode()
	there, ok := storage.DecodeMark(b)
	require.True(t, ok)
	require.Equal(t, m, there)
	for i := range b {
		b[i] ^= 1
		_, ok := storage.DecodeMark(b)
		require.False(t, ok, "byte %d", i)
		b[i] ^= 1
		_, ok = storage.DecodeMark(b[:i])
		require.False(t, ok)
	}
}

// A log may take less than it did when the message was sent first. If that may have been appended, nothing is known.
func TestCommitToALogThatTakesLess(t *testing.T) {
	for fault, known := range map[memlog.Fault]error{memlog.None: storage.ErrTooLarge, memlog.Forget: nil, memlog.Drop: errUnknown} {
		synctest.Test(t, func(t *testing.T) {
			log := new(memlog.Disk).Open()
			log.SetFault(func([]byte) memlog.Fault { return fault })
			sent := false
			log.Before = func(uint64) {
				if sent = !sent; !sent || fault == memlog.None {
					log.Max = 10
				}
			}
			err := storage.Patience{}.Commit(t.Context(), log, 0, make([]byte, 100))
			if known != errUnknown {
				require.ErrorIs(t, err, known)
				return
			}
			require.NotErrorIs(t, err, storage.ErrTooLarge)
			require.ErrorContains(t, err, "it may have been appended")
		})
	}
}

// blind is a log whose first Get fails. Meanwhile the log has come to take less.
type blind struct {
	*memlog.Log
	seen bool
}

func (b *blind) Get(ctx context.Context, number uint64) ([]byte, error) {
	if !b.seen {
		b.seen, b.Max = true, 10
		return nil, errors.New("no answer")
	}
	return b.Log.Get(ctx, number)
}

// What is refused may be the second copy. While nobody sees what is in the log, nothing is known.
func TestCommitOfTwoCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := new(memlog.Disk)
		log := disk.Open()
		log.SetFault(func([]byte) memlog.Fault { return memlog.Twice })
		require.NoError(t, storage.Patience{}.Commit(t.Context(), &blind{Log: log}, 0, make([]byte, 100)))
		require.Equal(t, 1, disk.Appends())
	})
}

var errUnknown = errors.New("unknown")
