package service

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// Entry is a timer of a service as it is at the moment.
type Entry = durable.Entry[string, task.Task]
