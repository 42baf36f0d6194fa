// proof: counts files for whoever reads; a system runs for it.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { operations, type ServiceName } from '@backoffice/contracts'
import { eventually, serveHttp, startSystem } from '@backoffice/test-kit'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { createDeposit, demoOperator, expectStatus, register } from '../journey.ts'
import type { RanFunctions } from './coverage.ts'
import { root } from './source-files.ts'

/**
 * How many files of ours somebody reads who follows a deposit. The numbers only fall: who needs a file more merges two.
 * `everywhere` are those that run in more than two services, the database's apart: each is met again in every room.
 */
const budget = {
  create: { files: 31, everywhere: 5 },
  confirm: { files: 42, everywhere: 5 },
}

/**
 * What runs by itself once in a while hardly falls into each of so many; on a slow machine into more of them, so there are
 * as many as it takes to be within the budget, up to the most.
 */
const walks = { least: 12, most: 60 }
const services: readonly ServiceName[] = ['gateway', 'players', 'payments', 'wallet', 'webhooks']
const folder = mkdtempSync(join(tmpdir(), 'walk-'))
t.teardown(() => rmSync(folder, { recursive: true }))
const preload = pathToFileURL(fileURLToPath(new URL('coverage.ts', import.meta.url))).href
const environment = {
  WALK_FOLDER: folder,
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${preload}`,
}
const system = await startSystem(t, { services: 'processes', environment })
const operator = demoOperator(system)
t.teardown(() => operator.close())
const database = new Client({ connectionString: system.postgresUrl })
await database.connect()
t.teardown(() => database.end())

const url = await serveHttp(t, (request, response) => void request.resume().on('end', () => response.end()))
const alice = await system.asTeam('alice')
const operatorId = (await alice.call(operations.gateway.listOperators, { input: {} })).data[0]?.id ?? ''
await alice.call(operations.webhooks.setWebhookUrl, { input: { operatorId, environment: 'sandbox', url } })

let readings = 0
/** By service: the functions that ran since the last reading. */
async function read(): Promise<ReadonlyMap<ServiceName, ReadonlySet<string>>> {
  for (const service of services) process.kill(system.pid(service), 'SIGUSR2')
  const written = await Promise.all(
    services.map((service) =>
      eventually(() => {
        const ran: RanFunctions = JSON.parse(readFileSync(join(folder, `${system.pid(service)}.json`), 'utf8'))
        return ran.reading === readings && ran
      }),
    ),
  )
  readings += 1
  return new Map(services.map((service, index) => [service, new Set(written[index]?.functions)]))
}

/** By service: the files of which a function ran in each walk. */
async function filesOf(
  walk: () => Promise<void>,
  { files: most }: { readonly files: number },
): Promise<ReadonlyMap<ServiceName, readonly string[]>> {
  let always: Awaited<ReturnType<typeof read>> | undefined
  const fileOf = (ran: string) => relative(root, fileURLToPath(ran.slice(0, ran.indexOf(' '))))
  const files = (service: ServiceName) =>
    [...new Set([...(always?.get(service) ?? [])].map(fileOf))].sort().filter((file) => !file.startsWith('test/'))
  const isWithin = () => new Set(services.flatMap(files)).size <= most
  for (let count = 0; count < walks.least || (count < walks.most && !isWithin()); count += 1) {
    await read()
    await walk()
    const ran = await read()
    const before = always
    always =
      before === undefined
        ? ran
        : new Map(
            services.map((service) => [
              service,
              before.get(service)?.intersection(ran.get(service) ?? new Set()) ?? new Set(),
            ]),
          )
  }
  return new Map(services.map((service) => [service, files(service)]))
}

const isOfDatabase = (file: string) => /^packages\/(database\/src|service-runtime\/src\/database)\//.test(file)

/** Prints the files of a walk, room by room, and holds its budget. */
function hold(
  t: Test,
  ran: ReadonlyMap<ServiceName, readonly string[]>,
  { files, everywhere }: { readonly files: number; readonly everywhere: number },
) {
  const all = [...new Set([...ran.values()].flat())].sort()
  const visitorsOf = (file: string) => services.filter((service) => ran.get(service)?.includes(file))
  const rooms = Map.groupBy(all, (file) => file.split('/src/')[0] ?? '')
  for (const [room, entered] of rooms) {
    t.comment(`${room}: ${entered.length}`)
    for (const file of entered) t.comment(`  ${file} (${visitorsOf(file).join(', ')})`)
  }
  const met = all.filter((file) => !isOfDatabase(file) && visitorsOf(file).length > 2)
  t.comment(`${all.length} files, ${met.length} of them in more than two services: ${met.join(', ')}`)
  t.ok(all.length <= files, `${all.length} of ${files} files`)
  t.ok(met.length <= everywhere, `${met.length} of ${everywhere} files in more than two services`)
}

/** Deliveries of confirmed deposits, by their state: recorded ones are delivered. */
async function delivered(): Promise<number> {
  const { rows } = await database.query<{ delivered: number; waiting: number }>(`
    select count(*) filter (where type = 'deposit.confirmed' and state = 'delivered')::int as delivered,
      count(*) filter (where state = 'pending')::int as waiting
    from webhooks.delivery`)
  return rows[0]?.waiting === 0 ? rows[0].delivered : Number.NaN
}

const player = await register(operator)
/** Pending ones. The first warms up what is read once and kept. */
const deposits: string[] = []
const create = async () => void deposits.push((await createDeposit(operator, player.id)).id)
const confirm = async () => {
  const before = await delivered()
  expectStatus(await operator.post(`/deposits/${deposits.pop()}/confirm`), 200)
  await eventually(async () => (await delivered()) === before + 1)
}
await create()
await create()
await confirm()

t.test('a deposit is created within its files', async (t) => {
  hold(t, await filesOf(create, budget.create), budget.create)
})

t.test('a deposit is confirmed, up to its recorded webhook, within its files', async (t) => {
  hold(t, await filesOf(confirm, budget.confirm), budget.confirm)
})
