import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { deployFolder, type Manifest } from './kustomize.ts'
import { forEachOverlay, skip } from './rendered.ts'
import { keysOfTheExample, keysThatAreRead, secretsThatAreMade, secretsThatAreMounted } from './secrets.ts'

t.setTimeout(300_000)

const isSecretName = (name: string) => /PASSWORD|TOKEN|SECRET|MASTER_KEYS|STORE_KEY|ACCESS_KEY/.test(name)

t.test('the file with the local secrets is ignored by git, and its example is empty', async (t) => {
  const folder = join(deployFolder, 'k8s/overlays/local')
  t.equal(execFileSync('git', ['check-ignore', '.env'], { cwd: folder, encoding: 'utf8' }).trim(), '.env')
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

t.test('secrets', { skip }, async (t) => {
  forEachOverlay(t, (overlay, cluster) => {
    t.test(`${overlay}: a secret comes into a container by reference only`, async (t) => {
      for (const { where, container } of cluster.containers) {
        t.same(container.envFrom, undefined, where)
        for (const { name, value, valueFrom } of container.env ?? []) {
          if (isSecretName(name)) t.ok(valueFrom?.secretKeyRef, `${where}: ${name}`)
          t.notMatch(String(value ?? ''), /:\/\/[^:@/]+:(?!\$\(\w+\)@)[^@]*@/, `${where}: ${name}`)
        }
      }
      for (const { metadata, data } of cluster.all('ConfigMap'))
        t.same(Object.keys(data).filter(isSecretName), [], metadata.name)
    })

    t.test(
      `${overlay}: the secrets that are asked for are the ones of the example, no more and no fewer`,
      async (t) => {
        t.same(
          keysThatAreRead(cluster),
          keysOfTheExample()
            .map((key) => `backoffice/${key}`)
            .sort(),
        )
      },
    )

    t.test(`${overlay}: a service reads no other service's secret`, async (t) => {
      const everybody = new Set(['GAME_PROVIDER_TOKEN', 'DATABASE_PASSWORD_RECONCILER'])
      for (const { workload, container } of cluster.containers) {
        const { name, labels } = workload.metadata
        if (!['service', 'games'].includes(labels['app.kubernetes.io/component'])) continue
        for (const { valueFrom } of container.env) {
          const key = valueFrom?.secretKeyRef?.key
          if (key !== undefined && !everybody.has(key)) t.ok(key.endsWith(`_${name.toUpperCase()}`), `${name}: ${key}`)
        }
      }
    })
  })

  t.test('the local overlay makes its one Secret, production none', async (t) => {
    forEachOverlay(t, (overlay, cluster) => {
      t.equal(cluster.all('Secret').length, overlay === 'local' ? 1 : 0)
      const made = secretsThatAreMade(cluster)
      for (const { secretName } of secretsThatAreMounted(cluster)) t.ok(made.has(secretName), secretName)
      if (overlay === 'production') t.ok(made.has('backoffice'))
    })
  })

  t.test(
    "the authority's key is out of the services' reach: they are given its certificate, in a ConfigMap",
    async (t) => {
      forEachOverlay(t, (overlay, cluster) => {
        const authorities = cluster.all('Certificate').filter(({ spec }) => spec.isCA)
        t.same(
          authorities.map(({ metadata }) => metadata.namespace),
          overlay === 'production' ? ['cert-manager'] : [],
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
        t.equal(mounted.length, overlay === 'production' ? 9 : 0)
        for (const { spec } of cluster.all('Bundle')) {
          t.same(spec.sources, [{ secret: { name: 'backoffice-authority', key: 'tls.crt' } }], 'the certificate alone')
          const namespaces = cluster
            .all('Namespace')
            .filter(({ metadata }) =>
              Object.entries(spec.target.namespaceSelector.matchLabels).every(
                ([name, value]) => metadata.labels[name] === value,
              ),
            )
          t.same(namespaces.map(({ metadata }) => metadata.name).sort(), ['backoffice', 'backoffice-team'])
        }
      })
    },
  )
})
