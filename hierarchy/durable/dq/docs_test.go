package dq_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/dq"
)

// What docs/migrating-from-go-zero.md shows and says.
func TestPage(t *testing.T) {
	conf, mock := onMock(t)
	cancelled := make(chan string)
	cancelIfUnpaid := into(t, cancelled)
	order := func(conf dq.DqConf) error {
		producer := dq.NewProducer(conf)
		defer producer.Close()
		id, err := producer.Delay([]byte("order 17"), 30*time.Minute)
		if err != nil {
			return err
		}
		// It is paid.
		return producer.Revoke(id)
	}
	require.NoError(t, order(conf))

	service := dq.NewService(conf, func(body []byte) {
		cancelIfUnpaid(body) // it may be called again with the same body: after a crash, or if it panics
	})
	ended := make(chan bool)
	go func() { service.Start(); close(ended) }()
	defer func() { service.Stop(); <-ended }()
	put(t, producer(t, conf), "order 18", time.Minute)
	mock.Add(time.Hour)
	require.Equal(t, "order 18", <-cancelled)
}
