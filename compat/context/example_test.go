package context_test

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/compat/context"
)

// Only the import is another one. The context and those below it are those of package context to everybody.
func ExampleWithTimeout() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	child, cancelChild := context.WithCancel(ctx)
	defer cancelChild()
	<-child.Done()
	fmt.Println(child.Err())
	// Output: context deadline exceeded
}
