module github.com/epicycle-go/epicycle/tests/peers

go 1.25.0

require (
	github.com/epicycle-go/epicycle v0.0.0
	github.com/panjf2000/ants/v2 v2.12.1
	github.com/robfig/cron/v3 v3.0.1
	github.com/sourcegraph/conc v0.3.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/sys v0.47.0
	gonum.org/v1/plot v0.17.0
)

require (
	codeberg.org/go-fonts/liberation v0.5.0 // indirect
	codeberg.org/go-latex/latex v0.2.0 // indirect
	codeberg.org/go-pdf/fpdf v0.11.1 // indirect
	git.sr.ht/~sbinet/gg v0.7.0 // indirect
	github.com/ajstarks/svgo v0.0.0-20211024235047-1546f124cd8b // indirect
	github.com/benbjohnson/clock v1.3.5 // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/zeromicro/go-zero v1.10.3 // indirect
	go.uber.org/atomic v1.11.0 // indirect
	go.uber.org/multierr v1.9.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/image v0.30.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/text v0.34.0 // indirect
)

replace github.com/epicycle-go/epicycle => ../..
