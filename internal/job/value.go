package job

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// A number in a job file is read twice: as fio 3.33 reads it, and as people
// write numbers. Where both agree, all is well. Where they differ, fio's way is
// what nobody means, and the error can say exactly what it is. The tests hold
// fio's reading against fio itself.

// A reading is a number as fio understands it. It wraps around where fio does.
type reading struct {
	n       uint64
	percent bool // n is a percentage
	ok      bool // fio takes it
}

// fioNumber is fio's reading of the digits at the start of s, and the rest from
// the first character that is no digit, whatever base the digits are in.
func fioNumber(s string) (n uint64, rest string, ok bool) {
	t := strings.TrimLeft(s, " \t\n\v\f\r")
	neg := strings.HasPrefix(t, "-")
	if neg || strings.HasPrefix(t, "+") {
		t = t[1:]
	}
	base, digits := 10, "0123456789"
	if strings.Contains(strings.ToLower(s), "0x") {
		base, digits = 16, "0123456789abcdefABCDEF" // even in 100x
		if len(t) > 2 && strings.EqualFold(t[:2], "0x") && strings.Contains(digits, t[2:3]) {
			t = t[2:]
		}
	}
	t = t[:len(t)-len(strings.TrimLeft(t, digits))]
	v, err := strconv.ParseInt(t, base, 64)
	if err != nil {
		return 0, "", false // no digit, or too many
	}
	// A sign counts as a digit before the first digit, a blank does not.
	rest = strings.TrimLeft(strings.TrimLeft(s, "+-"), "0123456789")
	if neg {
		v = -v
	}
	return uint64(v), rest, true
}

func isAlpha(s string) bool {
	return s != "" && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
}

// The suffixes of sizes in the order in which fio tries them as prefixes of
// what follows the number, at kb_base=1024. That kib is 1000 there and 1024 at
// kb_base=1000 is fio's way to be compatible with itself.
var fioSuffixes = []struct {
	prefix string
	mult   uint64
}{
	{"pib", 1e15}, {"tib", 1e12}, {"gib", 1e9}, {"mib", 1e6}, {"kib", 1e3},
	{"p", 1 << 50}, {"t", 1 << 40}, {"g", 1 << 30}, {"m", 1 << 20}, {"k", 1 << 10},
}

// fioSize is fio's reading of a size or a plain integer.
func fioSize(s string) reading {
	n, rest, ok := fioNumber(s)
	if !ok {
		return reading{}
	}
	if strings.HasPrefix(rest, "%") {
		if int64(n) >= 0 && n <= 100 {
			return reading{n: n, percent: true, ok: true}
		}
		return reading{n: ^uint64(0) - n, ok: true}
	}
	rest = strings.ToLower(rest)
	for _, x := range fioSuffixes {
		if strings.HasPrefix(rest, x.prefix) {
			return reading{n: n * x.mult, ok: true}
		}
	}
	return reading{n: n, ok: true}
}

// fioTime is fio's reading of a time, in microseconds. A number without a unit
// counts bare microseconds.
func fioTime(s string, bare uint64) reading {
	n, rest, ok := fioNumber(s)
	if !ok {
		return reading{}
	}
	mult := uint64(1)
	switch rest = strings.ToLower(rest); {
	case !isAlpha(rest):
		mult = bare
	case strings.HasPrefix(rest, "us"):
	case strings.HasPrefix(rest, "ms"):
		mult = 1e3
	case rest == "s":
		mult = 1e6
	case rest == "m":
		mult = 60e6
	case rest == "h":
		mult = 3600e6
	case rest == "d":
		mult = 24 * 3600e6
	}
	return reading{n: n * mult, ok: true}
}

