package partition

// seeJumps has f called when the wall clock of a mock is set. On other clocks the alarm looks at the
// wall clock now and then.
func (p *Partition) seeJumps(f func()) {
	if alarm, ok := p.alarm.(interface{ OnJump(func()) }); ok {
		alarm.OnJump(f)
	}
}

// fireInline is what the alarm of a mock clock does: one attempt after the other, and the next one
// when the result of the last is in the log. The mock then moves on.
func (p *Partition) fireInline() {
	if p.doubt.Load() { // the mock must not move on only because an answer takes its time
		done := make(chan bool, 1)
		_ = p.queue.put(item{kind: barrier, done: done})
		<-done
	}
	for {
		p.mu.Lock()
		if !p.mayFire() || !p.anyDue() {
			p.aim()
			p.mu.Unlock()
			return
		}
		j := p.next()
		p.mu.Unlock()
		p.inline(j)
	}
}

func (p *Partition) inline(j job) {
	if j.suspect {
		j.attempt |= mustBeWritten
	}
	if j.attempt&mustBeWritten != 0 {
		j.attempt &^= mustBeWritten
		p.mu.Lock()
		if !p.state.Held(j.ref, j.id) {
			p.mu.Unlock()
			return
		}
		j.key = []byte(p.state.Timer(j.ref).Key)
		p.mu.Unlock()
		done := make(chan bool, 1)
		_ = p.queue.put(item{kind: begun, job: j, done: done})
		if !<-done {
			return
		}
	}
	p.mu.Lock()
	if p.firing.stopped || !p.state.Held(j.ref, j.id) {
		p.mu.Unlock()
		return
	}
	p.firing.active++
	a := p.started(j)
	p.mu.Unlock()
	done := make(chan bool, 1)
	go p.runMarked(a, done) // in its own goroutine, which the handler may exit
	<-done
}

// runMarked is run, as a callback of the mock, which must not be moved inside.
func (p *Partition) runMarked(a *attempt, done chan bool) {
	err := errGone
	defer func() { p.attemptEnded(a, err, done) }()
	err = errExit
	if alarm, ok := p.alarm.(interface{ Run(func()) }); ok {
		alarm.Run(func() { err = p.handle(a) })
	} else {
		err = p.handle(a)
	}
}
