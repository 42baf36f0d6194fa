import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkedSettings, settings as console } from '@backoffice/console'
import { allOperations, serviceNames, teamRoles } from '@backoffice/contracts'
import { secretBoxFrom } from '@backoffice/database/vault'
import { settings as games } from '@backoffice/games'
import { gateway } from '@backoffice/gateway'
import { migratorConfig, preflightConfig, streamConfig } from '@backoffice/migrator'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { loadConfig } from '@backoffice/process'
import { reconciler } from '@backoffice/reconciler'
import { identityOf } from '@backoffice/team-access/identity'
import { wallet } from '@backoffice/wallet'
import { webhooks } from '@backoffice/webhooks'
import type { TObject } from '@sinclair/typebox'
import t from 'tap'
import { environmentWithFiles, partsOfOthers, rendered, secretsIn, skip, variablesOf } from './cluster.ts'
import { deployFolder, type Manifest, type Overlay, overlays, secretValue, withOperators } from './kustomize.ts'

const programs = [...serviceNames, 'games', 'console'] as const
type Program = (typeof programs)[number] | 'providers'
/** Where there is enough to run, providers of games have processes of their own, of the gateway's program. */
const programsOf = (overlay: Overlay): readonly Program[] =>
  withOperators.includes(overlay) ? [...programs, 'providers'] : programs
const programOf = (name: Program) => (name === 'providers' ? 'gateway' : name)
const configurations: Readonly<Record<Program, TObject>> = {
  gateway: gateway.configuration,
  providers: gateway.configuration,
  players: players.configuration,
  wallet: wallet.configuration,
  payments: payments.configuration,
  webhooks: webhooks.configuration,
  reconciler: reconciler.configuration,
  games,
  console,
}

/** Optional in the schemas, because development goes without. */
const neededInACluster: Readonly<Record<string, readonly string[]>> = {
  every: ['HEALTH_PORT', 'DRAIN_DELAY_MS'],
  database: ['DATABASE_URL', 'DATABASE_PASSWORD_FILE'],
  messages: ['NATS_USER', 'NATS_PASSWORD_FILE'],
  team: [
    'TEAM_ISSUER',
    'TEAM_DEPLOYMENT',
    'TEAM_AUDIENCES',
    'TEAM_GROUP_ROLES',
    'TEAM_NAME_CLAIM',
    'TEAM_GROUPS_CLAIM',
    'TEAM_SESSION_HOURS',
    'TEAM_ACR_CLAIM',
  ],
  gateway: ['MASTER_KEYS_FILE', 'PUBLIC_BASE_URL', 'TRUSTED_PROXIES', 'PORT', 'SURFACES'],
  providers: ['MASTER_KEYS_FILE', 'PROVIDER_BASE_URL', 'TRUSTED_PROXIES', 'PROVIDER_PORT', 'SURFACES'],
  players: ['MASTER_KEYS_FILE', 'GAMES_BASE_URL'],
  games: [
    'GAMES_PORT',
    'TRUSTED_PROXIES',
    'GAMES_PROVIDER_URL',
    'GAMES_PROVIDER_KEY_FILE',
    'GAMES_PROVIDER_SECRET_FILE',
  ],
  console: [
    'CONSOLE_URL',
    'CONSOLE_PORT',
    'CONSOLE_CLIENT_SECRET_FILE',
    'CONSOLE_SESSION_KEYS_FILE',
    'TRUSTED_PROXIES',
  ],
  wallet: ['CORRECT_ALONE_UP_TO'],
  reconciler: [
    'RECONCILE_EVERY_MS',
    'RECONCILE_FULL_WITHIN_DAYS',
    'RECONCILE_CONNECTIONS',
    'CORRECT_ALONE_UP_TO',
    'PAY_ALONE_UP_TO',
  ],
  payments: ['MASTER_KEYS_FILE', 'PAY_ALONE_UP_TO'],
  webhooks: ['MASTER_KEYS_FILE'],
}

const dockerfile = readFileSync(join(deployFolder, 'docker/Dockerfile'), 'utf8')
/** The ports that a target of the Dockerfile exposes, or null when there is no such target. */
function exposedBy(target: string): readonly number[] | null {
  const stage = dockerfile.split(/^FROM /m).find((text) => text.split('\n')[0]?.endsWith(` AS ${target}`))
  if (stage === undefined) return null
  return (/^EXPOSE (.*)$/m.exec(stage)?.[1] ?? '').split(' ').filter(Boolean).map(Number)
}

