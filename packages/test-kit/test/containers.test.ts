import { type BrokerUser, brokerUsers, inboxOf } from '@backoffice/contracts'
import { connect } from '@nats-io/transport-node'
import pg from 'pg'
import t from 'tap'
import { areContainersWanted, startContainers } from '../src/containers.ts'

t.setTimeout(300_000)

t.test('containers are used when they are asked for, and another word is no answer', async (t) => {
  t.equal(areContainersWanted({}), false)
  t.equal(areContainersWanted({ BACKENDS: 'embedded' }), false)
  t.equal(areContainersWanted({ BACKENDS: 'containers' }), true)
  t.throws(() => areContainersWanted({ BACKENDS: 'docker' }), { message: 'BACKENDS is embedded or containers: docker' })
})

// Not among the tools that REQUIRE_TEST_TOOLS insists on: it takes an engine and a registry.
const skip = areContainersWanted() ? false : 'takes a Docker engine: BACKENDS=containers asks for it'

t.test('containers are a PostgreSQL and a nats-server with the permissions of production', { skip }, async (t) => {
  const passwords = Object.fromEntries(brokerUsers.map((user) => [user, `p-of-${user}`])) as Record<BrokerUser, string>
  const { environment, stop } = await startContainers(passwords)
  t.teardown(stop)

  const client = new pg.Client({ connectionString: environment.POSTGRES_URL })
  await client.connect()
  t.same((await client.query('select rolsuper from pg_roles where rolname = current_user')).rows, [{ rolsuper: true }])
  await client.end()

  for (const user of brokerUsers) {
    const connection = await connect({
      servers: environment.NATS_URL,
      user,
      pass: passwords[user],
      inboxPrefix: inboxOf(user),
    })
    t.ok(connection.info?.jetstream, `${user} is let in, and JetStream is on`)
    await connection.close()
  }
  const asWallet = { user: 'wallet', pass: passwords.gateway }
  await t.rejects(connect({ servers: environment.NATS_URL, ...asWallet, reconnect: false }))
})