// sizeUnits and timeUnits are what people mean by a unit, in bytes and in
// microseconds.
var (
	sizeUnits = map[string]int64{
		"": 1, "b": 1, "byte": 1, "bytes": 1,
		"k": 1 << 10, "kb": 1 << 10, "ki": 1 << 10, "kib": 1 << 10,
		"m": 1 << 20, "mb": 1 << 20, "mi": 1 << 20, "mib": 1 << 20,
		"g": 1 << 30, "gb": 1 << 30, "gi": 1 << 30, "gib": 1 << 30,
		"t": 1 << 40, "tb": 1 << 40, "ti": 1 << 40, "tib": 1 << 40,
		"p": 1 << 50, "pb": 1 << 50, "pi": 1 << 50, "pib": 1 << 50,
		"e": 1 << 60, "eb": 1 << 60, "ei": 1 << 60, "eib": 1 << 60,
	}
	timeUnits = map[string]int64{
		"u": 1, "us": 1, "usec": 1, "usecs": 1,
		"ms": 1e3, "msec": 1e3, "msecs": 1e3,
		"s": 1e6, "sec": 1e6, "secs": 1e6, "second": 1e6, "seconds": 1e6,
		"m": 60e6, "min": 60e6, "mins": 60e6, "minute": 60e6, "minutes": 60e6,
		"h": 3600e6, "hr": 3600e6, "hrs": 3600e6, "hour": 3600e6, "hours": 3600e6,
		"d": 24 * 3600e6, "day": 24 * 3600e6, "days": 24 * 3600e6,
	}
)

// scanUnit splits "1.5 m rest" into 1.5, "m" and "rest".
func scanUnit(s string) (num, unit, rest string) {
	s = strings.TrimSpace(s)
	digits := "0123456789."
	if len(s) > 1 && strings.EqualFold(s[:2], "0x") {
		digits = "xX0123456789abcdefABCDEF"
	}
	i := len(s) - len(strings.TrimLeft(s, digits))
	num, s = s[:i], strings.TrimLeft(s[i:], " \t")
	i = len(s) - len(strings.TrimLeft(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	return num, strings.ToLower(s[:i]), strings.TrimSpace(s[i:])
}

// scaled returns num times mult where that is a whole number of at most 63
// bits. Hexadecimal takes no fraction.
func scaled(num string, mult int64) (int64, bool) {
	if num == "" || len(num) > 40 || num[0] == '.' || num[len(num)-1] == '.' {
		return 0, false
	}
	var r big.Rat
	if h, ok := strings.CutPrefix(strings.ToLower(num), "0x"); ok {
		v, err := strconv.ParseInt(h, 16, 64)
		if err != nil {
			return 0, false
		}
		r.SetInt64(v)
	} else if _, ok := r.SetString(num); !ok {
		return 0, false
	}
	r.Mul(&r, new(big.Rat).SetInt64(mult))
	if !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}

// meantSize is what a person means by a size: bytes, or percent.
func meantSize(s string) (n int64, percent, ok bool) {
	num, unit, rest := scanUnit(s)
	if unit == "" && rest == "%" {
		n, ok = scaled(num, 1)
		return n, true, ok && n <= 100
	}
	mult, known := sizeUnits[unit]
	if !known || rest != "" {
		return 0, false, false
	}
	n, ok = scaled(num, mult)
	return n, false, ok
}

// meantTime is what a person means by a time, in microseconds: 90, 1.5s, 2min,
// 1m30s.
func meantTime(s string, bare int64) (us int64, ok bool) {
	for first := true; first || s != ""; first = false {
		num, unit, rest := scanUnit(s)
		mult, known := timeUnits[unit]
		if unit == "" && first && rest == "" {
			mult, known = bare, !strings.HasPrefix(strings.ToLower(num), "0x")
		}
		n, whole := scaled(num, mult)
		if !known || !whole || us+n < us {
			return 0, false
		}
		us, s = us+n, rest
	}
	return us, true
}

// formatSize writes bytes as fio reads them, with the largest unit that fits.
func formatSize(n int64) string {
	for i, u := range []string{"p", "t", "g", "m", "k"} {
		if mult := int64(1) << (50 - 10*i); n >= mult && n%mult == 0 {
			return strconv.FormatInt(n/mult, 10) + u
		}
	}
	return strconv.FormatInt(n, 10)
}

// formatTime writes microseconds as fio reads them.
func formatTime(us int64) string {
	switch {
	case us%1e6 == 0:
		return strconv.FormatInt(us/1e6, 10) + "s"
	case us%1e3 == 0:
		return strconv.FormatInt(us/1e3, 10) + "ms"
	}
	return strconv.FormatInt(us, 10) + "us"
}

// byteCount words n for a message.
func byteCount(n uint64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
