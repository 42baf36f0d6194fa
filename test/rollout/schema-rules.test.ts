import { services } from '@backoffice/migrator'
import t from 'tap'
import { contractions, lockingStatements, locks, narrowingStatements, release } from './schema-rules.ts'

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

t.test('no migration since the previous release holds up who reads or writes a table', async (t) => {
  const named = new Set(Object.keys(locks))
  for (const { name: service, migrations } of services) {
    for (const migration of migrations) {
      const { name } = migration
      if (release.migrations[service].includes(name)) continue
      const found = await lockingStatements(migration)
      if (named.delete(`${service}/${name}`)) t.not(found.length, 0, `${service}/${name} is named with a reason`)
      else t.same(found, [], `${service}/${name}`)
    }
  }
  t.same([...named], [], 'what is named exists')
})

const harmless = [
  'alter table wallet.account add column note text',
  "alter table wallet.account add column note text not null default 'none'",
  'alter table wallet.account add constraint positive check (balance > 0) not valid',
  'create trigger t before update on wallet.account for each row execute function wallet.f()',
  'create table wallet.limit (id text primary key); create index one on wallet.limit (id); update wallet.limit set id = 0',
  'create function wallet.f() returns void language sql as $$ update x set a = 0; $$',
]
for (const sql of harmless) t.test(`holds up nobody: ${sql}`, async (t) => t.same(await lockingStatements({ sql }), []))

const outside = [
  'create index concurrently account_note on wallet.account (note)',
  'alter table wallet.account validate constraint positive',
]
for (const sql of outside) {
  t.test(`holds up nobody outside of a transaction, and is not for one: ${sql}`, async (t) => {
    t.same(await lockingStatements({ sql, transactional: false }), [])
    t.not((await lockingStatements({ sql })).length, 0)
  })
}

/** Some of Squawk's own, to show that it is asked, and each of ours. */
const holding = [
  'create index account_note on wallet.account (note)',
  'reindex table wallet.account',
  'alter table wallet.account add column at timestamptz default clock_timestamp()',
  'alter table wallet.account alter column note set not null',
  'alter table wallet.account add constraint positive check (balance > 0)',
  'alter table wallet.account add foreign key (brand_id) references wallet.brand (id)',
  'alter table wallet.account set unlogged',
  'alter table wallet.account attach partition wallet.old for values in (1)',
  'lock table wallet.account',
  'cluster wallet.account',
  'refresh materialized view wallet.totals',
  "update wallet.account set note = ''",
  'delete from wallet.account',
  'create table wallet.limit (id text); create index account_note on wallet.account (note)',
]
for (const sql of holding) t.test(`holds up: ${sql}`, async (t) => t.not((await lockingStatements({ sql })).length, 0))
