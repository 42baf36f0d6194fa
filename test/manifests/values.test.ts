// proof: builds production anew with other values. They change with deploy/k8s alone.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { deployFolder, type Manifest } from './kustomize.ts'
import { rendered, skip, withSettings } from './rendered.ts'
import { refusedBetween } from './transitions.ts'

/** Another value for each of the file, and how many fields it reaches. */
const others: Readonly<Record<string, readonly [value: string, places: number]>> = {
  API_HOST: ['api.another.example', 5],
  GAMES_HOST: ['games.another.example', 4],
  CONSOLE_HOST: ['console.another.example', 6],
  ENVOY_REPLICAS: ['11', 1],
  GATEWAY_REPLICAS: ['12', 1],
  PLAYERS_REPLICAS: ['13', 1],
  WALLET_REPLICAS: ['14', 1],
  PAYMENTS_REPLICAS: ['15', 1],
  WEBHOOKS_REPLICAS: ['16', 1],
  GAMES_REPLICAS: ['17', 1],
  CONSOLE_REPLICAS: ['18', 1],
  REPLICAS_MAX: ['8', 5],
  WALLET_REPLICAS_MAX: ['19', 1],
  SERVICE_MEMORY: ['555Mi', 6],
  SERVICE_MEMORY_MAX: ['999Mi', 6],
  GATEWAY_CPU: ['301m', 1],
  PLAYERS_CPU: ['302m', 1],
  WALLET_CPU: ['303m', 1],
  PAYMENTS_CPU: ['304m', 1],
  WEBHOOKS_CPU: ['305m', 1],
  POSTGRES_STORAGE: ['333Gi', 1],
  POSTGRES_WAL_STORAGE: ['33Gi', 1],
  NATS_STORAGE: ['44Gi', 1],
}

t.test('the values of production', { skip }, async (t) => {
  const file = 'overlays/production/values.env'
  const text = readFileSync(join(deployFolder, 'k8s', file), 'utf8')
  const values = Object.fromEntries(Object.entries(others).map(([name, [value]]) => [name, value]))
  const before = leaves(rendered('production').manifests)

  t.test('the file lists the values that are tried here', async (t) => {
    t.same([...text.matchAll(/^(\w+)=/gm)].map(([, name]) => name).sort(), Object.keys(others).sort())
  })

  t.test('each goes to every field that it is about, and nothing else changes', async (t) => {
    const after = leaves(rendered('production', { [file]: withSettings(values) }).manifests)
    t.equal(after.length, before.length)
    const changed = after.filter((leaf, index) => leaf !== before[index] && !/^settings-\w+$/.test(leaf))
    for (const [name, [value, places]] of Object.entries(others)) {
      const pattern = new RegExp(`(^|[-/])${RegExp.escape(value)}($|/)`)
      t.equal(changed.filter((leaf) => pattern.test(leaf)).length, places, `${name}: ${value}`)
    }
    t.equal(
      changed.length,
      Object.values(others).reduce((sum, [, places]) => sum + places, 0),
    )
  })

  t.test(
    'an installation takes all of them later, but the disk of NATS, for which a guide makes it anew',
    async (t) => {
      const all = rendered('production', { [file]: withSettings(values) })
      t.same(refusedBetween(rendered('production'), all), ['StatefulSet nats: a field that cannot be changed'])
    },
  )

  t.test('nothing of it reaches the cluster by itself', async (t) => {
    t.equal(rendered('production').find('ConfigMap', 'values'), undefined)
  })
})

/** Each value of each manifest, as text. */
function leaves(node: Manifest): readonly string[] {
  if (typeof node !== 'object' || node === null) return [String(node)]
  return Object.values(node).flatMap(leaves)
}
