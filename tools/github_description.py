#!/usr/bin/env python3
"""Cuts GitHub's published OpenAPI description down to the operations that `overlay` calls.

    npm install --ignore-scripts @octokit/openapi@23.0.2
    tools/github_description.py node_modules/@octokit/openapi/generated/api.github.com.json fixtures/forge/github/openapi.json
"""
import json
import sys

source, target = sys.argv[1:]
d = json.load(open(source))
R = '/repos/{owner}/{repo}'
KEEP = {
    R: ['get'],
    R + '/pulls': ['get', 'post'],
    R + '/pulls/{pull_number}': ['get', 'patch'],
    R + '/pulls/{pull_number}/commits': ['get'],
    R + '/pulls/{pull_number}/merge': ['put'],
    R + '/pulls/{pull_number}/update-branch': ['put'],
    R + '/pulls/{pull_number}/requested_reviewers': ['post'],
    R + '/issues/{issue_number}/labels': ['post'],
    R + '/issues/{issue_number}/assignees': ['post'],
    R + '/issues/{issue_number}/comments': ['get', 'post'],
    R + '/issues/comments/{comment_id}': ['patch'],
    R + '/commits/{ref}/check-runs': ['get'],
    R + '/commits/{ref}/status': ['get'],
    R + '/git/refs': ['post'],
    R + '/git/refs/{ref}': ['patch', 'delete'],
    R + '/git/ref/{ref}': ['get'],
    R + '/git/commits/{commit_sha}': ['get'],
    R + '/installation': ['get'],
    '/app/installations/{installation_id}/access_tokens': ['post'],
}
LEFT_OUT = {'description', 'summary', 'example', 'examples', 'externalDocs', 'x-github', 'x-githubCloudOnly', 'title', 'tags', 'x-webhooks'}

def strip(node, is_map=False):
    if isinstance(node, dict):
        return {k: strip(v, k in ('properties', 'schemas', 'patternProperties')) for k, v in node.items()
                if is_map or k not in LEFT_OUT}
    return [strip(v) for v in node] if isinstance(node, list) else node

def operation(op):
    out = {'operationId': op['operationId'], 'parameters': op.get('parameters', []), 'responses': {}}
    if 'requestBody' in op:
        out['requestBody'] = op['requestBody']
    for status, response in op['responses'].items():
        response = resolve(response)
        media = response.get('content', {}).get('application/json') or response.get('content', {}).get('application/scim+json')
        out['responses'][status] = {'schema': media['schema']} if media else {}
    return out

def resolve(node):
    while '$ref' in node:
        here = d
        for part in node['$ref'][2:].split('/'):
            here = here[part.replace('~1', '/').replace('~0', '~')]
        node = here
    return node

paths = {}
for path, methods in KEEP.items():
    paths[path] = {m: operation(d['paths'][path][m]) for m in methods}
components = {}
def walk(node):
    if isinstance(node, dict):
        ref = node.get('$ref')
        if isinstance(ref, str):
            _, _, kind, name = ref.split('/', 3)
            if name not in components.setdefault(kind, {}):
                components[kind][name] = None
                components[kind][name] = d['components'][kind][name]
                walk(d['components'][kind][name])
        for value in node.values():
            walk(value)
    elif isinstance(node, list):
        for value in node:
            walk(value)
walk(paths)
out = strip({'paths': paths, 'components': components}, True)
out['paths'] = {k: strip(v) for k, v in paths.items()}
out['components'] = {k: {n: strip(s) for n, s in v.items()} for k, v in sorted(components.items())}
out = {'openapi': d['openapi'], 'info': {'title': d['info']['title'], 'version': d['info']['version'], 'license': d['info']['license']}, **out}
with open(target, 'w') as file:
    json.dump(out, file, separators=(',', ':'))
    file.write('\n')
print(d['info']['version'], len(paths), {k: len(v) for k, v in components.items()})
