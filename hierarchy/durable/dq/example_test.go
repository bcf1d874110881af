package dq_test

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/dq"
)

// The programs of go-queue's example/dq, with another configuration, and a tenth of a second instead of five.
func Example() {
	dir, err := os.MkdirTemp("", "dq")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	conf := dq.DqConf{Dir: dir}

	producer := dq.NewProducer(conf)
	defer producer.Close()
	for i := 1000; i < 1005; i++ {
		_, err := producer.Delay([]byte(strconv.Itoa(i)), time.Second/10)
		if err != nil {
			fmt.Println(err)
		}
	}

	var five sync.WaitGroup // go-queue's runs until it is killed
	five.Add(5)
	consumer := dq.NewConsumer(conf)
	go func() { five.Wait(); consumer.Stop() }()
	consumer.Consume(func(body []byte) {
		fmt.Println(string(body))
		five.Done()
	})
	// Unordered output:
	// 1000
	// 1001
	// 1002
	// 1003
	// 1004
}
