package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is a flag value in bytes: 16G, 512MiB, 1.5T. As in fio, K, M, G and
// T are powers of 1024 whatever follows them; unlike there, a fraction is what
// it says, and a unit that nobody knows is an error.
type byteSize struct {
	bytes int64
	set   bool
}

func (s *byteSize) Type() string { return "SIZE" }

func (s *byteSize) String() string {
	if !s.set {
		return ""
	}
	return strconv.FormatInt(s.bytes, 10)
}

func (s *byteSize) Set(text string) error {
	n, err := parseSize(text)
	if err != nil {
		return err
	}
	s.bytes, s.set = n, true
	return nil
}

func parseSize(text string) (int64, error) {
	t := strings.ToLower(strings.TrimSpace(text))
	num := strings.TrimRight(t, "kmgtib")
	unit := t[len(num):]
	shift, ok := map[string]int{
		"": 0, "b": 0,
		"k": 10, "kb": 10, "ki": 10, "kib": 10,
		"m": 20, "mb": 20, "mi": 20, "mib": 20,
		"g": 30, "gb": 30, "gi": 30, "gib": 30,
		"t": 40, "tb": 40, "ti": 40, "tib": 40,
	}[unit]
	if !ok || num == "" || strings.Trim(num, "0123456789.") != "" {
		return 0, fmt.Errorf("%q is not a size such as 512M, 16G or 1.5T", text)
	}
	f, err := strconv.ParseFloat(num, 64)
	n := f * float64(int64(1)<<shift)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a size such as 512M, 16G or 1.5T", text)
	case n > math.MaxInt64/2:
		return 0, fmt.Errorf("%q is larger than any drive", text)
	case n < 1:
		return 0, fmt.Errorf("%q is not a size above zero", text)
	}
	return int64(n), nil
}
