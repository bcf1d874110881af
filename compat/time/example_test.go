package time_test

import (
	"fmt"

	"github.com/epicycle-go/epicycle/compat/time"
)

// Only the import is another one.
func ExampleAfterFunc() {
	done := make(chan bool)
	timer := time.AfterFunc(time.Hour, func() { fmt.Println("never printed") })
	time.AfterFunc(time.Millisecond, func() { close(done) })
	<-done
	fmt.Println(timer.Stop(), timer.Stop())
	// Output: true false
}

// A channel is the runtime's, and so is what it sends.
func ExampleNewTimer() {
	begun := time.Now()
	timer := time.NewTimer(time.Millisecond)
	due := <-timer.C
	fmt.Println(due.Sub(begun) >= time.Millisecond)
	// Output: true
}
