// npm run provider-kit: for whoever writes a provider's client of the wallet, and has a key of the sandbox.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { fromMinorUnits } from '@backoffice/contracts/formats'
import { bookOf, compareRounds, compareTransactions, netOf } from './book.ts'
import { daysAround } from './cases.ts'
import { httpTransport, ProviderClient } from './client.ts'
import { FaultyNetwork } from './faults.ts'
import { inMarkdown, runCases } from './run.ts'
import { readSeat, SandboxOperator } from './seat.ts'
import { chance, type Seat, Simulator } from './simulator.ts'
import { Store } from './store.ts'
import { Watch } from './watch.ts'

const usage = `npm run provider-kit -- run | simulate | watch [options]

run        takes the kit's client through the cases that a provider's client must pass, and reports each
simulate   plays rounds over a network with faults, is killed and resumes, and compares its book with theirs
watch      stands between your client and the sandbox, and says what its traffic has proved

  --url        origin of the providers' surface          --key, --secret   gp_test_… and its secret
  --brand      the brand of the sandbox                  --session         an open session; simulate takes several
  --out        folder of report and store (provider-kit-report)
  --rounds     of simulate (500)        --at-once   rounds of simulate at a time (16)
  --seed       of simulate              --faults    of a hundred messages (10)
  --kill-every seconds between kills of simulate (5; 0: none)
  --port       of watch (4810)          --only      numbers of cases for run: 8,20

Beside a running npm start nothing is needed: address, key and sessions are those of its sandbox. Elsewhere, without
--session, --operator-url, --operator-key and --operator-secret open sessions of new players.`

const options = {
  url: { type: 'string' },
  key: { type: 'string' },
  secret: { type: 'string' },
  brand: { type: 'string' },
  session: { type: 'string', multiple: true },
  game: { type: 'string', default: 'wallet-reels' },
  'operator-url': { type: 'string' },
  'operator-key': { type: 'string' },
  'operator-secret': { type: 'string' },
  out: { type: 'string', default: 'provider-kit-report' },
  rounds: { type: 'string', default: '500' },
  'at-once': { type: 'string', default: '16' },
  seed: { type: 'string' },
  faults: { type: 'string', default: '10' },
  'kill-every': { type: 'string', default: '5' },
  port: { type: 'string', default: '4810' },
  only: { type: 'string' },
  help: { type: 'boolean' },
} as const

const say = (line: string) => void process.stderr.write(`${line}\n`)

interface Where {
  readonly client: ProviderClient
  readonly operator: SandboxOperator | undefined
  close(): void
}

type Values = ReturnType<typeof parse>['values']
const parse = (args: readonly string[]) => parseArgs({ args: [...args], options, allowPositionals: true })

