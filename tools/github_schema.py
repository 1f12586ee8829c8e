#!/usr/bin/env python3
"""Cuts GitHub's published GraphQL schema down to the fields that `overlay` asks for, as it is published but for descriptions.

    npm install --ignore-scripts @octokit/graphql-schema@15.26.1
    tools/github_schema.py node_modules/@octokit/graphql-schema/schema.graphql fixtures/forge/github/schema.graphql
"""
import re
import sys

source, target = sys.argv[1:]
# Of these types the fields named; inputs, enums, unions and scalars that they lead to are kept whole.
KEEP = {
    'Query': ['repository'],
    'Mutation': ['enablePullRequestAutoMerge', 'enqueuePullRequest', 'createCommitOnBranch'],
    'Repository': ['id', 'autoMergeAllowed', 'viewerDefaultMergeMethod', 'pullRequest'],
    'PullRequest': ['id', 'state', 'isDraft', 'headRefOid', 'mergeable', 'mergeStateStatus', 'reviewDecision', 'mergeCommit',
                    'autoMergeRequest', 'mergeQueue', 'mergeQueueEntry', 'statusCheckRollup'],
    'Commit': ['id', 'oid'],
    'AutoMergeRequest': ['enabledAt'],
    'MergeQueue': ['id'],
    'MergeQueueEntry': ['id', 'position', 'state'],
    'StatusCheckRollup': ['id', 'contexts'],
    'StatusCheckRollupContextConnection': ['nodes', 'pageInfo', 'totalCount'],
    'PageInfo': ['endCursor', 'hasNextPage', 'hasPreviousPage'],
    'CheckRun': ['id', 'name', 'status', 'conclusion', 'isRequired'],
    'StatusContext': ['id', 'context', 'state', 'isRequired'],
    'EnablePullRequestAutoMergePayload': ['clientMutationId', 'pullRequest'],
    'EnqueuePullRequestPayload': ['clientMutationId', 'mergeQueueEntry'],
    'CreateCommitOnBranchPayload': ['clientMutationId', 'commit'],
}
BUILT_IN = {'String', 'Int', 'Float', 'Boolean', 'ID'}

text = re.sub(r'"""(?:\\"""|.)*?"""', '', open(source).read(), flags=re.S)
definitions = {}
for found in re.finditer(r'^(type|input|enum|interface|union|scalar) (\w+)([^\n{]*)(\{.*?^\})?', text, re.S | re.M):
    definitions[found[2]] = found


def fields(body):
    """Each field with its arguments and type, as published."""
    out, depth, current = [], 0, ''
    for line in body.strip('{}').splitlines():
        if not line.strip():
            continue
        current += (' ' if current and depth else '') + line.strip() if depth else line.strip()
        depth += line.count('(') - line.count(')')
        if depth == 0:
            out.append(re.sub(r' @\w+(\([^)]*\))?', '', current).replace('( ', '(').replace(' )', ')'))
            current = ''
    return out


out, todo, seen = [], ['Query', 'Mutation'], set()
while todo:
    name = todo.pop(0)
    if name in seen or name in BUILT_IN:
        continue
    seen.add(name)
    kind, _, head, body = definitions[name].groups()
    if kind == 'scalar':
        out.append(f'scalar {name}')
        continue
    if kind == 'union':
        out.append(f'union {name}{head}'.strip())
        todo += re.findall(r'\w+', head)
        continue
    lines = fields(body)
    if kind in ('type', 'interface'):
        wanted = KEEP[name]
        lines = [line for line in lines if re.match(r'\w+', line)[0] in wanted]
        assert len(lines) == len(wanted), (name, wanted, lines)
    out.append(kind + f' {name} {{\n' + ''.join(f'  {line}\n' for line in lines) + '}')
    if kind != 'enum':
        for line in lines:
            todo += [t for t in re.findall(r': \[?(\w+)', line)]
with open(target, 'w') as file:
    file.write('\n\n'.join(out) + '\n')
print(len(out), 'definitions')