const containerPorts = (container: Manifest): readonly number[] =>
  (container.ports ?? []).map(({ containerPort }: Manifest) => containerPort)

/** A preflight Job is who its workload is. */
const accountOf = (name: string) => (name === 'preflight-database' ? name : name.replace('preflight-', ''))

t.test('workloads', { skip }, async (t) => {
  for (const overlay of overlays) {
    const cluster = rendered(overlay)
    t.test(`${overlay}: a container is nobody, writes to volumes only, and has no token`, async (t) => {
      t.ok(cluster.containers.length >= 8)
      for (const { name, where, pod, container } of cluster.containers) {
        t.equal(pod.securityContext.runAsNonRoot, true, where)
        t.ok(pod.securityContext.runAsUser > 0, where)
        t.equal(pod.securityContext.seccompProfile.type, 'RuntimeDefault', where)
        t.equal(pod.automountServiceAccountToken, false, where)
        for (const shared of ['hostNetwork', 'hostPID', 'hostIPC']) t.notOk(pod[shared], where)
        for (const volume of pod.volumes ?? []) t.notOk(volume.hostPath, where)
        t.same(
          container.securityContext,
          { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
          where,
        )
        t.equal(pod.serviceAccountName, accountOf(name), where)
        t.equal(cluster.find('ServiceAccount', pod.serviceAccountName)?.automountServiceAccountToken, false, where)
      }
    })

    t.test(
      `${overlay}: a container asks for what it needs, with a limit on memory and none on the processor`,
      async (t) => {
        for (const { where, container } of cluster.containers) {
          const { requests, limits } = container.resources
          t.same(
            [typeof requests.cpu, typeof requests.memory, Object.keys(limits)],
            ['string', 'string', ['memory']],
            where,
          )
          t.match(container.image, /^[^:@]+:(?!latest)[\w.-]+(@sha256:[0-9a-f]{64})?$/, `${where}: one version`)
        }
      },
    )

    t.test(`${overlay}: what a pod mounts and reads is there`, async (t) => {
      for (const { where, pod, workload, container } of cluster.containers) {
        const claims = (workload.spec.volumeClaimTemplates ?? []).map(({ metadata }: Manifest) => metadata.name)
        const volumes = (pod.volumes ?? []).map(({ name }: Manifest) => name)
        for (const { name } of container.volumeMounts ?? [])
          t.ok([...claims, ...volumes].includes(name), `${where}: ${name}`)
        for (const { configMap, projected, persistentVolumeClaim } of pod.volumes ?? []) {
          const sources: readonly Manifest[] = [{ configMap }, ...(projected?.sources ?? [])]
          for (const { name } of sources
            .flatMap((source) => source.configMap ?? [])
            .filter(({ optional }) => !optional))
            t.ok(cluster.find('ConfigMap', name) ?? cluster.find('Bundle', name), `${where}: ${name}`)
          if (persistentVolumeClaim)
            t.ok(cluster.find('PersistentVolumeClaim', persistentVolumeClaim.claimName), `${where}: its claim`)
        }
      }
    })

    for (const service of programsOf(overlay)) {
      const [hasDatabase, hasMessages] = [service !== 'console', service !== 'games']
      const running = cluster.container(service)
      const { workload, pod, container } = running
      const environment = cluster.environment(container)

      t.test(`${overlay}: ${service} is given the variables that it knows, and no other`, async (t) => {
        const known = new Set([...variablesOf(configurations[service]), ...partsOfOthers(container)])
        t.same(
          Object.keys(environment).filter((name) => !known.has(name) && !name.startsWith('OTEL_')),
          [],
        )
        const kinds = [
          'every',
          ...(hasDatabase ? ['database'] : []),
          ...(hasMessages ? ['messages', 'team'] : []),
          service,
        ]
        const needed = kinds.flatMap((kind) => neededInACluster[kind] ?? [])
        t.same(
          needed.filter((name) => (environment[name] ?? '') === ''),
          [],
        )
        t.same(
          Object.values(environment).filter((value) => value.includes('$(')),
          [],
          'every reference is to one above',
        )
      })

      t.test(`${overlay}: ${service} accepts its configuration, and is itself to everybody`, async (t) => {
        const withFiles = environmentWithFiles(cluster, running, t.testdir())
        const config = loadConfig(configurations[service], withFiles) as {
          readonly [Setting in 'DATABASE_URL' | 'NATS_USER']: string
        } & { readonly DEVELOPMENT: boolean; readonly HEALTH_PORT: number; readonly MASTER_KEYS?: string }
        if (service === 'console') checkedSettings(config as unknown as Parameters<typeof checkedSettings>[0])
        t.notOk(config.DEVELOPMENT)
        t.equal(config.NATS_USER, hasMessages ? service : undefined)
        if (config.MASTER_KEYS !== undefined) t.ok(secretBoxFrom(config))
        if (hasDatabase) {
          const { username, password, pathname } = new URL(config.DATABASE_URL)
          t.same([username, pathname], [`backoffice_${programOf(service)}`, '/backoffice'])
          t.equal(password, secretValue(`DATABASE_PASSWORD_${programOf(service).toUpperCase()}`))
        }
        t.match(containerPorts(container), [config.HEALTH_PORT, Number(environment.OTEL_EXPORTER_PROMETHEUS_PORT)])
      })

      t.test(`${overlay}: ${service} runs its own image on the ports that the image has`, async (t) => {
        t.match(container.image, new RegExp(`(^|/)backoffice/${programOf(service)}:`))
        const exposed = (exposedBy(programOf(service)) ?? []).filter((port) => service !== 'providers' || port !== 8080)
        t.same([...containerPorts(container)].sort(), exposed.sort())
        t.notOk(container.command ?? container.args, 'the image says what runs')
      })

      t.test(
        `${overlay}: ${service} is restarted when it hangs, and left alone when its backends are away`,
        async (t) => {
          const { startupProbe, readinessProbe, livenessProbe } = container
          t.same(
            [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet),
            [
              { path: '/healthz', port: 'health' },
              { path: '/readyz', port: 'health' },
              { path: '/healthz', port: 'health' },
            ],
          )
          const health = container.ports.find(({ name }: Manifest) => name === 'health')
          t.equal(String(health.containerPort), environment.HEALTH_PORT)
        },
      )

      t.test(`${overlay}: ${service} is replaced without a gap, and finishes what it began`, async (t) => {
        t.same(workload.spec.strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 })
        if (cluster.find('HorizontalPodAutoscaler', service)) t.equal(workload.spec.replicas, undefined, 'it decides')
        else if (service === 'reconciler') t.equal(workload.spec.replicas, 1)
        else t.equal(workload.spec.replicas, overlay === 'local' ? undefined : 2)
        const longest = Math.max(...allOperations.map(({ timeoutMs }) => timeoutMs ?? 0))
        t.ok(longest > 0)
        const drainMs = Number(environment.DRAIN_DELAY_MS)
        t.ok(drainMs >= 5_000)
        t.ok(drainMs + longest < pod.terminationGracePeriodSeconds * 1000)
        t.same(
          pod.topologySpreadConstraints.map(({ topologyKey }: Manifest) => topologyKey),
          ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'],
        )
      })
    }

    t.test(`${overlay}: each surface is served once, and providers reach theirs by their own name`, async (t) => {
      const surfacesOf = (name: string) => cluster.environment(cluster.container(name).container).SURFACES
      const apart = withOperators.includes(overlay)
      t.equal(surfacesOf('gateway'), apart ? 'operators' : 'operators,providers')
      if (apart) t.equal(surfacesOf('providers'), 'providers')
      t.same(cluster.selected(cluster.find('Service', 'providers').spec.selector), [apart ? 'providers' : 'gateway'])
    })

    t.test(`${overlay}: all who verify somebody of the team know the team from the same place`, async (t) => {
      const known = programsOf(overlay)
        .filter((name) => name !== 'games')
        .map((name) => {
          const environment = environmentWithFiles(cluster, cluster.container(name), join(t.testdirName, name))
          const { TEAM_MACHINES_FILE = '', ...team } = Object.fromEntries(
            Object.entries(environment).filter(([setting]) => setting.startsWith('TEAM_')),
          )
          return { ...team, machines: readFileSync(TEAM_MACHINES_FILE, 'utf8') }
        })
      for (const each of known) t.same(each, known[0])
      t.same(Object.keys(known[0] ?? {}).filter((name) => name.startsWith('TEAM_')).length, 11)
      const withFiles = environmentWithFiles(cluster, cluster.container('console'), join(t.testdirName, 'again'))
      const { machines, rolesOfGroup, strongLogin } = identityOf(loadConfig(console, withFiles))
      t.equal(machines.size, 0, 'an installation adds its own')
      t.same(strongLogin.acr, overlay === 'local' ? [] : ['phr'], 'money and keys take a second factor')
      t.same([...rolesOfGroup.values()].flat().sort(), [...teamRoles].sort(), 'each role has a group')
    })

    t.test(
      `${overlay}: the heads of the ledger go out of the database, and no volume keeps the reconciler from starting`,
      async (t) => {
        const { pod, container } = cluster.container('reconciler')
        const { HEADS_BUCKET = '', HEADS_EXPORT_DIR = '' } = cluster.environment(container)
        t.ok(HEADS_BUCKET || HEADS_EXPORT_DIR)
        for (const volume of pod.volumes ?? []) t.notOk(volume.persistentVolumeClaim)
        const mount = container.volumeMounts?.find(({ mountPath }: Manifest) => mountPath === HEADS_EXPORT_DIR)
        t.equal(mount === undefined, HEADS_EXPORT_DIR === '', 'it can write there')
        if (overlay !== 'local') t.ok(HEADS_BUCKET, 'where the database cannot')
      },
    )

    t.test(`${overlay}: the migration job accepts its configuration and ends`, async (t) => {
      const running = cluster.container('migrate')
      const { workload, container } = running
      const environment = cluster.environment(container)
      const known = new Set([...variablesOf(migratorConfig), ...partsOfOthers(container)])
      t.same(
        Object.keys(environment).filter((name) => !known.has(name)),
        [],
      )
      const config = loadConfig(migratorConfig, environmentWithFiles(cluster, running, t.testdir()))
      const { hostname, password } = new URL(config.ADMIN_DATABASE_URL)
      const host = overlay === 'small' ? 'postgres.provider.example' : 'postgres-rw'
      t.same([hostname, password], [host, secretValue('DATABASE_PASSWORD_ADMIN')])
      t.match(container.image, /(^|\/)backoffice\/migrate:/)
      t.ok(exposedBy('migrate'))
      t.equal(workload.kind, 'Job')
      t.ok(workload.spec.activeDeadlineSeconds * 1000 > config.DATABASE_WAIT_MS + config.NATS_WAIT_MS)
    })

    t.test(
      `${overlay}: the keeper of the stream is a program of the Job's image, with the Job's settings`,
      async (t) => {
        const running = cluster.container('streams')
        const { workload, container } = running
        const environment = cluster.environment(container)
        t.same(
          Object.keys(environment).filter((name) => !variablesOf(streamConfig).includes(name)),
          [],
        )
        const { NATS_PASSWORD } = loadConfig(streamConfig, environmentWithFiles(cluster, running, t.testdir()))
        t.equal(NATS_PASSWORD, cluster.secretFiles(cluster.container('migrate'))['/etc/secrets/NATS_PASSWORD'])
        t.equal(workload.kind, 'Deployment')
        t.equal(container.image, cluster.container('migrate').container.image)
        const [program, file] = container.command
        t.equal(program, 'node')
        t.ok(existsSync(join(deployFolder, '..', file)), file)
        const ofTheJob = cluster.environment(cluster.container('migrate').container)
        for (const name of ['NATS_URL', 'NATS_CA_FILE', 'EVENTS_REPLICAS', 'EVENTS_MAX_BYTES'])
          t.equal(environment[name], ofTheJob[name], name)
      },
    )

    t.test(
      `${overlay}: a preflight Job runs a program of the migrations' image, tries once and is given no secret`,
      async (t) => {
        const jobs = cluster.containers.filter(
          ({ workload }) => workload.metadata.labels['app.kubernetes.io/component'] === 'preflight',
        )
        t.equal(jobs.length, programsOf(overlay).length + (withOperators.includes(overlay) ? 1 : 0))
        for (const { workload, pod, container } of jobs) {
          t.ok(loadConfig(preflightConfig, cluster.environment(container)))
          t.equal(workload.spec.backoffLimit, 0)
          t.equal(container.image, cluster.container('migrate').container.image)
          t.ok(existsSync(join(deployFolder, '..', container.command[1])))
          t.same((pod.volumes ?? []).flatMap(secretsIn), [])
        }
      },
    )

    t.test(`${overlay}: each workload has a preflight Job with its settings and its identity`, async (t) => {
      for (const program of programsOf(overlay)) {
        const { pod, container } = cluster.container(`preflight-${program}`)
        t.equal(pod.serviceAccountName, program)
        const settings = cluster.environment(cluster.container(program).container)
        // A local cluster does without an identity provider, and its heads are in a folder.
        const { TEAM_ISSUER, HEADS_EXPORT_DIR, ...ofTheCluster } = settings
        t.same(cluster.environment(container), overlay === 'local' ? ofTheCluster : settings, program)
      }
    })
  }
})
