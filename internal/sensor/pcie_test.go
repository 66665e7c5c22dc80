package sensor

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

const aerDrive = "RxErr 2\nBadTLP 0\nBadDLLP 1\nRollover 0\nTimeout 0\nNonFatalErr 0\nCorrIntErr 0\nHeaderOF 0\nTOTAL_ERR_COR 3\n"

func TestParseAER(t *testing.T) {
	for in, want := range map[string]int64{
		aerDrive: 3, "TOTAL_ERR_FATAL 0\n": 0, "TOTAL_ERR_NONFATAL 9": 9,
	} {
		if got, err := parseAER(strings.NewReader(in)); err != nil || got != want {
			t.Errorf("%q: %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "RxErr 2\n", "TOTAL_ERR_COR\n", "TOTAL_ERR_COR x", "TOTAL_ERR_COR -1", "TOTAL_ERR_COR 99999999999999999999"} {
		if got, err := parseAER(strings.NewReader(in)); err == nil {
			t.Errorf("%q was taken: %d", in, got)
		}
	}
}

func FuzzParseAER(f *testing.F) {
	f.Add(aerDrive)
	f.Fuzz(func(t *testing.T, in string) {
		if n, err := parseAER(strings.NewReader(in)); err == nil && n < 0 {
			t.Errorf("%q: %d", in, n)
		}
	})
}

func FuzzParseLink(f *testing.F) {
	f.Add("32.0 GT/s PCIe\n", "4\n")
	f.Add("Unknown\n", "255\n")
	f.Fuzz(func(t *testing.T, speed, width string) {
		if l, err := parseLink(speed, width); err == nil && (l.SpeedMTs <= 0 || l.Width < 1 || l.Width > 32) {
			t.Errorf("%q, %q: %+v", speed, width, l)
		}
	})
}

func TestPCIe(t *testing.T) {
	const (
		port  = "sys/devices/pci0000:00/0000:00:06.0/"
		drive = port + "0000:04:00.0/"
		links = "sys/block/nvme0n1 -> ../devices/pci0000:00/0000:00:06.0/0000:04:00.0/nvme/nvme0/nvme0n1\n" +
			drive + "nvme/nvme0/nvme0n1/device -> ../../nvme0\n" + drive + "nvme/nvme0/device -> ../../../0000:04:00.0\n"
	)
	none := map[string]string{"LINKS": links}
	good := map[string]string{"LINKS": links,
		drive + "current_link_speed": "32.0 GT/s PCIe\n", drive + "current_link_width": "4\n",
		port + "current_link_speed": "32.0 GT/s PCIe\n", port + "current_link_width": "4\n",
		drive + "aer_dev_correctable": aerDrive, drive + "aer_dev_nonfatal": "TOTAL_ERR_NONFATAL 1\n", drive + "aer_dev_fatal": "TOTAL_ERR_FATAL 0\n",
		port + "aer_dev_correctable": "TOTAL_ERR_COR 7\n", port + "aer_dev_nonfatal": "TOTAL_ERR_NONFATAL 0\n", port + "aer_dev_fatal": "TOTAL_ERR_FATAL 0\n"}
	full := record.LinkState{SpeedMTs: 32000, Width: 4}
	sample := func(files map[string]string) (record.Sample, []Source, Roots) {
		roots := makeTree(t, files)
		dir := controllers(roots, "nvme0n1")[0]
		own, up := pciFunctions(filepath.Join(dir, "device"))
		sources := []Source{newLink(own, up), newAER(own, up)}
		var s record.Sample
		for _, src := range sources {
			must(t, src.Read(&s))
			testSource(t, src)
		}
		return s, sources, roots
	}
	s, sources, roots := sample(good)
	if diff := cmp.Diff(map[string]record.LinkState{"0000:04:00.0": full, "0000:00:06.0": full}, s.Links); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]record.AER{"0000:04:00.0": {Correctable: 3, NonFatal: 1}, "0000:00:06.0": {Correctable: 7}}, s.AER); diff != "" {
		t.Error(diff)
	}
	// A hot drive lowers its link while the pass runs.
	write(t, filepath.Join(roots.Sys, "devices/pci0000:00/0000:00:06.0/0000:04:00.0/current_link_speed"), "8.0 GT/s PCIe\n")
	s = record.Sample{}
	must(t, sources[0].Read(&s))
	if got := s.Links["0000:04:00.0"]; got != (record.LinkState{SpeedMTs: 8000, Width: 4}) {
		t.Errorf("%+v", got)
	}
	d := record.Drive{Name: "nvme0n1"}
	Identify(roots, &d)
	if d.PCIAddress == nil || *d.PCIAddress != "0000:04:00.0" || d.PortAddress == nil || *d.PortAddress != "0000:00:06.0" {
		t.Errorf("%+v", d)
	}
	if s, sources, _ := sample(none); s.Links != nil || s.AER != nil || sources[0].Describe().Missing == "" || sources[1].Describe().Missing == "" {
		t.Errorf("%+v", s)
	}
	// As an emulated drive has it.
	if s, _, _ := sample(map[string]string{"LINKS": links, drive + "current_link_speed": "Unknown\n", drive + "current_link_width": "0\n"}); s.Links != nil {
		t.Errorf("%+v", s)
	}
}
