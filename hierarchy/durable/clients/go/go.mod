module github.com/epicycle-go/epicycle/hierarchy/durable/clients/go

go 1.26.0
