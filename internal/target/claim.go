package target

import "fmt"

// A Claim is leave to do I/O on one open file: on one that nativ made, or only
// to read on one that was there before. Only this package makes one, after its
// checks; an engine takes nothing else.
//
// The descriptor is a plain number without a finalizer: an engine keeps using
// it when it no longer touches the Claim, and a descriptor that the garbage
// collector closes under it would end up as another file's. Close it.
type Claim struct {
	fd        int
	size      int64
	writable  bool
	memAlign  int64
	offAlign  int64
	described string // for errors
}

// Fd is the open file descriptor, valid until Close.
func (c *Claim) Fd() int { return c.fd }

// Size is the length of the file in bytes.
func (c *Claim) Size() int64 { return c.size }

// Writable reports whether the claim allows writing.
func (c *Claim) Writable() bool { return c.writable }

// MemAlign is the alignment in bytes that buffers need for direct I/O; 1 where
// the claim is not a direct one.
func (c *Claim) MemAlign() int64 { return c.memAlign }

// OffsetAlign is the alignment in bytes that offsets and lengths need for
// direct I/O; 1 where the claim is not a direct one.
func (c *Claim) OffsetAlign() int64 { return c.offAlign }

// A Mismatch says that a file is not the one that its ticket names.
type Mismatch struct {
	Path string
	// What differs: "kind", "name", "device", "inode", "size" or "links".
	What      string
	Got, Want string
	// Foreign is that of the ticket.
	Foreign bool
}

func (e *Mismatch) Error() string {
	if e.Foreign {
		return fmt.Sprintf("reopen %s: it is not the file that it was when the run began: %s is %s, must be %s; start again when nobody changes it",
			e.Path, e.What, e.Got, e.Want)
	}
	return fmt.Sprintf("reopen %s: it is not the file that nativ made: %s is %s, must be %s; start the run again in a directory that nobody else changes",
		e.Path, e.What, e.Got, e.Want)
}
