import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TObject } from '@sinclair/typebox'
import { type Cluster, type Running, secretsIn } from './cluster.ts'
import { deployFolder, type Manifest } from './kustomize.ts'

/** The keys of the one entry of the store, and of the one file, that all Secrets are made from. */
export function keysOfTheExample(): readonly string[] {
  const text = readFileSync(join(deployFolder, 'k8s/components/secret-files/.env.example'), 'utf8')
  return [...text.matchAll(/^(\w+)=/gm)].map(([, key = '']) => key)
}

/** Those of these files in a folder that cannot be committed by mistake. */
export const ignoredByGit = (files: readonly string[], cwd: string): readonly string[] =>
  execFileSync('git', ['check-ignore', ...files], { cwd, encoding: 'utf8' })
    .trim()
    .split('\n')

/** Secrets that pods mount. */
export function secretsThatAreMounted(cluster: Cluster): readonly { readonly secretName: string }[] {
  return cluster.workloads.flatMap(({ spec }) => (spec.template.spec.volumes ?? []).flatMap(secretsIn))
}

/** Secrets that something in the cluster makes: cert-manager, the External Secrets operator. */
export function secretsThatAreMade(cluster: Cluster): ReadonlySet<string> {
  const certificates = cluster.all('Certificate').map(({ spec }) => spec.secretName)
  const external = cluster.all('ExternalSecret').map(({ spec }) => spec.target.name)
  const here = cluster.all('Secret').map(({ metadata }) => metadata.name)
  return new Set([...certificates, ...external, ...here])
}

/** The one name on the certificate that a workload shows to NATS; undefined where it shows none. */
export function natsNameOf(cluster: Cluster, name: string): string | undefined {
  const { container, pod } = cluster.container(name)
  const { NATS_CERT_FILE: file, NATS_KEY_FILE: key } = cluster.environment(container)
  const mount = container.volumeMounts?.find(({ mountPath }: Manifest) => file === join(mountPath, 'tls.crt'))
  if (mount === undefined || key !== join(mount.mountPath, 'tls.key')) return undefined
  const { secret } = pod.volumes.find((volume: Manifest) => volume.name === mount.name)
  const shown = cluster.all('Certificate').find(({ spec }) => spec.secretName === secret.secretName)
  const [dnsName, ...others] = shown?.spec.dnsNames ?? []
  return others.length === 0 && shown?.spec.usages.join() === 'client auth' ? dnsName : undefined
}

/** Which Secrets of the services' namespace have a value of the store, by its key there. */
export function holdersInProduction(cluster: Cluster): ReadonlyMap<string, readonly string[]> {
  const holders = new Map<string, string[]>()
  for (const { metadata, spec } of cluster.all('ExternalSecret'))
    for (const { remoteRef } of (spec.data ?? []) as Manifest[])
      if (remoteRef.key === 'backoffice/production')
        holders.set(remoteRef.property, [...(holders.get(remoteRef.property) ?? []), metadata.name].sort())
  return holders
}

/** The environment of a container on this machine: the files of its Secrets and ConfigMaps are below `dir`. */
export function environmentWithFiles(cluster: Cluster, running: Running, dir: string): Record<string, string> {
  const environment = { ...cluster.environment(running.container) }
  const files = { ...cluster.secretFiles(running), ...cluster.configurationFiles(running) }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  for (const [name, value] of Object.entries(environment)) if (value in files) environment[name] = join(dir, value)
  return environment
}

/** Every variable that a program reads: a secret has a second one, for its file. */
export const variablesOf = ({ properties }: TObject): readonly string[] =>
  Object.entries(properties).flatMap(([name, { secret }]) => (secret === true ? [name, `${name}_FILE`] : [name]))
