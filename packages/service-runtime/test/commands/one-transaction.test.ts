import { newId } from '@backoffice/process'
import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { addUp, correct, countUp, payments, wallet } from '../probe-services.ts'

const bed = await testBed(t, { payments, wallet })
const scope = bed.scope()
const admin = bed.sql('admin')

const tables = ['record', 'operation', 'outbox', 'audit_entry']
await admin.query(`
  create table public.written (place text not null, xid text not null);
  create function public.note_transaction() returns trigger language plpgsql security definer as $$
  begin insert into public.written values (tg_table_name, pg_current_xact_id()::text); return null; end $$;
  ${tables.map((table) => `create trigger noted after insert on payments.${table} for each row execute function public.note_transaction();`).join('\n')}
`)

/** What a call wrote, and in how many transactions. */
async function written(call: () => Promise<unknown>): Promise<{ places: string[]; transactions: number }> {
  await admin.query('truncate public.written')
  await call()
  const { rows } = await admin.query('select place, xid from public.written')
  return {
    places: [...new Set(rows.map(({ place }) => place))].sort(),
    transactions: new Set(rows.map(({ xid }) => xid)).size,
  }
}

const sends = ['command' as const, 'event' as const]
for (const [what, call] of [
  ['a single command', () => bed.rpc.call(countUp, { scope, input: { record: 'single', sends } })],
  ['a gathered command', () => bed.rpc.call(addUp, { scope, input: { record: 'gathered', by: 1, sends } })],
] as const)
  t.test(`${what}: effect, reply and outbox rows are one transaction`, async (t) => {
    t.same(await written(call), { places: ['operation', 'outbox', 'record'], transactions: 1 })
  })

t.test('so are the effect of a person of the team, its reply and its entry in the audit trail', async (t) => {
  const input = { brandId: 'brd_1', recordId: newId('dep'), secretNote: 'x', reason: 'wrong' }
  const call = () => bed.team('alice').call(correct, { input })
  t.same(await written(call), { places: ['audit_entry', 'operation', 'record'], transactions: 1 })
})