/** What stands in stack.json while `npm start` runs. */
function stackHere() {
  const file = process.env.STACK_JSON ?? join(fileURLToPath(new URL('../../..', import.meta.url)), '.stack/stack.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

async function whereOf(values: Values): Promise<Where> {
  const stack = stackHere()
  const url = values.url ?? stack?.providerUrl
  const key = values.key ?? process.env.PROVIDER_KEY ?? stack?.provider?.key
  const secret = values.secret ?? process.env.PROVIDER_SECRET ?? stack?.provider?.secret
  const [demo] = values.url === undefined ? (stack?.operators ?? []) : []
  const operatorUrl = values['operator-url'] ?? (demo && stack.baseUrl)
  const operatorKey = values['operator-key'] ?? demo?.sandbox.key
  const operatorSecret = values['operator-secret'] ?? demo?.sandbox.secret
  const operator =
    operatorUrl && operatorKey && operatorSecret
      ? new SandboxOperator(operatorUrl, { key: operatorKey, secret: operatorSecret })
      : undefined
  const brandId = values.brand ?? (await operator?.brandId())
  if (url === undefined || key === undefined || secret === undefined || brandId === undefined)
    throw new Error(`Say --url, --key, --secret and --brand.\n\n${usage}`)
  const http = httpTransport()
  const close = () => {
    http.close()
    operator?.close()
  }
  return { client: new ProviderClient({ url, key, secret, brandId, transport: http.send }), operator, close }
}

async function seatsOf(
  { session, game }: Values,
  { client, operator }: Where,
  count: number,
): Promise<readonly Seat[]> {
  if (session !== undefined) return Promise.all(session.map((id) => readSeat(client, id)))
  if (operator === undefined) throw new Error('Say --session: an open session of a player with at least 300.00.')
  say(`opening ${count === 1 ? 'a session of a new player' : `sessions of ${count} new players`}`)
  const seats: Seat[] = []
  while (seats.length < count) seats.push(await operator.openSeat(game, '500.00'))
  return seats
}

async function run(values: Values): Promise<number> {
  const where = await whereOf(values)
  const [seat] = await seatsOf(values, where, 1)
  const { url, brandId, key } = where.client.options
  const startedAt = new Date()
  const findings = await runCases({
    client: where.client,
    seat: seat as Seat,
    name: `kit-${startedAt.getTime().toString(36)}`,
    ...(values.only === undefined ? {} : { only: values.only.split(',').map(Number) }),
    say: ({ number, name, result, why }) => say(`${String(number).padStart(2)}  ${result.padEnd(14)}  ${name}: ${why}`),
  })
  const report = { ranAt: startedAt.toISOString(), url, brandId, key, findings }
  mkdirSync(values.out, { recursive: true })
  writeFileSync(join(values.out, 'report.json'), `${JSON.stringify(report, null, 2)}\n`)
  writeFileSync(join(values.out, 'report.md'), inMarkdown(report))
  process.stdout.write(`${inMarkdown(report)}\nThe report is in ${values.out}.\n`)
  where.close()
  return findings.some(({ result }) => result === 'failed') ? 1 : 0
}

const seatsFile = 'seats.json'
const players = 20

/** Starts the simulator as a process of its own, kills it now and then, and at the end compares the books. */
async function simulate(values: Values, args: readonly string[]): Promise<number> {
  const where = await whereOf(values)
  mkdirSync(values.out, { recursive: true })
  const file = join(values.out, seatsFile)
  const seed = values.seed ?? String(Date.now())
  if (!existsSync(file)) {
    const seats = await seatsOf(values, where, players)
    writeFileSync(file, JSON.stringify({ seed, seats }))
  }
  const { seats, seed: kept } = JSON.parse(readFileSync(file, 'utf8')) as { seed: string; seats: readonly Seat[] }
  say(`seed ${kept}: --seed ${kept} in another folder repeats it`)
  let kills = 0
  for (let status: number | null = null; status !== 0; ) {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'play', ...args], {
      stdio: ['ignore', 2, 2],
    })
    const every = Number(values['kill-every']) * 1_000
    const timer = every > 0 ? setTimeout(() => void child.kill('SIGKILL'), every) : undefined
    status = await new Promise<number | null>((resolve) => child.once('exit', resolve))
    clearTimeout(timer)
    if (status === null) say(`killed, ${++kills} times so far; it resumes from its store`)
    else if (status !== 0) throw new Error('the simulator has failed')
  }
  // What was delayed may still be under way.
  await pause(1_000)
  const store = Store.open(join(values.out, 'store'))
  const book = bookOf(store.entries)
  const problems = [
    ...(await compareRounds(where.client, book, daysAround(), (id) => id.startsWith(nameOf(kept)))),
    ...(await compareTransactions(where.client, store.entries)),
    ...(book.owed > 0 ? [`${book.owed} messages are owed`] : []),
  ]
  let net = 0n
  for (const { playerId } of seats) {
    const ours = book.players.get(playerId)
    if (ours === undefined) continue
    net += netOf(ours)
    const items = await where.operator?.statement(playerId)
    const theirs = items
      ?.filter(({ type }) => type !== 'DEPOSIT')
      .reduce((sum, { amount }) => sum + BigInt(amount.replace('.', '')), 0n)
    if (theirs !== undefined && theirs !== netOf(ours))
      problems.push(`statement of ${playerId}: ${fromMinorUnits(netOf(ours))} here, ${fromMinorUnits(theirs)} there`)
  }
  for (const problem of problems) say(problem)
  process.stdout.write(
    `${book.rounds.size} rounds, ${store.entries.length} messages, ${kills} kills; the players' net is ${fromMinorUnits(net)}. ${problems.length === 0 ? 'The books are equal to the cent.' : `${problems.length} differences.`}\n`,
  )
  where.close()
  return problems.length === 0 ? 0 : 1
}

const nameOf = (seed: string) => `sim${seed.replaceAll(/\W/g, '')}`

/** The simulator itself, in the process that is killed. */
async function play(values: Values): Promise<number> {
  const where = await whereOf(values)
  const { seats, seed } = JSON.parse(readFileSync(join(values.out, seatsFile), 'utf8'))
  const store = Store.open(join(values.out, 'store'))
  // A restarted process meets other faults.
  const random = chance(seed, `faults ${store.entries.length}`)
  const network = new FaultyNetwork(where.client.options.transport, { percent: Number(values.faults), random })
  const rounds = Number(values.rounds)
  const client = where.client.with({ transport: network.send })
  const onRound = (ended: number) => ended % 100 === 0 && say(`${ended} of ${rounds} rounds`)
  const roundsAtOnce = Number(values['at-once'])
  await new Simulator({
    client,
    store,
    seats,
    seed,
    name: nameOf(seed),
    rounds,
    roundsAtOnce,
    firstPauseMs: 100,
    longestPauseMs: 5_000,
    onRound,
  }).run()
  await network.settled()
  where.close()
  return 0
}

async function watch(values: Values): Promise<number> {
  const url = values.url ?? stackHere()?.providerUrl
  if (url === undefined) throw new Error(`Say --url.\n\n${usage}`)
  const watching = await Watch.start({ url, port: Number(values.port), say })
  say(`Have your client call http://127.0.0.1:${watching.port} in place of ${url}. Control-C ends it with a report.`)
  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
  })
  const findings = watching.findings()
  mkdirSync(values.out, { recursive: true })
  const report = {
    ranAt: new Date().toISOString(),
    url,
    brandId: watching.brands.join(', '),
    key: watching.keys.join(', '),
    findings,
  }
  writeFileSync(join(values.out, 'watched.json'), `${JSON.stringify(report, null, 2)}\n`)
  writeFileSync(join(values.out, 'watched.md'), inMarkdown(report))
  process.stdout.write(`${inMarkdown(report)}\nThe report is in ${values.out}.\n`)
  await watching.stop()
  return 0
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args)
  const [verb] = positionals
  if (values.help || verb === undefined) {
    process.stdout.write(`${usage}\n`)
    return values.help ? 0 : 2
  }
  if (verb === 'run') return run(values)
  if (verb === 'simulate')
    return simulate(
      values,
      args.filter((one) => one !== 'simulate'),
    )
  if (verb === 'play') return play(values)
  if (verb === 'watch') return watch(values)
  throw new Error(usage)
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  say((error as Error).message)
  process.exitCode = 2
}
