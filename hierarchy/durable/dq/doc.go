// Package dq has the producers and consumers of go-queue's package dq, on durable timers instead of beanstalkd and
// Redis. Change the import path and the configuration:
//
//	conf := dq.DqConf{Dir: "/var/lib/orders/jobs"} // or NATS: "nats://nats1:4222,nats://nats2:4222"
//	producer := dq.NewProducer(conf)
//	id, err := producer.Delay([]byte("order 17"), 30*time.Minute)
//	…
//	dq.NewConsumer(conf).Consume(func(body []byte) { … })
//
// A job that was acknowledged is on the disk. It is consumed at least once, however late. After a crash, or when the
// function of its consumer panics, it is consumed again. So that function should do no harm when it runs twice.
//
// With Dir the producers and consumers of a queue are in one process, and share its files. With Conn or NATS they can
// be in any number of processes.
package dq
