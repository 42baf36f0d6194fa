import { randomUUID } from 'node:crypto'
import { eventSubject, type Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { depositConfirmed, startReceiver } from '@backoffice/test-kit'
import { type JetStreamClient, jetstream } from '@nats-io/jetstream'
import pg from 'pg'
import { Agent, request } from 'undici'
import type { Case } from './figures.ts'
import { measureLoad, type Work } from './load.ts'
import type { Options } from './options.ts'
import { postingReference } from './posting.ts'
import { measureRoundBytes, openTables, playing } from './rounds.ts'
import {
  createOperator,
  depositsOfPlayer,
  fillDeposits,
  filledPlayer,
  registerPlayers,
  type Subject,
} from './subject.ts'

/** What the cases of a group share while they run. */
interface Setting {
  readonly options: Options
  /** The systems that are measured, one for each checkout. */
  readonly systems: readonly [Subject, ...Subject[]]
  /** Disposed of at the end of the group, in reverse order. */
  readonly ending: AsyncDisposableStack
}

/** Cases that are compared with each other. They take turns, so that other load on the machine affects all of them. */
type Group = (setting: Setting) => Promise<readonly Case[]>

interface LoadCase extends Pick<Case, 'id' | 'title'> {
  readonly clients: number
  /** Operations a second, unless it is something else. */
  readonly shows?: string
}

/** A load on the system of one checkout. */
function loadCase({ options }: Setting, subject: Subject, load: LoadCase, work: Work): Case {
  const { id, title, clients, shows = 'perSecond' } = load
  const settings = { options, clients, processes: () => subject.processes() }
  return { id, title, column: subject.column, shows, measure: () => measureLoad(settings, work) }
}

/** The path of most money: a deposit is created, then confirmed, and the wallet is credited before the reply. */
const pairs: Group = async (setting) => {
  const cases: Case[] = []
  for (const subject of setting.systems) {
    const work = await createAndConfirm(subject, setting.options.players)
    for (const clients of [1, 32, 128]) {
      const title = `create + confirm, ${clients} client${clients === 1 ? '' : 's'}`
      const shows = clients === 1 ? 'operationP50Ms' : 'perSecond'
      cases.push(loadCase(setting, subject, { id: `pairs-${clients}`, title, clients, shows }, work))
    }
  }
  return [...cases, ...(await postingReference(setting.systems[0], setting.options, setting.ending))]
}

const spinsPerSecond = 50

/** What providers of games send, beside pairs in turn: a bet and its win, a spin, and what one impatient player does. */
const rounds: Group = async (setting) => {
  const { options, ending } = setting
  const cases: Case[] = []
  for (const subject of setting.systems) {
    const tables = await openTables(subject, options.players, ending)
    // A release before this one has no providers.
    if (tables === undefined) continue
    const { round, bet, spin, turbo } = playing(tables)
    const pair = await createAndConfirm(subject, options.players)
    const add = (id: string, title: string, clients: number, work: Work, shows = 'perSecond') =>
      cases.push(loadCase(setting, subject, { id, title, clients, shows }, work))
    add('rounds-32', 'bet + win, 32 clients', 32, round)
    add('spins-32', 'spins, 32 clients', 32, spin)
    add('rounds-pairs-32', 'create + confirm beside rounds, 32 clients', 32, pair)
    add('bets-1', 'bet, 1 client', 1, bet, 'operationP50Ms')
    add('rounds-pairs-1', 'create + confirm beside rounds, 1 client', 1, pair, 'operationP50Ms')
    add('turbo', `one player, ${spinsPerSecond} spins a second`, 1, turbo(spinsPerSecond), 'p99Ms')
    cases.push({
      ...{ id: 'round-bytes', title: 'disk of a round: bet + win', column: subject.column, shows: 'bytes' },
      measure: () => measureRoundBytes(subject, round, options),
    })
  }
  return cases
}

/** One of the list after the other. */
function inTurn<T>(list: readonly T[]): () => T {
  let turn = 0
  return () => list[turn++ % list.length] as T
}

/** Another player each time, as in production: requests about the money of one player wait for each other. */
export async function createAndConfirm(subject: Subject, players: number): Promise<Work> {
  const { operator } = subject
  const next = inTurn(await registerPlayers(subject, players))
  return async (load) => {
    const body = { amount: '1.00', currency: 'BRL', method: 'pix', externalReference: randomUUID() }
    const created = await load.request('create', 201, () => operator.post(`/players/${next()}/deposits`, body))
    if (created !== undefined)
      await load.request('confirm', 200, () => operator.post(`/deposits/${created.body.id}/confirm`))
  }
}

const readers = 32
/** The players whose statements are read, each of 100 entries, among as many entries as this. */
const [pagePlayers, pageRows] = [50, 100_000]

const reading = ({ operator }: Subject, paths: readonly string[]): Work => {
  const next = inTurn(paths)
  return async (load) => void (await load.request('read', 200, () => operator.get(next())))
}

/** A read of one call and one query. */
const wallet: Group = async (setting) => {
  const cases: Case[] = []
  for (const subject of setting.systems) {
    const players = await registerPlayers(subject, setting.options.players)
    const paths = players.map((id) => `/players/${id}/wallet`)
    const load = { id: 'wallet', title: `GET wallet, ${readers} clients`, clients: readers }
    cases.push(loadCase(setting, subject, load, reading(subject, paths)))
  }
  return cases
}

/** The newest page of a statement, in a ledger of some size. */
const pages: Group = async (setting) => {
  const cases: Case[] = []
  for (const subject of setting.systems) {
    await fillDeposits(subject, setting.options.short ? pagePlayers * depositsOfPlayer : pageRows)
    const players = Array.from({ length: pagePlayers }, (_, number) => filledPlayer(number))
    const paths = players.map((id) => `/players/${id}/transactions?limit=50`)
    const load = { id: 'page', title: `page of 50 transactions, ${readers} clients`, clients: readers }
    cases.push(loadCase(setting, subject, load, reading(subject, paths)))
  }
  return cases
}

/** The deliveries that one endpoint may have under way, with enough endpoints to reach the service's own bound. */
const underWayPerEndpoint = 10
const endpoints = 20
const concurrency = endpoints * underWayPerEndpoint
/** Events that are published and not yet delivered: enough that there is always a next one. */
const undelivered = 4 * concurrency
const arrivalMsMax = 30_000

/** Deliveries from the stream to a receiver on this machine, as fast as possible. */
const deliveries: Group = async (setting) => {
  const expected = new Map<string, (arrived: boolean) => void>()
  const t = { teardown: (end: () => unknown) => setting.ending.defer(async () => void (await end())) }
  const receiver = await startReceiver(t, (response, { id }) => {
    response.writeHead(204).end()
    // A delivery may arrive twice; the first time counts.
    expected.get(id)?.(true)
  })
  /** Called before the event is published, because it may arrive before the publisher has its acknowledgement. */
  const arrival = (id: string): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => resolve(false), arrivalMsMax)
    expected.set(id, resolve)
    return promise.finally(() => {
      clearTimeout(timer)
      expected.delete(id)
    })
  }
  /** Publishes one event for the next endpoint, as payments does, and waits until it has arrived. */
  const publishing = (stream: JetStreamClient, scopes: readonly Scope[]): Work => {
    const next = inTurn(scopes)
    return async (load) => {
      const event = depositConfirmed(next())
      const arrived = arrival(event.id)
      await stream.publish(eventSubject(event.type), JSON.stringify(event), { msgID: event.id })
      if (!(await arrived)) load.failed('not delivered in time')
    }
  }
  const cases: Case[] = []
  for (const subject of setting.systems) {
    const scopes: Scope[] = []
    while (scopes.length < endpoints) scopes.push((await createOperator(subject.team, receiver.url)).scope)
    const stream = jetstream(await subject.nats('payments'))
    const load = { id: 'deliveries', title: `webhook deliveries, ${concurrency} under way`, clients: undelivered }
    cases.push(loadCase(setting, subject, load, publishing(stream, scopes)))
  }
  return [...cases, await postLoop(setting, receiver.url)]
}

