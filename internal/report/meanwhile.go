package report

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/record"
)

// meanwhileMessages are the texts about what the host saw during a run.
type meanwhileMessages struct {
	head, log                                     string
	thresholds, thresholdText                     string
	warningAt, criticalAt, tmt1At, tmt2At         string
	throttling, throttlingNone, light, heavy      string
	minutes, minutesText                          string
	alarm                                         string
	alarms                                        map[string]string
	wear, wearText                                string
	media, mediaText, spare, spareText            string
	link, linkSame, linkFell, aer, aerText        string
	cpu, cpuHz, cpuThrottled, cpuCalm, cpuPackage string
	idle, idleText, waits, waitsText, waitsAbove  string
	cost, costText                                string
	logKinds                                      map[string]string
	logAt, logMore, logMissing, port, always      string
}

var meanwhileEnglish = meanwhileMessages{
	head: "What the drive and the CPUs said meanwhile", log: "Kernel log",
	thresholds: "Thresholds", thresholdText: "composite: %s",
	warningAt: "warning %s (WCTEMP)", criticalAt: "critical %s (CCTEMP)", tmt1At: "light throttling %s (TMT1)", tmt2At: "heavy throttling %s (TMT2)",
	throttling: "Throttling counted", throttlingNone: "none (a drive need not count what it does by itself)",
	light: "light (TMT1) %[1]s× for %[2]s", heavy: "heavy (TMT2) %[1]s× for %[2]s",
	minutes: "Too hot", minutesText: "%[1]s minutes from the warning temperature on, %[2]s from the critical one on, by the drive's count",
	alarm: "Alarm of the drive",
	alarms: map[string]string{
		"0": "spare below its threshold", "1": "temperature", "2": "reliability", "3": "read-only", "4": "memory backup failed", "5": "persistent memory",
	},
	wear: "Written", wearText: "%[1]s by the drive's own count, %[2]s by the test; %[3]s in its life, %[4]s %% of its endurance used",
	media: "Media errors", mediaText: "%[1]s more in this run, %[2]s in the drive's life", spare: "Spare", spareText: "%[1]s %% (threshold %[2]s %%)",
	link: "PCIe link", linkSame: "%[1]s all the time", linkFell: "%[1]s, fell to %[2]s meanwhile", aer: "PCIe errors", aerText: "%[1]s: %[2]s corrected, %[3]s uncorrected, %[4]s fatal",
	cpu: "CPUs", cpuHz: "%s GHz in the mean", cpuThrottled: "throttled by heat %s×", cpuCalm: "not throttled by heat", cpuPackage: "package %s",
	idle: "At rest", idleText: "%[1]s, after %[2]s without reading the drive",
	waits: "Cool-downs", waitsText: "%[1]s waits, %[2]s in all, the longest %[3]s", waitsAbove: "%[1]s at the limit, %[2]s steady above the band",
	cost: "Cost of reading", costText: "%[1]s %[2]s in the mean, at most %[3]s",
	logKinds: map[string]string{"reset": "reset", "io-error": "I/O error", "timeout": "timeout", "pcie-error": "PCIe error", "link": "link", "other": "other"},
	logAt:    "%s after the start", logMore: "%s more lines", logMissing: "kernel log: %s", port: "%s (port)", always: "always %s",
}

var meanwhileGerman = meanwhileMessages{
	head: "Was Laufwerk und CPUs dabei meldeten", log: "Kernel-Log",
	thresholds: "Schwellen", thresholdText: "Composite: %s",
	warningAt: "Warnung %s (WCTEMP)", criticalAt: "kritisch %s (CCTEMP)", tmt1At: "leicht drosseln %s (TMT1)", tmt2At: "stark drosseln %s (TMT2)",
	throttling: "Gezähltes Drosseln", throttlingNone: "keines (was es von sich aus tut, muss ein Laufwerk nicht zählen)",
	light: "leicht (TMT1) %[1]s× für %[2]s", heavy: "stark (TMT2) %[1]s× für %[2]s",
	minutes: "Zu heiß", minutesText: "%[1]s Minuten ab der Warntemperatur, %[2]s ab der kritischen, nach Zählung des Laufwerks",
	alarm: "Alarm des Laufwerks",
	alarms: map[string]string{
		"0": "Reserve unter der Schwelle", "1": "Temperatur", "2": "Zuverlässigkeit", "3": "nur noch lesbar", "4": "Speichersicherung ausgefallen", "5": "persistenter Speicher",
	},
	wear: "Geschrieben", wearText: "%[1]s nach Zählung des Laufwerks, %[2]s vom Test; %[3]s in seinem Leben, %[4]s\u00a0%% seiner Lebensdauer verbraucht",
	media: "Medienfehler", mediaText: "%[1]s mehr in diesem Lauf, %[2]s im Leben des Laufwerks", spare: "Reserve", spareText: "%[1]s\u00a0%% (Schwelle %[2]s\u00a0%%)",
	link: "PCIe-Link", linkSame: "durchgehend %[1]s", linkFell: "%[1]s, zwischendurch nur %[2]s", aer: "PCIe-Fehler", aerText: "%[1]s: %[2]s korrigiert, %[3]s nicht korrigiert, %[4]s fatal",
	cpu: "CPUs", cpuHz: "%s GHz im Mittel", cpuThrottled: "%s× wegen Hitze gedrosselt", cpuCalm: "nicht wegen Hitze gedrosselt", cpuPackage: "Gehäuse %s",
	idle: "In Ruhe", idleText: "%[1]s, nach %[2]s, ohne das Laufwerk zu lesen",
	waits: "Abkühlen", waitsText: "%[1]s Pausen, zusammen %[2]s, die längste %[3]s", waitsAbove: "%[1]s an der Grenze beendet, %[2]s gleichbleibend darüber",
	cost: "Kosten des Lesens", costText: "%[1]s im Mittel %[2]s, höchstens %[3]s",
	logKinds: map[string]string{"reset": "Reset", "io-error": "I/O-Fehler", "timeout": "Zeitüberschreitung", "pcie-error": "PCIe-Fehler", "link": "Link", "other": "anderes"},
	logAt:    "%s nach dem Start", logMore: "%s weitere Zeilen", logMissing: "Kernel-Log: %s", port: "%s (Port)", always: "immer %s",
}

