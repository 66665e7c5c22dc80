package job

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A bad value, before it is known where it stands.
type bad struct {
	kind Kind
	text string
	// instead is the value that was probably meant, "" if nobody can tell.
	instead string
	// fio is a value that all read as fio reads this one, "" where there is none.
	fio string
	// taken: the job holds the value, which only the own engine cannot do.
	taken bool
}

func invalid(format string, args ...any) *bad {
	return &bad{kind: Invalid, text: fmt.Sprintf(format, args...)}
}

// differ reports that fio and people read a value differently. fio is what fio
// makes of it, "" where it refuses; instead is how to write what people mean by
// it and meant what that is in plain words, "" where they mean nothing.
func differ(fio, instead, meant string) *bad {
	switch {
	case fio == "" && instead == "":
		return invalid("not a value that this option takes; fio refuses it too")
	case fio == "":
		return &bad{kind: Invalid, text: "fio refuses this", instead: instead}
	case instead == "":
		return &bad{kind: Surprise, text: fmt.Sprintf("fio takes this as %s, which nobody means (%s does it)", fio, WayOut)}
	}
	return &bad{
		kind:    Surprise,
		text:    fmt.Sprintf("fio takes this as %s (%s does it), but %s was probably meant", fio, WayOut, meant),
		instead: instead,
	}
}

// readNumber reads a size or a plain integer: word turns what fio makes of it
// into words.
func readNumber(v string, percents bool, word func(uint64) string) (n int64, percent bool, b *bad) {
	if strings.HasPrefix(v, "(") {
		n, err := evalSize(v)
		if err == nil && n < 0 {
			err = fmt.Errorf("the result %d is negative", n)
		}
		if err != nil {
			return 0, false, invalid("%v", err)
		}
		return n, false, nil
	}
	f := fioSize(v)
	n, percent, ok := meantSize(v)
	if percent && !percents {
		ok = false
		if f.percent {
			f = reading{n: ^uint64(0) - f.n, ok: true}
		}
	}
	if f.ok && ok && f.percent == percent && f.n == uint64(n) {
		return n, percent, nil
	}
	var fio, instead string
	switch {
	case f.ok && f.percent:
		fio = fmt.Sprintf("%d%%", f.n)
	case f.ok:
		fio = word(f.n)
	}
	if !ok {
		b = differ(fio, "", "")
		b.fio = f.plain()
		return 0, false, b
	}
	instead = formatSize(n)
	meant := word(uint64(n))
	if percent {
		instead = strconv.FormatInt(n, 10) + "%"
		meant = instead
	}
	b = differ(fio, instead, meant)
	b.fio = f.plain()
	return 0, false, b
}

// plain writes what fio reads so that all read it alike; "" where it is no
// amount.
func (f reading) plain() string {
	switch {
	case !f.ok || f.n > math.MaxInt64:
		return ""
	case f.percent:
		return strconv.FormatUint(f.n, 10) + "%"
	}
	return strconv.FormatUint(f.n, 10)
}

// readSize reads bytes or a percentage. Zero percent is how fio spells "not
// given", so it is none.
func readSize(v string) (Size, *bad) {
	switch n, percent, b := readNumber(v, true, byteCount); {
	case b != nil:
		if strings.HasSuffix(v, "z") && strings.Trim(v, "0123456789z") == "" {
			b = &bad{kind: Unsupported, text: "z counts the zones of a zoned device, which this engine does not know; " + WayOut + " does"}
		}
		return Size{}, b
	case percent && n == 0:
		return Size{}, invalid("fio takes 0%% as an option that is not there; leave it out")
	case percent:
		return Size{Percent: int(n)}, nil
	default:
		return Size{Bytes: n}, nil
	}
}

// readInt reads a plain integer between lo and hi.
func readInt(v string, lo, hi int64) (int64, *bad) {
	n, _, b := readNumber(v, false, func(n uint64) string { return strconv.FormatUint(n, 10) })
	if b == nil {
		b = inRange(n, lo, hi)
	}
	if b != nil && b.kind == Surprise && b.instead != "" {
		// An integer is written without a unit.
		n, _, _ := meantSize(v)
		b.instead = strconv.FormatInt(n, 10)
	}
	return n, b
}

// atMost reports a number that only fio takes.
func atMost(n, limit int64) *bad {
	if n > limit {
		return &bad{kind: Unsupported, taken: true, text: fmt.Sprintf("this engine takes at most %d; %s takes more", limit, WayOut)}
	}
	return nil
}

