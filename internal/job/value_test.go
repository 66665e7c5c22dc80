package job

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fioValues returns what the installed fio makes of each value of an option:
// "refused" or the number, as its parser's debug output says.
func fioValues(t *testing.T, option string, values []string) []string {
	t.Helper()
	fio333(t)
	text := "[a]\n"
	for _, v := range values {
		if strings.ContainsAny(v, "\n\r\x00;#$") || strings.Trim(v, " \t") == "" {
			t.Fatalf("%q cannot stand in a job file", v)
		}
		text += option + "=" + v + "\n"
	}
	name := filepath.Join(t.TempDir(), "t.fio")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ := fioApart(t, "--parse-only", "--debug=parse", name)
	out = regexp.MustCompile(`(?m)^parse +\d+ +`).ReplaceAllString(out, "")
	number := regexp.MustCompile(`ret=(\d), out=(-?\d+)`)
	share := regexp.MustCompile(`SET \w+_percent (\d+)`)
	got := make([]string, len(values))
	for i, v := range values {
		_, after, ok := strings.Cut(out, "\nhandle_option="+option+", ptr="+v+"\n")
		if !ok {
			t.Fatalf("fio says nothing about %s=%s:\n%s", option, v, out)
		}
		after, _, _ = strings.Cut(after, "\nhandle_option=")
		m, percent := number.FindStringSubmatch(after), share.FindStringSubmatch(after)
		switch {
		case m == nil || m[1] == "1":
			got[i] = "refused"
		case percent != nil && strings.Contains(v, "%"):
			got[i] = percent[1] + "%"
		default:
			got[i] = m[2]
		}
	}
	return got
}

func (r reading) String() string {
	switch {
	case !r.ok:
		return "refused"
	case r.percent:
		return fmt.Sprintf("%d%%", r.n)
	}
	return strconv.FormatUint(r.n, 10)
}

var sizeSeeds = []string{
	"4k", "4K", "4kb", "4ki", "4kib", "4KiB", "1Kib", "4m", "4mb", "4mib", "1g", "1gib", "1t", "1p", "1pb", "1pib", "1b", "4kx", "4q", "0x10",
	"0X10", "0x10k", "0x1b", "0xk", "0x", "010", " 4k", "20%", "100%", "101%", "1.5m", "1.5", "1e3", "4 k", "k", "99999999999999999999",
	"16777216p", "4kxx", "4kbb", "4kibb", "4kbi", "4kit", "4m1", "4kb1", "+4k", "4k+",
	"9223372036854775808", "4bk", "4ib", "8eb", "1e", "1zb", "20.5%", "2^10", "4*1k", "(4*1k)x", "1k2k", "7 %", "100x", "20k0x", "10X",
}

var timeSeeds = []string{
	"30", "30s", "1m", "1min", "2min", "1h", "1d", "500ms", "500msec", "10us", "10usec", "1.5s", "1sec", "90S", "1M", "30 s", "0", "0x10",
	"1ns", "1hour", "1hr", "1H", "3w", "1m30s", "1e2", "1usx", "1msx", "1ss", "1D", "1 m", "1.m", "1u", "+5", "5+", "1US", "1mS", "1.5h", "0.5s",
}

// What the package calls fio's reading of a number is what fio makes of it.
func TestReadingIsFios(t *testing.T) {
	fio333(t)
	for i, got := range fioValues(t, "size", sizeSeeds) {
		if want := fioSize(sizeSeeds[i]).String(); got != want {
			t.Errorf("size=%s: fio says %s, fioSize %s", sizeSeeds[i], got, want)
		}
	}
	for i, got := range fioValues(t, "runtime", timeSeeds) {
		if want := fioTime(timeSeeds[i], 1e6).String(); got != want {
			t.Errorf("runtime=%s: fio says %s, fioTime %s", timeSeeds[i], got, want)
		}
	}
	for i, got := range fioValues(t, "thinktime", timeSeeds) {
		if want := fioTime(timeSeeds[i], 1).String(); got != want {
			t.Errorf("thinktime=%s: fio says %s, fioTime %s", timeSeeds[i], got, want)
		}
	}
}

