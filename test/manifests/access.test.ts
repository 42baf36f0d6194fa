import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brokerUsers } from '@backoffice/contracts'
import t from 'tap'
import { allows, refusals, rulesOf, rulesOfRole } from './authority.ts'
import { deployFolder, type Manifest } from './kustomize.ts'
import { rendered, skip } from './rendered.ts'

t.setTimeout(120_000)

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
        ['batch', 'jobs'],
        ['batch', 'cronjobs'],
        ['external-secrets.io', 'externalsecrets'],
        ['postgresql.cnpg.io', 'clusters'],
        ['rbac.authorization.k8s.io', 'rolebindings'],
      ] as const)
        t.notOk(may(verb, resource, group), `${verb} ${resource}`)
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
    t.same(cluster.all('ClusterRole'), [])
    t.same(cluster.all('ClusterRoleBinding'), [])
  })
})

const readsSecrets = ({ apiGroups, resources, verbs }: Manifest) =>
  (apiGroups.includes('') || apiGroups.includes('*')) &&
  (resources.includes('secrets') || resources.includes('*')) &&
  verbs.length > 0
