// proof: all services, and each operation of operators and of the team.

import {
  allOperations,
  eventKinds,
  eventSubject,
  events,
  rpcSubject,
  serviceNames,
  teamHeaders,
} from '@backoffice/contracts'
import { settings as gamesSettings, startGames } from '@backoffice/games'
import { startNats } from '@backoffice/local-stack'
import { loadConfig } from '@backoffice/process'
import { eventually, reconcile, richPlayer, temporaryFolder, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { Link } from '../network.ts'
import {
  callAsOperator,
  callAsProvider,
  callAsTeam,
  newOperator,
  playAndDecide,
  teamOf,
} from '../plans/every-operation.ts'
import { services } from '../services.ts'

/** What the next release writes into each message, and this one does not know. */
const added = { addedByTheNextRelease: 'a value' }

/** A value with a field more in each object, at any depth. */
function extended(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(extended)
  if (typeof value !== 'object' || value === null) return value
  return { ...Object.fromEntries(Object.entries(value).map(([key, part]) => [key, extended(part)])), ...added }
}

/** A message as the next release writes it; undefined where it is none of the services'. */
function ofNextRelease(subject: string, headers: string, text: string): unknown {
  if (subject.startsWith('events.')) return extended(JSON.parse(text))
  if (text.startsWith('{"body":')) return { body: extended(JSON.parse(text).body) }
  if (!/^(rpc|team)\./.test(subject)) return undefined
  const { scope, input } = JSON.parse(text)
  // What a person has signed, nobody on the way adds to.
  return { scope: scope && extended(scope), input: headers.includes(teamHeaders.proof) ? input : extended(input) }
}

/**
 * The network before nats-server: whatever a client publishes arrives as the next release would have written it.
 * @param carried subjects, and what replies count as
 */
function openLink(port: number, carried: Set<string>): Promise<Link> {
  return Link.open(port, () => {
    let rest = Buffer.alloc(0)
    return {
      sent(bytes) {
        rest = Buffer.concat([rest, bytes])
        const passed: Buffer[] = []
        for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
          const line = rest.toString('latin1', 0, end)
          const [verb = '', subject = '', ...more] = line.split(' ')
          const [headed, start] = [verb === 'HPUB', end + 2]
          const length = headed || verb === 'PUB' ? Number(more.at(-1)) : -2
          // The rest of the message is still to come.
          if (rest.length < start + length + 2) break
          const headers = rest.subarray(start, start + (headed ? Number(more.at(-2)) : 0))
          const payload = rest.toString('utf8', start + headers.length, start + Math.max(0, length))
          const changed = length > 0 ? ofNextRelease(subject, headers.toString(), payload) : undefined
          if (changed === undefined) passed.push(rest.subarray(0, start + length + 2))
          else {
            carried.add(payload.startsWith('{"body":') ? 'replies' : subject)
            const written = Buffer.from(JSON.stringify(changed))
            const reply = more.slice(0, headed ? -2 : -1)
            const lengths = [...(headed ? [headers.length] : []), headers.length + written.length]
            passed.push(Buffer.from(`${[verb, subject, ...reply, ...lengths].join(' ')}\r\n`), headers, written)
            passed.push(Buffer.from('\r\n'))
          }
          rest = rest.subarray(start + length + 2)
        }
        return Buffer.concat(passed)
      },
    }
  })
}

t.test('each message of a next release, which has a field more in it, is read by this one', async (t) => {
  const carried = new Set<string>()
  const failures: string[] = []
  const dir = temporaryFolder(t)
  // It ends after the bed.
  const ending = new AsyncDisposableStack()
  t.teardown(() => ending.disposeAsync())
  const bed = await testBed(t, services, {
    config: { wallet: { PLAY_DAYS_EVERY_MS: 100 } },
    servers: {
      async nats(users) {
        const nats = await startNats({ dir, ...users })
        ending.defer(async () => void (await nats.child.stop()))
        const link = await openLink(Number(new URL(nats.url).port), carried)
        ending.defer(() => link.close())
        return { url: `nats://127.0.0.1:${link.port}` }
      },
    },
    intercept: () => async (step, run) => {
      try {
        return await run()
      } catch (error) {
        const code = String((error as { code?: unknown }).code)
        if (/^(VALIDATION|INTERNAL)_ERROR$/.test(code)) failures.push(`${step.kind} ${step.name}: ${error}`)
        throw error
      }
    },
  })
  const team = teamOf(bed)
  const operator = await newOperator(t, team, bed.services.gateway.addresses.baseUrl)
  const games = await startGames(loadConfig(gamesSettings, bed.gamesEnvironment()))
  t.teardown(() => games.drain())
  const playerId = await callAsOperator(operator, team, `http://127.0.0.1:${games.port}`)
  await eventually(() => carried.has(eventSubject('withdrawal.status_changed')))
  await callAsTeam(operator, team, playerId)
  await callAsProvider(operator, bed, playerId)
  t.same((await reconcile(bed.team('alice'))).differences, [], 'the reconciliation finds nothing')
  // It stakes in a session that is not there.
  await playAndDecide(operator, bed, await richPlayer(operator.by))
  const admin = bed.sql('admin')
  // From here on the day of what was played has ended.
  await admin.query(`
    begin;
    set local session_replication_role = replica;
    delete from wallet.play_day;
    update wallet.play set created_at = created_at - interval '3 days';
    update wallet.round set opened_at = opened_at - interval '3 days';
    commit`)
  const published = eventKinds.filter((kind) => events[kind].consumedBy.length > 0).map(eventSubject)
  await eventually(() => published.every((subject) => carried.has(subject)))

  t.same(failures, [], 'nobody was told that something is not valid')
  const asked = allOperations.filter(({ http, service }) => http !== undefined && service !== 'gateway')
  t.ok(asked.length > 10)
  t.same(
    [...asked.map(rpcSubject), 'replies'].filter((subject) => !carried.has(subject)),
    [],
    'each operation of operators and replies had the field, as each event had',
  )
  for (const service of serviceNames) {
    t.equal((await admin.query(`select from ${service}.set_aside_message`)).rowCount, 0, `${service} set nothing aside`)
    await eventually(async () => (await admin.query(`select from ${service}.outbox`)).rowCount === 0)
  }
})
