package fio

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/record"
)

// What fio says of an I/O that failed, in one line each (io_u.c, td_error.h):
//
//	fio: io_u error on file NAME: REASON: read offset=4096, buflen=4096
//	fio: pid=123, err=5/file:io_u.c:1845, func=io_u error, error=REASON
var (
	ioError  = regexp.MustCompile(`^fio: io_u error on file .*: (.*): (\w+) offset=(\d+), buflen=\d+$`)
	jobError = regexp.MustCompile(`^fio: pid=\d+, (?:got signal=\d+|err=(\d+)/file:[^,]*, func=([^,]*), error=(.*))$`)
)

// ioErrors takes the failed I/Os out of fio's messages, one kind an element. A
// job of fio ends at its first, so that these are one a job at most.
func ioErrors(text []string) []record.IOError {
	numbers := map[string]string{} // reason: errno
	for _, l := range text {
		if m := jobError.FindStringSubmatch(l); m != nil && m[1] != "" {
			n, _ := strconv.Atoi(m[1])
			numbers[m[3]] = errnoName(n)
		}
	}
	var all []record.IOError
	for _, l := range text {
		m := ioError.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		e := record.IOError{Op: operation(m[2]), Errno: numbers[m[1]], Count: 1}
		if e.Errno == "" {
			e.Errno = m[1]
		}
		e.Offset, _ = strconv.ParseInt(m[3], 10, 64)
		if i := slices.IndexFunc(all, func(o record.IOError) bool { return o.Op == e.Op && o.Errno == e.Errno }); i >= 0 {
			all[i].Count++
			all[i].Offset = min(all[i].Offset, e.Offset) // fio's lines are in no order
			continue
		}
		all = append(all, e)
	}
	return all
}

// operation is fio's name of a direction as a record has it.
func operation(s string) string {
	switch s {
	case "read", "write", "sync", "datasync":
		return strings.Replace(s, "datasync", "fdatasync", 1)
	}
	return s
}

// reason is what fio says is wrong, for an error: its own messages first,
// without those on what it does.
func reason(text []string) string {
	var said []string
	for _, l := range text {
		if strings.HasPrefix(l, "fio: terminating on signal") {
			continue
		}
		if strings.HasPrefix(l, "fio:") && len(said) < 4 {
			said = append(said, strings.TrimSpace(strings.TrimPrefix(l, "fio:")))
		}
	}
	if said == nil {
		said = text[:min(len(text), 4)]
	}
	return strings.Join(said, "; ")
}
