package partition

import (
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// A call waits for the log since the frame was sent that was in doubt when the call was queued, also if the frames between
// that and its own are answered at once.

// doubts are the frames that were in doubt, in order, as long as calls wait that were queued by the end of the doubt.
type doubts []doubt

type doubt struct {
	sent time.Time // when the frame was sent
	puts uint64    // how many items were put in the queue by the end of the doubt
}

// since returns the time since which the calls of a frame have waited that is sent now.
func (d doubts) since() time.Time {
	if len(d) > 0 {
		return d[0].sent
	}
	return time.Now()
}

// answers is called when the outcome of a frame is known, or nothing had to be written.
func (w *writer) answers(err error) {
	if len(w.doubts) == 0 { // as nearly always
		return
	}
	puts, waiting, givenUp := w.queue.waiting()
	if errors.Is(err, storage.ErrTooLarge) && !givenUp { // its calls wait for another frame
		return
	}
	for len(w.doubts) > 0 && puts-waiting >= w.doubts[0].puts {
		w.doubts = w.doubts[1:]
	}
}

// answersLate is answers for a frame that was in doubt.
func (w *writer) answersLate(sent time.Time, err error) {
	puts, _, _ := w.queue.waiting()
	w.doubts = append(w.doubts, doubt{sent, puts})
	w.answers(err)
}
