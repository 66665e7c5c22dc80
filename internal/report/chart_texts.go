package report

// chartMessages are the texts of charts.
type chartMessages struct {
	// Titles.
	time, ratios, latency, latencyOf, scatter, scatterOf, heat, cliff, means string
	// Axes.
	axisTime, axisInPass, axisThroughput, axisTemperature, axisLatency string
	axisShare, axisDifference, axisWritten                             string
	// Marks and names of series.
	warning, critical, coolDown, pause, drop string
	before, throttled, margin, noDifference  string
	onsetText, rangeText                     string
	// Subtitle and citation.
	queue, jobs, citation, citationImport, hash string
	// Notes.
	runTime, passTime, moreDrops, moreSeries, noTemperature  string
	noRounds, intervals, signs, latClat, latBeyond, latGiven string
	published, chained, syncLat, perPass                     string
	// Alternative texts.
	altTime, altTemp, altNoTemp, altRatios, altPoints, altRatio string
	altLatency, altScatter, altCliff, altHeat, altMeans         string
	// What is left out and why.
	left                                                         string
	noSeconds, fewSeconds, onePlace, noLatency, noHeat, noWrites string
	noNumbers, noPart, ofLoads                                   string
	simulated, times, afterBytes                                 string
	singles, altCompared, altRank, moreBars, ofRecords, side     string
	timeAlone, highest, imported, fromOn, lineEnds               string
	// Heads of the tables.
	test, place, mean, least, most, deviation, length string
	value, interval, written, temperature             string
	chartWords                                        map[string]string
}

var chartsEnglish = chartMessages{
	time: "Throughput and temperature over time", ratios: "Difference between the places", latency: "Latency percentiles", latencyOf: "Latency percentiles: %s",
	scatter: "Second by second", scatterOf: "Second by second: %s", heat: "What heat takes", cliff: "Write speed over what was written", means: "Mean speed",

	axisTime: "Time since the start of the run", axisInPass: "Time since the start of the pass", axisThroughput: "Throughput", axisTemperature: "Temperature",
	axisLatency: "Latency", axisShare: "Share of I/Os that are at least as fast", axisDifference: "Difference", axisWritten: "Written by this test in this place",
	warning: "WCTEMP %s", critical: "CCTEMP %s", coolDown: "cool-down, %s", pause: "pause of %s", drop: "%[1]s, after %[2]s: −%[3]s\u00a0%%, %[4]s",
	before: "before", throttled: "throttled", margin: "±%s\u00a0%%", noDifference: "no difference",
	onsetText: "at %[1]s, −%[2]s", rangeText: "−%s",

	queue: "QD\u00a0%s", jobs: "%s\u00a0jobs", citation: "%[1]s · preset %[2]s · record %[3]s", citationImport: "%[1]s · imported from %[2]s", hash: "sha256 %s",

	runTime:       "Grey: cool-downs.",
	passTime:      "All passes laid over each other.",
	moreDrops:     "%s more drops are in the details.",
	moreSeries:    "%s more are left out: only the first have a colour of their own.",
	noTemperature: "No temperature: no sensor could be read.",
	noRounds:      "Points without intervals: the run is not in rounds (--preset standard), so how sure a difference is cannot be told.",
	intervals:     "Bars: 95\u00a0% intervals. Grey: differences that do not matter.",
	signs:         "Left of 0 is slower than what is compared with.",
	latClat:       "Completion latency (clat), as imported.",
	latBeyond:     "A curve ends where fewer than ten I/Os lie beyond.",
	latGiven:      "Percentiles as the imported result has them.",
	syncLat:       "Latency of fdatasync, which this test waits for.",
	published:     "As published: %s. Nothing of it was measured by nativ.",
	chained:       "Passes of the same test and place follow each other; what a drive does in the pauses between is not seen.",
	perPass:       "Throttled: the plateau, or the low level of a sawtooth. At: where the sensor read when the speed began to fall.",

	altTime: "Throughput of %[1]s over %[2]s: %[3]s.", altTemp: "%[1]s read %[2]s to %[3]s.", altNoTemp: "No temperature was read.",
	altRatios: "Differences in throughput, with their 95\u00a0%% intervals: %s.", altPoints: "Differences in throughput, without intervals: %s.", altRatio: "%[1]s, %[2]s: %[3]s\u00a0%%", altLatency: "Latencies by percentile on a logarithmic scale: %s.", altScatter: "Throughput of each second: %s.",
	altCliff: "Write speed over the bytes written: %s.", altHeat: "Speeds before and while throttled by heat: %s.", altMeans: "Mean speeds: %s.",

	left:      "Not drawn: %[1]s (%[2]s).",
	noSeconds: "the record has no seconds", fewSeconds: "no pass has at least %s seconds", onePlace: "there is one place only",
	noLatency: "the record has no latencies", noHeat: "heat was not seen to slow the drive down", noWrites: "nothing was written long enough",
	noNumbers: "there are no numbers", noPart: "no two places can be compared", ofLoads: "the mean of a load depends on when it ended",
	simulated: "%[1]s: nothing was measured. Drive model: %[2]s", times: "%[1]s times", afterBytes: "%[1]s, after %[2]s: −%[3]s\u00a0%%, %[4]s",
	singles: "Points without intervals: not measured more than once on both sides.", altCompared: "Differences in throughput, with 95\u00a0%% intervals in brackets: %s.",
	altRank: "Mean speeds, the best of each test: %s.", moreBars: "%s more bars are left out.", ofRecords: "nativ compare, %s inputs", side: "Input",
	timeAlone: "Throughput over time", highest: "Highest speed", imported: "imported", fromOn: "%[1]s from %[2]s on", lineEnds: "Lines end where a pass ends; between passes nothing is measured.",

	test: "Test", place: "Place", mean: "Mean", least: "Lowest", most: "Highest", deviation: "SD/mean", length: "Seconds",
	value: "Difference, %", interval: "95\u00a0% interval", written: "Written", temperature: "Temperature",
	chartWords: map[string]string{"mean": "means", "maximum": "highest values of unknown length"},
}

