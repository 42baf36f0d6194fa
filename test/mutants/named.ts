import { globSync } from 'node:fs'
import { join } from 'node:path'
import { root, sourceFiles } from '../structure/source-files.ts'

/** A guard, of "exactly one effect" or of who may do what, and the mistake that takes it out of the code. */
interface NamedMutant {
  readonly guard: string
  /** Each text stands once in all sources, and all of one guard in one file. */
  readonly edits: readonly (readonly [from: string, to: string])[]
  /** The name of the test file that notices. */
  readonly test: string
  /** Where it is, if not beside the code. */
  readonly workspace?: string
}

const anyToken = [
  'a join claim c using (operator_id, environment, key, token)',
  'a join claim c using (operator_id, environment, key)',
] as const
const anyAttemptStores = [
  'from asked a join held h using (token) where',
  'from asked a join held h using (operator_id, environment, key) where',
] as const

/**
 * In the order of a request: its key, its operation, its command, its event; then the intent and hold of a withdrawal, and
 * who may do what.
 */
export const namedMutants: readonly NamedMutant[] = [
  {
    guard: 'a key has one attempt at a time: the lease',
    edits: [['and (c.leased_until is null or c.leased_until', 'and (true or c.leased_until is null or c.leased_until']],
    test: 'claims',
  },
  {
    guard: 'a lease ends by itself',
    edits: [['c.leased_until <= clock_timestamp() or c.token = excluded.token', 'c.token = excluded.token']],
    test: 'claims',
  },
  {
    guard: 'a reply is stored by the attempt that holds the key',
    edits: [anyToken, anyAttemptStores],
    test: 'claims',
  },
  {
    guard: 'a lease is ended by the attempt that holds the key',
    edits: [anyToken],
    test: 'claims',
  },
  {
    guard: 'the first reply that is stored stays',
    edits: [
      anyToken,
      ['where c.status is null\n    order by', 'where true\n    order by'],
      ['and c.token = h.token and c.status is null', ''],
      anyAttemptStores,
    ],
    test: 'claims',
  },
  {
    guard: 'a request hears the reply of its own operation',
    edits: [['(c.status is not null and c.operation_id = a.operation_id)', 'c.status is not null']],
    test: 'claims',
  },
  {
    guard: 'the operation id outlives a 5xx',
    edits: [
      [
        'operation_id = case when c.status is null then c.operation_id else excluded.operation_id end',
        'operation_id = excluded.operation_id',
      ],
    ],
    test: 'claims',
  },
  {
    guard: 'an abandoned operation id has a tombstone',
    edits: [['await insertTombstone(db, operationId)\n', 'void insertTombstone\n']],
    test: 'runner',
  },
  {
    guard: 'an operation id is written once',
    edits: [
      ['replyColumns)}\n    order by operation_id', 'replyColumns)}\n    order by operation_id on conflict do nothing'],
    ],
    workspace: 'services/payments',
    test: 'interleavings',
  },
  {
    guard: 'effect and reply are one transaction',
    edits: [['await writeRecords(tx, [recordOf(', 'await writeRecords(db, [recordOf(']],
    test: 'runner',
  },
  {
    guard: 'the reply waits for the command',
    edits: [
      [
        'else await this.#runCommands(rows, commands, deadline)',
        'else void this.#runCommands(rows, commands, deadline).catch(() => {})',
      ],
    ],
    test: 'runner',
  },
  {
    guard: 'the wallet knows a transfer by its reference',
    edits: [['if (known !== undefined) return replay(known, { ...posting, ...sides })', '']],
    test: 'decide',
  },
  {
    guard: 'an event leaves after the commands before it',
    edits: [["(earlier.kind = 'command' or o.kind = 'event') limit 1", 'false limit 1']],
    test: 'store',
  },
  {
    guard: 'an event is one delivery to an endpoint',
    edits: [['on conflict (endpoint_id, event_id) do nothing', '']],
    test: 'schedule-delivery',
  },
  {
    guard: 'an operation id has one intent',
    edits: [
      ['(i.after_abandoned or not exists (select from withdrawal w where w.operation_id = i.operation_id))', 'true'],
      ["on conflict (operation_id) where status <> 'abandoned' do nothing", ''],
    ],
    test: 'late-requests',
  },
  {
    guard: 'a withdrawal begins from its intent alone',
    edits: [["if (found?.status === 'intent') {", 'if (found !== undefined) {']],
    test: 'late-requests',
  },
  {
    guard: 'an intent is abandoned together with the release of its hold',
    edits: [['send({ operation: operations.wallet.releaseHold,', 'void ({ operation: operations.wallet.releaseHold,']],
    test: 'late-requests',
  },
  {
    guard: 'the wallet keeps a tombstone of a hold that was released first',
    edits: [['this.#keepHold({ brandId, reference, accountId: account.id, ...tombstone, closedAt: this.#now })', '']],
    test: 'decide',
  },
  {
    guard: 'the wallet keeps the refusal of a hold',
    edits: [
      [
        'this.#keepHold({\n      brandId,\n      reference,\n      accountId: account.id,\n      amount,',
        'if (covered) this.#keepHold({\n      brandId,\n      reference,\n      accountId: account.id,\n      amount,',
      ],
    ],
    test: 'decide',
  },
  {
    guard: 'a new intent waits for the release of the one before',
    edits: [["if (attempts.some(({ releasing }) => releasing)) throw new Rejection('SERVICE_UNAVAILABLE')", '']],
    test: 'late-requests',
  },
  {
    guard: 'an intent is not written after its deadline',
    edits: [['isExpired: ({ deadline }) => deadline.getTime() <= Date.now(),', 'isExpired: () => false,']],
    test: 'late-requests',
  },
  {
    guard: 'an operation that has its reply begins no intent',
    edits: [['isKnownOperation(sql`i.operation_id`)', 'sql`false`']],
    test: 'request-withdrawal',
  },
  {
    guard: 'what was abandoned does not become refused',
    edits: [[" and status is not distinct from 'intent'", '']],
    test: 'late-requests',
  },
  {
    guard: 'a refusal that was not stored is told again',
    edits: [["if (attempt.status === 'refused') throw new Rejection('INSUFFICIENT_FUNDS')", '']],
    test: 'late-requests',
  },
  {
    guard: 'an attempt that lost its lease tells no reply of its own',
    edits: [
      ["if (stored === null) throw new RetryLater(1, 'IDEMPOTENCY_IN_PROGRESS')", 'if (stored === null) return reply'],
    ],
    test: 'idempotency',
  },
  {
    guard: 'a rebuild of the stream that was stopped is not taken for done',
    edits: [
      ["if (this.#stopped) throw new Error('stopped while publishing again')", 'if (this.#stopped) return count'],
    ],
    test: 'stream-doubts',
  },
  {
    guard: 'two payments by one person share no batch',
    edits: [["...(call.input.decision === 'pay' ? [", '...((false as boolean) ? [']],
    test: 'decide-withdrawal',
  },
  {
    guard: 'what one account pays alone under two names counts together',
    edits: [['and (s.by_name = asked.person or s.by_id = asked.person_id)', 'and s.by_name = asked.person']],
    test: 'decide-withdrawal',
  },
  {
    guard: 'what one person pays alone counts for a day',
    edits: [['w.paid_at > now() - make_interval(hours =>', 'w.paid_at > now() - make_interval(mins =>']],
    test: 'decide-withdrawal',
  },
  {
    guard: 'one account under another name is who approved',
    edits: [['(name === approvedBy || (id !== undefined && id === approvedById))', 'name === approvedBy']],
    test: 'withdrawal',
  },
  {
    guard: 'a deposit of an earlier day leaves the sum of a later one',
    edits: [['then p.day_total else d.day_total end', 'then d.day_total else d.day_total end']],
    test: 'create-deposit',
  },
  {
    guard: 'an exclusion by status is of the person',
    edits: [
      [
        "where status = 'autoexcluido' or self_excluded_from is not null\n    )",
        'where self_excluded_from is not null\n    )',
      ],
    ],
    test: 'persons',
  },
  {
    guard: 'an exclusion of the person holds while a master key comes in',
    edits: [['cpfDigestsOf(vault, cpf).map((cpfDigest) =>', 'cpfDigestsOf(vault, cpf).slice(0, 1).map((cpfDigest) =>']],
    test: 'search-players',
  },
  {
    guard: 'who is excluded elsewhere is not anonymised',
    edits: [
      ["const isExcluded = seen.status === 'autoexcluido'", "const isExcluded = player.status === 'autoexcluido'"],
    ],
    test: 'persons',
  },
  {
    guard: 'a row that somebody has leased is sent by nobody else',
    edits: [['(o.leased_until is null or o.leased_until <= clock_timestamp())', 'true']],
    test: 'store',
  },
  {
    guard: 'what was published before a start is published again',
    edits: [['(row.now.getTime() - row.last.getTime()) - republishMs', '(row.now.getTime() - row.last.getTime())']],
    test: 'stream-doubts',
  },
  {
    guard: 'many messages that fail leave room for the others',
    edits: [['failing.length > failingMax ? Math.min(crowdedAfterMs, usualMs) : usualMs', 'usualMs']],
    test: 'consumer',
  },
  {
    guard: 'the stream drops nothing that a database which went back sends again',
    edits: [['await this.#options.history.name()', "''"]],
    test: 'event-stream',
  },
  {
    guard: 'what one account corrects under two names counts together',
    edits: [
      [
        'one.actor === other.actor || (one.actorId !== null && one.actorId === other.actorId)',
        'one.actor === other.actor',
      ],
    ],
    test: 'forged-signatures',
  },
]

