package fiojson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"nativ/internal/record"
)

// Options are options of fio as it wrote them: canonical names, raw values, in
// order, and the same name more than once where fio was given lists.
type Options []record.Option

// UnmarshalJSON reads an object, keeping order and repeated names, which a map
// would lose. Values that are no strings are kept as they are spelt.
func (o *Options) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	t, err := dec.Token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return fmt.Errorf("options are no object but %v", t)
	}
	*o = Options{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		var value string
		if json.Unmarshal(raw, &value) != nil {
			value = string(raw)
		}
		*o = append(*o, record.Option{Name: name.(string), Value: value})
	}
	return nil
}

// Get returns the value of an option; the last one where there are several, as
// in fio.
func (o Options) Get(name string) (string, bool) {
	for _, opt := range slices.Backward(o) {
		if opt.Name == name {
			return opt.Value, true
		}
	}
	return "", false
}

// Option returns the value of an option for a job: its own, else the global
// one of its host.
func (r *Result) Option(j *Job, name string) (string, bool) {
	if v, ok := j.Options.Get(name); ok {
		return v, true
	}
	return r.global(j.Host).Get(name)
}

func (r *Result) global(host string) Options {
	for _, g := range r.Global {
		if g.Host == host || g.Host == "" {
			return g.Options
		}
	}
	return nil
}

// OptionsKnown reports whether the file holds options of the job at all, so
// that an option that is missing has fio's default.
//
// A section without options of its own leaves only the global ones; a file
// without either may be one of a fio that wrote none.
func (r *Result) OptionsKnown(j *Job) bool { return j.Options != nil || r.global(j.Host) != nil }

// number is an option that is a plain number, or def where it is not set.
func (r *Result) number(j *Job, name string, def int64) (n int64, ok bool) {
	v, set := r.Option(j, name)
	switch {
	case set:
		n, err := strconv.ParseInt(v, 0, 64)
		return n, err == nil
	case r.OptionsKnown(j):
		return def, true
	}
	return 0, false
}

// flag is an option that is 0 or 1. A flag without value is written as "" from
// fio 3.42 on and left out before, so that false may mean either.
func (r *Result) flag(j *Job, name string) bool {
	v, set := r.Option(j, name)
	return set && v != "0"
}

// bytes is an option in bytes; false where it is not set or not one number.
func (r *Result) bytes(j *Job, name string) (int64, bool) {
	v, set := r.Option(j, name)
	if !set {
		return 0, false
	}
	base, _ := r.number(j, "kb_base", 1024)
	return parseBytes(v, base)
}

// parseBytes reads a size as fio does. With kb_base 1024 the units k, kb and ki
// are powers of 1024 and kib is 1000; with 1000 it is the other way round. A
// fraction is cut off with its unit, which fio does, too: 1.5m is one byte.
func parseBytes(s string, base int64) (int64, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if strings.HasPrefix(s, "0x") {
		n, err := strconv.ParseInt(s, 0, 64)
		return n, err == nil && n >= 0
	}
	end := len(s)
	if i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		end = i
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	if err != nil {
		return 0, false
	}
	unit := s[end:]
	if strings.HasPrefix(unit, ".") {
		return n, true
	}
	if unit == "" || unit == "b" {
		return n, true
	}
	power := strings.IndexByte("kmgtp", unit[0]) + 1
	mult := int64(1024)
	switch rest := unit[1:]; {
	case power == 0:
		return 0, false
	case rest == "ib":
		if base == 1024 {
			mult = 1000
		}
	case rest == "" || rest == "b" || rest == "i":
		if base == 1000 {
			mult = 1000
		}
	default:
		return 0, false
	}
	for range power {
		if n > math.MaxInt64/mult {
			return 0, false
		}
		n *= mult
	}
	return n, true
}

// parseTime reads a time as fio does, into nanoseconds: seconds where there is
// no unit, and a fraction is cut off.
func parseTime(s string) (int64, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	end := len(s)
	if i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		end = i
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	if err != nil {
		return 0, false
	}
	unit := s[end:]
	if strings.HasPrefix(unit, ".") {
		unit = strings.TrimLeft(unit[1:], "0123456789")
	}
	ns := map[string]int64{
		"": 1e9, "s": 1e9, "m": 60e9, "h": 3600e9, "d": 86400e9,
		"ms": 1e6, "msec": 1e6, "us": 1e3, "usec": 1e3,
	}[unit]
	v := new(big.Int).Mul(big.NewInt(n), big.NewInt(ns))
	if ns == 0 || !v.IsInt64() {
		return 0, false
	}
	return v.Int64(), true
}