// The same for numbers that nobody thought of.
func TestReadingIsFiosAtRandom(t *testing.T) {
	fio333(t)
	// Without %, which fio's own debug output takes as a format.
	gen := rapid.StringMatching(`[+]?(0x)?[0-9]{1,10}( |\.[0-9])?[kmgtpiKMGbBsudhe]{0,4}[0-9]?`)
	var values []string
	for i := range 300 {
		values = append(values, strings.TrimSpace(gen.Example(i)))
	}
	for i, got := range fioValues(t, "size", values) {
		if want := fioSize(values[i]).String(); got != want {
			t.Errorf("size=%s: fio says %s, fioSize %s", values[i], got, want)
		}
	}
	for i, got := range fioValues(t, "runtime", values) {
		if want := fioTime(values[i], 1e6).String(); got != want {
			t.Errorf("runtime=%s: fio says %s, fioTime %s", values[i], got, want)
		}
	}
}

// Where the engine takes a number, it takes it as fio does; where it does not,
// the message says what fio does and what was probably meant.
func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		option, value string
		want          string // the value, or part of the message
		instead       string
	}{
		{"size", "4k", "4k", ""},
		{"size", "4K", "4k", ""},
		{"size", "4kb", "4k", ""},
		{"size", "4ki", "4k", ""},
		{"size", "1536m", "1536m", ""},
		{"size", "20%", "20%", ""},
		{"size", "0x1000", "4k", ""},
		{"size", "(4*1k)", "4k", ""},
		{"size", "((1+2)*4k - 2^12)", "8k", ""},
		{"size", "(1g/3)", "357913941", ""},
		{"size", "4kib", "takes this as 4000 bytes", "size=4k"},
		{"size", "1mib", "takes this as 1000000 bytes", "size=1m"},
		{"size", "1.5m", "takes this as 1 byte (", "size=1536k"},
		{"size", "4 k", "takes this as 4 bytes", "size=4k"},
		{"size", " 4k", "takes this as 4 bytes", "size=4k"},
		{"size", "4kx", "takes this as 4096 bytes, which nobody means", ""},
		{"size", "4q", "takes this as 4 bytes, which nobody means", ""},
		{"size", "20.5%", "takes this as 20 bytes, which nobody means", ""},
		{"size", "101%", "18446744073709551514 bytes", ""},
		{"size", "0%", "leave it out", ""},
		{"size", "2z", "zones", ""},
		{"size", "-4k", "18446744073709547520", ""},
		{"size", "16777216p", "takes this as 0 bytes", ""},
		{"size", "99999999999999999999", "fio refuses it too", ""},
		{"size", "(1-2)", "negative", ""},
		{"size", "(1/0)", "division by zero", ""},
		{"size", "(4kib)", `"kib" is no unit`, ""},
		{"size", "(2^70)", "63", ""},
		{"size", "(4p*4p)", "does not fit", ""},
		{"bs", " 4k", "takes this as 4 bytes (--engine fio does it), but 4096 bytes was probably meant; write bs=4k", "bs=4k"},
		{"bs", "4k,8k", "4k,8k", ""},
		{"bs", "4k,", "4k", ""},
		{"bs", "8k,", "8k,4k", ""},
		{"bs", ",8k", "4k,8k", ""},
		{"bs", "4k , 8k", "takes this as 8 bytes", "bs=4k ,8k"},
		{"bs", "4k,1.5m", "takes this as 1 byte", "bs=4k,1536k"},
		{"bs", "4k,8k,16k", "trims", ""},
		{"bs", ",", "no value", ""},
		{"bs", "0", "0 is not between 1 and", ""},
		{"bs", "4k-8k", "takes this as 4096 bytes, which", ""},
		{"iodepth", "32", "32", ""},
		{"iodepth", " 32", "32", ""}, // fio reads it so too
		{"iodepth", "1k", "1024", ""},
		{"iodepth", "1.5k", "takes this as 1 (", "iodepth=1536"},
		{"iodepth", "0", "0 is not between 1 and", ""},
		{"iodepth", "4097", "at most 4096; --engine fio takes more", ""},
		{"numjobs", "1k", "at most 512", ""},
		{"iodepth", "70%", "18446744073709551545", ""},
		{"rwmixread", "70%", "18446744073709551545", ""},
		{"rwmixread", "101", "101 is not between 0 and 100", ""},
		{"rwmixwrite", "70", "rwmixread=30", ""},
		{"runtime", "30", "30s", ""},
		{"runtime", "2m", "120s", ""},
		{"runtime", "1H", "3600s", ""},
		{"runtime", "30 s", "30s", ""},
		{"runtime", "500ms", "500ms", ""},
		{"runtime", "500msec", "500ms", ""},
		{"runtime", "2min", "takes this as 2us", "runtime=120s"},
		{"runtime", "1sec", "takes this as 1us", "runtime=1s"},
		{"runtime", "1.5s", "takes this as 1s", "runtime=1500ms"},
		{"runtime", "1m30s", "takes this as 1us", "runtime=90s"},
		{"runtime", "1 m", "takes this as 1s", "runtime=60s"},
		{"runtime", "3w", "takes this as 3us, which nobody means", ""},
		{"runtime", "0x10", "takes this as 16us, which nobody means", ""},
		{"runtime", "(2*30)", "takes this as 60us, because in parentheses", ""},
		{"runtime", "(2*30s)", "60s", ""},
		{"runtime", "(10s+5)", "cannot be added", ""},
		{"runtime", "(2s*3s)", "no time", ""},
		{"runtime", "-5", "18446744073704551616us", ""},
		{"thinktime", "10", "10us", ""},
		{"thinktime", "(2*5)", "10us", ""},
		{"thinktime", "10sec", "takes this as 10us", "thinktime=10s"},
		{"rate_iops", "100,200", "100,200", ""},
		{"rate_iops", ",200", "0,200", ""},
		{"randseed", "0x89", "137", ""},
		{"randseed", "18446744073709551615", "fio refuses it too", ""},
		{"direct", "true", "0 or 1 only", "direct=1"},
		{"time_based", "2", "neither 0 nor 1", ""},
		{"direct", " 1", "1", ""},
		{"buffer_compress_percentage", "50", "50", ""},
		{"percentile_list", "50:99:99.9", "50:99:99.9", ""},
		{"percentile_list", "50:99:200", "200 is not between", ""},
		{"percentile_list", "50,99", "not a percentile", ""},
		{"percentile_list", "Inf", "not a percentile", ""},
		{"percentile_list", strings.Repeat("1:", 20) + "1", "at most 20", ""},
		{"cpus_allowed", "0,2-3", "0,2-3", ""},
		{"cpus_allowed", "0:1", "list of CPUs", ""},
		{"cpus_allowed", "1-0", "list of CPUs", ""},
		{"rw", "randread", "randread", ""},
		{"rw", "readwrite", "rw", ""},
		{"rw", " read", "refuses the blank", "rw=read"},
		{"rw", "randraed", "it takes read", "rw=randread"},
		{"rw", "READ", "it takes read", "rw=read"},
		{"rw", "randread:8", "--engine fio", ""},
		{"rw", "trim", "--engine fio", ""},
		{"sync", "1", "sync", ""},
		{"sync", "0", "none", ""},
		{"sync", "dsync", "dsync", ""},
		{"ioengine", "mmap", "--engine fio", ""},
		{"ioengine", "iouring", "it takes io_uring", "ioengine=io_uring"},
		{"filename", `a:b\:c`, `a:b\:c`, ""},
		{"filename", " a", "a", ""}, // fio drops blanks here
		{"filename", ":", "no name", ""},
		{"filename", "-", "standard input", ""},
	} {
		t.Run(tt.option+"="+tt.value, func(t *testing.T) {
			p := parser{global: defaults()}
			p.begin(Pos{"t.fio", 1}, "a", false)
			p.option(Pos{"t.fio", 2}, tt.option, tt.value, tt.value, true)
			if len(p.errs) == 0 {
				got := p.job.written()[optionByName(tt.option).key()]
				if tt.option == "rwmixwrite" {
					got = "rwmixread=" + got
				}
				if got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				return
			}
			e := p.errs[0]
			if !strings.Contains(e.Error(), tt.want) || e.Instead != tt.instead {
				t.Errorf("got %q, instead %q; want %q, instead %q", e, e.Instead, tt.want, tt.instead)
			}
			if !strings.HasPrefix(e.Error(), "t.fio:2: "+tt.option+"="+tt.value+": ") {
				t.Errorf("%q does not begin with the place", e)
			}
			// What it advises is taken.
			if o, v, ok := strings.Cut(e.Instead, "="); ok && tt.value != "4k , 8k" {
				p.errs = nil
				if p.option(Pos{}, o, v, v, true); len(p.errs) > 0 {
					t.Errorf("the advice %s: %v", e.Instead, p.errs)
				}
			}
		})
	}
}