/** A mutant in the sources. */
export interface FoundMutant {
  readonly guard: string
  /** Of the mutated file, from the root. */
  readonly path: string
  readonly mutated: string
  readonly workspace: string
  /** From the workspace on. */
  readonly test: string
}

/** The named mutants as they stand in the sources. A file may move, and its text may not change unnoticed. */
export function findNamedMutants(): readonly FoundMutant[] {
  const sources = sourceFiles().filter(({ path }) => /^(?:packages|services)\/[^/]+\/src\//.test(path))
  return namedMutants.map(({ guard, edits, test, workspace }) => {
    const [first] = edits
    const found = sources.filter(({ text }) => first !== undefined && text.includes(first[0]))
    const [source] = found
    if (source === undefined || found.length > 1)
      throw new Error(`"${guard}": ${found.length} files have the text of its mutant`)
    const { path, text } = source
    let mutated = text
    for (const [from, to] of edits) {
      if (mutated.split(from).length !== 2) throw new Error(`"${guard}": not once in ${path}: ${from}`)
      mutated = mutated.replace(from, () => to)
    }
    const folder = workspace ?? path.split('/').slice(0, 2).join('/')
    const [file] = globSync(`test/**/${test}.test.ts`, { cwd: join(root, folder) })
    if (file === undefined) throw new Error(`"${guard}": ${folder} has no ${test}.test.ts`)
    return { guard, path, mutated, workspace: folder, test: file }
  })
}
