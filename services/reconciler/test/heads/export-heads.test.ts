import { readdirSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { operations, type ReconciliationReport } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { eventually, refusal, serveHttp, type Teardown } from '@backoffice/test-kit'
import t from 'tap'
import { exportHeads, HeadsExport } from '../../src/background/export-heads.ts'
import { exportsFor, type Head, lastExportAt, readHeads, writeHeads } from '../../src/heads/exports.ts'
import { bucketStore, folderStore, type HeadStore, nameOf, type ObjectKind, partOf } from '../../src/heads/store.ts'
import { exportedHeads } from '../../src/measurements.ts'
import { behindItsBack, ledgerBed, runOf } from '../runs/run.ts'

/** So many names a page, to see that a client asks for the next one. */
const pageMax = 2

const credentials = { accessKeyId: 'heads', secretAccessKey: 'no secret' }
const bucket = { bucket: 'heads', region: 'eu-west-1', credentials, prefix: 'backoffice/' }

/**
 * Object storage over HTTP, as far as heads need it: PUT with If-None-Match, GET, ListObjectsV2 with pages, for whoever names
 * the key. An object that is there is never changed and never removed, as under a lock.
 */
async function startS3(t: Teardown) {
  const objects = new Map<string, Buffer>()
  // Replies 503 to everything as long as it is true.
  const state = { isUnavailable: false }
  const endpoint = await serveHttp(t, async (request, reply) => {
    const body = Buffer.concat(await request.toArray())
    const url = new URL(request.url ?? '', 'http://storage')
    const [, name, ...path] = url.pathname.split('/').map(decodeURIComponent)
    const key = path.join('/')
    if (state.isUnavailable) return fault(reply, 503, 'SlowDown')
    const signed = `Credential=${credentials.accessKeyId}/\\d{8}/${bucket.region}/s3/aws4_request, ?.*Signature=`
    if (!new RegExp(signed).test(request.headers.authorization ?? '')) return fault(reply, 403, 'InvalidAccessKeyId')
    if (name !== bucket.bucket) return fault(reply, 404, 'NoSuchBucket')
    if (request.method === 'PUT') {
      if (request.headers['if-none-match'] !== '*') return fault(reply, 403, 'AccessDenied')
      if (objects.has(key)) return fault(reply, 412, 'PreconditionFailed')
      objects.set(key, body)
      return void reply.setHeader('ETag', '"etag"').end()
    }
    if (request.method !== 'GET') return fault(reply, 405, 'MethodNotAllowed')
    if (key === '') return list(reply, url.searchParams, [...objects.keys()].sort())
    const object = objects.get(key)
    return object === undefined ? fault(reply, 404, 'NoSuchKey') : void reply.end(object)
  })
  return Object.assign(state, { endpoint, objects })
}

function fault(reply: ServerResponse, status: number, code: string): void {
  reply.writeHead(status, { 'content-type': 'application/xml' })
  reply.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`)
}

function list(reply: ServerResponse, query: URLSearchParams, keys: readonly string[]): void {
  const after = query.get('continuation-token') ?? query.get('start-after') ?? ''
  const found = keys.filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after)
  const page = found.slice(0, pageMax)
  const next = found.length > page.length ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
  reply.writeHead(200, { 'content-type': 'application/xml' })
  reply.end(`<?xml version="1.0"?><ListBucketResult><IsTruncated>${next !== ''}</IsTruncated>${next}
    ${page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('')}</ListBucketResult>`)
}

// A client that tries again, as it does otherwise, waits for seconds where the storage is unavailable.
process.env.AWS_MAX_ATTEMPTS = '1'
const s3 = await startS3(t)
// The loop of the service exports once, when it starts.
const everyMs = 12 * 3_600_000
const settings = {
  HEADS_BUCKET: bucket.bucket,
  HEADS_BUCKET_REGION: bucket.region,
  HEADS_BUCKET_ENDPOINT: s3.endpoint,
  HEADS_BUCKET_PREFIX: bucket.prefix,
  HEADS_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
  HEADS_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
  HEADS_EXPORT_EVERY_MS: everyMs,
}
const begun = new Date()
const bed = await ledgerBed(t, { config: { reconciler: settings } })
const { reconciler: service } = bed.services
const scope = bed.scope()
const store = bucketStore({ ...bucket, endpoint: s3.endpoint })
await eventually(() => lastExportAt(store, { now: new Date() }))

/** Moments after the one at which the service itself exported. */
let ms = Date.now()
const nextMoment = () => {
  ms = Math.max(ms + 1, Date.now())
  return new Date(ms)
}

async function deposit(playerId: string): Promise<void> {
  const input = { playerId, depositId: newId('dep'), amount: '1.00', effectiveAt: '2026-03-02T12:00:00.000Z' }
  await bed.rpc.call(operations.wallet.creditAccount, { scope, input })
}

const alice = bed.team('alice')
/** What a run that was asked for by the team says about exported heads, of one player if it is given. */
async function headsReport(full: boolean, playerId = ''): Promise<ReconciliationReport['differences']> {
  const { runId } = await alice.call(operations.reconciler.reconcileWallet, { input: { full } })
  return eventually(async () => {
    const { report } = await alice.call(operations.reconciler.reconcileWallet, { input: { runId } })
    if (report === null) throw new Error('not yet')
    return report.differences.filter(({ check, subject }) => check === 'exportedHeads' && subject.startsWith(playerId))
  })
}

/** The heads that were exported since a moment, as `player number`. */
async function headsSince(of: HeadStore, deltasSince: Date): Promise<string[]> {
  const found: string[] = []
  for (const one of await exportsFor(of, { deltasSince }))
    for await (const batch of readHeads(of, one, 100))
      found.push(...batch.map(({ playerId, seq }) => `${playerId} ${seq}`))
  return found.sort()
}

const storage = await startS3(t)

t.test('the heads that moved are exported, and once a day those of all accounts', async (t) => {
  const players = [newId('ply'), newId('ply')] as const
  for (const playerId of players) await deposit(playerId)
  const at = nextMoment()
  t.equal(await exportHeads(service, store, at), 2)
  t.equal(await exportHeads(service, store, at), null, 'once')
  t.same(await headsSince(store, at), players.map((id) => `${id} 1`).sort())
  t.same(await headsReport(true), [])
  await deposit(players[0])
  const then = nextMoment()
  await exportHeads(service, store, then)
  t.ok((await headsSince(store, then)).includes(`${players[0]} 2`))
  t.same(await headsReport(false), [])
})

t.test('once a day the heads of all accounts are exported', async (t) => {
  await deposit(newId('ply'))
  const folder = folderStore(t.testdir())
  const [day, sameDay, nextDay] = ['02T12:00', '02T18:00', '03T00:00'].map((time) => new Date(`2099-03-${time}:00Z`))
  for (const at of [day, sameDay, nextDay] as Date[]) {
    // All accounts were opened long before.
    t.equal(await exportHeads(service, folder, at), 0)
    t.same(await lastExportAt(folder, { now: at }), at)
    const snapshotAt = at === nextDay ? nextDay : day
    t.same(await lastExportAt(folder, { now: at, kind: 'snapshot' }), snapshotAt)
    const [snapshot] = await exportsFor(folder, { fullBefore: at })
    let heads = 0
    for await (const batch of readHeads(folder, snapshot as NonNullable<typeof snapshot>, 100)) heads += batch.length
    const { rows } = await bed.sql('wallet').query('select from account where seq > 0')
    t.equal(heads, rows.length)
  }
})

/** Takes the last entry off a player's chain, with balance and head, as somebody with the database in hand could. */
async function cutOff(playerId: string): Promise<void> {
  const admin = bed.sql('admin')
  await behindItsBack(
    admin,
    `with cut as (
      delete from wallet.entry e using wallet.account a where a.id = e.account_id and a.owner_id = $1 and e.seq = a.seq returning e.transfer_id
    ), other as (delete from wallet.entry e using cut where e.transfer_id = cut.transfer_id and e.seq is null)
    delete from wallet.transfer t using cut where t.id = cut.transfer_id`,
    [playerId],
  )
  await behindItsBack(
    admin,
    `update wallet.account a set posted = posted - 100, seq = seq - 1, updated_at = now(),
      head = (select hash from wallet.entry e where e.account_id = a.id and e.seq = a.seq - 1)
    where owner_id = $1`,
    [playerId],
  )
}

const restoreInput = (restoredTo: Date) => ({ restoredTo: restoredTo.toISOString(), reason: 'the disks were lost' })
/** As two people record it. */
const recordRestore = (restoredTo: Date) =>
  bed.agreed(operations.reconciler.recordRestore, { input: restoreInput(restoredTo) })
const untilAfter = (moment: Date) => eventually(() => Date.now() > moment.getTime())

/** What the database before a restore exported of a player. */
async function exportedBefore(playerId: string, at: Date): Promise<void> {
  const { rows } = await bed.sql('wallet').query(
    `select id::text as "accountId", brand_id as "brandId", owner_id as "playerId", seq::text, encode(head, 'hex') as hash
    from account where owner_id = $1`,
    [playerId],
  )
  const end = async () => ({ readUntil: at, history: '7000000000000000000-00000001' })
  await writeHeads(
    store,
    { kind: 'delta', at, end },
    (async function* () {
      yield rows
    })(),
  )
}

t.test('nobody ends heads that the same database exported: it was not restored', async (t) => {
  const playerId = newId('ply')
  for (let round = 0; round < 2; round++) await deposit(playerId)
  const before = nextMoment()
  await untilAfter(before)
  await exportHeads(service, store, nextMoment())
  await cutOff(playerId)
  t.equal(await refusal(recordRestore(before)), 'VALIDATION_ERROR')
  t.match(await headsReport(true, playerId), [{ class: 'evidence_contradicts', subject: `${playerId} entry 2` }])
})

t.test(
  'a restore explains the heads that the database before exported since the moment to which it went',
  async (t) => {
    const playerId = newId('ply')
    for (let round = 0; round < 4; round++) await deposit(playerId)
    const before = nextMoment()
    await untilAfter(before)
    await exportedBefore(playerId, nextMoment())
    const exported = nextMoment()
    await cutOff(playerId)
    const difference = { subject: `${playerId} entry 4`, actual: 'nothing' }
    t.match(await headsReport(false, playerId), [difference])
    await untilAfter(exported)

    await t.test('not those that were exported before', async (t) => {
      t.equal(await refusal(recordRestore(exported)), 'VALIDATION_ERROR')
      t.match(await headsReport(false, playerId), [difference])
    })

    await t.test('when two people have recorded it', async (t) => {
      const alone = alice.call(operations.reconciler.recordRestore, { input: restoreInput(before) })
      t.equal(await refusal(alone), 'AWAITS_APPROVAL')
      t.match(await headsReport(true, playerId), [difference])
      const recorded = await recordRestore(before)
      t.same(await headsReport(false, playerId), [])
      t.same(await headsReport(true, playerId), [])
      t.same(await recordRestore(before), recorded, 'repeated, it ends nothing that was exported since')
      await untilAfter(new Date(recorded.recordedAt))
      const { rows } = await bed.sql('reconciler').query(
        `select actor, reason from audit_entry where operation = 'recordRestore' and outcome = 'done'
          and input ->> 'restoredTo' = $1 order by at limit 1`,
        [before.toISOString()],
      )
      t.same(rows, [{ actor: 'bob', reason: 'the disks were lost' }])
    })

    await t.test('and each report says what it silences', async (t) => {
      const heads = { store, everyMs }
      for (const isFull of [false, true]) {
        const { restores } = await runOf(bed, { heads, isFull })
        t.match(restores, [{ restoredTo: before.toISOString(), recordedBy: 'bob', exportsSilenced: 1 }])
      }
    })

    await t.test('what is cut off after that shows again', async (t) => {
      await exportHeads(service, store, nextMoment())
      t.same(await headsReport(false, playerId), [])
      await cutOff(playerId)
      t.match(await headsReport(true, playerId), [{ subject: `${playerId} entry 3`, actual: 'nothing' }])
    })
  },
)

t.test('the database cannot have been restored to a moment that is still to come', async (t) => {
  t.equal(await refusal(recordRestore(new Date(Date.now() + 60_000))), 'VALIDATION_ERROR')
})

t.test('an end of a chain that was cut off, balance and head included, is found by its exported head', async (t) => {
  const playerId = newId('ply')
  for (let round = 0; round < 3; round++) await deposit(playerId)
  await exportHeads(service, store, nextMoment())
  await cutOff(playerId)
  const expected = [{ subject: `${playerId} entry 3`, actual: 'nothing' }]
  t.match(await headsReport(false, playerId), expected)
  t.match(await headsReport(true, playerId), expected)
  // A snapshot of the ledger as it is now does not have the entry.
  ms += 25 * 3_600_000
  await exportHeads(service, store, nextMoment())
  t.match(await headsReport(true, playerId), expected, 'and stays reported')
  t.match(await headsReport(true, playerId), expected)
})

t.test('no exports of a ledger that is older, and old ones, are a difference', async (t) => {
  const heads = { store: folderStore(t.testdir()), everyMs: 1_000 }
  const ofExports = async (at: Date, isFull: boolean) =>
    (await runOf(bed, { heads, at, isFull })).differences.filter(({ subject }) => subject === 'the export of heads')
  const now = new Date()
  t.same(await ofExports(begun, true), [], 'nothing was entered before')
  const later = new Date(now.getTime() + 60_000)
  for (const isFull of [true, false])
    t.match(await ofExports(later, isFull), [{ class: 'evidence_missing', environment: 'production', actual: 'none' }])
  await exportHeads(service, heads.store, now)
  t.same(await ofExports(new Date(now.getTime() + 2_000), false), [])
  t.match(await ofExports(later, false), [{ actual: `the newest of ${now.toISOString()}` }])
})

t.test("a head is chosen by PostgreSQL's clock, whatever the wallet's own says", async (t) => {
  const folder = folderStore(t.testdir())
  const at = new Date()
  await exportHeads(service, folder, at)
  const playerId = newId('ply')
  await deposit(playerId)
  await bed
    .sql('wallet')
    .query("update account set updated_at = now() - interval '1 day' where owner_id = $1", [playerId])
  const then = new Date(at.getTime() + 1)
  await exportHeads(service, folder, then)
  t.ok((await headsSince(folder, at)).includes(`${playerId} 1`))
})

t.test('a head that was being written during one export is in the next', async (t) => {
  const folder = folderStore(t.testdir())
  // The export reads up to a moment, and the head is stamped before it and is seen only after it.
  const at = new Date(Date.now() + 30_000)
  await exportHeads(service, folder, at)
  const playerId = newId('ply')
  await deposit(playerId)
  const then = new Date(at.getTime() + 1)
  await exportHeads(service, folder, then)
  t.ok((await headsSince(folder, then)).includes(`${playerId} 1`))
})

t.test('a store that cannot be read is missing evidence, and all other checks are made', async (t) => {
  const playerId = newId('ply')
  await deposit(playerId)
  await bed.sql('wallet').query('update account set posted = posted + 100 where owner_id = $1', [playerId])
  t.teardown(() => bed.sql('wallet').query('update account set posted = posted - 100 where owner_id = $1', [playerId]))
  for (const isFull of [false, true]) {
    s3.isUnavailable = true
    const { differences, differencesOf } = await runOf(bed, {
      ...{ heads: { store, everyMs }, isFull },
      team: { ...bed.issuer.team, aloneUpTo: '50.00', payAloneUpTo: '9.99', maxWin: '100.00' },
    })
    s3.isUnavailable = false
    t.match(
      differences.filter(({ subject }) => subject === 'the store of heads'),
      [{ class: 'evidence_missing', environment: 'production' }],
    )
    t.match(
      differences.filter(({ subject }) => subject === playerId),
      [{ check: 'balances', class: 'money' }],
    )
    t.same(
      differencesOf.filter((one) => one.class === 'evidence_missing').map((one) => one.differences),
      [1],
    )
  }
})

t.test('the age of the newest export is measured, and grows while the storage is unavailable', async (t) => {
  let now = new Date(ms + 50 * 3_600_000)
  const clock = { now: () => now }
  const headsExport = new HeadsExport(service, { store, everyMs: 100, stopping: new AbortController() })
  const age = async () => {
    const { 'backoffice.ledger.heads_age_seconds': values } = await exportedHeads({ clock }, headsExport).read()
    return values?.[0]?.value
  }
  t.equal(await age(), undefined, 'before it is known')
  s3.isUnavailable = true
  headsExport.start()
  t.teardown(() => headsExport.stop())
  await headsExport.tried
  t.equal(await age(), undefined)
  s3.isUnavailable = false
  await eventually(async () => (await age()) !== undefined)
  now = new Date(now.getTime() + 299_000)
  const grown = await age()
  t.ok(grown !== undefined && grown >= 299)
})

// The stores themselves.

const dir = t.testdir()
const stores: Readonly<Record<string, HeadStore>> = {
  folder: folderStore(dir),
  bucket: bucketStore({ ...bucket, endpoint: storage.endpoint }),
}

const headOf = (accountId: number, seq: number): Head => ({
  accountId: String(accountId),
  brandId: 'brd_1',
  playerId: `ply_${accountId}`,
  seq: String(seq),
  hash: String(seq).padStart(64, '0'),
})
async function* pages(...heads: readonly Head[]) {
  yield heads
}
/** Noon and midnight, day after day. */
const history = '7300000000000000000-00000001'
const time = (text: string) => new Date(`2026-03-${text}:00.000Z`)

/** The heads of some exports, as `account:seq`. */
async function heads(store: HeadStore, wanted: Parameters<typeof exportsFor>[1], batchMax = 3): Promise<string[]> {
  const found: string[] = []
  for (const one of await exportsFor(store, wanted))
    for await (const batch of readHeads(store, one, batchMax)) {
      if (batch.some(({ exportedAt }) => exportedAt !== one.at.toISOString())) throw new Error('of another export')
      found.push(...batch.map(({ accountId, seq }) => `${accountId}:${seq}`))
    }
  return found
}

for (const [place, store] of Object.entries(stores)) {
  const write = (kind: ObjectKind, at: string, ...some: readonly Head[]) =>
    writeHeads(store, { kind, at: time(at), end: async () => ({ readUntil: time(at), history }) }, pages(...some))

  t.test(`${place}: what was written once stays as it is`, async (t) => {
    const name = nameOf({ kind: 'delta', at: time('01T00:00'), part: 1, readUntil: time('01T00:00'), history })
    t.equal(await store.put(name, 'first\n'), true)
    t.equal(await store.put(name, 'second\n'), false)
    const pieces: string[] = []
    for await (const piece of store.read(name)) pieces.push(piece)
    t.equal(pieces.join(''), 'first\n')
    t.same(await store.list('snapshot/', ''), [])
  })

  t.test(
    `${place}: a full run begins at the newest snapshot from before the last one, an incremental one at a moment`,
    async (t) => {
      t.equal(await write('snapshot', '02T00:00', headOf(1, 1)), 1)
      t.equal(await write('delta', '02T00:00'), 0, 'an export is written when no head has moved')
      t.equal(await write('delta', '02T12:00', headOf(1, 2), headOf(2, 1), headOf(3, 1), headOf(4, 1)), 4)
      t.equal(await write('snapshot', '03T00:00', headOf(1, 2)), 1)
      t.equal(await write('delta', '03T12:00', headOf(1, 3)), 1)
      t.equal(await write('delta', '03T12:00', headOf(1, 9)), null, 'another replica was first')
      const lately = ['1:3']
      t.same(await heads(store, { deltasSince: time('03T00:00') }), lately)
      t.same(await heads(store, { fullBefore: time('03T06:00') }), ['1:2', ...lately])
      const sinceYesterday = ['1:1', '1:2', '2:1', '3:1', '4:1', ...lately]
      t.same(await heads(store, { fullBefore: time('02T06:00') }), sinceYesterday)
      t.same(await heads(store, { fullBefore: null }), sinceYesterday)
      t.same(await heads(store, { fullBefore: time('30T00:00') }), ['1:2', ...lately], 'the last one was weeks ago')
      t.same(await lastExportAt(store, { now: time('03T13:00') }), time('03T12:00'))
      t.same(await lastExportAt(store, { now: time('30T00:00') }), time('03T12:00'), 'however long ago')
      t.same(await lastExportAt(store, { now: time('03T13:00'), kind: 'snapshot' }), time('03T00:00'))
    },
  )

  t.test(`${place}: an export that was broken off counts for nothing`, async (t) => {
    const at = time('04T00:00')
    await store.put(
      nameOf({ kind: 'delta', at, part: 1, readUntil: null, history: null }),
      `${JSON.stringify(headOf(7, 1))}\n`,
    )
    t.same(await lastExportAt(store, { now: time('04T01:00') }), time('03T12:00'))
    t.same(await heads(store, { deltasSince: at }), [])
    await store.put(nameOf({ kind: 'delta', at, part: 3, readUntil: at, history }), '')
    t.same(await heads(store, { deltasSince: at }), [], 'a part is missing')
  })

  t.test(`${place}: a large export has parts`, async (t) => {
    const many = Array.from({ length: 45_000 }, (_, index) => headOf(index, 1))
    t.equal(await write('delta', '05T00:00', ...many), many.length)
    t.equal((await store.list('delta/2026-03-05', '')).length, 4)
    t.same(
      await heads(store, { deltasSince: time('05T00:00') }, 1_000),
      many.map(({ accountId }) => `${accountId}:1`),
    )
  })
}

t.test('a name that is none of an export is passed over', async (t) => {
  const at = time('06T00:00')
  for (const name of ['branch/2026-03-06T00-00-00.000Z.json', 'delta/heads.ndjson', 'delta/.hidden'])
    t.equal(partOf(name), null, name)
  await stores.folder?.put('delta/notes.txt', 'not heads')
  await stores.bucket?.put('branch/2026-03-06', 'another kind')
  for (const store of Object.values(stores)) t.same(await heads(store, { deltasSince: at }), [])
})

t.test('a file that a killed process left in the middle of a line is read to its last whole line', async (t) => {
  const name = nameOf({ kind: 'delta', at: time('07T00:00'), part: 1, readUntil: time('07T00:00'), history })
  writeFileSync(join(dir, name), `${JSON.stringify(headOf(1, 8))}\n{"accountId":"2","seq`)
  t.same(await heads(stores.folder as HeadStore, { deltasSince: time('07T00:00') }), ['1:8'])
  t.notOk(readdirSync(join(dir, 'delta')).some((file) => !file.endsWith('.ndjson') && file !== 'notes.txt'))
})

t.test('a wrong key is refused, and an error is no export', async (t) => {
  const credentials = { ...bucket.credentials, accessKeyId: 'another' }
  const stranger = bucketStore({ ...bucket, credentials, endpoint: storage.endpoint })
  await t.rejects(stranger.put('delta/x', ''), { name: 'InvalidAccessKeyId' })
  await t.rejects(lastExportAt(stranger, { now: time('08T00:00') }), { name: 'InvalidAccessKeyId' })
  t.ok([...storage.objects.keys()].every((key) => key.startsWith(bucket.prefix)))
})
