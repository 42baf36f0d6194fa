import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { deployFolder, type Manifest } from './kustomize.ts'

/** The keys of the one Secret that the overlays are given. */
export function keysOfTheExample(): readonly string[] {
  const text = readFileSync(join(deployFolder, 'k8s/overlays/local/.env.example'), 'utf8')
  return [...text.matchAll(/^(\w+)=/gm)].map(([, key = '']) => key)
}

/** Which keys of which Secret the containers read, as `secret/key`; generated names lose their hash. */
export function keysThatAreRead(cluster: Cluster): readonly string[] {
  const read = cluster.containers.flatMap(({ container }) =>
    (container.env ?? []).flatMap(({ valueFrom }: Manifest) => valueFrom?.secretKeyRef ?? []),
  )
  return [...new Set(read.map(({ name, key }: Manifest) => `${withoutHash(name)}/${key}`))].sort()
}

const withoutHash = (name: string) => name.replace(/-[a-z0-9]{10}$/, '')

/** Secrets that pods mount. */
export function secretsThatAreMounted(cluster: Cluster): readonly Manifest[] {
  return cluster.workloads.flatMap(({ spec }) =>
    (spec.template.spec.volumes ?? []).flatMap(({ secret }: Manifest) => secret ?? []),
  )
}

/** Secrets that something in the cluster makes: cert-manager, the External Secrets operator. */
export function secretsThatAreMade(cluster: Cluster): ReadonlySet<string> {
  const certificates = cluster.all('Certificate').map(({ spec }) => spec.secretName)
  const external = cluster.all('ExternalSecret').map(({ spec }) => spec.target.name)
  return new Set([...certificates, ...external])
}