const loopConnections = 32

/**
 * What a program without a queue of its own would do: the same receiver, a similar body and as many requests at once, with
 * a row that is committed before each and changed after it, on the PostgreSQL of the first measured system.
 */
async function postLoop({ options, ending, systems: [subject] }: Setting, url: string): Promise<Case> {
  const agent = new Agent({ connections: concurrency, pipelining: 1 })
  ending.defer(() => agent.close())
  const rows = new pg.Pool({ connectionString: subject.postgresUrl, max: loopConnections })
  ending.defer(() => rows.end())
  await rows.query(
    'create table bench_post (id text primary key, body text not null, status integer, ended_at timestamptz)',
  )
  ending.defer(async () => void (await rows.query('drop table bench_post')))
  const body = JSON.stringify({ type: 'deposit.confirmed', data: 'x'.repeat(600) })
  const processes = () => ({ postgres: subject.processes().postgres ?? 0 })
  const post: Work = async (load) => {
    const id = newId('evt')
    const before = 'insert into bench_post (id, body) values ($1, $2)'
    await rows.query({ name: 'before', text: before, values: [id, body] })
    const sentAtMs = performance.now()
    const headers = { 'Content-Type': 'application/json', 'X-Webhook-Id': id }
    const reply = await request(url, { method: 'POST', dispatcher: agent, headers, body })
    await reply.body.dump()
    if (reply.statusCode === 204) load.replied(sentAtMs)
    else load.failed(`the receiver replied ${reply.statusCode}`)
    const after = 'update bench_post set status = $2, ended_at = now() where id = $1'
    await rows.query({ name: 'after', text: after, values: [id, reply.statusCode] })
  }
  return {
    ...{ id: 'post-loop', column: 'reference', shows: 'perSecond' },
    title: `undici loop, a row before and after each POST, ${concurrency} under way`,
    measure: () => measureLoad({ options, clients: concurrency, processes }, post),
  }
}

/** By the name that `--only` takes, in the order in which they run. */
export const groups: Readonly<Record<string, Group>> = { pairs, rounds, wallet, pages, deliveries }