// thresholds are the temperatures that a drive names, as far as it does.
func (b *builder) thresholds(n *record.NVMe) string {
	m := &b.meanwhile
	var parts []string
	for _, t := range []struct {
		mc   *int64
		text string
	}{{n.WarningMC, m.warningAt}, {n.CriticalMC, m.criticalAt}, {n.TMT1MC, m.tmt1At}, {n.TMT2MC, m.tmt2At}} {
		if t.mc != nil && *t.mc > 0 {
			parts = append(parts, fmt.Sprintf(t.text, unit(b.celsius(*t.mc), "°C")))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(m.thresholdText, strings.Join(parts, ", "))
}

// meanwhileDetails are the counters of drives, links and CPUs over the run.
func (b *builder) meanwhileDetails() Facts {
	m := &b.meanwhile
	see := analysis.See(b.rec)
	var f Facts
	if i := b.rec.Idle; i != nil && b.rec.IdleNS > 0 {
		if t := b.sensor(); t != nil {
			if mc, ok := i.Temperatures[t.Sensor]; ok {
				f.add(m.idle, fmt.Sprintf(m.idleText, unit(b.celsius(mc), "°C"), b.seconds(b.rec.IdleNS)))
			}
		}
	}
	if w := &see.Waits; w.N > 0 {
		text := fmt.Sprintf(m.waitsText, b.int(int64(w.N)), b.long(w.WaitedNS), b.long(w.LongestNS))
		if w.Limit+w.Steady > 0 {
			text += "; " + fmt.Sprintf(m.waitsAbove, b.int(int64(w.Limit)), b.int(int64(w.Steady)))
		}
		f.add(m.waits, text)
	}
	name := func(what, which string, many bool) string {
		if many {
			return what + " " + b.data(which)
		}
		return what
	}
	for i := range see.Health {
		b.healthDetails(&f, &see.Health[i], func(what string) string { return name(what, see.Health[i].Controller, len(see.Health) > 1) })
	}
	ports := map[string]bool{}
	for i := range b.rec.Target.Drives {
		if p := b.rec.Target.Drives[i].PortAddress; p != nil {
			ports[*p] = true
		}
	}
	for _, l := range see.Links {
		if ports[l.Address] && l.Least == l.First {
			continue // as the drive's own end of the link
		}
		gen := func(s record.LinkState) string { return pcie(float64(s.SpeedMTs), float64(s.Width)) }
		text := fmt.Sprintf(m.linkSame, gen(l.First))
		if l.Least != l.First {
			text = fmt.Sprintf(m.linkFell, gen(l.First), gen(l.Least))
		}
		what := m.link
		if ports[l.Address] {
			what = fmt.Sprintf(m.port, what)
		}
		f.add(name(what, l.Address, len(b.rec.Target.Drives) > 1), text)
	}
	for _, e := range see.Errors {
		if e.Correctable+e.NonFatal+e.Fatal != 0 {
			f.add(m.aer, fmt.Sprintf(m.aerText, b.data(e.Address), b.int(e.Correctable), b.int(e.NonFatal), b.int(e.Fatal)))
		}
	}
	b.cpuDetails(&f, &see.CPU)
	var worst *analysis.Cost
	for i := range see.Costs {
		if c := &see.Costs[i]; worst == nil || c.MeanNS > worst.MeanNS {
			worst = c
		}
	}
	if worst != nil && worst.MeanNS >= int64(time.Millisecond) {
		f.add(m.cost, fmt.Sprintf(m.costText, b.data(worst.Source), b.duration(float64(worst.MeanNS)), b.duration(float64(worst.MaxNS))))
	}
	return f
}

func (b *builder) healthDetails(f *Facts, h *analysis.HealthChange, name func(string) string) {
	m := &b.meanwhile
	first, last := &h.First, &h.Last
	count := []int64{last.TMT1Transitions - first.TMT1Transitions, last.TMT1Seconds - first.TMT1Seconds,
		last.TMT2Transitions - first.TMT2Transitions, last.TMT2Seconds - first.TMT2Seconds}
	var counted []string
	for i, text := range []string{m.light, m.heavy} {
		if n, sec := count[2*i], count[2*i+1]; n > 0 || sec > 0 {
			counted = append(counted, fmt.Sprintf(text, b.int(n), b.long(sec*1e9)))
		}
	}
	if len(counted) == 0 {
		counted = append(counted, m.throttlingNone)
	}
	f.add(name(m.throttling), strings.Join(counted, ", "))
	if w, c := last.WarningMinutes-first.WarningMinutes, last.CriticalMinutes-first.CriticalMinutes; w+c > 0 {
		f.add(name(m.minutes), fmt.Sprintf(m.minutesText, b.int(w), b.int(c)))
	}
	if h.Warning != 0 {
		var parts []string
		for bit := range bits.Len8(h.Warning) {
			if h.Warning&(1<<bit) != 0 {
				text := m.alarms[fmt.Sprint(bit)]
				if text == "" {
					text = b.unknown
				}
				parts = append(parts, text)
			}
		}
		f.add(name(m.alarm), strings.Join(parts, ", "))
	}
	f.add(name(m.wear), fmt.Sprintf(m.wearText, b.bytes(last.WrittenBytes-first.WrittenBytes), b.bytes(b.res.Written.Application),
		b.bytes(last.WrittenBytes), b.int(last.PercentageUsed)))
	if n := last.MediaErrors - first.MediaErrors; n != 0 || last.MediaErrors > 0 {
		f.add(name(m.media), fmt.Sprintf(m.mediaText, b.int(n), b.int(last.MediaErrors)))
	}
	if last.AvailableSpare < 100 && (last.AvailableSpare > 0 || last.SpareThreshold > 0) {
		f.add(name(m.spare), fmt.Sprintf(m.spareText, b.int(last.AvailableSpare), b.int(last.SpareThreshold)))
	}
}

func (b *builder) cpuDetails(f *Facts, c *analysis.CPUChange) {
	m := &b.meanwhile
	var parts []string
	if c.LowHz != nil {
		ghz := func(hz int64) string { return b.fixed(float64(hz)/1e9, 1) }
		text := ghz(*c.LowHz)
		if high := ghz(*c.HighHz); high != text {
			text = fmt.Sprintf(b.between, text, high)
		}
		parts = append(parts, fmt.Sprintf(m.cpuHz, text))
	}
	switch {
	case c.Throttles == nil:
	case *c.Throttles > 0:
		parts = append(parts, fmt.Sprintf(m.cpuThrottled, b.int(*c.Throttles)))
	default:
		parts = append(parts, m.cpuCalm)
	}
	if c.LowMC != nil {
		text := unit(b.celsius(*c.LowMC), "°C")
		if high := unit(b.celsius(*c.HighMC), "°C"); high != text {
			text = fmt.Sprintf(b.between, b.celsius(*c.LowMC), high)
		}
		parts = append(parts, fmt.Sprintf(m.cpuPackage, text))
	}
	f.add(m.cpu, strings.Join(parts, ", "))
}

// kernelLog has the first lines about the drives.
func (b *builder) kernelLog() Facts {
	const most = 20
	var f Facts
	var start int64
	for i := range b.rec.Rounds {
		for j := range b.rec.Rounds[i].Passes {
			if o := b.rec.Rounds[i].Passes[j].Outcome; o != nil && (start == 0 || o.StartNS < start) {
				start = o.StartNS
			}
		}
	}
	for i, l := range b.rec.KernelLog {
		if i == most {
			f.add("…", fmt.Sprintf(b.meanwhile.logMore, b.int(int64(len(b.rec.KernelLog)-most))))
			break
		}
		label := b.meanwhile.logKinds[l.Kind]
		if label == "" {
			label = b.data(l.Kind)
		}
		text := b.data(l.Text)
		if start > 0 && l.MonoNS >= start {
			text += " (" + fmt.Sprintf(b.meanwhile.logAt, b.long(l.MonoNS-start)) + ")"
		}
		f.add(label, text)
	}
	return f
}
