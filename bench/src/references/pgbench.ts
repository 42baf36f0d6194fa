import { execFile } from 'node:child_process'
import { accessSync, constants, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { type Distribution, type PostingResult, type PostingRun, zipfExponent } from './posting.ts'

const run = promisify(execFile)
const threads = 2

/** Debian installs PostgreSQL's own programs beside the server, not on PATH. */
export function findPgbench(): string | undefined {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'pgbench'))
  const beside = globSync('/usr/lib/postgresql/*/bin/pgbench').sort().reverse()
  return [...beside, ...onPath].find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const accountOf: Readonly<Record<Distribution, (accounts: number) => string>> = {
  uniform: (accounts) => `random(1, ${accounts})`,
  hot: () => '1',
  zipf: (accounts) => `random_zipfian(1, ${accounts}, ${zipfExponent})`,
}

// Account 0 is the system's side. It has no stored balance, so only players' rows can be hot.
const script = (account: string) => `\\set account ${account}
\\set id random(1, 4611686018427387904)
begin;
update account set posted = posted + 100, seq = seq + 1, updated_at = now() where id = :account returning seq, posted \\gset
insert into transfer (id, reference, debit_account, credit_account, amount)
  values ('trf_' || :id, 'dep_' || :id, 0, :account, 100);
insert into entry (account_id, seq, transfer_id, amount, balance)
  values (:account, :seq, 'trf_' || :id, 100, :posted), (0, null, 'trf_' || :id, -100, null);
commit;
`

/** PostgreSQL's own load generator, with statements prepared once per connection. */
export async function runPgbench(program: string, posting: PostingRun): Promise<PostingResult> {
  const { url, distribution, accounts, clients, seconds } = posting
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-bench-pgbench-'))
  try {
    const file = join(dir, 'posting.sql')
    writeFileSync(file, script(accountOf[distribution](accounts)))
    const load = ['--no-vacuum', '--protocol=prepared', `--client=${clients}`, `--jobs=${threads}`, `--time=${seconds}`]
    const { stdout } = await run(program, [...load, `--file=${file}`, url])
    return resultIn(stdout)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

export function resultIn(printed: string): PostingResult {
  // On a busy machine no transaction may end within a second. Then pgbench prints no rate.
  if (/^number of transactions actually processed: 0$/m.test(printed))
    return { perSecond: 0, failures: { 'no transaction ended': 1 } }
  const perSecond = Number(/^tps = ([\d.]+)/m.exec(printed)?.[1])
  if (Number.isNaN(perSecond)) throw new Error(`pgbench printed no rate:\n${printed}`)
  const failed = Number(/^number of failed transactions: (\d+)/m.exec(printed)?.[1] ?? 0)
  return { perSecond, failures: failed === 0 ? {} : { 'failed transactions': failed } }
}
