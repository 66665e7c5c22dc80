package fio

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/record"
)

// traceFile is what fio writes a trace to.
const traceFile = "trace"

// traceChunk is the number of I/Os of one EventTrace; a line of the protocol
// has room for some more.
const traceChunk = 2000

// parseTrace reads what fio's write_iolog wrote for one job (version 3 of the
// format, fio 3.26 and newer): a time in microseconds, a file and what was done
// with it. files are their names, in the order of the phase's list; opened is
// when the job opened the first of them, CLOCK_MONOTONIC in nanoseconds.
func parseTrace(r io.Reader, files []string, opened int64) ([]record.TraceIO, error) {
	var ios []record.TraceIO
	var zero int64 = -1 // the time of the first open
	s := bufio.NewScanner(r)
	for n := 1; s.Scan(); n++ {
		bad := func(why string) error { return fmt.Errorf("read fio's trace: line %d %.60q: %s", n, s.Text(), why) }
		if strings.HasPrefix(s.Text(), "fio version ") {
			if n > 1 || s.Text() != "fio version 3 iolog" {
				return nil, bad("only one job's trace in version 3 can be read")
			}
			continue
		}
		f := strings.Fields(s.Text())
		if n == 1 || len(f) != 3 && len(f) != 5 {
			return nil, bad("this is no line of a trace")
		}
		us, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil || us < 0 || us > 1<<50 {
			return nil, bad("the time is no number of microseconds")
		}
		if len(f) == 3 {
			if f[2] == "open" && zero < 0 {
				zero = us
			}
			continue
		}
		t := record.TraceIO{MonoNS: opened + (us-max(zero, 0))*1000, File: slices.Index(files, f[1])}
		if t.File < 0 {
			return nil, bad("the phase has no such file")
		}
		var err1, err2 error
		t.Offset, err1 = strconv.ParseInt(f[3], 10, 64)
		t.Len, err2 = strconv.ParseInt(f[4], 10, 64)
		if err1 != nil || err2 != nil || t.Offset < 0 || t.Len < 0 {
			return nil, bad("offset and length are no numbers")
		}
		switch t.Op = f[2]; t.Op {
		case "read", "write":
		case "sync":
			t.Op, t.Offset, t.Len = "fsync", 0, 0
		case "datasync":
			t.Op, t.Offset, t.Len = "fdatasync", 0, 0
		case "wait":
			continue
		default:
			return nil, bad("the action is none of read, write, sync and datasync")
		}
		ios = append(ios, t)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("read fio's trace: %w", err)
	}
	return ios, nil
}
