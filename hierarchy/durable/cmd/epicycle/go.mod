module github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle

go 1.25.0

require github.com/stretchr/testify v1.12.1

require go.yaml.in/yaml/v3 v3.0.5 // indirect

replace github.com/epicycle-go/epicycle => ../../../..

replace github.com/epicycle-go/epicycle/hierarchy/durable => ../..
