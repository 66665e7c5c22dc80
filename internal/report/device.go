package report

import (
	"fmt"
	"strings"

	"nativ/internal/record"
)

// deviceMessages are the texts of a run on a device itself.
type deviceMessages struct {
	label, onlyRead, overwritten string
	writesNothing, destroys      string
	leftOut, leftOutText         string
	planText                     string // as that of a test file
}

var deviceEnglish = deviceMessages{
	label: "Device", onlyRead: "%s (the device itself, only read, %s)", overwritten: "%s (the device itself, written over, %s)",
	writesNothing: "nothing: the device is opened only to read",
	destroys:      "at most %[1]s (limit; a slower drive writes less in the time), over everything on %[2]s, serial number %[3]s",
	planText:      "%[1]s in %[2]s, %[3]s each, %[4]s, the first %[5]s of the device",
	leftOut:       "Left out", leftOutText: "%s, because they write",
}

var deviceGerman = deviceMessages{
	label: "Gerät", onlyRead: "%s (das Gerät selbst, nur gelesen, %s)", overwritten: "%s (das Gerät selbst, überschrieben, %s)",
	writesNothing: "nichts: Das Gerät wird nur zum Lesen geöffnet",
	destroys:      "höchstens\u00a0%[1]s (Grenze; ein langsameres Laufwerk schreibt in der Zeit weniger), über alles auf %[2]s, Seriennummer %[3]s",
	planText:      "%[1]s an %[2]s, je %[3]s, %[4]s, die ersten %[5]s des Geräts",
	leftOut:       "Fehlt", leftOutText: "%s, weil sie schreiben",
}

// deviceLine is the place of a run on a device.
func (n *notes) deviceLine() string {
	t, text := &n.rec.Target, n.deviceWords.onlyRead
	if t.Device.Consent != "" {
		text = n.deviceWords.overwritten
	}
	return fmt.Sprintf(text, n.data(t.Dir), n.bytes(t.Device.SizeBytes)) +
		n.after(record.WarnBlank, record.WarnBlankUnknown, record.WarnDeviceRegion, record.WarnDeviceOverwritten, record.WarnNeighboursUnknown)
}

// writesLine says what a plan writes at most, and where.
func (n *notes) writesLine() string {
	rec := n.rec
	d := rec.Target.Device
	switch {
	case d == nil:
		return fmt.Sprintf(n.writesAtMost, n.bytes(rec.Plan.MaxWritten))
	case d.Consent == "":
		return n.deviceWords.writesNothing
	}
	return fmt.Sprintf(n.deviceWords.destroys, n.bytes(rec.Plan.MaxWritten), n.data(rec.Target.Dir), n.data(d.Consent))
}

// leftOutRow names the tests that a run which only reads leaves out.
func (n *notes) leftOutRow() []Fact {
	d := n.rec.Target.Device
	if d == nil || len(d.LeftOut) == 0 {
		return nil
	}
	names := make([]string, len(d.LeftOut))
	for i, name := range d.LeftOut {
		names[i] = n.data(name)
	}
	return []Fact{{n.deviceWords.leftOut, fmt.Sprintf(n.deviceWords.leftOutText, strings.Join(names, ", "))}}
}