// Sizes and times written are read as the same, by fio's reading and by ours.
func TestFormatsAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Min(0).Draw(t, "n") >> rapid.IntRange(0, 62).Draw(t, "shift") << rapid.IntRange(0, 10).Draw(t, "back")
		n &= 1<<63 - 1
		s := formatSize(n)
		if got, _, b := readNumber(s, false, byteCount); b != nil || got != n {
			t.Fatalf("size %d is written %s and read %d, %v", n, s, got, b)
		}
		us := n / 1000
		s = formatTime(us)
		if got, b := readTime(s, 1); b != nil || got != us*1000 {
			t.Fatalf("time %d is written %s and read %d, %v", us, s, got, b)
		}
	})
}

func FuzzNumbers(f *testing.F) {
	for _, s := range append(sizeSeeds, timeSeeds...) {
		f.Add(s)
	}
	f.Add("(1+2)*3")
	f.Add("((((1))))")
	f.Add("(2^63%-7)")
	f.Fuzz(func(t *testing.T, s string) {
		if n, percent, b := readNumber(s, true, byteCount); b == nil {
			if n < 0 || percent && n > 100 {
				t.Errorf("size %q is %d, percent %t", s, n, percent)
			}
			if !percent {
				if m, _, b := readNumber(formatSize(n), false, byteCount); b != nil || m != n {
					t.Errorf("size %q is %d, written %s, read %d", s, n, formatSize(n), m)
				}
			}
		} else if b.text == "" {
			t.Errorf("size %q: no reason", s)
		}
		if n, b := readTime(s, 1e6); b == nil && n < 0 {
			t.Errorf("time %q is %d", s, n)
		}
		if q, err := evalTime(s); err == nil && q.n == -1<<63 {
			t.Errorf("%q wraps around", s)
		}
	})
}

