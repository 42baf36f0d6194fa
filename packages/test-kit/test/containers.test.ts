import { brokerUsers, inboxOf } from '@backoffice/contracts'
import { teamUsers } from '@backoffice/dev-stack'
import { connect } from '@nats-io/transport-node'
import pg from 'pg'
import t from 'tap'
import { isEngineReachable, startContainers } from '../src/containers.ts'

t.setTimeout(300_000)

const skip = (await isEngineReachable()) ? false : 'no Docker engine answers'

t.test('containers are a PostgreSQL and a nats-server with the permissions of production', { skip }, async (t) => {
  const { environment, stop } = await startContainers()
  t.teardown(stop)

  const client = new pg.Client({ connectionString: environment.POSTGRES_URL })
  await client.connect()
  t.same((await client.query('select rolsuper from pg_roles where rolname = current_user')).rows, [{ rolsuper: true }])
  await client.end()

  for (const user of [...brokerUsers, ...teamUsers]) {
    const pass = environment[`NATS_PASSWORD_${user.toUpperCase()}`] ?? ''
    const connection = await connect({
      servers: environment.NATS_URL ?? '',
      user,
      pass,
      inboxPrefix: inboxOf(user),
    })
    t.ok(connection.info?.jetstream, `${user} is let in, and JetStream is on`)
    await connection.close()
  }
  const asAlice = { user: 'alice', pass: environment.NATS_PASSWORD_BOB ?? '' }
  await t.rejects(connect({ servers: environment.NATS_URL ?? '', ...asAlice, reconnect: false }))
})
