package tests

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

func Example_readme() {
	if err := first(); err != nil {
		fmt.Println(err)
	}
	// Output: in time
}

func first() error {
	w, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		return err
	}
	defer w.Stop()

	timer, err := w.AfterFunc(1700*time.Millisecond, func() { fmt.Println("late") })
	if err != nil {
		return err
	}
	if timer.Stop() {
		fmt.Println("in time")
	}
	return nil
}
