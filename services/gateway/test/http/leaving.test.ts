import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { Agent, request } from 'undici'
import { gateway } from '../../src/service.ts'

t.test(
  'a gateway that is asked to end is not ready at once, serves on, and closes each connection behind its answer',
  async (t) => {
    const bed = await testBed(t, { gateway }, { config: { gateway: { DRAIN_DELAY_MS: 3_000 } } })
    const { addresses, healthPort, drain } = bed.services.gateway
    const dispatcher = new Agent({ connections: 1 })
    t.teardown(() => dispatcher.close())
    const ask = async () => {
      const answer = await request(`${addresses.baseUrl}/me`, { dispatcher })
      t.match(await answer.body.json(), { error: { code: 'INVALID_CREDENTIALS' } })
      return answer.headers.connection
    }
    const readiness = async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).status

    t.equal(await readiness(), 200)
    t.equal(await ask(), 'keep-alive')
    let drained = false
    void drain().then(() => {
      drained = true
    })
    t.equal(await readiness(), 503)
    t.equal(await ask(), 'close', 'on the connection that was there before')
    t.equal(await ask(), 'close', 'on a new one too')
    t.notOk(drained, 'all that while it took requests')
    await eventually(() => drained, 20_000)
    await t.rejects(ask())
  },
)
