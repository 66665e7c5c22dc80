package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"nativ/internal/job"
	"nativ/references"
)

func reference9100(t *testing.T) map[string]any {
	t.Helper()
	b, ok := references.File("9100pro-pve9")
	if !ok {
		t.Fatal("the reference is not there")
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func check(t *testing.T, m map[string]any) []Finding {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	s, err := FromTable("table.json", b)
	if err != nil {
		t.Fatal(err)
	}
	return Check(s)
}

func of(all []Finding, rule string) (found []Finding) {
	for _, f := range all {
		if f.Rule == rule {
			found = append(found, f)
		}
	}
	return found
}

func one(t *testing.T, all []Finding, rule, variant string) Finding {
	t.Helper()
	found := slices.DeleteFunc(of(all, rule), func(f Finding) bool { return f.Case != variant })
	if len(found) != 1 {
		t.Fatalf("%s %q: %d findings, want 1: %+v", rule, variant, len(found), all)
	}
	return found[0]
}

func wants(t *testing.T, f Finding, where ...string) {
	t.Helper()
	slices.Sort(where)
	if got := slices.Sorted(slices.Values(f.Where)); !slices.Equal(got, where) {
		t.Errorf("%s is found in %v, not %v", f.Rule, got, where)
	}
}

// The published test, with all that can be read off it.
func TestReference(t *testing.T) {
	all := check(t, reference9100(t))
	f := one(t, all, "bandwidth-iops", "")
	wants(t, f, "tables.native[1]")
	if got := int(f.Values["product"]/(1<<20) + 0.5); got != 7720 {
		t.Errorf("1,976,376 IOPS of 4 KiB are %d MiB/s", got)
	}
	f = one(t, all, "claim-table", "other-test")
	wants(t, f, "claims[0]", "tables.lxc[0]", "tables.lxc[1]")
	if f.Words["other"] != "randwrite 4k" || f.Values["claimed"] != 0.6 {
		t.Errorf("%+v", f)
	}
	wants(t, one(t, all, "claim-table", "almost-none"), "claims[3]", "tables.native[1]", "tables.lxc[1]")
	f = one(t, all, "above-cctemp", "table")
	if f.Values["cctemp"] != 88_000 || f.Values["most"] != 109_900 || f.Values["rows"] != 4 {
		t.Errorf("%+v", f)
	}
	f = one(t, all, "same-offsets", "")
	if f.Values["numjobs"] != 4 || len(f.Where) != 6 {
		t.Errorf("%+v", f)
	}
	one(t, all, "single-run", "table")
	f = one(t, all, "cpus-differ", "")
	if f.Values["host"] != 10 || f.Values["container"] != 4 {
		t.Errorf("%+v", f)
	}
	for _, rule := range []string{"above-link", "littles-law", "buffered", "iodepth-sync", "units", "settings-differ"} {
		if found := of(all, rule); len(found) > 0 {
			t.Errorf("nothing says %s: %+v", rule, found)
		}
	}
}

// The same findings come from other names and another order, and go where the
// figures are put right: nothing knows this publication.
func TestByRuleNotByName(t *testing.T) {
	m := reference9100(t)
	tables := m["tables"].(map[string]any)
	native := tables["native"].([]any)
	slices.Reverse(native)
	m["tables"] = map[string]any{"bare metal": native, "docker run": tables["lxc"], "docker, hot": tables["lxc_hot"]}
	m["title"], m["drive_model"] = "Something else", ""
	m["claims"] = []any{"Zufälliges Lesen im Container erreicht 60 % des Hosts."}
	all := check(t, m)
	wants(t, one(t, all, "bandwidth-iops", ""), "tables.bare metal[2]")
	wants(t, one(t, all, "claim-table", "other-test"), "claims[0]", "tables.docker run[0]", "tables.docker run[1]")
	one(t, all, "above-cctemp", "table")
	one(t, all, "cpus-differ", "")

	native[2].(map[string]any)["bw_mib_s"] = 7720.0
	m["claims"] = []any{"Zufälliges Lesen im Container erreicht 78 % des Hosts."}
	m["fio"] = "--ioengine=io_uring --iodepth=32 --numjobs=4 --direct=1 --runtime=300 --offset_increment=25% --size=25%"
	m["container"].(map[string]any)["vcpus"] = 10.0
	m["drive"].(map[string]any)["cctemp_celsius"] = 120.0
	all = check(t, m)
	for _, rule := range []string{"bandwidth-iops", "claim-table", "same-offsets", "cpus-differ", "above-cctemp"} {
		if found := of(all, rule); len(found) > 0 {
			t.Errorf("%s, though it was put right: %+v", rule, found)
		}
	}
}

const page = `# Review

Measured with fio --ioengine=libaio --iodepth=32 --numjobs=4 --direct=1 over PCIe 3.0 x4.

## Host

| Modus | Blockgröße | Max. Bandbreite | Max. IOPS |
|:--|--:|--:|--:|
| randread | 4k | 7.741 MiB/s | 1.981.914 |
| randwrite | 4k | 7.220 MiB/s | 1.976.376 |

## Container

| Mode | Block size | Bandwidth (MiB/s) | IOPS | Mean latency (µs) |
|:--|--:|--:|--:|--:|
| randread | 4k | 6,073 | 1,554,848 | 82 |
| randwrite | 4k | 4,661 | 1,193,436 | 920 |

Random read reaches 60 % of native.
`

func TestMarkdown(t *testing.T) {
	s, err := FromMarkdown("review.md", page)
	if err != nil {
		t.Fatal(err)
	}
	all := Check(s)
	wants(t, one(t, all, "bandwidth-iops", ""), "line 10")
	wants(t, one(t, all, "claim-table", "other-test"), "line 19", "line 16", "line 17")
	// 1,193,436 IOPS × 920 µs are 1,098 I/Os, and 128 are possible.
	f := one(t, all, "littles-law", "")
	wants(t, f, "line 17")
	if v := int(f.Values["inflight"]); v != 1097 {
		t.Errorf("%d in flight", v)
	}
	// 3.94 GB/s are less than all of it.
	if n := len(of(all, "above-link")); n != 4 {
		t.Errorf("%d rows above the link, want 4", n)
	}
	one(t, all, "maximum", "")
}

// Each rule speaks where it should, and is silent where one thing is different.
func TestRules(t *testing.T) {
	set := func(change func(*Settings)) *Settings {
		s := &Settings{Engine: "io_uring", Depth: 32, Jobs: 4, Direct: true, DirectTold: true, RuntimeNS: 300e9, TimeBased: true, All: true, Apart: true}
		if change != nil {
			change(s)
		}
		return s
	}
	row := func(mode job.Mode, bs int64, iops float64, s *Settings) Row {
		return Row{Where: "row", Name: string(mode), Mode: mode, BS: bs, Dir: dirOf(mode), IOPS: &Number{V: iops, ULP: 1}, BPS: &Number{V: iops * float64(bs), ULP: 1}, Set: s}
	}
	num := func(v float64) *Number { return &Number{V: v, ULP: 1} }
	lat := func(l Latency) Row {
		r := row(job.RandRead, 4096, 1e5, set(nil))
		l.Kind = "lat"
		r.Lat = []Latency{l}
		return r
	}
	p := func(p, v float64) Percentile { return Percentile{P: p, Number: Number{V: v}} }
	with := func(rows ...Row) *Subject { return &Subject{Kind: KindFio, Sides: []Side{{Name: "x", Rows: rows}}} }
	clean := row(job.RandRead, 4096, 1e5, set(nil))
	off := clean
	off.BPS = num(5e8)
	binary := clean
	binary.BPS = num(1e5 * 4096 / 1.048576)
	device := row(job.RandRead, 4096, 1e5, set(func(s *Settings) { s.Target = "/dev/nvme0n1" }))
	write := row(job.Write, 1<<17, 2e4, set(func(s *Settings) { s.Target = "/dev/nvme0n1" }))
	busy := clean
	busy.CPU = new(0.99)
	for _, c := range []struct {
		rule, variant string
		bad, good     *Subject
	}{
		{"bandwidth-iops", "", with(off), with(clean)},
		{"units", "binary", with(binary), with(clean)},
		{"units", "latency", with(lat(Latency{Mean: num(1.2e3)})), with(lat(Latency{Mean: num(1.2e6)}))},
		{"littles-law", "", with(lat(Latency{Mean: num(3e6)})), with(lat(Latency{Mean: num(1.28e6)}))},
		{"percentiles", "order", with(lat(Latency{Percentiles: []Percentile{p(50, 9), p(99, 8)}})), with(lat(Latency{Percentiles: []Percentile{p(50, 8), p(99, 8)}}))},
		{"percentiles", "above-max", with(lat(Latency{Max: num(100), Percentiles: []Percentile{p(99, 120)}})), with(lat(Latency{Max: num(100), Percentiles: []Percentile{p(99, 101)}}))},
		{"percentiles", "below-min", with(lat(Latency{Min: num(100), Percentiles: []Percentile{p(1, 80)}})), with(lat(Latency{Min: num(100), Percentiles: []Percentile{p(1, 100)}}))},
		{"percentiles", "mean", with(lat(Latency{Min: num(100), Max: num(200), Mean: num(250)})), with(lat(Latency{Min: num(100), Max: num(200), Mean: num(150)}))},
		{"same-offsets", "", with(row(job.Read, 1<<17, 1e4, set(func(s *Settings) { s.Apart = false }))), with(row(job.Read, 1<<17, 1e4, set(nil)))},
		{"buffered", "option", with(row(job.Read, 1<<17, 1e4, set(func(s *Settings) { s.Direct = false }))), with(clean)},
		{"buffered", "default", with(row(job.Read, 1<<17, 1e4, set(func(s *Settings) { s.Direct, s.DirectTold = false, false }))), with(clean)},
		{"iodepth-sync", "", with(row(job.RandRead, 4096, 1e4, set(func(s *Settings) { s.Engine = "psync" }))), with(clean)},
		{"easy-data", "zero", with(row(job.Write, 4096, 1e4, set(func(s *Settings) { s.Zero = true }))), with(clean)},
		{"easy-data", "compress", with(row(job.Write, 4096, 1e4, set(func(s *Settings) { s.Compress = 50 }))), with(clean)},
		{"easy-data", "dedupe", with(row(job.Write, 4096, 1e4, set(func(s *Settings) { s.Dedupe = 50 }))), with(clean)},
		{"easy-data", "pattern", with(row(job.Write, 4096, 1e4, set(func(s *Settings) { s.Pattern = true }))), with(clean)},
		{"too-short", "writes", with(row(job.Write, 4096, 1e4, set(func(s *Settings) { s.RuntimeNS = 10e9 }))), with(clean)},
		{"too-short", "reads", with(row(job.Read, 4096, 1e4, set(func(s *Settings) { s.RuntimeNS = 5e9 }))), with(clean)},
		{"unwritten", "device", with(device), with(write, device)},
		{"cpu-saturated", "", with(busy), with(clean)},
		{"above-link", "", &Subject{Drive: Drive{LinkBytes: 1e8}, Sides: with(clean).Sides}, &Subject{Drive: Drive{LinkBytes: 1e9}, Sides: with(clean).Sides}},
		{"above-drive", "iops", &Subject{Drive: Drive{ReadIOPS: 5e4}, Sides: with(clean).Sides}, &Subject{Drive: Drive{ReadIOPS: 1e5}, Sides: with(clean).Sides}},
		{"above-drive", "bandwidth", &Subject{Drive: Drive{ReadBytes: 1e8}, Sides: with(clean).Sides}, &Subject{Drive: Drive{ReadBytes: 1e9}, Sides: with(clean).Sides}},
		{"cache-answers", "loop", &Subject{LoopCached: true, Sides: with(clean).Sides}, with(clean)},
		{"cache-answers", "arc", &Subject{FSType: "zfs", Sides: with(clean).Sides}, with(clean)},
		{"rate-of-one", "", &Subject{Oddities: []Oddity{{Code: "rate-of-one"}}}, with(clean)},
		{"group-sums", "", &Subject{Oddities: []Oddity{{Code: "group-sums"}}}, with(clean)},
		{"job-errors", "", &Subject{Oddities: []Oddity{{Code: "job-error"}}}, with(clean)},
		{"smaller-than-memory", "",
			&Subject{HostMemory: 32 << 30, FSType: "zfs", Sides: with(row(job.Read, 1<<17, 1e4, set(func(s *Settings) { s.Size = 1 << 30 }))).Sides},
			&Subject{HostMemory: 32 << 30, Sides: with(row(job.Read, 1<<17, 1e4, set(func(s *Settings) { s.Size = 1 << 30 }))).Sides}},
	} {
		has := func(s *Subject) bool {
			return slices.ContainsFunc(Check(s), func(f Finding) bool { return f.Rule == c.rule && f.Case == c.variant })
		}
		if !has(c.bad) {
			t.Errorf("%s %s is not found: %+v", c.rule, c.variant, Check(c.bad))
		}
		if has(c.good) {
			t.Errorf("%s %s is found where nothing is wrong", c.rule, c.variant)
		}
	}
	// Two sides, and two files.
	a, b := with(clean), with(row(job.RandRead, 4096, 1e5, set(func(s *Settings) { s.Depth = 64 })))
	if len(of(Check(a, b), "settings-differ")) != 1 || len(of(Check(a, a), "settings-differ")) != 0 {
		t.Error("settings-differ between files")
	}
}

// Findings have only what the rule says that they can have.
func TestRuleLists(t *testing.T) {
	all := check(t, reference9100(t))
	for _, f := range all {
		r, ok := RuleByID(f.Rule)
		if !ok || !slices.Contains(r.Severities, f.Severity) || !slices.Contains(r.Cases, f.Case) {
			t.Errorf("%+v is not as its rule says: %+v", f, r)
		}
	}
	if !slices.IsSortedFunc(all, func(a, b Finding) int { return a.Severity.rank() - b.Severity.rank() }) {
		t.Error("findings are not sorted")
	}
	ids := map[string]bool{}
	for _, r := range Rules() {
		if ids[r.ID] || len(r.Severities) == 0 || len(r.Cases) == 0 || !slices.IsSortedFunc(r.Severities, func(a, b Severity) int { return a.rank() - b.rank() }) {
			t.Errorf("%+v", r)
		}
		ids[r.ID] = true
	}
	if len(ids) < 25 {
		t.Errorf("%d rules: %v", len(ids), slices.Sorted(maps.Keys(ids)))
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
	}{
		{"1,976,376", 1976376}, {"1.976.376", 1976376}, {"1976376", 1976376}, {"1.98M", 1.98e6}, {"429k", 429e3},
		{"429k IOPS", 429e3}, {"12.400", 12400}, {"**8 131**", 8131}, {"1’193’436", 1193436},
	} {
		if n, ok := parseCell(c.text, nil, 1); !ok || n.V != c.want {
			t.Errorf("%q is %v %v, not %v", c.text, n.V, ok, c.want)
		}
	}
	for _, c := range []struct {
		text string
		want float64
	}{
		{"7.220 MiB/s", 7220 << 20}, {"7,220 MiB/s", 7220 << 20}, {"7.22 GB/s", 7.22e9}, {"9,4 GB/s", 9.4e9}, {"858 MB/s", 858e6},
	} {
		if n, ok := parseCell(c.text, rateUnits, 1); !ok || n.V != c.want {
			t.Errorf("%q is %v %v, not %v", c.text, n.V, ok, c.want)
		}
	}
	for _, bad := range []string{"", "n/a", "–", "1.2.3", "12 bananas", "1,23,456"} {
		if n, ok := parseCell(bad, rateUnits, 1); ok {
			t.Errorf("%q is taken for %v", bad, n)
		}
	}
}

func TestClaims(t *testing.T) {
	for text, want := range map[string]string{
		"random read in the container reaches 60 % of native":                       "60 random read",
		"Sequenzielles Lesen verliert 14 %.":                                        "86 sequential read",
		"The drive was 60 % full":                                                   "",
		"another random value reaches 78 %, sequential read 86 %":                   "78 random;86 sequential read",
		"Der Container kostet kaum Leistung":                                        "none",
		"Zufällig wird im Container mit 60,4 Prozent geschrieben, gelesen mit 78 %": "60.4 random write;78 read",
		"kaum 5 Minuten": "",
	} {
		var got []string
		for _, c := range parseClaims(text, "") {
			s := "none"
			if !c.AlmostNone {
				s = fmt.Sprint(c.Percent)
			}
			for _, w := range []struct {
				on   bool
				word string
			}{{c.Random, "random"}, {c.Sequential, "sequential"}, {c.Read, "read"}, {c.Write, "write"}} {
				if w.on && !c.AlmostNone {
					s += " " + w.word
				}
			}
			got = append(got, s)
		}
		if strings.Join(got, ";") != want {
			t.Errorf("%q says %q, want %q", text, got, want)
		}
	}
}

func TestTableErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                                  "no \"tables\"",
		`{"tables": {"a": [{"mode": "dd"}]}}`: `mode "dd"`,
		`{"tables": {"a": [{"bs": "4q"}]}}`:   `bs "4q"`,
		`{"tables": {"a": [{"bs": "4k", "iops": -5}]}}`:    "no rate",
		`{"tables": {"a": [{"iop": 5}]}}`:                  "unknown field",
		`{"tables": {"a": []}} {}`:                         "more after",
		`{"fio": "--nonsense", "tables": {"a": [{}]}}`:     "nonsense",
		`{"tables": {"a": [{"from_celsius": 123456789}]}}`: "no temperature",
	} {
		if _, err := FromTable("x", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := FromMarkdown("x", "no table"); err == nil {
		t.Error("text without a table is read")
	}
}

// Readers end, and what they read can be checked.
func FuzzTable(f *testing.F) {
	b, _ := references.File("9100pro-pve9")
	f.Add(b)
	f.Add([]byte(`{"tables": {"a": [{"mode": "read", "bs": "4k", "iops": 5}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := FromTable("x", b); err == nil {
			finite(t, Check(s))
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	f.Add(page)
	f.Add("a|b\n-|-\n1|2\n")
	if b, err := os.ReadFile("../../docs/example/quick.en.md"); err == nil {
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := FromMarkdown("x", text); err == nil {
			finite(t, Check(s))
		}
	})
}

func finite(t *testing.T, all []Finding) {
	t.Helper()
	if _, err := json.Marshal(all); err != nil {
		t.Fatal(err) // infinities and NaN cannot be written
	}
}
