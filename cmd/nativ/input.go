package main

import (
	"fmt"
	"io"
	"os"
)

// How much of a file is read. A record of a run of 24 hours is some 100 MiB; what
// people write by hand is small.
const (
	maxRecord = 1 << 30 // records, JSON of fio and its logs
	maxText   = 1 << 20 // job files and drive models
)

// openRegular opens a file that a user or the state directory names. It must be a
// regular one of at most limit bytes: a device may never end, and opening a pipe
// waits for whoever writes to it. Reading stops with an error at the limit, also
// in a file that grows or that says it has no size, as in /proc.
func openRegular(path string, limit int64) (io.ReadCloser, error) {
	check := func(fi os.FileInfo) error {
		switch {
		case fi.IsDir():
			return fmt.Errorf("%s is a directory, not a file", path)
		case !fi.Mode().IsRegular():
			return fmt.Errorf("%s is no regular file but a device, pipe or socket", path)
		case fi.Size() > limit:
			return tooLarge(path, limit)
		}
		return nil
	}
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := check(fi); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if fi, err = f.Stat(); err == nil {
		err = check(fi) // of the file that was opened
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{limited(f, path, limit), f}, nil
}

// readRegular reads such a file.
func readRegular(path string, limit int64) ([]byte, error) {
	f, err := openRegular(path, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// limited is r, and an error that names it where it has more than limit bytes.
func limited(r io.Reader, name string, limit int64) io.Reader {
	return &limitedReader{r: r, name: name, limit: limit, left: limit}
}

type limitedReader struct {
	r           io.Reader
	name        string
	limit, left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1] // one more tells a file at the limit from one above it
	}
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, tooLarge(l.name, l.limit)
	}
	return n, err
}

func tooLarge(name string, limit int64) error {
	return &tooLargeError{name, limit}
}

// A tooLargeError says that a file has more than is read of its kind.
type tooLargeError struct {
	name  string
	limit int64
}

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("%s is larger than %d MiB, the limit for such a file", e.name, e.limit>>20)
}
