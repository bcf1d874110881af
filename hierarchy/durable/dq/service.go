package dq

// Service is a Consumer together with its function, as a service.Service of go-zero.
type Service struct {
	consumer Consumer
	consume  Consume
}

// NewService returns a service that consumes a queue.
func NewService(c DqConf, consume Consume) *Service { return &Service{NewConsumer(c), consume} }

// Start consumes jobs. It returns after Stop.
func (s *Service) Start() { s.consumer.Consume(s.consume) }

// Stop ends Start, and waits for the calls of the function in progress.
func (s *Service) Stop() { s.consumer.Stop() }
