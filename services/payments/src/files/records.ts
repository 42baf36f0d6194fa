import { type Environment, Rejection } from '@backoffice/contracts'
import { type Db, type Fragment, type LockingDb, type ReadDb, sql } from '@backoffice/service-runtime'

/** What is decided when a file for the bank is made, and never changes. */
interface MadeFile {
  readonly id: string
  readonly environment: Environment
  /** In the order of its lines. */
  readonly withdrawalIds: readonly string[]
  /** Of a batch of Pix transfers. Null: it is a CSV file. */
  readonly batchNumber: number | null
  /** With the bank, whose numbers these are. */
  readonly agreement: string | null
  readonly madeBy: string
  readonly madeById: string
  readonly madeAt: Date
  readonly operationId: string
}

export interface PaymentFile extends Omit<MadeFile, 'madeById' | 'operationId'> {
  readonly discardedBy: string | null
  readonly discardedAt: Date | null
  readonly discardReason: string | null
}

const columns = sql.columns(`
  id text, environment text, withdrawal_ids text[], batch_number int, agreement text, made_by text, made_at timestamptz, discarded_by text,
  discarded_at timestamptz, discard_reason text
`)

export async function findFile(db: ReadDb, fileId: string): Promise<PaymentFile | undefined> {
  const [file] = await db<PaymentFile>`select ${columns} from payment_file where id = ${fileId}`
  return file
}

export async function lockFile(db: LockingDb, fileId: string): Promise<PaymentFile | undefined> {
  const [file] = await db<PaymentFile>`select ${columns} from payment_file where id = ${fileId} for update`
  return file
}

/** Whether the last file of a withdrawal still has it. */
export const isInFile = (file: Fragment): Fragment =>
  sql`exists (select from payment_file f where f.id = ${file} and f.discarded_at is null)`

export interface FileOfWithdrawal extends Pick<PaymentFile, 'id' | 'batchNumber' | 'madeBy' | 'madeAt'> {
  readonly withdrawalId: string
}

/** The files that withdrawals are in, by the ids of these. Whoever makes another one has locked them. */
export async function filesOf(
  db: ReadDb,
  withdrawalIds: readonly string[],
): Promise<ReadonlyMap<string, FileOfWithdrawal>> {
  const rows = await db<FileOfWithdrawal>`
    select w.id as withdrawal_id, f.id, f.batch_number, f.made_by, f.made_at
    from withdrawal w join payment_file f on f.id = w.payment_file
    where w.id = any(${withdrawalIds}::text[]) and f.discarded_at is null
  `
  return new Map(rows.map((row) => [row.withdrawalId, row]))
}

/**
 * The withdrawals must be locked.
 * @throws {Rejection} BATCH_NUMBER_USED; of two at once the second waits for the first
 */
export async function insertFile(db: Db, file: MadeFile): Promise<void> {
  const { id, environment, withdrawalIds, batchNumber, agreement, madeBy, madeById, madeAt, operationId } = file
  const [made] = await db`
    insert into payment_file (id, environment, withdrawal_ids, batch_number, agreement, made_by, made_by_id, made_at, operation_id)
    values (${id}, ${environment}, ${withdrawalIds}::text[], ${batchNumber}::int, ${agreement}, ${madeBy}, ${madeById},
      ${madeAt}::timestamptz, ${operationId})
    on conflict (environment, agreement, batch_number)
      where agreement is not null and batch_number is not null and discarded_at is null do nothing
    returning id
  `
  if (made === undefined) throw new Rejection('BATCH_NUMBER_USED')
  await db`update withdrawal set payment_file = ${id} where id = any(${withdrawalIds}::text[])`
}

/** The file must be locked. */
export async function discardFile(
  db: Db,
  fileId: string,
  { by, byId, at, reason }: { readonly by: string; readonly byId: string; readonly at: Date; readonly reason: string },
): Promise<void> {
  await db`
    update payment_file
    set discarded_by = ${by}, discarded_by_id = ${byId}, discarded_at = ${at}::timestamptz, discard_reason = ${reason}
    where id = ${fileId}
  `
}
