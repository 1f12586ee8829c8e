// Prints what Kubernetes' own code says of rolls, as the tables that tests compare with: what `kubectl rollout status`
// says of a workload, and how many pods a strategy adds and takes away.
//
//	go run . status > ../../fixtures/kubernetes/rollout-status.json
//	go run . fenceposts > ../../fixtures/kubernetes/fenceposts.json
//
// The tests go through the same values in the same order; a letter is one outcome.
package main

import (
	"encoding/json"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	deploymentutil "k8s.io/kubectl/pkg/util/deployment"
	"k8s.io/kubectl/pkg/polymorphichelpers"
)

type object = map[string]any

// outcome of `kubectl rollout status`: done, wait, error, or x: an error after which nothing is waited for.
func outcome(kind string, generation int64, spec, status object) byte {
	viewer, err := polymorphichelpers.StatusViewerFor(schema.GroupKind{Group: "apps", Kind: kind})
	if err != nil {
		panic(err)
	}
	_, done, err := viewer.Status(&unstructured.Unstructured{Object: object{
		"apiVersion": "apps/v1", "kind": kind, "metadata": object{"name": "web", "generation": generation},
		"spec": spec, "status": status,
	}}, 0)
	switch {
	case err != nil && done:
		return 'x'
	case err != nil:
		return 'e'
	case done:
		return 'd'
	default:
		return 'w'
	}
}

// with adds a field unless its value is nil.
func with(fields object, key string, value any) object {
	if value != nil {
		fields[key] = value
	}
	return fields
}

var counts = []int64{0, 1, 2, 3}

func deployments() (all []string) {
	for _, generation := range []int64{1, 2} {
		for _, observed := range []int64{1, 2} {
			for _, reason := range []any{nil, "ProgressDeadlineExceeded", "NewReplicaSetAvailable"} {
				for _, wanted := range []any{nil, int64(0), int64(2)} {
					var line []byte
					for _, replicas := range counts {
						for _, updated := range counts {
							for _, available := range counts {
								status := object{"observedGeneration": observed, "replicas": replicas,
									"updatedReplicas": updated, "availableReplicas": available}
								if reason != nil {
									status["conditions"] = []any{object{"type": "Progressing", "status": "False", "reason": reason}}
								}
								line = append(line, outcome("Deployment", generation, with(object{}, "replicas", wanted), status))
							}
						}
					}
					all = append(all, string(line))
				}
			}
		}
	}
	return all
}

func statefulSets() (all []string) {
	rules := []any{nil, object{}, object{"partition": int64(0)}, object{"partition": int64(1)}, object{"partition": int64(3)}}
	for _, strategy := range []any{"RollingUpdate", "OnDelete"} {
		for _, generation := range []int64{1, 2} {
			for _, observed := range []int64{0, 1, 2} {
				for _, wanted := range []any{nil, int64(0), int64(2)} {
					for _, rule := range rules {
						var line []byte
						for _, ready := range counts {
							for _, updated := range counts {
								for _, revision := range []string{"a", "b"} {
									spec := with(object{"updateStrategy": with(object{"type": strategy}, "rollingUpdate", rule)}, "replicas", wanted)
									status := object{"observedGeneration": observed, "readyReplicas": ready, "updatedReplicas": updated,
										"currentRevision": "a", "updateRevision": revision}
									line = append(line, outcome("StatefulSet", generation, spec, status))
								}
							}
						}
						all = append(all, string(line))
					}
				}
			}
		}
	}
	return all
}

func daemonSets() (all []string) {
	for _, strategy := range []any{"RollingUpdate", "OnDelete"} {
		for _, generation := range []int64{1, 2} {
			for _, observed := range []int64{1, 2} {
				var line []byte
				for _, desired := range counts {
					for _, updated := range counts {
						for _, available := range counts {
							line = append(line, outcome("DaemonSet", generation, object{"updateStrategy": object{"type": strategy}},
								object{"observedGeneration": observed, "desiredNumberScheduled": desired,
									"updatedNumberScheduled": updated, "numberAvailable": available}))
						}
					}
				}
				all = append(all, string(line))
			}
		}
	}
	return all
}

// fenceposts are rows of maxSurge, maxUnavailable, replicas, and the pods that they come to.
func fenceposts() (rows [][5]any) {
	values := []string{"0", "1", "2", "0%", "1%", "10%", "25%", "34%", "50%", "99%", "100%"}
	for _, surge := range values {
		for _, unavailable := range values {
			for replicas := int32(0); replicas <= 12; replicas++ {
				s, u := intstr.Parse(surge), intstr.Parse(unavailable)
				more, fewer, err := deploymentutil.ResolveFenceposts(&s, &u, replicas)
				if err != nil {
					panic(err)
				}
				rows = append(rows, [5]any{surge, unavailable, replicas, more, fewer})
			}
		}
	}
	return rows
}

func main() {
	out := json.NewEncoder(os.Stdout)
	if len(os.Args) == 2 && os.Args[1] == "fenceposts" {
		out.Encode(fenceposts())
		return
	}
	out.SetIndent("", " ")
	out.Encode(map[string][]string{"Deployment": deployments(), "StatefulSet": statefulSets(), "DaemonSet": daemonSets()})
}
