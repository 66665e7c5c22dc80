package report

import (
	"fmt"

	"nativ/internal/job"
	"nativ/internal/record"
)

// pveMessages are the texts of a run in a container of Proxmox VE.
type pveMessages struct {
	willMake, made, runs   string
	ownTemplate, template  string
	separate               string
	id, hostname, volumes  string
	pinned, movable, drawn string
}

var pveEnglish = pveMessages{
	willMake: "a container with a volume on storage %[1]s (%[2]s) is made and removed afterwards",
	made:     "container %[3]s on storage %[1]s (%[2]s), made for this run and removed",
	runs:     "container %[1]s, in which a directory below %[2]s is made and removed; it is neither stopped nor configured",
	separate: "the host gets a volume of its own, made alike",
	id:       "ID %s", hostname: "named %s", volumes: "volumes %s",
	ownTemplate: "from nativ's own template", template: "from %s",
	pinned:  "pinned by its configuration",
	movable: "not pinned: Proxmox VE chooses the CPUs and may change them",
	drawn:   "without that Proxmox VE would draw %[1]s of the CPUs %[2]s at random",
}

var pveGerman = pveMessages{
	willMake: "ein Container mit einem Volume auf Speicher %[1]s (%[2]s) wird erzeugt und danach entfernt",
	made:     "Container %[3]s auf Speicher %[1]s (%[2]s), für diesen Lauf erzeugt und entfernt",
	runs:     "Container %[1]s, in dem ein Verzeichnis unter %[2]s erzeugt und entfernt wird; er wird weder angehalten noch umgestellt",
	separate: "der Host bekommt ein eigenes, gleich erzeugtes Volume",
	id:       "ID %s", hostname: "genannt %s", volumes: "Volumes %s",
	ownTemplate: "aus nativs eigener Vorlage", template: "aus %s",
	pinned:  "durch seine Konfiguration festgelegt",
	movable: "nicht festgelegt: Proxmox VE wählt die CPUs und kann sie ändern",
	drawn:   "ohne das würde Proxmox VE %[1]s der CPUs %[2]s auslosen",
}

// pveRow says which container of Proxmox VE a run is in.
func (n *notes) pveRow(done bool) []Fact {
	v := n.rec.Target.Volume
	if v == nil {
		return nil
	}
	m := &n.pve
	text := fmt.Sprintf(m.runs, n.data(fmt.Sprint(v.VMID)), n.data(v.Inside))
	switch {
	case v.Made && done && v.VMID != 0:
		text = fmt.Sprintf(m.made, n.data(v.Storage), n.data(v.StorageType), n.data(fmt.Sprint(v.VMID)))
	case v.Made:
		text = fmt.Sprintf(m.willMake, n.data(v.Storage), n.data(v.StorageType))
	}
	if v.Separate {
		text += "; " + m.separate
	}
	return []Fact{{"Proxmox" + glue + "VE", text + n.after(record.WarnSafeRemove, record.WarnSeparate, record.WarnNotTrimmed, record.WarnCPUsMovable, record.WarnPVEWarned)}}
}

// pveParts are what is known of a container of Proxmox VE.
func (s *speaker) pveParts(c *record.PVEContainer) []string {
	m := &s.pve
	parts := []string{fmt.Sprintf(m.id, s.data(fmt.Sprint(c.VMID)))}
	if c.Hostname != "" {
		parts = append(parts, fmt.Sprintf(m.hostname, s.data(c.Hostname)))
	}
	switch {
	case c.OwnTemplate:
		parts = append(parts, m.ownTemplate)
	case c.Template != "":
		parts = append(parts, fmt.Sprintf(m.template, s.data(c.Template)))
	}
	if len(c.Volumes) > 0 {
		var names []string
		for _, v := range c.Volumes {
			names = append(names, s.data(v))
		}
		parts = append(parts, fmt.Sprintf(m.volumes, s.list(names)))
	}
	cpus := m.movable
	if c.CPUsPinned {
		cpus = m.pinned
		if c.Made && c.Cores != nil && len(c.CPUsFrom) > 0 {
			cpus += " (" + fmt.Sprintf(m.drawn, s.int(int64(*c.Cores)), job.FormatCPUs(c.CPUsFrom)) + ")"
		}
	}
	return append(parts, "CPUs "+cpus)
}
