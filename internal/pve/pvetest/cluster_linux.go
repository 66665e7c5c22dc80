package pvetest

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func pveversion(*host, []string) int {
	printf("pve-manager/9.1.1/42db4a6cf33dac83 (running kernel: 6.17.2-1-pve)\n")
	return 0
}

func pvesh(h *host, args []string) int {
	pos, opts, _ := options(args)
	if len(pos) != 2 || pos[0] != "get" {
		return end(die(255, "ERROR: unknown command 'pvesh %s'", strings.Join(args, " ")))
	}
	switch pos[1] {
	case "/cluster/nextid":
		id, err := h.nextID(opts["vmid"])
		if err == nil {
			printf("%s\n", id)
		}
		return end(err)
	case "/cluster/resources":
		if opts["output-format"] != "json" {
			return end(die(255, "pvetest: no boxes"))
		}
		return end(h.resources())
	}
	return end(die(255, "No '%s' handler defined for '%s'", pos[0], pos[1]))
}

// nextID is the first free ID within the bounds of datacenter.cfg. It does not
// look at volumes.
func (h *host) nextID(want string) (string, error) {
	if want != "" {
		if kind := h.taken(want); kind != "" {
			// It says VM of either kind.
			return "", die(255, "400 Parameter verification failed.\nvmid: VM %s already exists\npvesh get /cluster/nextid [OPTIONS] [FORMAT_OPTIONS]", want)
		}
		return want, nil
	}
	lower, upper := 100, 1000000
	b, _ := os.ReadFile(h.path("etc/pve/datacenter.cfg"))
	for line := range strings.Lines(string(b)) {
		bounds, ok := strings.CutPrefix(line, "next-id:")
		if !ok {
			continue
		}
		for part := range strings.SplitSeq(strings.TrimSpace(bounds), ",") {
			k, v, _ := strings.Cut(part, "=")
			n, err := strconv.Atoi(v)
			switch {
			case err != nil:
			case k == "lower":
				lower = n
			case k == "upper":
				upper = n
			}
		}
	}
	for id := lower; id < upper; id++ {
		if h.taken(fmt.Sprint(id)) == "" {
			return fmt.Sprint(id), nil
		}
	}
	return "", die(255, "unable to get any free VMID in range [%d, %d]", lower, upper)
}

func (h *host) resources() error {
	list := []map[string]any{}
	for _, id := range h.guests("lxc") {
		c, err := h.load(id)
		if err != nil {
			continue
		}
		g := resource("lxc", id, c, h.pid(id) > 0)
		g["name"] = c.name(id)
		list = append(list, g)
	}
	for _, id := range h.guests("qemu-server") {
		b, _ := os.ReadFile(h.path("etc/pve/qemu-server", id+".conf"))
		c := parseConf(string(b))
		g := resource("qemu", id, c, c.keys["pvetest"] == "running")
		g["name"] = c.keys["name"]
		list = append(list, g)
	}
	b, err := json.Marshal(list) // keys sorted
	if err == nil {
		printf("%s\n", b)
	}
	return err
}

func resource(kind, id string, c *conf, running bool) map[string]any {
	n, _ := strconv.Atoi(id)
	template, _ := strconv.Atoi(c.keys["template"])
	g := map[string]any{"cpu": 0, "disk": 0, "diskread": 0, "diskwrite": 0, "id": kind + "/" + id, "maxcpu": 1, "maxdisk": 0,
		"maxmem": 536870912, "mem": 0, "netin": 0, "netout": 0, "node": "pve", "status": "stopped", "template": template, "type": kind,
		"uptime": 0, "vmid": n}
	if running {
		g["status"] = "running"
	}
	for _, k := range []string{"lock", "tags"} {
		if v := c.keys[k]; v != "" {
			g[k] = v
		}
	}
	return g
}

// name is a container's, which has one of its ID if its configuration has none.
func (c *conf) name(id string) string {
	if n := c.keys["hostname"]; n != "" {
		return n
	}
	return "CT" + id
}

func qm(h *host, args []string) int {
	switch {
	case len(args) == 1 && args[0] == "list":
		ids := h.guests("qemu-server")
		if len(ids) > 0 {
			printf("%10s %-20s %-10s %-10s %12s %-10s\n", "VMID", "NAME", "STATUS", "MEM(MB)", "BOOTDISK(GB)", "PID")
		}
		for _, id := range ids {
			b, _ := os.ReadFile(h.path("etc/pve/qemu-server", id+".conf"))
			c := parseConf(string(b))
			printf("%10s %-20s %-10s %-10s %12s %-10d\n", id, c.keys["name"], "stopped", "512", "0.00", 0)
		}
		return 0
	case len(args) >= 2 && args[0] == "config":
		b, err := os.ReadFile(h.path("etc/pve/qemu-server", args[1]+".conf"))
		if err != nil {
			return end(die(2, "Configuration file 'nodes/pve/qemu-server/%s.conf' does not exist", args[1]))
		}
		c := parseConf(string(b))
		delete(c.keys, "pvetest") // says that it runs
		printf("%s", c.show())
		return 0
	}
	return end(die(255, "ERROR: unknown command 'qm %s'", strings.Join(args, " ")))
}
