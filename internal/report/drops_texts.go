package report

import "nativ/internal/analysis"

// dropMessages are the texts about speeds that fell: heat, caches and whatever
// else. Those of causes and evidence are keyed by their kinds.
type dropMessages struct {
	// The table of heat.
	heat, load, fromCelsius, fast, slow, lost, after  string
	best, hotPlace, bestNote                          string
	heatDetails, lag, moved, back, passes             string
	sensor, heatNote, heatSensor, heatOther, heatBack string

	// A long write.
	fill, cache, inCache, afterCache, folding, average           string
	recovery, recovered, notRecovered, curve, curveText, inOneGo string
	noCache, foldingText, curveHead, written, speed, probes      string
	fillName, probeName, rest                                    string

	// Drops.
	drops, dropsNote, dropText, toEnd, lasted, teeth, stalled    string
	onePass, manyPasses                                          map[string]string
	alternatives, excluded, decide, unknownText, holds, holdText string
	cause                                                        map[string]string
	confidence, evidence, test                                   map[string]string
	perSecond                                                    string

	// The verdict.
	againPlace, againNote, inRepeat, atSensors                         string
	throttled, throttledAll, heatFound, heatAlso, heatNone, heatSteady string
	heatUnknown, heatElse, heatOpen, recovers                          string
	heatShare, heatShares, heatMaybe                                   string
	fillMaybe                                                          map[string]string
	fillStart, fillAtMost, fillAgain                                   string
	cacheMaybe                                                         map[string]string
	cacheAbout, cacheAtMost                                            string
	fillFell, fillNever, fillFolds, fillHot, fillElse                  string
	calm, alarm, steady, steadyCalm                                    string
}

