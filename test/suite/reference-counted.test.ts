import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { ReferenceCounted } from './reference-counted.ts'

t.test('it starts with the first user, is the same for all, and stops with the last', async (t) => {
  const log: string[] = []
  const resource = new ReferenceCounted(3, async () => {
    log.push('start')
    await setImmediate()
    return { environment: { PLACE: 'here' }, stop: async () => void log.push('stop') }
  })
  t.same(log, [], 'nobody has asked for it')
  const user = (name: string) => resource.use(async ({ PLACE }) => void log.push(`${name} ${PLACE}`))
  await Promise.all([user('a'), user('b')])
  t.same(log, ['start', 'a here', 'b here'])
  await user('c')
  t.same(log, ['start', 'a here', 'b here', 'c here', 'stop'])
  await resource.stop()
  t.equal(log.length, 5, 'it is stopped once')
})

t.test('a user that fails counts as one that has ended', async (t) => {
  const log: string[] = []
  const resource = new ReferenceCounted(1, async () => ({ environment: {}, stop: async () => void log.push('stop') }))
  await t.rejects(
    resource.use(async () => {
      throw new Error('of the user')
    }),
    /of the user/,
  )
  t.same(log, ['stop'])
})

t.test('what cannot be started leaves its users without it', async (t) => {
  const resource = new ReferenceCounted(1, async () => {
    throw new Error('no port is free')
  })
  t.same(await resource.use(async (environment) => environment), {})
  await t.resolves(resource.stop())
})
