package worker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"nativ/internal/record"
)

// maxLine bounds one line of the protocol in bytes. The longest are a result
// with slat and clat, seven histograms of record.Buckets counts at 20 digits,
// and a chunk of a trace; both are below 600 kB.
const maxLine = 1 << 20

// errTooLong says that a line went on beyond maxLine.
var errTooLong = fmt.Errorf("line longer than %d bytes", maxLine)

// newScanner reads lines of at most maxLine bytes.
func newScanner(r io.Reader) *bufio.Scanner {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), maxLine)
	return sc
}

// scanError is the error of a scanner that stopped; io.EOF at a clean end.
func scanError(sc *bufio.Scanner) error {
	switch err := sc.Err(); {
	case err == nil:
		return io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		return errTooLong
	default:
		return err
	}
}

// decode reads exactly one JSON value from a line. Fields that it does not know
// are an error: both sides are the same binary.
func decode(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the value")
	}
	return nil
}

// parseRequest reads the first line on the worker's stdin.
func parseRequest(line []byte) (Request, error) {
	// The version first, by itself: another version may have other fields.
	var v struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(line, &v); err != nil {
		return Request{}, fmt.Errorf("read request: %w", err)
	}
	if v.Version != ProtocolVersion {
		return Request{}, fmt.Errorf("read request: protocol version %d, but this nativ speaks %d; both sides must be the same binary", v.Version, ProtocolVersion)
	}
	var r Request
	if err := decode(line, &r); err != nil {
		return Request{}, fmt.Errorf("read request: %w", err)
	}
	switch {
	case r.Engine == "":
		return Request{}, errors.New("read request: no engine")
	case r.GOMAXPROCS < 1:
		return Request{}, fmt.Errorf("read request: gomaxprocs=%d is not positive", r.GOMAXPROCS)
	case r.DeadlineNS <= 0:
		return Request{}, fmt.Errorf("read request: deadline_ns=%d is not positive", r.DeadlineNS)
	}
	if err := r.Phase.Validate(); err != nil {
		return Request{}, fmt.Errorf("read request: %w", err)
	}
	return r, nil
}

// parseEvent reads one line of the worker's stdout.
func parseEvent(line []byte) (record.Event, error) {
	var e record.Event
	if err := decode(line, &e); err != nil {
		return e, fmt.Errorf("read event: %w", err)
	}
	want := map[string][5]bool{
		record.EventReady:    {0: true},
		record.EventStarted:  {},
		record.EventInterval: {1: true},
		record.EventTrace:    {4: true},
		record.EventEnded:    {},
		record.EventClone:    {2: true},
		record.EventResult:   {2: true},
		record.EventError:    {3: true},
	}
	has, ok := want[e.Type]
	if !ok {
		return e, fmt.Errorf("read event: unknown type %q", e.Type)
	}
	if has != [5]bool{e.Worker != nil, e.Interval != nil, e.Outcome != nil, e.Error != nil, e.Trace != nil} {
		return e, fmt.Errorf("read event: %q does not carry what it must", e.Type)
	}
	if e.Type == record.EventReady && e.Version != ProtocolVersion {
		return e, fmt.Errorf("read event: protocol version %d, but this nativ speaks %d", e.Version, ProtocolVersion)
	}
	return e, nil
}