func TestArithmetic(t *testing.T) {
	for _, tt := range []struct {
		s    string
		want int64
		err  string
	}{
		{"1+2*3", 7, ""}, {"(1+2)*3", 9, ""}, {"7-2-1", 4, ""}, {"7/2", 3, ""}, {"-7/2", -3, ""}, {"7%4", 3, ""},
		{"2^10", 1024, ""}, {"-2^2", 4, ""}, {" 1 + 1 ", 2, ""}, {"2^3^2", 0, "parentheses"}, {"1+", 0, "a number is missing"},
		{"", 0, "a number is missing"}, {"1 2", 0, "not understood"}, {"(1", 0, "closing"}, {"5%0", 0, "division by zero"},
		{"9223372036854775807+1", 0, "63 bits"}, {"-9223372036854775807-1", 0, ""}, {"9223372036854775808", 0, "63 bits"},
		{strings.Repeat("(", 100) + "1", 0, "nested"}, {"2^64", 0, "at most 63"},
	} {
		got, err := evalPlain(tt.s)
		switch {
		case tt.s == "-9223372036854775807-1":
			// Either is right; wrapping to a positive number would not be.
			if err == nil && got > 0 {
				t.Errorf("%s = %d", tt.s, got)
			}
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: got %d, %v; want an error with %q", tt.s, got, err, tt.err)
			}
		case err != nil || got != tt.want:
			t.Errorf("%s = %d, %v; want %d", tt.s, got, err, tt.want)
		}
	}
}
