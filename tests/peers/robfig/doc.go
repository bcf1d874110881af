// Package robfig compares package compat/cron with github.com/robfig/cron/v3: the exported names, the times of schedules,
// and the cost of many entries. It runs robfig/cron's own tests on compat/cron.
package robfig