var chartsGerman = chartMessages{
	time: "Durchsatz und Temperatur über die Zeit", ratios: "Unterschied zwischen den Orten", latency: "Latenz-Perzentile", latencyOf: "Latenz-Perzentile: %s",
	scatter: "Sekunde für Sekunde", scatterOf: "Sekunde für Sekunde: %s", heat: "Was Hitze kostet", cliff: "Schreibtempo über der geschriebenen Menge", means: "Mittlere Geschwindigkeit",

	axisTime: "Zeit seit Beginn des Laufs", axisInPass: "Zeit seit Beginn des Durchgangs", axisThroughput: "Durchsatz", axisTemperature: "Temperatur",
	axisLatency: "Latenz", axisShare: "Anteil der I/Os, die mindestens so schnell sind", axisDifference: "Unterschied", axisWritten: "Von diesem Test an diesem Ort geschrieben",
	warning: "WCTEMP %s", critical: "CCTEMP %s", coolDown: "Abkühlen, %s", pause: "Pause von %s", drop: "%[1]s, nach %[2]s: −%[3]s\u00a0%%, %[4]s",
	before: "davor", throttled: "gedrosselt", margin: "±%s\u00a0%%", noDifference: "kein Unterschied",
	onsetText: "bei %[1]s, −%[2]s", rangeText: "−%s",

	queue: "QD\u00a0%s", jobs: "%s\u00a0Jobs", citation: "%[1]s · Preset %[2]s · Messung %[3]s", citationImport: "%[1]s · importiert aus %[2]s", hash: "sha256 %s",

	runTime:       "Grau: Abkühlen.",
	passTime:      "Alle Durchgänge übereinandergelegt.",
	moreDrops:     "%s weitere Einbrüche stehen in den Einzelheiten.",
	moreSeries:    "%s weitere sind weggelassen: Nur die ersten haben eine eigene Farbe.",
	noTemperature: "Keine Temperatur: Kein Sensor war lesbar.",
	noRounds:      "Punkte ohne Intervall: Der Lauf ist nicht in Runden (--preset standard); wie sicher ein Unterschied ist, lässt sich nicht sagen.",
	intervals:     "Balken: 95-%-Intervalle. Grau: unerhebliche Unterschiede.",
	signs:         "Links von 0 ist langsamer als das, womit verglichen wird.",
	latClat:       "Latenz bis zur Fertigmeldung (clat), wie importiert.",
	latBeyond:     "Eine Kurve endet, wo weniger als zehn I/Os jenseits liegen.",
	latGiven:      "Perzentile, wie das importierte Ergebnis sie hat.",
	syncLat:       "Latenz von fdatasync, auf das dieser Test wartet.",
	published:     "Wie veröffentlicht: %s. Nichts davon hat nativ gemessen.",
	chained:       "Durchgänge desselben Tests und Orts folgen aufeinander; was ein Laufwerk in den Pausen dazwischen tut, ist nicht zu sehen.",
	perPass:       "Gedrosselt: das Plateau oder die untere Stufe eines Sägezahns. Bei: was der Sensor anzeigte, als das Tempo zu fallen begann.",

	altTime: "Durchsatz von %[1]s über %[2]s: %[3]s.", altTemp: "%[1]s zeigte %[2]s bis %[3]s.", altNoTemp: "Keine Temperatur wurde gelesen.",
	altRatios: "Unterschiede im Durchsatz, mit ihren 95-%%-Intervallen: %s.", altPoints: "Unterschiede im Durchsatz, ohne Intervalle: %s.", altRatio: "%[1]s, %[2]s: %[3]s\u00a0%%", altLatency: "Latenzen nach Perzentil auf logarithmischer Skala: %s.", altScatter: "Durchsatz jeder Sekunde: %s.",
	altCliff: "Schreibtempo über der geschriebenen Menge: %s.", altHeat: "Geschwindigkeiten vor und während der Drosselung durch Hitze: %s.", altMeans: "Mittlere Geschwindigkeiten: %s.",

	left:      "Nicht gezeichnet: %[1]s (%[2]s).",
	noSeconds: "die Messung hat keine Sekundenwerte", fewSeconds: "kein Durchgang hat mindestens %s Sekunden", onePlace: "es gibt nur einen Ort",
	noLatency: "die Messung hat keine Latenzen", noHeat: "dass Hitze das Laufwerk bremste, war nicht zu sehen", noWrites: "nichts wurde lange genug geschrieben",
	noNumbers: "es gibt keine Zahlen", noPart: "keine zwei Orte lassen sich vergleichen", ofLoads: "das Mittel einer Last hängt davon ab, wann sie endete",
	simulated: "%[1]s: Nichts wurde gemessen. Laufwerksmodell: %[2]s", times: "%[1]s-mal", afterBytes: "%[1]s, nach %[2]s: −%[3]s\u00a0%%, %[4]s",
	singles: "Punkte ohne Intervall: nicht auf beiden Seiten mehrmals gemessen.", altCompared: "Unterschiede im Durchsatz, in Klammern ihre 95-%%-Intervalle: %s.",
	altRank: "Mittlere Geschwindigkeiten, die beste je Test: %s.", moreBars: "%s weitere Balken sind weggelassen.", ofRecords: "nativ compare, %s Eingaben", side: "Eingabe",
	timeAlone: "Durchsatz über die Zeit", highest: "Höchste Geschwindigkeit", imported: "importiert", fromOn: "%[1]s ab %[2]s", lineEnds: "Linien enden, wo ein Durchgang endet; dazwischen ist nichts gemessen.",

	test: "Test", place: "Ort", mean: "Mittel", least: "Tiefster", most: "Höchster", deviation: "SD/Mittel", length: "Sekunden",
	value: "Unterschied, %", interval: "95-%-Intervall", written: "Geschrieben", temperature: "Temperatur",
	chartWords: map[string]string{"mean": "Mittelwerte", "maximum": "höchste Werte unbekannter Dauer"},
}
