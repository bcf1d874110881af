package outbox_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
)

func TestMain(m *testing.M) {
	child.Main(workerVariable, work)
	code := m.Run()
	stopPostgres()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}
