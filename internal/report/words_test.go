package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"nativ/internal/job"
	"nativ/internal/record"
)

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{
		"": nil, "3": {3}, "3,4": {3, 4}, "3-5": {3, 4, 5}, "1,3-6,8,9": {1, 3, 4, 5, 6, 8, 9},
	} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v: got %q, want %q", numbers, got, want)
		}
	}
}

// TestNoMarkIsDropped gives one row more footnotes than fit beside it.
func TestNoMarkIsDropped(t *testing.T) {
	rec := healthy()
	rec.Warnings = []record.Warning{
		{Code: record.WarnPassFailed, Phase: job.RandRead4K}, {Code: record.WarnContainerRemade, Phase: job.Read128K},
		{Code: record.WarnMemoryLimit, Phase: job.RandRead4K}, {Code: record.WarnHeldUp, Phase: job.Read128K},
		{Code: record.WarnOOM, Phase: job.RandRead4K}, {Code: record.WarnStalls, Phase: job.Read128K},
		{Code: record.WarnCgroupThrottled, Phase: job.Read128K}, {Code: record.WarnSpread, Phase: job.RandRead4K},
	}
	plain, md := text(t, rec, Options{Lang: "en"}), markdown(t, rec, Options{Lang: "en"})
	for form, got := range map[string]string{"text": plain, "markdown": strings.ReplaceAll(md, `\`, "")} {
		for _, marks := range []string{"[3-6]", "[7-10]"} {
			if !strings.Contains(got, marks) {
				t.Errorf("%s has no %s:\n%s", form, marks, got)
			}
		}
	}
	for line := range strings.SplitSeq(plain, "\n") {
		if n := utf8.RuneCountInString(line); n > Width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestTableFits shortens the names in tables that are too wide, in text only.
func TestTableFits(t *testing.T) {
	table := Table{Columns: []Column{{"Job", true}, {"Number", false}}, Rows: []Row{
		{Cells: []Cell{{Text: "a-very-long-name-of-a-job-1"}, {Text: "123,456"}}, Notes: "[1,3,5]"},
		{Cells: []Cell{{Text: "short"}, {Text: "2"}}},
	}}
	var b bytes.Buffer
	if err := Text(&b, &Document{Blocks: []Block{table}}, 25); err != nil {
		t.Fatal(err)
	}
	const want = `Job                Number
a-very-l…a-job-1  123,456
                  [1,3,5]
short                   2
`
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for line := range strings.SplitSeq(b.String(), "\n") {
		if n := utf8.RuneCountInString(line); n > 25 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	b.Reset()
	if err := Markdown(&b, &Document{Blocks: []Block{table}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `a-very-long-name-of-a-job-1 \[1,3,5\]`) {
		t.Errorf("markdown shortened it:\n%s", b.String())
	}
}

// TestReasons translates what the packages below put into records. The list is
// of their sentences as they stand there.
func TestReasons(t *testing.T) {
	de, en := newSpeaker("de", nil), newSpeaker("en", nil)
	for in, want := range map[string]string{
		"no sensor: no drive is known below /mnt":                                      "kein Sensor: Unter /mnt ist kein Laufwerk bekannt",
		"no sensor: the kernel shows no device behind nvme":                            "kein Sensor: Der Kernel zeigt kein Gerät hinter nvme",
		"no sensor: the kernel shows none for vda":                                     "kein Sensor: Der Kernel zeigt keinen für vda",
		"no sensor: nvme0 has no hwmon (CONFIG_NVME_HWMON, Linux 5.5 or later)":        "kein Sensor: nvme0 hat kein hwmon (CONFIG_NVME_HWMON, Linux 5.5 or later)",
		"no place with a cgroup of its own was measured":                               "kein Ort mit eigener cgroup wurde gemessen",
		"no counters: stat /sys/block/x/stat: no such file or directory":               "keine Zähler: stat /sys/block/x/stat: no such file or directory",
		"no CPU times: open /proc/stat: permission denied":                             "keine CPU-Zeiten: open /proc/stat: permission denied",
		"counters are switched off (queue/iostats is 0); write 1 there to have them":   "die Zähler sind aus (queue/iostats ist 0); zum Einschalten 1 hineinschreiben",
		"it did not answer within 500ms":                                               "keine Antwort innerhalb von 500ms",
		"read temperature nvme0 Composite: parse temperature: x":                       "nicht lesbar: parse temperature: x",
		"no drive is known behind the directory":                                       "hinter dem Verzeichnis ist kein Laufwerk bekannt",
		"processes outside this container cannot be seen":                              "Prozesse außerhalb dieses Containers sind nicht zu sehen",
		"files of other users' processes cannot be seen; run as root to see them":      "Dateien der Prozesse anderer Benutzer sind nur als root zu sehen",
		"there are too many processes; stopped after 500ms":                            "zu viele Prozesse, Suche nach 500ms beendet",
		"no health log: /dev/nvme0 is closed to this user; run as root":                "kein Health-Log: /dev/nvme0 darf nur root lesen; als root starten",
		"no PCIe link: the kernel shows none at 0000:00:02.0, as in a virtual machine": "kein PCIe-Link: Der Kernel zeigt keinen bei 0000:00:02.0, wie in einer virtuellen Maschine",
		"3 lines of the kernel's log were overwritten before they were read":           "3 Zeilen des Kernel-Logs waren schon überschrieben",
		"something else": "something else",
		"":               "",
	} {
		if got := de.reason(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		if got := en.reason(in); got != in {
			t.Errorf("in English %q became %q", in, got)
		}
	}
}

// TestFailuresSayEachThingOnce.
func TestFailuresSayEachThingOnce(t *testing.T) {
	for _, c := range []struct{ code, detail, en, de string }{
		{record.FailContainer, "the container ended while the worker ran", "the container ended", "der Container endete"},
		{record.FailContainer, "the container has ended", "the container ended", "der Container endete"},
		{record.FailWorker, "the worker ended without a result (signal: killed)", "the worker ended without a result (signal: killed)",
			"der Messprozess endete ohne Ergebnis (Signal: killed)"},
		{record.FailWorker, "the worker ended without a result", "the worker ended without a result", "der Messprozess endete ohne Ergebnis"},
		{record.FailStalled, "12 I/Os did not come back", "I/Os did not come back (12)", "Anfragen kamen nicht zurück (12)"},
		{record.FailDeadline, "the pass was not over by the worker's deadline", "the worker did not answer in time", "der Messprozess antwortete nicht in der Frist"},
		{record.FailIO, "read: EIO at offset 4096 (3 times)", "I/O error: read: EIO at offset 4096 (3 times)", "Ein-/Ausgabefehler: read: EIO bei Offset 4096 (3-mal)"},
		{record.FailInterrupted, "", "interrupted", "abgebrochen"},
		{"of-a-later-version", "x", "of-a-later-version (x)", "of-a-later-version (x)"},
	} {
		for lang, want := range map[string]string{"en": c.en, "de": c.de} {
			if got := newSpeaker(lang, nil).failure(c.code, c.detail); got != want {
				t.Errorf("%s %s: got %q, want %q", lang, c.code, got, want)
			}
		}
	}
}

// TestNameOfTheRecord points at this record, and at the last one only where a
// report is printed right after its run.
func TestNameOfTheRecord(t *testing.T) {
	rec := healthy()
	for want, o := range map[string]Options{
		"nativ report " + rec.ID + " --details": {Lang: "en"},
		"nativ report last --details":           {Lang: "en", Last: true},
		"nativ report x.json --details":         {Lang: "en", Name: "x.json"},
	} {
		if got := text(t, rec, o); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestNoDateIsNone(t *testing.T) {
	for _, lang := range Langs() {
		got := text(t, &record.Record{SchemaVersion: 1}, Options{Lang: lang, Details: true})
		if strings.Contains(got, "0001") || strings.Contains(got, "0:00") {
			t.Errorf("%s: a date or a time that nobody knows:\n%s", lang, got)
		}
	}
}

func TestTooShortForATick(t *testing.T) {
	b := &builder{notes: &notes{speaker: newSpeaker("en", nil)}}
	for ns, want := range map[float64]string{0.2: "< 1 ns", 0.6: "1 ns", 85: "85 ns"} {
		if got := strings.ReplaceAll(b.cpuTime(ns), glue, " "); got != want {
			t.Errorf("%g: got %q, want %q", ns, got, want)
		}
	}
}

// TestNoDeficitIsTrueOfTheTable makes the container as a whole faster or slower
// than the host and its own part the other way.
func TestNoDeficitIsTrueOfTheTable(t *testing.T) {
	for _, c := range []struct {
		name              string
		host, pinned, lxc float64
		want              string
	}{
		{"only the own part is negative", 1000, 1040, 1010, "as a whole the container was nowhere measured slower than the host"},
		{"the own part is positive", 1000, 960, 990, "the largest deficit to the host, 1.0 % in random reads"},
	} {
		rec := run(speeds{job.RandRead4K: three(c.host*100, c.pinned*100, c.lxc*100)}, machine{online: 4, set: []int{0, 1}})
		got := strings.Join(strings.Fields(text(t, rec, Options{Lang: "en"})), " ")
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: no %q in %s", c.name, c.want, got)
		}
	}
}

func TestNeighbourNames(t *testing.T) {
	rec := healthy()
	for name, want := range map[string]string{
		"fio (PID 12)": "process fio (PID 12) uses", "md0 resync": "Caution   md0 resync uses",
	} {
		rec.Target.Neighbours = []record.Neighbour{{Kind: "job", Name: name}}
		if got := text(t, rec, Options{Lang: "en"}); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", name, want, got)
		}
	}
}
