module github.com/epicycle-go/epicycle/tests/peers

go 1.25

require (
	github.com/epicycle-go/epicycle v0.0.0
	github.com/panjf2000/ants/v2 v2.12.1
	github.com/robfig/cron/v3 v3.0.1
	github.com/sourcegraph/conc v0.3.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/benbjohnson/clock v1.3.5 // indirect
	go.uber.org/atomic v1.7.0 // indirect
	go.uber.org/multierr v1.9.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.11.0 // indirect
)

replace github.com/epicycle-go/epicycle => ../..
