package target

import (
	"strings"

	"nativ/internal/journal"
)

// A File is a file that a run works on. One that Create made is named by 128
// random bits and removed only while it is still the same file. One from
// OpenExisting belongs to somebody else: it is only read, and Remove does
// nothing to it.
type File struct {
	dirFd int // the directory, O_PATH; the file is created and removed by it
	fd    int // keeps the inode from being given to another file
	path  string
	nonce string
	size  int64
	major uint32
	minor uint32
	ino   uint64
	mem   int64
	off   int64
	item  *journal.Item
	gone  bool
	// foreign is true for a file from OpenExisting; sparse, where it is known
	// to have holes.
	foreign, sparse bool
	// inPlace is set where it is to be, and then is, one that btrfs overwrites in
	// place.
	inPlace bool
	// device is set where it is no file but a block device; it is foreign then.
	device *DeviceTicket
}

// Path is the absolute path of the file on the host.
func (f *File) Path() string { return f.path }

// Foreign reports whether the file belongs to somebody else and may only be
// read.
func (f *File) Foreign() bool { return f.foreign }

// Device reports whether it is a block device and not a file.
func (f *File) Device() bool { return f.device != nil }

// CanDirect reports whether direct I/O works on the file. Only on a foreign one
// it may not.
func (f *File) CanDirect() bool { return f.mem > 0 }

// Ticket names the file for a place that sees it at path. A ticket without
// write lets the place only read. That of a foreign file is never honoured with
// write.
func (f *File) Ticket(path string, write, direct bool) Ticket {
	return Ticket{
		Path: path, DevMajor: f.major, DevMinor: f.minor, Ino: f.ino,
		Size: f.size, Nonce: f.nonce, Foreign: f.foreign, Write: write, Direct: direct,
		Device: f.device,
	}
}

const (
	filePrefix = "nativ-"
	fileSuffix = ".dat"
	nonceLen   = 32 // 128 bits in hexadecimal
)

// fileName is the name of the test file with the nonce.
func fileName(nonce string) string { return filePrefix + nonce + fileSuffix }

// isFileName reports whether only nativ would name a file so.
func isFileName(name string) bool {
	n, ok := strings.CutPrefix(name, filePrefix)
	n, ok2 := strings.CutSuffix(n, fileSuffix)
	return ok && ok2 && isNonce(n)
}

func isNonce(s string) bool {
	return len(s) == nonceLen && strings.Trim(s, "0123456789abcdef") == ""
}
