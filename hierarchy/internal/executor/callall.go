package executor

// CallAll calls next until it returns false. If a call panics or exits the goroutine, the other calls are made in
// another goroutine before the panic or the exit continues.
func CallAll(next func() bool) {
	finished := false
	defer func() {
		if !finished {
			CallAllElsewhere(next)
		}
	}()
	for next() {
	}
	finished = true
}

// CallAllElsewhere calls next until it returns false, in another goroutine, and in a new one
// after each exit. It returns after the last call. A panic ends the process.
func CallAllElsewhere(next func() bool) {
	for finished := false; !finished; {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			forgetLabels()
			for next() {
			}
			finished = true
		}()
		<-ended
	}
}
