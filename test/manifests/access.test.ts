import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { brokerUsers } from '@backoffice/contracts'
import t from 'tap'
import { allows, type Rules, refusals, rulesOf, rulesOfRole } from './authority.ts'
import { rendered, skip } from './cluster.ts'
import { deployFolder, documentsIn, type Manifest } from './kustomize.ts'

t.test('who may do what in the cluster', { skip }, async (t) => {
  const cluster = rendered('production')

  t.test('NATS knows no person: nobody of the team has a user, a pod or a Secret in the cluster', async (t) => {
    const users = readFileSync(join(deployFolder, 'nats/users.conf'), 'utf8')
    const known = [...users.matchAll(/\{ user: (\w+),/g)].map(([, name]) => name)
    t.same(known, brokerUsers)
    const people = cluster.all('RoleBinding').flatMap(({ subjects }) => subjects.map(({ kind }: Manifest) => kind))
    t.same([...new Set(people)], ['Group'])
  })

  t.test('no person starts a pod among the services; controllers and CloudNativePG do', async (t) => {
    const starts = (user: string) => refusals(cluster, 'pods', { namespace: 'backoffice', user, object: {} })
    for (const user of ['alice@operator.example', 'admin', 'system:serviceaccount:backoffice:gateway'])
      t.match(starts(user), [/come from controllers/], user)
    for (const user of [
      'system:serviceaccount:kube-system:replicaset-controller',
      'system:serviceaccount:kube-system:job-controller',
      'system:serviceaccount:cnpg-system:cnpg-manager',
      'system:kube-controller-manager',
    ])
      t.same(starts(user), [], user)
    const debug = { namespace: 'backoffice', user: 'admin', object: {} }
    t.match(refusals(cluster, 'pods/ephemeralcontainers', debug), [/come from controllers/])
  })

  t.test('the internal authority signs for the services only', async (t) => {
    const signs = (namespace: string, name: string) =>
      refusals(cluster, 'certificaterequests', {
        namespace,
        user: 'system:serviceaccount:cert-manager:cert-manager',
        object: { spec: { issuerRef: { name }, usages: ['server auth'] } },
      })
    const names = cluster.all('Certificate').map(({ spec }) => spec.issuerRef.name)
    t.ok(names.includes('backoffice-internal'))
    t.same(signs('backoffice', 'backoffice-internal'), [])
    t.match(signs('somebody', 'backoffice-internal'), [/signs for the namespace backoffice only/])
    t.same(signs('somebody', 'public'), [], 'others are no matter of ours')
  })

  t.test('people on call see no Secret, and can change nothing that would show them one', async (t) => {
    const rules = rulesOf(cluster, ['backoffice-on-call'])
    t.ok(rules.length > 0)
    const may = (verb: string, resource: string, group = '') =>
      allows(rules, { group, resource, namespace: 'backoffice', name: 'any', verb })
    t.ok(may('get', 'pods/log') && may('delete', 'pods') && may('patch', 'statefulsets/scale', 'apps'))
    for (const verb of ['get', 'list', 'watch']) t.notOk(may(verb, 'secrets'), `${verb} secrets`)
    // A shell over WebSockets is a GET.
    for (const resource of ['pods/exec', 'pods/attach']) t.notOk(may('get', resource), resource)
    for (const verb of ['create', 'update', 'patch']) {
      for (const resource of ['pods', 'pods/exec', 'pods/attach', 'pods/ephemeralcontainers', 'serviceaccounts/token'])
        t.notOk(may(verb, resource), `${verb} ${resource}`)
      for (const [group, resource] of [
        ['apps', 'deployments'],
        ['apps', 'statefulsets'],
        ['batch', 'cronjobs'],
        ['external-secrets.io', 'externalsecrets'],
        ['postgresql.cnpg.io', 'clusters'],
        ['rbac.authorization.k8s.io', 'roles'],
        ['rbac.authorization.k8s.io', 'clusterrolebindings'],
      ] as const)
        t.notOk(may(verb, resource, group), `${verb} ${resource}`)
    }
    for (const verb of ['update', 'patch']) {
      t.notOk(may(verb, 'jobs', 'batch'), verb)
      t.notOk(may(verb, 'rolebindings', 'rbac.authorization.k8s.io'), verb)
    }
  })

  t.test('what opens a shell or every row is bound to nobody', async (t) => {
    const rules = rulesOfRole(cluster, 'backoffice', 'break-glass')
    t.ok(
      allows(rules, { group: '', resource: 'pods/exec', namespace: 'backoffice', name: 'postgres-1', verb: 'create' }),
    )
    t.notOk(cluster.all('RoleBinding').some(({ roleRef }) => roleRef.name === 'break-glass'))
    t.same(
      cluster.all('Role').filter(({ rules }) => rules.some(readsSecrets)),
      [],
    )
    const wide = cluster.all('ClusterRole')
    t.same(wide.map(({ metadata }) => metadata.name).sort(), ['backoffice-neighbours', 'backoffice-on-call'])
    for (const { rules } of wide)
      for (const { resources, verbs } of rules as Rules) {
        t.notOk(resources.includes('secrets') || resources.includes('*'), String(resources))
        t.same(
          verbs.filter((verb) => !['get', 'list', 'watch'].includes(verb)),
          [],
        )
      }
    // Logs of everybody are nobody's: each namespace is named.
    t.same(
      cluster.all('ClusterRoleBinding').map(({ roleRef }) => roleRef.name),
      ['backoffice-on-call'],
    )
  })

  t.test('somebody is let in for an incident by somebody else, and not for ever', async (t) => {
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'break-glass-42', uid: 'uid-1' }
    const binding = (change: object = {}, to = 'bob', role = 'break-glass') => ({
      metadata: { name: 'incident-42', ownerReferences: [owner], ...change },
      roleRef: { kind: 'Role', name: role },
      subjects: [{ kind: 'User', name: to }],
    })
    const by = (user: string, groups: readonly string[], object: Manifest, resource = 'rolebindings') =>
      refusals(cluster, resource, { namespace: 'backoffice', user, groups, object })
    const alice = (object: Manifest, resource?: string) => by('alice', ['backoffice-on-call'], object, resource)
    t.same(alice(binding()), [])
    t.same(alice(binding({}, 'bob', 'on-call')), [])
    const ends = /must end with the Job/
    for (const [object, message] of [
      [binding({}, 'alice'), /by somebody else/],
      [binding({}, 'system:serviceaccount:backoffice:gateway'), /one person/],
      [{ ...binding(), subjects: [{ kind: 'Group', name: 'everybody' }] }, /one person/],
      [{ ...binding(), subjects: [...binding().subjects, ...binding({}, 'carol').subjects] }, /one person/],
      [binding({ ownerReferences: [] }), ends],
      [binding({ ownerReferences: [owner, { ...owner, name: 'migrate' }] }), ends],
      [binding({ ownerReferences: [{ ...owner, kind: 'Deployment' }] }), ends],
      [binding({ ownerReferences: [{ ...owner, name: 'migrate-1.1.0' }] }), ends],
      [binding({ finalizers: ['example.com/stay'] }), ends],
      [binding({}, 'bob', 'lets-in'), /on-call and break-glass only/],
    ] as const) {
      t.match(alice(object), [message])
      if (object.roleRef.name === 'break-glass')
        t.match(by('admin', [], object), object.subjects[0]?.name === 'alice' ? [] : [message])
    }
    t.same(by('pipeline', [], binding({ ownerReferences: [] }, 'bob', 'on-call')), [], 'what the manifests bind')

    const job = (spec: object, metadata: object = {}) => ({
      metadata: { name: 'break-glass-42', ...metadata },
      spec: { completions: 0, ttlSecondsAfterFinished: 28_800, ...spec },
    })
    t.same(alice(job({}), 'jobs'), [])
    for (const object of [
      job({ completions: 1 }),
      job({ ttlSecondsAfterFinished: 28_801 }),
      job({}, { name: 'migrate-1.1.0' }),
      job({}, { finalizers: ['example.com/stay'] }),
      { metadata: { name: 'break-glass-42' }, spec: {} },
    ])
      t.match(alice(object, 'jobs'), [/no completions/])
    t.same(by('pipeline', [], job({ completions: 1 }), 'jobs'), [])
  })

  t.test(
    'break-glass.sh makes what is permitted, for somebody else alone, and who is let in lets in nobody',
    async (t) => {
      const folder = t.testdir({
        kubectl: '#!/bin/sh\n{ cat; echo ---; } >> made\ncase "$*" in *jsonpath*) echo uid-1 ;; esac\n',
      })
      chmodSync(join(folder, 'kubectl'), 0o755)
      const made = (seconds = '28800') => {
        const env = { PATH: `${folder}:${process.env.PATH}`, SECONDS_OPEN: seconds }
        rmSync(join(folder, 'made'), { force: true })
        execFileSync('sh', [join(deployFolder, 'k8s/break-glass.sh'), 'incident-42', 'bob'], { cwd: folder, env })
        return documentsIn(readFileSync(join(folder, 'made'), 'utf8').replace(/---\n$/, ''))
      }
      const resources: Readonly<Record<string, readonly [group: string, resource: string]>> = {
        Job: ['batch', 'jobs'],
        RoleBinding: ['rbac.authorization.k8s.io', 'rolebindings'],
      }
      const incident = ['on-call', 'break-glass'].flatMap((role) => rulesOfRole(cluster, 'backoffice', role))
      const onCall = rulesOf(cluster, ['backoffice-on-call'])
      t.same(rulesOf(cluster, ['bob']), [], 'before it he has no rights at all')
      const refused = (objects: readonly Manifest[], user: string) =>
        objects.flatMap((object) => {
          const [, resource = ''] = resources[object.kind] ?? []
          return refusals(cluster, resource, { namespace: 'backoffice', user, groups: ['backoffice-on-call'], object })
        })
      const objects = made()
      t.same(
        objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
        ['Job break-glass-incident-42', 'RoleBinding on-call-incident-42', 'RoleBinding break-glass-incident-42'],
      )
      t.same(refused(objects, 'alice'), [])
      t.same(
        new Set(refused(objects, 'bob')),
        new Set(['one person is let in, by somebody else']),
        'nobody lets in themselves',
      )
      t.match(refused(made('28801'), 'alice'), [/within eight hours/])
      for (const { kind, roleRef } of objects) {
        const [group = '', resource = ''] = resources[kind] ?? []
        const asked = { group, resource, namespace: 'backoffice', name: '', verb: 'create' }
        t.ok(allows(onCall, asked), kind)
        t.notOk(allows(incident, asked), `${kind}: who is let in`)
        if (roleRef !== undefined)
          t.ok(allows(onCall, { ...asked, resource: 'roles', name: roleRef.name, verb: 'bind' }))
      }
      const bind = { group: 'rbac.authorization.k8s.io', namespace: 'backoffice', verb: 'bind' }
      t.notOk(allows(onCall, { ...bind, resource: 'roles', name: 'lets-in' }))
      t.notOk(allows(onCall, { ...bind, resource: 'clusterroles', name: 'backoffice-neighbours' }))
    },
  )
})

const readsSecrets = ({ apiGroups, resources, verbs }: Manifest) =>
  (apiGroups.includes('') || apiGroups.includes('*')) &&
  (resources.includes('secrets') || resources.includes('*')) &&
  verbs.length > 0