var dropsEnglish = dropMessages{
	heat: "Heat", load: "Load", fromCelsius: "at °C", fast: "fast", slow: "slow", lost: "lost", after: "after",
	best: "Best second", hotPlace: "%s, hot *", againPlace: "%s, 2nd time *",
	againNote:   "* Again right away, without a cool-down; before it the drive was not seen to throttle. Best second: the highest full one, as that test printed it; chance favours it.",
	inRepeat:    "† Seen when it was run again right away, in the drive as the pass before left it; – at °C: no rise of a sensor marks the onset.",
	bestNote:    "* In the passes right after a throttled one. Best second: the highest full one, as that test printed it; chance favours it.",
	heatDetails: "Heat", lag: "Lag", moved: "Moved", back: "Back after", passes: "Passes",
	sensor:     "Sensor",
	heatNote:   "At °C: where the reading was when the speed began to fall, within a second and a degree. Slow: while throttled, by the second half of the drop or the low level of a sawtooth. After, moved: how long the pass ran until then, and what it had read or written. Lag: how long after that the reading was highest. Back: the first time that a probe was as fast again, within 5\u00a0%.",
	heatSensor: "Read at %s.", heatOther: "It is of another point than the drive's critical temperature, which the drive did not reach by its own count.",
	heatBack: "%[1]s, at %[2]s", atSensors: "At °C: read at %s.",

	fill: "Written", cache: "SLC cache", inCache: "In the cache", afterCache: "After it", folding: "While folding", average: "Average",
	recovery: "Recovery", recovered: "a short write is as fast as in the cache again after %s of rest", notRecovered: "a short write is not as fast again within %[1]s of rest: %[2]s then",
	curve: "Course", curveText: "%[1]s (to %[2]s; █ is %[3]s)", inOneGo: "%s in one go",
	noCache: "not full within %s, or there is none", foldingText: "%[1]s, from %[2]s on", curveHead: "Course over what was written",
	written: "Written", speed: "Speed", probes: "After the load", rest: "After rest of",
	fillName: "Fill", probeName: "Short write",

	drops:     "Where the speed fell",
	dropsNote: "Decisive: a counter or log of what slowed down says so itself. Strong: it shows what only this cause makes it show, in the right order in time, and nothing speaks against it. Weak: it would fit, as others would.",
	dropText:  "%[1]s: after %[2]s (%[3]s moved) from %[4]s to %[5]s in the mean, −%[6]s\u00a0%%", toEnd: "to the end of the pass", lasted: "for %s",
	teeth: "%[1]s times within %[2]s", stalled: "%[1]s: after %[2]s no I/O at all for %[3]s",
	onePass:      map[string]string{"": "pass %[1]s", "probe": "probe", "load": "load", "resume": "load after a pause", "hot": "hot drive"},
	manyPasses:   map[string]string{"": "%[1]s of %[2]s passes", "probe": "%[1]s of %[2]s probes", "load": "%[1]s of %[2]s loads", "resume": "%[1]s of %[2]s loads after a pause", "hot": "%[1]s of %[2]s passes in the hot drive"},
	alternatives: "Would fit, too", excluded: "Excluded", decide: "To be sure", unknownText: "nothing that could be read tells",
	holds: "What slowed whole passes down", holdText: "%[1]s (%[2]s): %[3]s",
	cause: map[string]string{
		string(analysis.CauseThermal): "heat", string(analysis.CauseThermalLink): "heat, by a slower PCIe link",
		string(analysis.CauseSLC): "SLC cache full", string(analysis.CauseGC): "garbage collection",
		string(analysis.CauseCPULimit): "CPUs used up", string(analysis.CauseCgroup): "CPU quota (cpu.max)",
		string(analysis.CauseCPUFrequency): "slower CPUs", string(analysis.CauseCPULoad): "other load on the CPUs",
		string(analysis.CauseNeighbour): "others on the drive", string(analysis.CauseLink): "PCIe link",
		string(analysis.CausePowerState): "power state", string(analysis.CauseErrors): "errors of the drive",
		string(analysis.CauseUnknown): "unknown",
	},
	confidence: map[string]string{string(analysis.Decisive): "decisive", string(analysis.Strong): "strong", string(analysis.Weak): "weak"},
	evidence: map[string]string{
		string(analysis.EvTMT):             "by its own count (TMT) the drive throttled %[2]s of the time",
		string(analysis.EvWarning):         "the drive raised its temperature warning then",
		string(analysis.EvThreshold):       "it began at %[2]s, and %[3]s is a threshold of the drive",
		string(analysis.EvLead):            "before, %[1]s rose from %[3]s to %[2]s",
		string(analysis.EvCeiling):         "from then on the reading stayed at %[3]s to %[2]s although the drive did less",
		string(analysis.EvCycles):          "each time it fell at %[2]s and came back at %[3]s",
		string(analysis.EvSameTemperature): "at another time it fell at %[3]s, too",
		string(analysis.EvSameFall):        "another drop of this test, from and to the same speed (−%[2]s), is by heat",
		string(analysis.EvFurtherStep):     "within it the speed fell further by heat, at %[2]s",
		string(analysis.EvRecoveredCool):   "after a pause, at %[3]s, it was fast again (%[2]s)",
		string(analysis.EvCoolSlow):        "it stayed slow at %[2]s, cooler than at the fall (%[3]s)",
		string(analysis.EvHotFast):         "at another time it was fast at %[2]s, hotter than at the fall (%[3]s)",
		string(analysis.EvSharp):           "the speed fell within %[2]s and stayed there",
		string(analysis.EvGradual):         "the speed fell by and by",
		string(analysis.EvBytes):           "%[2]s written since the drive was idle",
		string(analysis.EvSameBytes):       "another pass fell after about as much (%[3]s, here %[2]s)",
		string(analysis.EvMoreBytes):       "another pass wrote %[2]s since idle without falling",
		string(analysis.EvStaysSlow):       "the next writes began at %[2]s of the speed before",
		string(analysis.EvCameBack):        "the speed came back while writing went on (%[2]s)",
		string(analysis.EvOnlyRandom):      "sequential writes right after were fast (%[2]s of their best)",
		string(analysis.EvRead):            "reads have no such cache",
		string(analysis.EvCPUBusy):         "the CPUs were %[2]s busy (before: %[3]s)",
		string(analysis.EvOtherUser):       "other programs took %[2]s of the CPU time (before: %[3]s)",
		string(analysis.EvThrottled):       "the kernel held CPU time back %[2]s times a second (before: %[3]s)",
		string(analysis.EvFrequency):       "the CPUs ran at %[2]s (before: %[3]s)",
		string(analysis.EvCPUThrottle):     "the CPUs counted %[2]s thermal throttlings a second (before: %[3]s)",
		string(analysis.EvDeviceBytes):     "beside the test the drive moved %[2]s (before: %[3]s)",
		string(analysis.EvDeviceIOs):       "beside the test the drive did %[2]s (before: %[3]s)",
		string(analysis.EvLinkSpeed):       "the link carried at most %[2]s (else %[3]s)",
		string(analysis.EvKernelLog):       "lines in the kernel's log at that time: %[2]s (%[1]s)",
		string(analysis.EvMediaErrors):     "media errors that the drive counted: %[2]s",
		string(analysis.EvPCIeErrors):      "PCIe errors counted: %[2]s",
		string(analysis.EvPower):           "its power state takes at most %[2]s, state 0 takes %[3]s",
		string(analysis.EvStuck):           "%[1]s always read %[2]s and so tells nothing",
		string(analysis.EvNoSensor):        "no temperature could be read",
	},
	test: map[string]string{
		string(analysis.TestPause): "pause until it is cool and load again (--preset heat)", string(analysis.TestRead): "the same with reads",
		string(analysis.TestRepeat): "repeat", string(analysis.TestHealthLog): "read the health log (as root)",
		string(analysis.TestCooling): "measure with a fan", string(analysis.TestQuiet): "measure while nothing else runs",
		string(analysis.TestMoreCPUs): "measure with more CPUs", string(analysis.TestSlot): "measure in another slot",
		string(analysis.TestPowerState): "set power state 0",
	},
	perSecond: "%s/s",

	throttled:    "in %s the drive throttled by heat in the middle, so that their means mix fast and slow",
	throttledAll: "in every test the drive throttled by heat in the middle, so that the means mix fast and slow",
	heatFound:    "the drive throttles by heat: from %[1]s (%[2]s), after %[3]s under load, it loses %[4]s of its speed.",
	heatAlso:     "the drive throttles by heat, by its own count: after %[1]s under load it loses %[2]s of its speed.",
	recovers:     "Left alone it is as fast as before after %s.",
	heatNone:     "no throttling by heat was seen; the load brought the drive to %[1]s (%[2]s).",
	heatSteady:   "Every test kept its speed.", heatUnknown: "Speed also fell for a reason that nothing shows.",
	heatElse:   "Speed fell for other reasons: %s.",
	heatOpen:   "no fall by heat was seen, but no temperature could be read.",
	heatMaybe:  "Speed also fell where heat would fit but is not proven.",
	heatShare:  "In a sawtooth it does so for %s of the time from then on.",
	heatShares: "Slow: the lower level. In a sawtooth it lasts only for a part of the time from then on: %s.",
	cacheMaybe: map[string]string{string(analysis.CauseThermal): "%s, unless the fall there was by heat", string(analysis.CauseUnknown): "probably %s; nothing proves why it fell there"},
	cacheAbout: "about %[1]s, full within %[2]s s", cacheAtMost: "at most %s: too short to size",
	fillMaybe: map[string]string{
		string(analysis.CauseThermal): "after %[1]s writing falls from %[2]s to %[3]s, probably the end of the SLC cache, unless it was by heat. All %[4]s were written at %[5]s on average.",
		string(analysis.CauseUnknown): "after %[1]s writing falls from %[2]s to %[3]s, probably the end of the SLC cache. All %[4]s were written at %[5]s on average.",
	},
	fillStart:  "the SLC cache takes about %[1]s, full within seconds; then writing falls from %[2]s to %[3]s. All %[4]s were written at %[5]s on average.",
	fillAtMost: "the SLC cache takes at most %[1]s, too short to size; then writing falls from at least %[2]s to %[3]s. All %[4]s were written at %[5]s on average.",
	fillAgain:  "From %[1]s on it falls again, to %[2]s: by heat or by folding, nothing tells.",
	fillFell:   "the SLC cache takes %[1]s; then writing falls from %[2]s to %[3]s. All %[4]s were written at %[5]s on average.",
	fillNever:  "%[1]s were written at %[2]s on average, without an end of an SLC cache.",
	fillFolds:  "From %[1]s on, while folding, only %[2]s.",
	fillHot:    "From %[1]s on the drive also throttled by heat.",
	fillElse:   "Speed also fell for other reasons: %s.",
	calm:       "Temperature %s to %s, no throttling seen", steady: "Temperature %s (%s)", steadyCalm: "Temperature %s, no throttling seen", alarm: "; the drive raised its critical temperature warning",
}

