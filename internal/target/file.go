package target

import (
	"strings"

	"nativ/internal/journal"
)

// A File is the test file of a run: made by nativ, named by 128 random bits,
// and removed only while it is still the same file.
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
}

// Path is the absolute path of the file on the host.
func (f *File) Path() string { return f.path }

// Ticket names the file for a place that sees it at path. A ticket without
// write lets the place only read.
func (f *File) Ticket(path string, write, direct bool) Ticket {
	return Ticket{
		Path: path, DevMajor: f.major, DevMinor: f.minor, Ino: f.ino,
		Size: f.size, Nonce: f.nonce, Write: write, Direct: direct,
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
