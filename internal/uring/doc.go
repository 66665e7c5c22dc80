// Package uring is the io_uring engine: it does the I/O of a pass with one OS
// thread and one ring a job, and measures lat, the time from submission to
// reaping: submission and wait are one call, so that there is no slat.
//
// The loop of a job blocks in a raw system call, of which Go's scheduler does
// not learn. That is cheaper than a plain one, and safe under three conditions
// that the package keeps or checks: GOMAXPROCS leaves processors to the rest
// of the program, every return from the kernel is followed by a call that
// checks the stack (where the runtime can stop the thread), and no wait is
// longer than a tenth of a second. Without them a stalled device froze the
// whole process for up to 20 s, deadline included.
package uring
