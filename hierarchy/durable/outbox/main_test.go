package outbox_test

import (
	"os"
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

func TestMain(m *testing.M) {
	child.Main(workerVariable, work)
	code := m.Run()
	stopPostgres()
	os.Exit(leak.Check(code))
}
