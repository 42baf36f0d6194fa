import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Cluster, rendered, secretsIn, skip } from './cluster.ts'
import { deployFolder, type Manifest, overlays } from './kustomize.ts'

const isSecretName = (name: string) => /PASSWORD|TOKEN|SECRET|MASTER_KEYS|SESSION_KEYS|STORE_KEY|ACCESS_KEY/.test(name)

t.test('the files with the secrets are ignored by git, and their example is empty', async (t) => {
  const folder = join(deployFolder, 'k8s/components/secret-files')
  const files = ['.env', 'secrets/gateway.env', 'secrets/nats/gateway.conf']
  const ignored = execFileSync('git', ['check-ignore', ...files], { cwd: folder, encoding: 'utf8' })
  t.same(ignored.trim().split('\n'), files)
  t.notMatch(readFileSync(join(folder, '.env.example'), 'utf8'), /^\w+=.+$/m)
})

t.test('no file of the manifests holds what looks like a secret', async (t) => {
  const files = globSync('k8s/**/*.{yaml,env,example}', { cwd: deployFolder })
  t.ok(files.length > 20)
  for (const file of files) {
    const text = readFileSync(join(deployFolder, file), 'utf8')
    t.notMatch(text, /-----BEGIN|:\/\/[^\s:@/]+:[^$\s][^\s@]*@/, `${file}: keys and passwords in URLs`)
    t.notMatch(text, /kind: Secret$/m, file)
    t.notMatch(text, /(?=[A-Za-z+]*\d)[A-Za-z\d+]{20,}/, `${file}: random characters`)
  }
})

/** Which Secrets have a value. The migration Job sets the roles' passwords, and the servers of NATS check the users'. */
function expectedHolders(key: string): readonly string[] {
  const [, kind, name = ''] = /^(DATABASE_PASSWORD|NATS_PASSWORD|MASTER_KEYS|HEADS_\w+KEY\w*)_([A-Z]+)$/.exec(key) ?? []
  const owner = name === 'ADMIN' ? 'postgres-admin' : name.toLowerCase()
  if (key === 'GAME_PROVIDER_TOKEN') return ['players']
  if (key.startsWith('GAMES_PROVIDER_')) return ['games']
  if (key === 'NATS_STORE_KEY') return ['nats']
  if (key.startsWith('CONSOLE_')) return ['console']
  // The providers' surface is the gateway's program.
  const owners = owner === 'gateway' && kind !== 'NATS_PASSWORD' ? ['gateway', 'providers'] : [owner]
  if (kind === 'DATABASE_PASSWORD') return [...owners, 'migrate'].sort()
  if (kind === 'NATS_PASSWORD' && name === 'STREAMS') return ['migrate', 'nats', 'streams']
  if (kind === 'NATS_PASSWORD') return [owner, 'nats'].sort()
  return owners
}

