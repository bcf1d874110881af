module github.com/epicycle-go/epicycle/hierarchy/durable

go 1.25.0

require go.yaml.in/yaml/v3 v3.0.5 // indirect

replace github.com/epicycle-go/epicycle => ../..

require github.com/stretchr/testify v1.12.1
