// Package worker is the process seam: it runs one pass in another process,
// which may sit in a container, and carries job and result across as JSON.
//
// The parent writes a Request and then a Go, one line of JSON each, on the
// worker's stdin; the worker answers with one record.Event a line on stdout:
// ready, started, interval..., ended, clone..., result; or error at any point. The
// worker ends when stdin reaches its end and at the request's deadline, because
// killing the process that attached it to a container does not kill it.
package worker

import (
	"nativ/internal/job"
	"nativ/internal/target"
)

// ProtocolVersion is the version of the lines on stdin and stdout. Both sides
// are the same binary, so that a difference is an error and never negotiated.
const ProtocolVersion = 3

// A Request is the first line on the worker's stdin.
type Request struct {
	Version int       `json:"version"`
	Engine  string    `json:"engine"`
	Phase   job.Phase `json:"phase"`
	// Tickets name the files of the phase, in the order of fio's filename list.
	Tickets []target.Ticket `json:"tickets"`
	// GOMAXPROCS is set before anything starts. It is equal in every place:
	// the default follows the cpuset, and so made a difference of two orders
	// of magnitude in p99 between a host and a container.
	GOMAXPROCS int `json:"gomaxprocs"`
	// DeadlineNS bounds the life of the worker, in nanoseconds from its start.
	DeadlineNS int64 `json:"deadline_ns"`
}

// A Go is the second line: start now.
type Go struct {
	Go bool `json:"go"`
}
