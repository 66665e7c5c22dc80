package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"nativ/internal/analysis"
	"nativ/internal/compare"
	"nativ/internal/job"
	"nativ/internal/record"
	"nativ/internal/reference"
)

func refSide(t *testing.T, name string) compare.Side {
	t.Helper()
	rec, err := reference.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return compare.Side{Label: name, Place: record.PlaceImported, Record: rec}
}

func hostSide(label string, rec *record.Record) compare.Side {
	return compare.Side{Label: label, Place: record.PlaceHost, Record: rec}
}

// comparisons are documents of every kind.
func comparisons(t *testing.T, lang string) map[string]*Document {
	t.Helper()
	o := CompareOptions{Lang: lang}
	before, after, ram := healthy(), noisy(), cached()
	after.ID, ram.ID = "20261201-000000-0001", "20261202-000000-0002"
	after.Host.Kernel = "6.14.11-2-pve"
	after.Target.Drives[0].Firmware = new("5B2QJXD7")
	two := compare.Compare(hostSide("before", before), hostSide("after", after), false)
	lxc := compare.Side{Label: "before/lxc", Place: record.PlaceLXC, Record: before}
	cond, err := compare.ParseCondition("randread.iops<-1%")
	if err != nil {
		t.Fatal(err)
	}
	other, err := compare.ParseCondition("randrw.p99>10%")
	if err != nil {
		t.Fatal(err)
	}
	checked := compare.Check([]compare.Condition{cond, other}, &two)
	var many []compare.Side
	for i := range 12 {
		rec := healthy()
		rec.ID = fmt.Sprint(i)
		for r := range rec.Rounds {
			for p := range rec.Rounds[r].Passes {
				// Each drive a little else, and one by far.
				f := 1 + float64(i%5)*0.004
				if i == 7 {
					f = 0.7
				}
				scale(&rec.Rounds[r].Passes[p], f)
			}
		}
		many = append(many, hostSide(fmt.Sprintf("/data/drives/nvme%02d.json", i), rec))
	}
	k := compare.Rank(many)
	native, inLXC := refSide(t, "ref:9100pro-pve9/native"), refSide(t, "ref:9100pro-pve9/lxc")
	published := compare.Compare(native, inLXC, false)
	return map[string]*Document{
		"published": Compare([]compare.Comparison{published}, o),
		"twice":     Compare([]compare.Comparison{two, compare.Compare(hostSide("before/host", before), lxc, false)}, CompareOptions{Lang: lang, Checked: &checked}),
		"details":   Compare([]compare.Comparison{two}, CompareOptions{Lang: lang, Details: true}),
		"refused":   Compare([]compare.Comparison{compare.Compare(hostSide("before", before), hostSide("cached", ram), false)}, o),
		"anyway":    Compare([]compare.Comparison{compare.Compare(hostSide("before", before), hostSide("cached", ram), true)}, o),
		"rank":      Rank(&k, CompareOptions{Lang: lang, Checked: new(compare.CheckRanking([]compare.Condition{cond}, &k))}),
	}
}

func scale(p *record.Pass, f float64) {
	if p.Outcome == nil {
		return
	}
	for _, flow := range []*record.Flow{p.Outcome.Read, p.Outcome.Write} {
		if flow != nil {
			flow.IOs, flow.Bytes = int64(float64(flow.IOs)*f), int64(float64(flow.Bytes)*f)
		}
	}
}

func TestCompareGolden(t *testing.T) {
	for _, lang := range Langs() {
		for name, d := range comparisons(t, lang) {
			var text, md bytes.Buffer
			if err := Text(&text, d, Width); err != nil {
				t.Fatal(err)
			}
			golden(t, "compare-"+name+"."+lang+".txt", text.String())
			for i, line := range strings.Split(text.String(), "\n") {
				if n := utf8.RuneCountInString(line); n > Width {
					t.Errorf("%s %s line %d has %d columns: %s", name, lang, i+1, n, line)
				}
			}
			for _, bad := range []string{"%!", "NaN", "Inf", glue} {
				if strings.Contains(text.String(), bad) {
					t.Errorf("%s %s contains %q", name, lang, bad)
				}
			}
			if err := Markdown(&md, d); err != nil {
				t.Fatal(err)
			}
			if name == "published" || name == "rank" {
				golden(t, "compare-"+name+"."+lang+".md", md.String())
			}
		}
	}
}

