import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { exportsFor, lastExportAt, readHeads, writeHeads } from '../../src/heads/exports.ts'
import { bucketStore, folderStore, type HeadStore, nameOf, type ObjectKind, partOf } from '../../src/heads/store.ts'
import type { Head } from '../../src/storage/heads.ts'
import { bucket, startS3 } from './s3-server.ts'

const s3 = await startS3(t)
const dir = t.testdir()
const stores: Readonly<Record<string, HeadStore>> = {
  folder: folderStore(dir),
  bucket: bucketStore({ ...bucket, endpoint: s3.endpoint }),
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
  const stranger = bucketStore({ ...bucket, credentials, endpoint: s3.endpoint })
  await t.rejects(stranger.put('delta/x', ''), { name: 'InvalidAccessKeyId' })
  await t.rejects(lastExportAt(stranger, { now: time('08T00:00') }), { name: 'InvalidAccessKeyId' })
  t.ok([...s3.objects.keys()].every((key) => key.startsWith(bucket.prefix)))
})
