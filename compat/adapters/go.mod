module github.com/epicycle-go/epicycle/compat/adapters

go 1.26.0

require (
	github.com/epicycle-go/epicycle v0.0.0
	github.com/go-co-op/gocron/v2 v2.21.2
	github.com/jonboulle/clockwork v0.5.0
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	k8s.io/client-go v0.34.3
	k8s.io/utils v0.0.0-20260319190234-28399d86e0b5
)

require (
	github.com/benbjohnson/clock v1.3.5 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/robfig/cron/v3 v3.0.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	k8s.io/apimachinery v0.34.3 // indirect
	k8s.io/klog/v2 v2.130.1 // indirect
)

replace github.com/epicycle-go/epicycle => ../..
