package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zeromicro/go-zero/core/conf"
	"github.com/zeromicro/go-zero/core/service"

	"github.com/epicycle-go/epicycle/hierarchy/durable/dq"
)

// go-zero's conf reads the configuration of our dq, as it does go-queue's, and a ServiceGroup starts and stops a consumer.
func TestDqInAServiceGroup(t *testing.T) {
	var c struct {
		service.ServiceConf
		Dq dq.DqConf
	}
	require.NoError(t, conf.LoadFromYamlBytes(fmt.Appendf(nil, "Name: orders\nDq:\n  Dir: %s\n  Concurrency: 2\n", t.TempDir()), &c))
	require.Equal(t, 2, c.Dq.Concurrency)
	got := make(chan string, 1)
	group := service.NewServiceGroup()
	group.Add(dq.NewService(c.Dq, func(body []byte) { got <- string(body) }))
	ended := make(chan bool)
	go func() { group.Start(); close(ended) }()
	producer := dq.NewProducer(c.Dq)
	_, err := producer.Delay([]byte("order"), 10*time.Millisecond)
	require.NoError(t, err)
	require.Equal(t, "order", <-got)
	require.NoError(t, producer.Close())
	group.Stop()
	<-ended
}
