// Command judge builds kustomizations for a caller that asks many times.
//
// It is the real kustomize 5.8.1 (its api and kyaml modules) behind a line protocol, so that the
// differential tests need no process per overlay. Standard input holds one JSON request a line and
// standard output answers each with one line, in order:
//
//	{"files": {"base/a.yaml": "text", ...}, "overlay": "base"}   a tree in memory
//	{"dir": "/absolute/path"}                                     a directory on disk
//
//	{"ok": true, "yaml": "..."}
//	{"ok": false, "error": "..."}                                 refused, in kustomize's words
//	{"ok": false, "error": "...", "panic": true}                  kustomize itself broke
//
// A request may also carry "base64": {"path": "..."} for files that are not UTF-8.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/kustomize/api/krusty"
	// Linked so that the managed-by label names the release, as the program's own does.
	_ "sigs.k8s.io/kustomize/kustomize/v5/commands/build"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// root is where the trees of requests stand in memory, so that "../" can leave an overlay.
const root = "/tree"

// defaultSchema is the version of the schema in use before any request.
var defaultSchema = openapi.GetSchemaVersion()

type request struct {
	Files   map[string]string `json:"files"`
	Base64  map[string]string `json:"base64"`
	Overlay string            `json:"overlay"`
	Dir     string            `json:"dir"`
}

type answer struct {
	OK    bool   `json:"ok"`
	YAML  string `json:"yaml,omitempty"`
	Error string `json:"error,omitempty"`
	Panic bool   `json:"panic,omitempty"`
}

func main() {
	// Deprecation warnings would fill the caller's terminal, one for each overlay.
	log.SetOutput(devNull())
	os.Stderr = devNull()
	// Requests are small and many; a rarer collection trades a little memory for speed.
	debug.SetGCPercent(400)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			result, ended := judgeInTime(line)
			if err := encoder.Encode(result); err != nil {
				os.Exit(1)
			}
			if err := out.Flush(); err != nil || !ended {
				os.Exit(1)
			}
		}
		if err != nil {
			return
		}
	}
}

// patience is the processor time after which a build counts as one that never ends: kustomize makes
// list elements for ever where a pattern does not match the element that is made for it.
const patience = 20 * time.Second

// judgeInTime answers one line. Where kustomize does not come to an end the answer says so, and the
// process has to end, for the build goes on.
func judgeInTime(line []byte) (result answer, ended bool) {
	done := make(chan answer, 1)
	begun := processorTime()
	go func() { done <- judge(line) }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case result := <-done:
			return result, true
		case <-tick.C:
			if processorTime()-begun > patience {
				return answer{Error: "kustomize does not end", Panic: true}, false
			}
		}
	}
}

// processorTime is what this process has used so far.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func devNull() *os.File {
	file, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		os.Exit(1)
	}
	return file
}

// judge answers one line, whatever happens inside kustomize.
func judge(line []byte) (result answer) {
	defer func() {
		if cause := recover(); cause != nil {
			result = answer{Error: fmt.Sprintf("panic: %v", cause), Panic: true}
		}
	}()
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: "judge: " + err.Error()}
	}
	if asked.namesSchema() {
		openapi.ResetOpenAPI()
		defer openapi.ResetOpenAPI()
	}
	files, where, err := place(asked)
	if err != nil {
		return answer{Error: "judge: " + err.Error()}
	}
	result = build(files, where)
	if asked.Dir != "" && openapi.GetSchemaVersion() != defaultSchema {
		// What a directory names is known after it was built.
		openapi.ResetOpenAPI()
		defer openapi.ResetOpenAPI()
		result = build(files, where)
	}
	return result
}

// namesSchema says whether the request may replace the schema, which kustomize keeps for the whole
// process: such a build starts from a fresh one, as a new process would, and leaves none behind.
func (asked request) namesSchema() bool {
	for name, text := range asked.Files {
		if strings.HasPrefix(strings.ToLower(path.Base(name)), "kustomization") &&
			strings.Contains(strings.ToLower(text), "openapi") {
			return true
		}
	}
	return openapi.GetSchemaVersion() != defaultSchema
}

// place puts the tree of a request into a file system and says where its overlay stands.
func place(asked request) (filesys.FileSystem, string, error) {
	if asked.Dir != "" {
		return filesys.MakeFsOnDisk(), asked.Dir, nil
	}
	files := filesys.MakeFsInMemory()
	for name, text := range asked.Files {
		if err := files.WriteFile(path.Join(root, name), []byte(text)); err != nil {
			return nil, "", err
		}
	}
	for name, text := range asked.Base64 {
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, "", err
		}
		if err := files.WriteFile(path.Join(root, name), data); err != nil {
			return nil, "", err
		}
	}
	return files, path.Join(root, asked.Overlay), nil
}

// build renders as `kustomize build` does without flags.
func build(files filesys.FileSystem, overlay string) answer {
	resources, err := krusty.MakeKustomizer(options()).Run(files, overlay)
	if err != nil {
		return answer{Error: err.Error()}
	}
	text, err := resources.AsYaml()
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{OK: true, YAML: string(text)}
}

// options are those of the command line, which leaves the order to the kustomization.
func options() *krusty.Options {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionUnspecified
	return options
}
