// Package pass runs a pass: it knows where the I/Os of a job go and when, what
// they write, what was measured and when it ends. How an I/O reaches the kernel
// is the ioengine's part; see Driver.
//
// Nothing that is called once an I/O allocates or waits for another thread.
package pass
