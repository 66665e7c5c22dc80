package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

var update = flag.Bool("update", false, "write the golden files anew")

var records = map[string]func() *record.Record{
	"healthy": healthy, "vm": smallVM, "incomplete": incomplete, "hostonly": hostOnly,
	"allcpus": allCPUs, "cached": cached, "network": network, "noisy": noisy,
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, d)
	}
}

func text(t *testing.T, rec *record.Record, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, Build(rec, analysis.Compute(rec), o), Width); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func markdown(t *testing.T, rec *record.Record, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Markdown(&b, Build(rec, analysis.Compute(rec), o)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, build := range records {
		for _, lang := range Langs() {
			rec := build()
			golden(t, name+"."+lang+".txt", text(t, rec, Options{Lang: lang}))
			golden(t, name+".details."+lang+".txt", text(t, rec, Options{Lang: lang, Details: true}))
			golden(t, name+"."+lang+".md", markdown(t, rec, Options{Lang: lang, Details: name == "healthy"}))
			var b bytes.Buffer
			o := PlanOptions{Lang: lang}
			if name == "healthy" {
				o.TemperatureMC = new(int64(41_000))
			}
			if err := Plan(&b, rec, o); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".plan."+lang+".txt", b.String())
		}
	}
}

// TestTextFits holds what every text report promises, whatever it says.
func TestTextFits(t *testing.T) {
	for name, build := range records {
		for _, lang := range Langs() {
			got := text(t, build(), Options{Lang: lang, Details: true})
			for i, line := range strings.Split(got, "\n") {
				if n := utf8.RuneCountInString(line); n > Width {
					t.Errorf("%s %s line %d has %d columns: %s", name, lang, i+1, n, line)
				}
				if strings.TrimRight(line, " \t") != line {
					t.Errorf("%s %s line %d ends in spaces: %q", name, lang, i+1, line)
				}
			}
			for _, bad := range []string{"%!", "NaN", "Inf", "-0,0", "-0.0", glue} {
				if strings.Contains(got, bad) {
					t.Errorf("%s %s contains %q", name, lang, bad)
				}
			}
			for _, r := range got {
				if !unicode.IsPrint(r) && r != '\n' {
					t.Errorf("%s %s contains %q", name, lang, r)
				}
			}
		}
	}
}

