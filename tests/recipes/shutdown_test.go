package recipes

import (
	"context"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// shutdown saves the mails that are not sent yet, and waits for those being sent.
func shutdown(ctx context.Context, outbox *hierarchy.Keyed[int, string], save func(id int, mail string)) error {
	outbox.Drain(save) // in order of deadline; drained mails are not sent
	return outbox.Shutdown(ctx)
}

func Example_gracefulShutdown() {
	outbox, err := hierarchy.NewKeyed(hierarchy.Config{}, func(id int, mail string) { fmt.Println("sent", id, mail) })
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = outbox.Set(1, "newsletter", 8*time.Hour)
	_ = outbox.Set(2, "reminder", time.Hour)

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = shutdown(ctx, outbox, func(id int, mail string) { fmt.Println("saved", id, mail) })
	fmt.Println(err)
	fmt.Println(outbox.Set(3, "too late", time.Hour))
	// Output:
	// saved 2 reminder
	// saved 1 newsletter
	// <nil>
	// hierarchy: the wheel is stopped
}
