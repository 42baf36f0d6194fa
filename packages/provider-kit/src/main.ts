// npm run provider-kit: for whoever writes a provider's client of the wallet, and has a key of the sandbox.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { BackOfficeClient } from '@backoffice/client'
import { fromMinorUnits, toMinorUnits } from '@backoffice/contracts/formats'
import { bookOf, compareBook, netOf } from './book.ts'
import { type Finding, runCases } from './cases.ts'
import { httpTransport, ProviderClient } from './client.ts'
import { FaultyNetwork, faultsOf } from './network.ts'
import { openSeat, readSeat } from './seat.ts'
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
  readonly operator: BackOfficeClient | undefined
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
      ? new BackOfficeClient({ baseUrl: operatorUrl, key: operatorKey, secret: operatorSecret })
      : undefined
  const brandId = values.brand ?? (await operator?.me())?.brand.id
  if (url === undefined || key === undefined || secret === undefined || brandId === undefined)
    throw new Error(`Say --url, --key, --secret and --brand.\n\n${usage}`)
  const http = httpTransport()
  const client = new ProviderClient({ url, key, secret, brandId, transport: http.send })
  return { client, operator, close: http.close }
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
  while (seats.length < count) seats.push(await openSeat(operator, game, '500.00'))
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
  handOver(values.out, 'report', { ranAt: startedAt.toISOString(), url, brandId, key, findings })
  where.close()
  return findings.some(({ result }) => result === 'failed') ? 1 : 0
}

interface Report {
  readonly ranAt: string
  readonly url: string
  readonly brandId: string
  readonly key: string
  readonly findings: readonly Finding[]
}

/** Writes the report, for whoever it is handed on to. */
function handOver(folder: string, name: string, report: Report): void {
  const { ranAt, url, brandId, key, findings } = report
  const count = (result: Finding['result']) => findings.filter((one) => one.result === result).length
  const page = [
    "# A provider's client against the sandbox",
    `\n${ranAt}, ${url}, brand ${brandId}, key ${key}.\n`,
    `${count('proved')} of ${findings.length} cases proved, ${count('failed')} failed, ${count('needs the team')} need the operator's team.\n`,
    '| Case | | Result | Seen |',
    '|---|---|---|---|',
    ...findings.map(
      ({ number, name, result, why }) => `| ${number} | ${name} | ${result} | ${why.replaceAll('|', '\\|')} |`,
    ),
    '',
  ].join('\n')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(report, null, 2)}\n`)
  writeFileSync(join(folder, `${name}.md`), page)
  process.stdout.write(`${page}\nThe report is in ${folder}.\n`)
}

const seatsFile = 'seats.json'
const playersCount = 20

/** Starts the simulator as a process of its own, kills it now and then, and at the end compares the books. */
async function simulate(values: Values, args: readonly string[]): Promise<number> {
  const where = await whereOf(values)
  mkdirSync(values.out, { recursive: true })
  const file = join(values.out, seatsFile)
  const seed = values.seed ?? String(Date.now())
  if (!existsSync(file)) {
    const seats = await seatsOf(values, where, playersCount)
    writeFileSync(file, JSON.stringify({ seed, seats }))
  }
  const { seed: kept } = JSON.parse(readFileSync(file, 'utf8')) as { seed: string }
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
  const { operator } = where
  const problems = await compareBook(where.client, store.entries, {
    isOurs: (id) => id.startsWith(nameOf(kept)),
    ...(operator && { statementOf: (playerId: string) => playedBy(operator, playerId) }),
  })
  for (const problem of problems) say(problem)
  const { rounds, players } = bookOf(store.entries)
  const net = [...players.values()].reduce((sum, one) => sum + netOf(one), 0n)
  process.stdout.write(
    `${rounds.size} rounds, ${store.entries.length} messages, ${kills} kills; the players' net is ${fromMinorUnits(net)}. ${problems.length === 0 ? 'The books are equal to the cent.' : `${problems.length} differences.`}\n`,
  )
  where.close()
  return problems.length === 0 ? 0 : 1
}

/** By the operator's statement, in minor units. */
async function playedBy(operator: BackOfficeClient, playerId: string): Promise<bigint> {
  let sum = 0n
  for await (const { type, amount } of operator.transactions(playerId))
    if (type !== 'DEPOSIT') sum += toMinorUnits(amount)
  return sum
}

const nameOf = (seed: string) => `sim${seed.replaceAll(/\W/g, '')}`

/** The simulator itself, in the process that is killed. */
async function play(values: Values): Promise<number> {
  const where = await whereOf(values)
  const { seats, seed } = JSON.parse(readFileSync(join(values.out, seatsFile), 'utf8'))
  const store = Store.open(join(values.out, 'store'))
  // A restarted process meets other faults.
  const random = chance(seed, `faults ${store.entries.length}`)
  const network = new FaultyNetwork(where.client.options.transport, faultsOf(Number(values.faults), random))
  const rounds = Number(values.rounds)
  await new Simulator({
    ...{ client: where.client.with({ transport: network.send }), store, seats, seed, name: nameOf(seed), rounds },
    ...{ roundsAtOnce: Number(values['at-once']), firstPauseMs: 100, longestPauseMs: 5_000 },
    onRound: (ended) => ended % 100 === 0 && say(`${ended} of ${rounds} rounds`),
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
  const [brandId, key] = [watching.brands.join(', '), watching.keys.join(', ')]
  handOver(values.out, 'watched', { ranAt: new Date().toISOString(), url, brandId, key, findings: watching.findings() })
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
  if (verb === 'simulate') return simulate(values, args.toSpliced(args.indexOf(verb), 1))
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