// TestHostileStrings plants markup, escape sequences and a serial number in
// every string of a record that a report shows.
func TestHostileStrings(t *testing.T) {
	const serial = "S3RIAL-CANARY"
	evil := "\x1b]0;x\x07<script>|`a`| [x](http://e) **b** _c_ ~~d~~ " + serial + "\n# e\n- f\u202e"
	for _, lang := range Langs() {
		rec := incomplete()
		rec.ID, rec.Plan.Dir, rec.Target.Dir, rec.Target.FSType, rec.Target.Source = evil, evil, evil, evil, evil
		rec.Target.MountPoint, rec.Target.Options, rec.Target.NeighboursUnknown = evil, evil, evil
		rec.Target.Neighbours = []record.Neighbour{{Kind: "vm", Name: evil}, {Kind: evil, Name: evil}}
		for i := range rec.Target.Stack {
			rec.Target.Stack[i].Title = evil
		}
		d := &rec.Target.Drives[0]
		d.Model, d.Firmware, d.Scheduler, d.Serial, d.Transport = &evil, &evil, &evil, new(serial), evil
		rec.Host.OS, rec.Host.Kernel, rec.Host.CPUModel, rec.Host.Board, rec.Host.Governor = evil, evil, evil, &evil, &evil
		rec.Host.PVE, rec.Host.Virtualised, rec.Host.CgroupLayout, rec.Host.Machine = &evil, &evil, evil, evil
		rec.Tool = record.Tool{Name: evil, Version: evil, Go: evil, Command: []string{evil, evil}}
		for i := range rec.Places {
			p := &rec.Places[i]
			p.Cgroup, p.Controllers = evil, []string{evil}
			p.Worker.Engine.Name, p.Worker.Engine.Setup = evil, []string{evil}
			if p.Container != nil {
				*p.Container = record.Container{Runtime: evil, IDMap: evil, AppArmor: evil, Seccomp: evil}
			}
		}
		rec.Notes = map[string]string{evil: evil}
		rec.Sources = []record.Source{{Kind: evil, Name: evil, Missing: evil}}
		rec.Incomplete = append(rec.Incomplete, record.Missing{Code: evil, Phase: evil, Place: evil, Detail: evil})
		rec.Warnings = append(rec.Warnings, record.Warning{Code: evil, Phase: evil, Place: evil},
			record.Warning{Code: record.WarnMemoryLimit, Phase: evil, Place: evil})
		eachPass(rec, func(p *record.Pass) {
			if p.Failed != nil {
				p.Failed.Detail = evil
			}
		})
		eachSample(rec, func(s *record.Sample) { s.Temperatures = map[string]int64{evil: 40_000} })

		o := Options{Lang: lang, Details: true, Name: evil, Files: []string{evil}}
		plain, md := text(t, rec, o), markdown(t, rec, o)
		for form, got := range map[string]string{"text": plain, "markdown": md} {
			if strings.Contains(got, serial) {
				t.Errorf("%s %s shows the serial number", lang, form)
			}
			for _, r := range got {
				if !unicode.IsPrint(r) && r != '\n' {
					t.Errorf("%s %s contains %q", lang, form, r)
				}
			}
		}
		for i, line := range strings.Split(plain, "\n") {
			// Commands and the names of places are never cut, for copying and
			// for aligning.
			if n := utf8.RuneCountInString(line); n > Width && !strings.HasPrefix(line, "  ]0;x") {
				t.Errorf("%s line %d has %d columns: %s", lang, i+1, n, line)
			}
		}
		var prose []string // all but code, in which nothing has a meaning
		for _, line := range strings.Split(md, "\n") {
			if !strings.HasPrefix(line, "    ") {
				prose = append(prose, line)
			}
		}
		md = strings.Join(prose, "\n")
		for _, bad := range []string{"<script", " |`", "[x](", " **b", " _c_", "~~d", "\n- f"} {
			if strings.Contains(strings.ReplaceAll(md, `\`+bad, ""), bad) {
				t.Errorf("%s markdown lets %q through", lang, bad)
			}
		}
		columns := 0
		for _, line := range strings.Split(md, "\n") {
			if !strings.HasPrefix(line, "|") {
				columns = 0
				continue
			}
			n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			if columns == 0 {
				columns = n
			}
			if n != columns {
				t.Errorf("%s markdown table row has %d bars, its head %d: %s", lang, n, columns, line)
			}
		}
	}
}

// TestInert holds the start of lines, where CommonMark sees lists and headings.
func TestInert(t *testing.T) {
	for in, want := range map[string]string{
		"- a": `\- a`, "+ b": `\+ b`, "=": `\=`, "1. c": `1\. c`, "12) d": `12\) d`, "1.5": `1\.5`, "7": "7", "": "", "e": "e", "# f": `\# f`, "> g": `\> g`,
	} {
		if got := inert(escape(in)); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// TestRenders makes a report of records that hold almost nothing.
func TestRenders(t *testing.T) {
	empty := &record.Record{SchemaVersion: 1}
	early := healthy()
	early.Rounds, early.Cleaned, early.Prefill, early.Complete = nil, nil, nil, false
	early.Places = nil
	early.Incomplete = []record.Missing{{Code: record.MissingPrefill, Detail: "no space left on device"}}
	for _, rec := range []*record.Record{empty, early} {
		for _, lang := range Langs() {
			for _, got := range []string{text(t, rec, Options{Lang: lang, Details: true}), markdown(t, rec, Options{Lang: lang})} {
				if strings.Contains(got, "%!") || strings.Contains(got, "NaN") {
					t.Errorf("%s:\n%s", lang, got)
				}
			}
		}
	}
	golden(t, "early.en.txt", text(t, early, Options{Lang: "en", Files: []string{"/root/nativ-run/20261130-205900-ab12.json"}}))
}

// TestOneSensorIsNamed prefers the composite temperature over a hotter sensor.
func TestOneSensorIsNamed(t *testing.T) {
	b := &builder{res: &analysis.Result{Temperatures: []analysis.Temperature{
		{Sensor: "nvme0 Composite", Max: 58_000}, {Sensor: "nvme0 Sensor 2", Max: 64_000}, {Sensor: "nvme1 Composite", Max: 59_000},
	}}}
	if got := b.sensor(); got.Sensor != "nvme1 Composite" {
		t.Errorf("got %s", got.Sensor)
	}
}

// TestThresholdInTexts holds the number that the texts of both languages name.
func TestThresholdInTexts(t *testing.T) {
	for _, lang := range Langs() {
		m := catalogue(lang)
		for _, text := range []string{m.legend, m.verdict.deficitSmall, m.detail.rulesText} {
			if analysis.LeastShown != 0.05 || !strings.Contains(strings.ReplaceAll(text, "%%", "%"), "5"+glue+"%") {
				t.Errorf("%s: %q does not name the limit of %g", lang, text, analysis.LeastShown)
			}
		}
	}
}