var dropsGerman = dropMessages{
	heat: "Hitze", load: "Last", fromCelsius: "ab °C", fast: "schnell", slow: "langsam", lost: "minus", after: "nach",
	best: "Beste Sekunde", hotPlace: "%s, heiß *", againPlace: "%s, 2. Mal *",
	againNote:   "* Gleich noch einmal, ohne Abkühlen; vorher war kein Drosseln des Laufwerks zu sehen. Beste Sekunde: die höchste volle, wie jener Test sie druckte; der Zufall hebt sie.",
	inRepeat:    "† Gesehen, als er gleich noch einmal lief, im Laufwerk, wie der Durchgang davor es ließ; – ab °C: kein Anstieg eines Sensors markiert den Beginn.",
	bestNote:    "* In den Durchgängen gleich nach einem gedrosselten. Beste Sekunde: die höchste volle, wie jener Test sie druckte; der Zufall hebt sie.",
	heatDetails: "Hitze", lag: "Verzug", moved: "Bewegt", back: "Erholt nach", passes: "Durchg.",
	sensor:     "Sensor",
	heatNote:   "Ab °C: wo der Messwert war, als die Geschwindigkeit zu fallen begann, auf eine Sekunde und ein Grad genau. Langsam: gedrosselt, in der zweiten Hälfte des Einbruchs oder auf der unteren Stufe eines Sägezahns. Nach, bewegt: wie lange der Durchgang bis dahin lief und was er gelesen oder geschrieben hatte. Verzug: wie lange danach der Messwert am höchsten war. Erholt: das erste Mal, dass eine kurze Probe wieder so schnell war, auf 5\u00a0% genau.",
	heatSensor: "Abgelesen an %s.", heatOther: "Das ist eine andere Stelle als die kritische Temperatur des Laufwerks, die es nach eigener Zählung nicht erreichte.",
	heatBack: "%[1]s, bei %[2]s", atSensors: "Ab °C: abgelesen an %s.",

	fill: "Geschrieben", cache: "SLC-Cache", inCache: "Im Cache", afterCache: "Danach", folding: "Beim Umschichten", average: "Im Mittel",
	recovery: "Erholung", recovered: "kurzes Schreiben ist nach %s Ruhe wieder so schnell wie im Cache", notRecovered: "kurzes Schreiben ist in %[1]s Ruhe nicht wieder so schnell: dann %[2]s",
	curve: "Verlauf", curveText: "%[1]s (bis %[2]s; █ ist %[3]s)", inOneGo: "%s am Stück",
	noCache: "bei %s noch nicht voll, oder es gibt keinen", foldingText: "%[1]s, ab %[2]s", curveHead: "Verlauf über das Geschriebene",
	written: "Geschrieben", speed: "Geschwindigkeit", probes: "Nach der Last", rest: "Nach Ruhe von",
	fillName: "Füllen", probeName: "Kurz schreiben",

	drops:     "Wo die Geschwindigkeit einbrach",
	dropsNote: "Sicher: ein Zähler oder Protokoll dessen, was bremste, sagt es selbst. Stark: es zeigt, was nur diese Ursache zeigt, in der richtigen Reihenfolge, und nichts spricht dagegen. Schwach: es würde passen, anderes auch.",
	dropText:  "%[1]s: nach %[2]s (%[3]s bewegt) von %[4]s auf im Mittel %[5]s, −%[6]s\u00a0%%", toEnd: "bis zum Ende des Durchgangs", lasted: "für %s",
	teeth: "%[1]s-mal in %[2]s", stalled: "%[1]s: nach %[2]s gar keine I/O für %[3]s",
	onePass:      map[string]string{"": "Durchgang %[1]s", "probe": "kurze Probe", "load": "Last", "resume": "Last nach einer Pause", "hot": "heißes Laufwerk"},
	manyPasses:   map[string]string{"": "%[1]s von %[2]s Durchgängen", "probe": "%[1]s von %[2]s kurzen Proben", "load": "%[1]s von %[2]s Lasten", "resume": "%[1]s von %[2]s Lasten nach einer Pause", "hot": "%[1]s von %[2]s Durchgängen im heißen Laufwerk"},
	alternatives: "Würde auch passen", excluded: "Ausgeschlossen", decide: "Zur Klärung", unknownText: "nichts, was lesbar war, sagt es",
	holds: "Was ganze Durchgänge bremste", holdText: "%[1]s (%[2]s): %[3]s",
	cause: map[string]string{
		string(analysis.CauseThermal): "Hitze", string(analysis.CauseThermalLink): "Hitze, über einen langsameren PCIe-Link",
		string(analysis.CauseSLC): "SLC-Cache voll", string(analysis.CauseGC): "Garbage Collection",
		string(analysis.CauseCPULimit): "CPUs ausgelastet", string(analysis.CauseCgroup): "CPU-Kontingent (cpu.max)",
		string(analysis.CauseCPUFrequency): "langsamere CPUs", string(analysis.CauseCPULoad): "fremde Last auf den CPUs",
		string(analysis.CauseNeighbour): "andere auf dem Laufwerk", string(analysis.CauseLink): "PCIe-Link",
		string(analysis.CausePowerState): "Energiezustand", string(analysis.CauseErrors): "Fehler des Laufwerks",
		string(analysis.CauseUnknown): "unbekannt",
	},
	confidence: map[string]string{string(analysis.Decisive): "sicher", string(analysis.Strong): "stark", string(analysis.Weak): "schwach"},
	evidence: map[string]string{
		string(analysis.EvTMT):             "nach eigener Zählung (TMT) drosselte das Laufwerk %[2]s der Zeit",
		string(analysis.EvWarning):         "das Laufwerk meldete da seine Temperaturwarnung",
		string(analysis.EvThreshold):       "es begann bei %[2]s, und %[3]s ist eine Schwelle des Laufwerks",
		string(analysis.EvLead):            "vorher stieg %[1]s von %[3]s auf %[2]s",
		string(analysis.EvCeiling):         "von da an blieb der Messwert bei %[3]s bis %[2]s, obwohl das Laufwerk weniger tat",
		string(analysis.EvCycles):          "jedes Mal fiel es bei %[2]s und kam bei %[3]s zurück",
		string(analysis.EvSameTemperature): "ein anderes Mal fiel es auch bei %[3]s",
		string(analysis.EvSameFall):        "ein anderer Einbruch dieses Tests, von und auf dieselbe Geschwindigkeit (−%[2]s), ist Hitze",
		string(analysis.EvFurtherStep):     "darin fiel die Geschwindigkeit weiter durch Hitze, bei %[2]s",
		string(analysis.EvRecoveredCool):   "nach einer Pause, bei %[3]s, war es wieder schnell (%[2]s)",
		string(analysis.EvCoolSlow):        "es blieb langsam bei %[2]s, kühler als beim Einbruch (%[3]s)",
		string(analysis.EvHotFast):         "ein anderes Mal war es schnell bei %[2]s, heißer als beim Einbruch (%[3]s)",
		string(analysis.EvSharp):           "die Geschwindigkeit fiel innerhalb von %[2]s und blieb dort",
		string(analysis.EvGradual):         "die Geschwindigkeit fiel nach und nach",
		string(analysis.EvBytes):           "%[2]s geschrieben, seit das Laufwerk ruhte",
		string(analysis.EvSameBytes):       "ein anderer Durchgang fiel nach etwa ebenso viel (%[3]s, hier %[2]s)",
		string(analysis.EvMoreBytes):       "ein anderer Durchgang schrieb seit der Ruhe %[2]s ohne Einbruch",
		string(analysis.EvStaysSlow):       "das nächste Schreiben begann mit %[2]s der Geschwindigkeit von vorher",
		string(analysis.EvCameBack):        "die Geschwindigkeit kam zurück, während weiter geschrieben wurde (%[2]s)",
		string(analysis.EvOnlyRandom):      "sequenzielles Schreiben gleich danach war schnell (%[2]s seines Besten)",
		string(analysis.EvRead):            "Lesen hat keinen solchen Cache",
		string(analysis.EvCPUBusy):         "die CPUs waren zu %[2]s ausgelastet (vorher: %[3]s)",
		string(analysis.EvOtherUser):       "andere Programme nahmen %[2]s der CPU-Zeit (vorher: %[3]s)",
		string(analysis.EvThrottled):       "der Kernel hielt %[2]s-mal in der Sekunde CPU-Zeit zurück (vorher: %[3]s)",
		string(analysis.EvFrequency):       "die CPUs liefen mit %[2]s (vorher: %[3]s)",
		string(analysis.EvCPUThrottle):     "die CPUs zählten %[2]s thermische Drosselungen in der Sekunde (vorher: %[3]s)",
		string(analysis.EvDeviceBytes):     "neben dem Test bewegte das Laufwerk %[2]s (vorher: %[3]s)",
		string(analysis.EvDeviceIOs):       "neben dem Test tat das Laufwerk %[2]s (vorher: %[3]s)",
		string(analysis.EvLinkSpeed):       "der Link trug höchstens %[2]s (sonst %[3]s)",
		string(analysis.EvKernelLog):       "Zeilen im Kernel-Log zu dieser Zeit: %[2]s (%[1]s)",
		string(analysis.EvMediaErrors):     "Medienfehler, die das Laufwerk zählte: %[2]s",
		string(analysis.EvPCIeErrors):      "gezählte PCIe-Fehler: %[2]s",
		string(analysis.EvPower):           "sein Energiezustand nimmt höchstens %[2]s, Zustand 0 nimmt %[3]s",
		string(analysis.EvStuck):           "%[1]s zeigte immer %[2]s und sagt so nichts",
		string(analysis.EvNoSensor):        "keine Temperatur war zu lesen",
	},
	test: map[string]string{
		string(analysis.TestPause): "pausieren, bis es kühl ist, und wieder belasten (--preset heat)", string(analysis.TestRead): "dasselbe mit Lesen",
		string(analysis.TestRepeat): "wiederholen", string(analysis.TestHealthLog): "das Health-Log lesen (als root)",
		string(analysis.TestCooling): "mit einem Lüfter messen", string(analysis.TestQuiet): "messen, während sonst nichts läuft",
		string(analysis.TestMoreCPUs): "mit mehr CPUs messen", string(analysis.TestSlot): "in einem anderen Steckplatz messen",
		string(analysis.TestPowerState): "Energiezustand 0 setzen",
	},
	perSecond: "%s/s",

	throttled:    "in %s drosselte das Laufwerk mittendrin wegen Hitze, ihre Mittel mischen also schnell und langsam",
	throttledAll: "in jedem Test drosselte das Laufwerk mittendrin wegen Hitze, die Mittel mischen also schnell und langsam",
	heatFound:    "das Laufwerk drosselt wegen Hitze: ab %[1]s (%[2]s), nach %[3]s unter Last, verliert es %[4]s der Geschwindigkeit.",
	heatAlso:     "das Laufwerk drosselt wegen Hitze, wie es selbst zählt: nach %[1]s unter Last verliert es %[2]s der Geschwindigkeit.",
	recovers:     "In Ruhe ist es nach %s wieder so schnell wie vorher.",
	heatNone:     "Drosseln wegen Hitze war nicht zu sehen; die Last brachte das Laufwerk auf %[1]s (%[2]s).",
	heatSteady:   "Jeder Test hielt seine Geschwindigkeit.", heatUnknown: "Die Geschwindigkeit fiel auch aus einem Grund, den nichts zeigt.",
	heatElse:   "Die Geschwindigkeit fiel aus anderen Gründen: %s.",
	heatOpen:   "ein Einbruch durch Hitze war nicht zu sehen, aber keine Temperatur war zu lesen.",
	heatMaybe:  "Die Geschwindigkeit fiel auch, wo Hitze passen würde, aber nicht belegt ist.",
	heatShare:  "Im Sägezahn tut es das von da an %s der Zeit.",
	heatShares: "Langsam: die untere Stufe. Im Sägezahn hält sie nur einen Teil der Zeit von da an: %s.",
	cacheMaybe: map[string]string{string(analysis.CauseThermal): "%s, falls der Einbruch dort nicht Hitze war", string(analysis.CauseUnknown): "vermutlich %s; warum es dort einbrach, belegt nichts"},
	cacheAbout: "etwa %[1]s, in %[2]s s voll", cacheAtMost: "höchstens %s: zu kurz zum Messen",
	fillMaybe: map[string]string{
		string(analysis.CauseThermal): "nach %[1]s fällt das Schreiben von %[2]s auf %[3]s, vermutlich das Ende des SLC-Caches, falls es nicht Hitze war. Alle %[4]s wurden im Mittel mit %[5]s geschrieben.",
		string(analysis.CauseUnknown): "nach %[1]s fällt das Schreiben von %[2]s auf %[3]s, vermutlich das Ende des SLC-Caches. Alle %[4]s wurden im Mittel mit %[5]s geschrieben.",
	},
	fillStart:  "der SLC-Cache fasst etwa %[1]s, in Sekunden voll; danach fällt das Schreiben von %[2]s auf %[3]s. Alle %[4]s wurden im Mittel mit %[5]s geschrieben.",
	fillAtMost: "der SLC-Cache fasst höchstens %[1]s, zu kurz zum Messen; danach fällt das Schreiben von mindestens %[2]s auf %[3]s. Alle %[4]s wurden im Mittel mit %[5]s geschrieben.",
	fillAgain:  "Ab %[1]s fällt es noch einmal, auf %[2]s: durch Hitze oder Umschichten, was davon, sagt nichts.",
	fillFell:   "der SLC-Cache fasst %[1]s; danach fällt das Schreiben von %[2]s auf %[3]s. Alle %[4]s wurden im Mittel mit %[5]s geschrieben.",
	fillNever:  "%[1]s wurden im Mittel mit %[2]s geschrieben, ohne dass ein SLC-Cache endete.",
	fillFolds:  "Ab %[1]s, beim Umschichten, nur noch %[2]s.",
	fillHot:    "Ab %[1]s drosselte das Laufwerk auch wegen Hitze.",
	fillElse:   "Die Geschwindigkeit fiel auch aus anderen Gründen: %s.",
	calm:       "Temperatur %s bis\u00a0%s, kein Drosseln gesehen", steady: "Temperatur %s (%s)", steadyCalm: "Temperatur %s, kein Drosseln gesehen", alarm: "; das Laufwerk meldete seine kritische Temperaturwarnung",
}