// TestCompareVerdictFollowsTheTable holds each number of the verdict against the
// comparison, for differences of every size and scatter.
func TestCompareVerdictFollowsTheTable(t *testing.T) {
	for _, ratio := range []float64{0.5, 0.9, 0.97, 0.99, 1, 1.01, 1.05, 2} {
		for _, spread := range []float64{0, 0.001, 0.01, 0.1} {
			a, b := healthy(), healthy()
			b.ID = "b"
			for _, rec := range []*record.Record{a, b} {
				for r := range rec.Rounds {
					for p := range rec.Rounds[r].Passes {
						f := 1 + spread*float64(p%3)
						if rec == b {
							f *= ratio
						}
						scale(&rec.Rounds[r].Passes[p], f)
						rec.Rounds[r].Passes[p].Intervals = nil
					}
				}
			}
			c := compare.Compare(hostSide("a", a), hostSide("b", b), false)
			w := newComparer(&c, CompareOptions{Lang: "en"})
			got := plain(w.verdict())
			for i := range c.Pairs {
				m := c.Pairs[i].Metric(compare.IOPS)
				name := plain(w.workloadWords(&c.Pairs[i].A))
				want := name
				if m.Judgement == analysis.JudgeDifferent || m.Judgement == analysis.JudgeNegligible {
					want = name + " " + w.ratio(m) + " % of A [" + w.interval(m) + "]"
				}
				if strings.Count(got, name) != 1 || !strings.Contains(got, want) {
					t.Errorf("%g, %g: no %q in %s", ratio, spread, want, got)
				}
			}
		}
	}
}

// TestCompareHidesSecrets plants serial numbers, markup and escape sequences.
func TestCompareHidesSecrets(t *testing.T) {
	const serial = "S3RIAL-CANARY"
	evil := "\x1b]0;x\x07<script>|`a`| **b** " + serial + "\n# e\u202e"
	a, b := healthy(), healthy()
	b.ID = "b"
	for i, rec := range []*record.Record{a, b} {
		rec.Target.Drives[0].Serial = new(serial + fmt.Sprint(i)[:0])
		rec.Target.Drives[0].Model = new(evil + fmt.Sprint(i))
		rec.Host.Kernel, rec.Host.OS = evil+fmt.Sprint(i), evil+fmt.Sprint(i)
		rec.Notes = map[string]string{evil: evil + fmt.Sprint(i)}
		rec.Target.Options = evil + fmt.Sprint(i)
	}
	b.Plan.Phases[0].Name = evil
	c := compare.Compare(hostSide(evil, a), hostSide(evil, b), true)
	k := compare.Rank([]compare.Side{hostSide(evil, a), hostSide(evil, b), hostSide("c", a)})
	for _, lang := range Langs() {
		for _, d := range []*Document{Compare([]compare.Comparison{c}, CompareOptions{Lang: lang, Details: true}), Rank(&k, CompareOptions{Lang: lang, Details: true})} {
			var out bytes.Buffer
			if err := Text(&out, d, Width); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), serial) {
				t.Errorf("%s: a serial number is in\n%s", lang, out.String())
			}
			for _, r := range out.String() {
				if !unicode.IsPrint(r) && r != '\n' {
					t.Errorf("%s: contains %q", lang, r)
				}
			}
		}
	}
}

// TestEveryReasonHasAText.
func TestEveryReasonHasAText(t *testing.T) {
	for _, lang := range Langs() {
		m := &catalogue(lang).compare
		for _, code := range compare.ReasonCodes() {
			if m.reasons[code] == "" {
				t.Errorf("%s: no text for %s", lang, code)
			}
		}
	}
}

// TestGoodNeedsItsDrive says nothing of drives that nobody knows, and of syncs no
// maker's figure.
func TestGoodNeedsItsDrive(t *testing.T) {
	s := newSpeaker("en", nil)
	rec := healthy()
	rec.Target.Drives[0].Model, rec.Target.Drives[0].Link = new("QEMU NVMe Ctrl"), nil
	if s.yardsticks(rec).known() {
		t.Error("an unknown drive has yardsticks")
	}
	rec.Target.Drives[0].Model, rec.Target.Drives[0].SizeBytes = new("Samsung SSD 990 PRO 2TB"), 2000398934016
	y := s.yardsticks(rec)
	for name, want := range map[string]bool{job.RandRead4K: true, job.Write128K: true, job.SyncWrite4K: false} {
		for i := range rec.Plan.Phases {
			if j := &rec.Plan.Phases[i]; j.Name == name {
				if iops, bw := y.ratedOf(j); (iops != nil || bw != nil) != want {
					t.Errorf("%s: rated %v %v", name, iops, bw)
				}
			}
		}
	}
	rec.Target.Drives = append(rec.Target.Drives, rec.Target.Drives[0])
	if s.yardsticks(rec).known() {
		t.Error("two drives are held against one")
	}
}
