import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type AdmissionRequest, refusals } from './admission.ts'
import { Cluster } from './cluster.ts'
import { copyOfDeploy, deployFolder, kustomizeCommand, type Manifest, render } from './kustomize.ts'
import { skip } from './rendered.ts'
import { allows, type Rules, rulesOf, rulesOfRole } from './roles.ts'

t.setTimeout(120_000)

const team = 'backoffice-team'
const file = readFileSync(join(deployFolder, 'k8s/team-pod.json'), 'utf8')
/** As the README starts one. */
const podOf = (person: string): Manifest => JSON.parse(file.replaceAll('alice', person))

t.test('who may do what in the cluster', { skip }, async (t) => {
  const cluster = new Cluster(render(kustomizeCommand() ?? [], copyOfDeploy(t.testdir()), 'production'))
  const people = cluster
    .all('ExternalSecret')
    .filter(({ metadata }) => metadata.namespace === team && metadata.name.startsWith('team-'))
    .map(({ metadata }) => metadata.name.slice('team-'.length))
  const userOf = (person: string) => `${person}@operator.example`
  const startedBy = (person: string, object: Manifest): AdmissionRequest => ({
    namespace: team,
    user: userOf(person),
    rules: rulesOf(cluster, [userOf(person)]),
    object,
  })

  t.test('each person whom NATS knows has a Secret, a Role and a file of their own', async (t) => {
    const users = readFileSync(join(deployFolder, 'nats/users.conf'), 'utf8')
    const known = [...users.matchAll(/publish: \[ "team\.(\w+)\.>" \]/g)].map(([, name]) => name)
    t.same([...people].sort(), known.sort())
    t.ok(people.length >= 2, 'approving and paying take two')
  })

  t.test('a person starts a pod with their own Secret, and reads it nowhere else', async (t) => {
    for (const person of people) {
      const rules = rulesOf(cluster, [userOf(person)])
      const may = (verb: string, resource: string, name = '', namespace = team) =>
        allows(rules, { group: '', resource, namespace, name, verb })
      t.ok(may('create', 'pods'), 'starts one')
      t.ok(may('create', 'pods/attach', `team-${person}`), 'types into it')
      t.same(refusals(cluster, 'pods', startedBy(person, podOf(person))), [])
      t.same([...new Set(rules.map(({ namespace }) => namespace))], [team], 'nothing in the services namespace')
      for (const verb of ['get', 'list', 'watch']) t.notOk(may(verb, 'secrets', `team-${person}`), `${verb} secrets`)
      for (const other of people.filter((name) => name !== person))
        for (const resource of ['pods/attach', 'pods/exec', 'pods/log', 'pods', 'secrets'])
          for (const verb of ['get', 'use', 'delete'])
            t.notOk(may(verb, resource, `team-${other}`), `${verb} ${resource}`)
      for (const resource of ['pods/exec', 'pods/ephemeralcontainers', 'serviceaccounts/token'])
        for (const verb of ['get', 'create', 'update', 'patch'])
          t.notOk(may(verb, resource, `team-${person}`), resource)
    }
  })

  t.test("nothing in a person's pod leads to a Secret of somebody else", async (t) => {
    const others: Readonly<Record<string, (pod: Manifest) => void>> = {
      'a variable from a Secret, even their own': ({ spec }) => {
        const reads = { name: 'X', valueFrom: { secretKeyRef: { name: 'team-alice', key: 'NATS_PASSWORD' } } }
        spec.containers[0].env.push(reads)
      },
      'the same of somebody else in an init container': ({ spec }) => {
        const reads = { name: 'X', valueFrom: { secretKeyRef: { name: 'team-bob', key: 'NATS_PASSWORD' } } }
        spec.initContainers = [{ ...spec.containers[0], env: [reads] }]
      },
      'a whole Secret': ({ spec }) => {
        spec.containers[0].envFrom = [{ secretRef: { name: 'team-bob' } }]
      },
      'a Secret of somebody else as a volume': ({ spec }) => {
        spec.volumes.push({ name: 'x', secret: { secretName: 'team-bob' } })
      },
      'the same in the place of their own': ({ spec }) => {
        spec.volumes[0].secret.secretName = 'team-bob'
      },
      'a Secret among others in a volume': ({ spec }) => {
        spec.volumes.push({ name: 'x', projected: { sources: [{ secret: { name: 'team-bob' } }] } })
      },
      'a volume of a driver, with a Secret for it': ({ spec }) => {
        spec.volumes.push({ name: 'x', csi: { driver: 'any', nodePublishSecretRef: { name: 'team-bob' } } })
      },
      'a Secret to pull the image with': ({ spec }) => {
        spec.imagePullSecrets = [{ name: 'team-bob' }]
      },
      'another service account': ({ spec }) => {
        spec.serviceAccountName = 'default'
      },
      'the token of the service account': ({ spec }) => {
        spec.automountServiceAccountToken = true
      },
      'a token because nothing is said about it': ({ spec }) => {
        delete spec.automountServiceAccountToken
      },
    }
    for (const [what, change] of Object.entries(others)) {
      const pod = podOf('alice')
      change(pod)
      t.equal(refusals(cluster, 'pods', startedBy('alice', pod)).length, 1, what)
    }
    for (const somebodyElse of ['bob', 'nobody'])
      t.match(refusals(cluster, 'pods', startedBy('alice', podOf(somebodyElse))), [/only that person starts it/])
    const stranger = { ...startedBy('mallory', podOf('alice')), rules: [] }
    t.match(refusals(cluster, 'pods', stranger), [/only that person starts it/])
  })

  t.test('the pod is as confined as a service, and finds NATS under a name of its certificate', async (t) => {
    const { metadata, spec } = podOf('alice')
    const [container] = spec.containers
    t.match(metadata, { namespace: team, labels: { 'app.kubernetes.io/name': 'team' } })
    t.match(spec, { automountServiceAccountToken: false, securityContext: { runAsNonRoot: true, runAsUser: 10001 } })
    t.match(container.securityContext, { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
    const names = cluster.find('Certificate', 'nats')?.spec.dnsNames
    const servers = String(container.env.find(({ name }: Manifest) => name === 'NATS_URL').value).split(',')
    t.equal(servers.length, 3)
    for (const server of servers) t.ok(names.includes(new URL(server).hostname), server)
    for (const { configMap } of spec.volumes.filter(({ secret }: Manifest) => secret === undefined))
      t.ok(cluster.find('Bundle', configMap.name), 'the authority')
  })

  t.test('no person starts a pod among the services; controllers and CloudNativePG do', async (t) => {
    const starts = (user: string) =>
      refusals(cluster, 'pods', { namespace: 'backoffice', user, rules: everything, object: podOf('alice') })
    for (const user of ['alice@operator.example', 'admin', 'system:serviceaccount:backoffice:gateway'])
      t.match(starts(user), [/come from controllers/], user)
    for (const user of [
      'system:serviceaccount:kube-system:replicaset-controller',
      'system:serviceaccount:kube-system:job-controller',
      'system:serviceaccount:cnpg-system:cnpg-manager',
      'system:kube-controller-manager',
    ])
      t.same(starts(user), [], user)
    const debug = { namespace: 'backoffice', user: 'admin', rules: everything, object: podOf('alice') }
    t.match(refusals(cluster, 'pods/ephemeralcontainers', debug), [/come from controllers/])
  })

  t.test('the internal authority signs for the services only', async (t) => {
    const signs = (namespace: string, name: string) =>
      refusals(cluster, 'certificaterequests', {
        namespace,
        user: 'system:serviceaccount:cert-manager:cert-manager',
        rules: everything,
        object: { spec: { issuerRef: { name } } },
      })
    const names = cluster.all('Certificate').map(({ spec }) => spec.issuerRef.name)
    t.ok(names.includes('backoffice-internal'))
    t.same(signs('backoffice', 'backoffice-internal'), [])
    t.match(signs(team, 'backoffice-internal'), [/signs for the namespace backoffice only/])
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

/** Of an administrator. */
const everything: Rules = ['backoffice', team].map((namespace) => ({
  namespace,
  apiGroups: ['*'],
  resources: ['*'],
  verbs: ['*'],
}))

const readsSecrets = ({ apiGroups, resources, verbs }: Manifest) =>
  (apiGroups.includes('') || apiGroups.includes('*')) &&
  (resources.includes('secrets') || resources.includes('*')) &&
  (verbs as readonly string[]).some((verb) => verb !== 'use')