func inRange(n, lo, hi int64) *bad {
	if n < lo || n > hi {
		return invalid("%d is not between %d and %d", n, lo, hi)
	}
	return nil
}

// readTime reads a time and returns nanoseconds. bare is what fio takes a
// number without a unit for, in microseconds.
func readTime(v string, bare int64) (int64, *bad) {
	us, b := readMicros(v, bare)
	if b == nil {
		b = inRange(us, 0, (1<<63-1)/1000)
	}
	return us * 1000, b
}

func readMicros(v string, bare int64) (int64, *bad) {
	if strings.HasPrefix(v, "(") {
		q, err := evalTime(v)
		switch {
		case err != nil:
			return 0, invalid("%v", err)
		case q.n < 0:
			return 0, invalid("the result %d is negative", q.n)
		case q.unit == 0 && bare != 1 && q.n != 0:
			return 0, &bad{
				kind: Surprise,
				fio:  formatTime(q.n),
				text: fmt.Sprintf("fio takes this as %s, because in parentheses it counts microseconds (%s does it); give the numbers units",
					formatTime(q.n), WayOut),
			}
		case q.unit != 1 && q.n != 0 && (q.unit != 0 || bare != 1):
			return 0, invalid("the result is no time")
		}
		return q.n, nil
	}
	f := fioTime(v, uint64(bare))
	n, ok := meantTime(v, bare)
	if f.ok && ok && f.n == uint64(n) {
		return n, nil
	}
	var fio, instead string
	switch {
	case f.ok && int64(f.n) >= 0:
		fio = formatTime(int64(f.n))
	case f.ok:
		fio = strconv.FormatUint(f.n, 10) + "us"
	}
	if ok {
		instead = formatTime(n)
	}
	b := differ(fio, instead, instead)
	if f.ok && int64(f.n) >= 0 {
		b.fio = strconv.FormatUint(f.n, 10) + "us"
	}
	return 0, b
}

// readPair reads what fio takes for reads and writes: "4k" for both, "4k,8k"
// for each, and "4k," or ",8k" for one, which leaves the other as it was. A
// third value would be for trims.
func readPair(v string, read, write *int64, one func(string) (int64, *bad)) *bad {
	parts := strings.Split(v, ",")
	if len(parts) > 2 {
		return &bad{kind: Unsupported, text: "the third value is for trims, which this engine does not issue; " + WayOut + " does"}
	}
	if len(parts) == 2 && parts[0] == "" && parts[1] == "" {
		return invalid("no value on either side of the comma")
	}
	for i, p := range parts {
		if p == "" && len(parts) == 2 {
			continue
		}
		n, b := one(p)
		if b != nil {
			for _, v := range []*string{&b.instead, &b.fio} {
				if *v != "" {
					ps := append([]string(nil), parts...)
					ps[i] = *v
					*v = strings.Join(ps, ",")
				}
			}
			return b
		}
		if i == 0 {
			*read = n
		}
		if i == len(parts)-1 {
			*write = n
		}
	}
	return nil
}

// readBool reads fio's booleans, 0 and 1. fio takes some other values of
// options that may stand alone, but nobody means time_based=2.
func readBool(v string) (bool, *bad) {
	switch t := strings.TrimSpace(v); strings.ToLower(t) {
	case "0", "1":
		return t == "1", nil
	case "true", "yes", "on", "y":
		return false, &bad{kind: Invalid, text: "fio takes 0 or 1 only", instead: "1"}
	case "false", "no", "off", "n":
		return false, &bad{kind: Invalid, text: "fio takes 0 or 1 only", instead: "0"}
	}
	return false, invalid("neither 0 nor 1")
}

// readWord checks a value that is one of a few words. fio refuses them with a
// blank in front.
func readWord(v string, ours, fios []string) *bad {
	t := strings.TrimSpace(v)
	has := func(list []string, s string) bool {
		for _, w := range list {
			if w == s {
				return true
			}
		}
		return false
	}
	switch base, _, more := strings.Cut(t, ":"); {
	case has(ours, t) && strings.HasPrefix(v, t):
		return nil
	case has(ours, t):
		return &bad{kind: Invalid, text: "fio refuses the blank in front of the value", instead: t}
	case has(fios, t) || more && (has(ours, base) || has(fios, base)):
		return &bad{kind: Unsupported, text: "this engine takes " + orList(ours) + "; for fio's others there is " + WayOut}
	}
	b := invalid("it takes %s", orList(ours))
	b.instead, _ = nearest(t, ours)
	return b
}

// orList is "a, b or c".
func orList(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
}
