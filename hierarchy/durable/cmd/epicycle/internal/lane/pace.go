package lane

import "time"

// pace limits how many calls to hosts that do not answer begin at once. Each costs the processor time of a connection, some
// 200 µs: thousands of them at once would delay all other calls. After paceBurst calls, one begins every paceEvery. A busy
// machine begins fewer, since the alarm for the next ones rings later, and no more than paceBurst begin then.
type pace struct {
	next time.Time // when the next call would begin if each began paceEvery after the one before
}

const (
	paceEvery = 250 * time.Microsecond
	paceBurst = 16
)

// ahead returns how long the next call has to wait. If it is not positive, the call may begin.
func (p *pace) ahead(now time.Time) time.Duration {
	return p.next.Sub(now.Add((paceBurst - 1) * paceEvery))
}

// begun counts a call.
func (p *pace) begun(now time.Time) {
	if p.next.Before(now) {
		p.next = now
	}
	p.next = p.next.Add(paceEvery)
}
