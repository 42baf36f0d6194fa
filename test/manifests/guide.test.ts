// proof: holds the commands of the guides against what is rolled out. Neither changes with the code of a service.

import { temporaryFolder } from '@backoffice/test-kit'
import t from 'tap'
import { allows, type Rules, rulesOf, rulesOfRole } from './authority.ts'
import { type Cluster, rendered, skip } from './cluster.ts'
import { askedBy, type Call, callsOf, type GuideRole, meantBy, roles, sections } from './guide.ts'
import { isMeant, withOperators } from './kustomize.ts'

const folder = temporaryFolder(t)
const calls = callsOf(
  folder,
  sections.flatMap(({ commands }) => commands),
)
/** Where the pages speak of the size without CloudNativePG. */
const isOfSmall = (where: string) => where.includes('`small`')
/** Where they speak of every size that has CloudNativePG. */
const ofEverySize = new Set(
  calls.filter(({ command }) => command.text.includes('$SIZE')).map(({ command }) => command.where),
)
const written = ({ command, words }: Call) => `${command.where}: ${command.role}: ${words.join(' ')}`

const refused: readonly (readonly [GuideRole, string])[] = [
  ['on-call', 'kubectl rollout restart deployment/gateway'],
  ['on-call', 'kubectl cnpg psql $PG'],
  ['on-call', 'kubectl exec nats-0 -c nats -- df -h'],
  ['on-call', 'cmctl renew nats'],
  ['on-call', 'kubectl -n external-secrets scale deployment external-secrets --replicas=0'],
  ['break-glass', 'kubectl delete secret collector-tls'],
  ['break-glass', 'kubectl drain $NODE'],
]

/** Containers of the pods that CloudNativePG makes. */
const ofPostgres = ['postgres', 'plugin-barman-cloud']
const inService = (name: string) => name.replace('$PG', 'postgres')

t.test('the guides and the manifests', { skip }, async (t) => {
  const production = rendered('production')

  t.test('every object, label and container in a command is there', async (t) => {
    const missing = calls.filter((call) => {
      const { namespace, selector, container, objects } = meantBy(call)
      if (namespace !== 'backoffice') return false
      const cluster = isOfSmall(call.command.where) ? rendered('small') : production
      const hasContainer = (name: string) =>
        name.includes('$') ||
        ofPostgres.includes(name) ||
        cluster.containers.some((each) => each.container.name === name)
      return !(
        objects.every(({ kind, name }) => isThere(cluster, kind, name)) &&
        (selector === undefined || isSelected(cluster, selector)) &&
        (container === undefined || hasContainer(container))
      )
    })
    t.ok(calls.length > 150, `${calls.length} calls`)
    t.same(missing.map(written), [])
  })

  t.test('each command is permitted to the role that it names', async (t) => {
    for (const size of withOperators) {
      const cluster = rendered(size)
      const onCall = rulesOf(cluster, ['backoffice-on-call'])
      const incident = ['on-call', 'break-glass'].flatMap((role) => rulesOfRole(cluster, 'backoffice', role))
      const rules: Readonly<Partial<Record<GuideRole, Rules>>> = { 'on-call': onCall, 'break-glass': incident }
      const isPermitted = (call: Call) => {
        // The pipeline and the cluster's own administrators may do everything.
        const may = rules[call.command.role]
        return may === undefined || askedBy(call).every((each) => allows(may, each))
      }
      const ofSize = calls.filter(({ command }) => size === 'production' || ofEverySize.has(command.where))
      t.same(ofSize.filter((call) => !isPermitted(call)).map(written), [], size)
      // What the guides once said, and nobody could do.
      for (const [role, text] of refused) {
        const made = callsOf(folder, [{ where: size, role, text, shows: undefined }])
        t.notOk(made.some(isPermitted), `${role}: ${text}`)
      }
    }
    for (const role of roles) t.ok(calls.filter(({ command }) => command.role === role).length > 3, role)
  })
})

/** A name that the manifests make, or what works on them: a name that is another each time is anybody's. */
function isThere(cluster: Cluster, kind: string, written: string): boolean {
  const name = inService(written)
  const [, owner = '', index = ''] = /^(?:data-)?(nats|postgres)-(\d)$/.exec(name) ?? []
  const { replicas } = cluster.find('StatefulSet', owner)?.spec ?? {}
  const { instances } = cluster.find('Cluster', owner)?.spec ?? {}
  if (/^$|\$|^node$/.test(name)) return true
  if (kind === 'Pod') return Number(index) < replicas || Number(index) <= instances || name.includes('/')
  if (kind === 'PersistentVolumeClaim') return Number(index) < replicas
  if (kind === 'FailoverQuorum') return cluster.find('Cluster', name) !== undefined
  if (kind === 'ConfigMap') return (cluster.find('Bundle', name) ?? cluster.find(kind, name)) !== undefined
  // What belongs to no namespace is the prerequisites'.
  return kind === 'ClusterSecretStore' || cluster.find(kind, name) !== undefined
}

function isSelected(cluster: Cluster, selector: string): boolean {
  // CloudNativePG labels what it makes.
  return selector.startsWith('cnpg.io/') || cluster.manifests.some((manifest) => isMeant(manifest, selector))
}
