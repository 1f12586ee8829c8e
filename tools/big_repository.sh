#!/bin/sh
# Makes the repository of the delivery benchmark: 1 GB of objects, 30,000 files, 10,000 overlays over one base.
# usage: big_repository.sh DIR      (DIR/big.git is bare and gives partial clones)
set -eu
dir=$1
mkdir -p "$dir/work" && cd "$dir/work"
git init -q -b main .
git config gc.auto 0 && git config core.compression 0
echo '*.bin binary -delta' > .gitattributes
python3 - <<'P'
import os, random
random.seed(1)
def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, 'w').write(text)
write('base/kustomization.yaml', 'resources: [web.yaml]\n')
write('base/web.yaml', 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: "registry.test/shop/web:1.0"}]}\n')
for n in range(10000):
    d = f'clusters/c{n % 100}/o{n}'
    write(f'{d}/kustomization.yaml', f'resources: [../../../base, config.yaml]\nnamePrefix: o{n}-\npatches:\n- path: patch.yaml\n')
    write(f'{d}/config.yaml', f'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: config}}\ndata: {{number: "{n}"}}\n')
    write(f'{d}/patch.yaml', f'apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec: {{replicas: {n % 7}}}\n')
os.makedirs('assets')
for n in range(100):
    open(f'assets/{n}.bin', 'wb').write(random.randbytes(10 << 20))
P
git add -A && git commit -q -m start
git clone -q --bare . ../big.git
git -C ../big.git config uploadpack.allowFilter true
git -C ../big.git config http.receivepack true
# Packed as a server has it, and never in the middle of a measurement.
git -C ../big.git config gc.auto 0
git -C ../big.git -c core.compression=0 -c pack.window=0 repack -adq
