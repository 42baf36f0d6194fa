import { services } from '@backoffice/migrator'
import t from 'tap'
import { contractions, release } from './previous-release.ts'
import { narrowingStatements } from './schema-changes.ts'

/** The runtime's own come first in every service; they touch none but the runtime's tables. */
const isOfRuntime = (name: string) => name.startsWith('0000_runtime_')

t.test('no migration since the previous release narrows what that release uses', async (t) => {
  for (const { name: service, migrations } of services) {
    const released = release.migrations[service]
    for (const ofRuntime of [true, false]) {
      const [before, now] = [released, migrations.map(({ name }) => name)].map((names) =>
        names.filter((name) => isOfRuntime(name) === ofRuntime),
      )
      t.same(now?.slice(0, before?.length), before, `${service}: what was released stays, in its order`)
    }
    for (const { name, sql } of migrations.filter(({ name }) => !released.includes(name))) {
      if (`${service}/${name}` in contractions) continue
      t.same(narrowingStatements([sql]), [], `${service}/${name}`)
    }
  }
})

const expanding = [
  'alter table wallet.account add column note text',
  "alter table wallet.account add column note text not null default 'not null; drop table x'",
  'alter table wallet.account add column n bigint generated always as identity not null',
  'alter table wallet.account alter column note drop not null, add column kind text',
  'create index account_note on wallet.account (note)',
  'create table wallet.limit (id text primary key, note text not null)',
  'create table wallet.limit (id text not null); create unique index one on wallet.limit (id); revoke update on wallet.limit from backoffice_wallet',
  'create function wallet.f() returns void language sql as $$ delete from x; $$',
  '-- drop table wallet.account\nselect 1',
]
for (const sql of expanding) t.test(`expands: ${sql}`, async (t) => t.same(narrowingStatements([sql]), []))

const narrowing = [
  'drop table wallet.account',
  'DROP INDEX wallet.account_note',
  'alter table wallet.account drop column note',
  'alter table wallet.account drop constraint account_check',
  'alter table wallet.account alter column note drop default',
  'alter table wallet.account rename to accounts',
  'alter table wallet.account rename column note to remark',
  'alter table wallet.account alter column note type bigint using note::bigint',
  'alter table wallet.account alter note set data type bigint',
  'alter table wallet.account alter column note set not null',
  'alter table wallet.account add column note text not null',
  "alter table wallet.account add column a text default '', add column b text not null",
  'alter table wallet.account add constraint positive check (balance > 0)',
  'alter table wallet.account add check (balance > 0)',
  'create unique index account_note on wallet.account (note)',
  'create table wallet.limit (id text); drop table wallet.account',
  'revoke insert on wallet.account from backoffice_wallet',
  'delete from wallet.account',
]
for (const sql of narrowing) t.test(`narrows: ${sql}`, async (t) => t.equal(narrowingStatements([sql]).length, 1))
