// proof: starts every program as the manifests say, with TLS and three NATS servers.

import { readFileSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import { databaseRoles, roleName, serviceNames } from '@backoffice/contracts'
import { natsServerBinary } from '@backoffice/dev-stack'
import {
  eventually,
  makeCertificate,
  makeClientCertificate,
  type StartedProcess,
  temporaryFolder,
} from '@backoffice/test-kit'
import t from 'tap'
import { type Database, startDatabase } from './database.ts'
import { portsFor, startServer } from './nats-cluster.ts'
import { environmentHere, run } from './pod.ts'
import { rendered, skip } from './rendered.ts'
import { environmentWithFiles, natsNameOf } from './secrets.ts'

const programs = [...serviceNames, 'games', 'console'] as const

t.test('with the environment of its pods in production', { skip }, async (t) => {
  const cluster = rendered('production')
  const dir = temporaryFolder(t)
  const environmentOf = (name: string) =>
    environmentWithFiles(cluster, cluster.container(name), join(dir, 'pods', name))

  const certificate = await makeCertificate(dir, 'internal')
  const { password: ownerPassword = '' } = cluster.secret('postgres-admin') ?? {}
  const database = await startDatabase(dir, { ...certificate, ownerPassword })
  t.teardown(() => database.stop())
  const nats = { binary: await natsServerBinary(), dir, ports: await portsFor(3), certificate }
  const secrets = cluster.secret('nats') ?? {}
  const servers = []
  for (const index of [0, 1, 2]) {
    const server = await startServer(index, { ...nats, authority: certificate.certFile, secrets })
    t.teardown(() => server.kill())
    servers.push(server)
  }
  const natsUrl = servers.map(({ clientUrl }) => clientUrl).join(',')
  const surroundingsOf = async (name: string) => {
    const user = natsNameOf(cluster, name)
    const client = user === undefined ? undefined : await makeClientCertificate(dir, user, certificate)
    return { postgresPort: database.port, natsUrl, certificate, client }
  }

  await t.test('the migration job prepares the database over TLS, as an owner that is no superuser', async (t) => {
    const environment = await environmentHere(environmentOf('migrate'), await surroundingsOf('migrate'))
    const job = run(t, 'packages/migrator/src/main.ts', environment)
    t.equal(await job.ended, 0, job.printed())
  })

  // Without it no service of events gets ready.
  const keeping = await environmentHere(environmentOf('streams'), await surroundingsOf('streams'))
  run(t, 'packages/migrator/src/keep-stream.ts', keeping)

  const pods: Record<string, { readonly pod: StartedProcess; readonly environment: Readonly<Record<string, string>> }> =
    {}
  for (const service of programs) {
    const environment = await environmentHere(environmentOf(service), await surroundingsOf(service))
    const pod = run(t, `services/${service}/src/main.ts`, environment)
    pods[service] = { pod, environment }
  }

  // Watched from now on: a pool closes a connection that is idle for some seconds, perhaps before the slowest pod has its first.
  const roles = databaseRoles.filter((role) => role !== 'reconciler').map(roleName)
  const connections = connectionsOf(database, roles)

  for (const [service, { pod, environment }] of Object.entries(pods)) {
    await t.test(`${service} becomes ready, over TLS to all, and is measured`, async (t) => {
      const health = `http://127.0.0.1:${environment.HEALTH_PORT}`
      const ready = eventually(async () => (await fetch(`${health}/readyz`)).ok)
      await ready.catch(() => t.fail(pod.printed()))
      t.ok((await fetch(`${health}/healthz`)).ok)
      const metrics = await fetch(`http://127.0.0.1:${environment.OTEL_EXPORTER_PROMETHEUS_PORT}/metrics`)
      t.match(await metrics.text(), /^target_info\{.*service_name="/m)
    })
  }

  await t.test('nobody speaks to PostgreSQL in clear', async (t) => {
    const connected = await connections
    t.same(
      connected.filter(({ ssl }) => !ssl),
      [],
    )
    for (const role of roles)
      t.ok(
        connected.some(({ role: name }) => name === role),
        role,
      )
  })

  await t.test('the gateway and the console answer over TLS, under our own authority', async (t) => {
    const ca = readFileSync(certificate.certFile)
    const statusOf = (url: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        get(url, { ca }, (response) => resolve(response.resume().statusCode)).on('error', reject)
      })
    t.equal(await statusOf(`https://localhost:${pods.gateway?.environment.PORT}/api/v1/openapi.json`), 200)
    t.equal(await statusOf(`https://localhost:${pods.console?.environment.CONSOLE_PORT}/cli`), 200)
  })

  await t.test('told to stop, each drains and ends with 0', async (t) => {
    for (const { pod } of Object.values(pods)) pod.child.kill('SIGTERM')
    for (const [service, { pod }] of Object.entries(pods)) t.equal(await pod.ended, 0, service)
  })
})

/** All connections that were seen until each of the roles had one. */
async function connectionsOf(database: Database, roles: readonly string[]) {
  const seen = new Map<string, { readonly role: string; readonly ssl: boolean }>()
  const everyRole = eventually(async () => {
    for (const connection of await database.connections()) seen.set(JSON.stringify(connection), connection)
    return roles.every((role) => [...seen.values()].some((connection) => connection.role === role))
  })
  // The test names the roles that are missing.
  await everyRole.catch(() => {})
  return [...seen.values()]
}