t.test('secrets', { skip }, async (t) => {
  const [local, production] = [rendered('local'), rendered('production')]
  for (const overlay of overlays) {
    const cluster = rendered(overlay)
    t.test(
      `${overlay}: no container has a secret in its environment: what it names is a file of its own`,
      async (t) => {
        const ours = cluster.containers.map((running) => ({
          ...running,
          files: Object.keys(cluster.secretFiles(running)),
        }))
        for (const { where, container, files } of ours) {
          t.same(container.envFrom, undefined, where)
          for (const { name, value, valueFrom } of container.env ?? []) {
            t.notOk(valueFrom?.secretKeyRef, `${where}: ${name}`)
            t.notMatch(String(value ?? ''), /:\/\/[^/@]*:[^@/]*@/, `${where}: a password in the URL of ${name}`)
            // A preflight Job has its workload's settings, and none of the files.
            const isThere = where.startsWith('Job preflight-') ? files.length === 0 : files.includes(value)
            if (isSecretName(name)) t.ok(name.endsWith('_FILE') && isThere, `${where}: ${name}`)
          }
        }
        for (const { metadata, data } of cluster.all('ConfigMap'))
          t.same(Object.keys(data).filter(isSecretName), [], metadata.name)
      },
    )

    t.test(
      `${overlay}: a Secret is mounted by one workload, and only the pod's own group may read its files`,
      async (t) => {
        const pods = cluster.workloads.map(({ metadata, spec }) => ({ name: metadata.name, pod: spec.template.spec }))
        const mountedBy = new Map<string, Set<string>>()
        for (const { name, pod } of pods) {
          for (const volume of pod.volumes ?? []) {
            const secrets = secretsIn(volume)
            if (secrets.length === 0) continue
            for (const { secretName } of secrets)
              mountedBy.set(secretName, (mountedBy.get(secretName) ?? new Set()).add(name))
            const { defaultMode, items = [] } = volume.secret ?? volume.projected
            t.equal(defaultMode, 0o440, `${name}: ${volume.name}`)
            t.notOk(items.some(({ mode }: Manifest) => mode !== undefined))
            t.equal(pod.securityContext.fsGroup, pod.securityContext.runAsGroup, name)
          }
        }
        t.ok(mountedBy.size >= 11)
        for (const [secret, names] of mountedBy) t.equal(names.size, 1, `${secret}: ${[...names].join(', ')}`)
      },
    )
  }

  const holders = holdersInProduction(production)

  t.test('production asks the store for the keys of the example, no more and no fewer', async (t) => {
    t.same([...holders.keys()].sort(), [...keysOfTheExample()].sort())
  })

  t.test('a value is given to who shows it and to who checks it, and to nobody else', async (t) => {
    for (const [key, names] of holders) t.same(names, expectedHolders(key), key)
  })

  t.test('the script that goes without the operator makes the same Secrets', async (t) => {
    const made = (cluster: Cluster, names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name.replace(/-[a-z0-9]{10}$/, ''), cluster.secret(name)]))
    const byOperator = [...new Set([...holders.values()].flat())]
    const standard = rendered('standard')
    const byScript = made(
      standard,
      standard.all('Secret').map(({ metadata }) => metadata.name),
    )
    t.equal(byOperator.length, 13)
    t.same(byScript, made(production, byOperator))
  })

  t.test('what is mounted is made: by the overlay itself, in production by operators', async (t) => {
    const counts = overlays.map((overlay) => [overlay, rendered(overlay).all('Secret').length])
    t.same(Object.fromEntries(counts), { local: 12, small: 11, standard: 13, production: 0 })
    for (const overlay of overlays) {
      const cluster = rendered(overlay)
      const made = secretsThatAreMade(cluster)
      // By hand, from the public certificate.
      for (const { secretName } of secretsThatAreMounted(cluster)) t.ok(made.has(secretName), secretName)
    }
  })

  t.test(
    "the authority's key is out of the services' reach: they are given its certificate, in a ConfigMap",
    async (t) => {
      for (const cluster of [local, production]) {
        const authorities = cluster.all('Certificate').filter(({ spec }) => spec.isCA)
        t.same(
          authorities.map(({ metadata }) => metadata.namespace),
          cluster === production ? ['cert-manager'] : [],
        )
        const secrets = authorities.map(({ spec }) => spec.secretName)
        t.same(
          secretsThatAreMounted(cluster).filter(({ secretName }) => secrets.includes(secretName)),
          [],
        )
        const mounted = cluster.workloads.flatMap(({ spec }) =>
          (spec.template.spec.volumes ?? []).filter(({ configMap }: Manifest) =>
            cluster.find('Bundle', configMap?.name),
          ),
        )
        t.equal(mounted.length, cluster === production ? 12 : 0)
        for (const { spec } of cluster.all('Bundle')) {
          t.same(spec.sources, [{ secret: { name: 'backoffice-authority', key: 'tls.crt' } }], 'the certificate alone')
          const namespaces = cluster
            .all('Namespace')
            .filter(({ metadata }) =>
              Object.entries(spec.target.namespaceSelector.matchLabels).every(
                ([name, value]) => metadata.labels[name] === value,
              ),
            )
          t.same(namespaces.map(({ metadata }) => metadata.name).sort(), ['backoffice'])
        }
      }
    },
  )
})

/** The keys of the one entry of the store, and of the one file, that all Secrets are made from. */
function keysOfTheExample(): readonly string[] {
  const text = readFileSync(join(deployFolder, 'k8s/components/secret-files/.env.example'), 'utf8')
  return [...text.matchAll(/^(\w+)=/gm)].map(([, key = '']) => key)
}

/** Secrets that pods mount. */
function secretsThatAreMounted(cluster: Cluster): readonly { readonly secretName: string }[] {
  return cluster.workloads.flatMap(({ spec }) => (spec.template.spec.volumes ?? []).flatMap(secretsIn))
}

/** Secrets that something in the cluster makes: cert-manager, the External Secrets operator. */
function secretsThatAreMade(cluster: Cluster): ReadonlySet<string> {
  const certificates = cluster.all('Certificate').map(({ spec }) => spec.secretName)
  const external = cluster.all('ExternalSecret').map(({ spec }) => spec.target.name)
  const here = cluster.all('Secret').map(({ metadata }) => metadata.name)
  return new Set([...certificates, ...external, ...here])
}

/** Which Secrets of the services' namespace have a value of the store, by its key there. */
function holdersInProduction(cluster: Cluster): ReadonlyMap<string, readonly string[]> {
  const holders = new Map<string, string[]>()
  for (const { metadata, spec } of cluster.all('ExternalSecret'))
    for (const { remoteRef } of (spec.data ?? []) as Manifest[])
      if (remoteRef.key === 'backoffice/production')
        holders.set(remoteRef.property, [...(holders.get(remoteRef.property) ?? []), metadata.name].sort())
  return holders
}
