import type { Pool } from 'pg'

/** What must be true of a player's money and records at any time that nothing is under way. Each finds what breaks it. */
const rules: Readonly<Record<string, string>> = {
  'the sums of each transfer are zero': `
    select e.transfer_id from wallet.entry e join mine on mine.id = e.transfer_id
    group by e.transfer_id having sum(e.amount) <> 0 or count(*) <> 2`,
  'a balance is the sum of its entries': `
    select a.posted from wallet.account a where a.owner_id = $1
      and a.posted <> (select coalesce(sum(e.amount), 0) from wallet.entry e where e.account_id = a.id)`,
  'what is held is the sum of the open holds': `
    select a.held from wallet.account a where a.owner_id = $1
      and a.held <> (select coalesce(sum(h.amount), 0) from wallet.hold h where h.account_id = a.id and h.state = 'open')`,
  'no balance is below zero': `
    select posted, held from wallet.account where owner_id = $1 and (held < 0 or posted - held < 0)`,
  'a hold is where its withdrawal is': `
    select w.id, w.status, h.state from payments.withdrawal w left join wallet.hold h on h.reference = w.id
    where w.player_id = $1 and coalesce(h.state, 'none') <> all(case
      when w.status in ('under_review', 'approved') then array['open']
      when w.status = 'paid' then array['captured']
      when w.status in ('rejected', 'cancelled', 'failed') then array['released']
      when w.status = 'abandoned' then array['released', 'refused']
      when w.status = 'refused' then array['refused']
      else array['nothing fits an intent'] end)`,
  'a deposit is credited once when it is confirmed, and never otherwise': `
    select d.id, d.status from payments.deposit d where d.player_id = $1
      and (select count(*) from mine where mine.reference = d.id) <> case d.status when 'confirmed' then 1 else 0 end`,
  'a withdrawal is debited once when it is paid, and never otherwise': `
    select w.id, w.status from payments.withdrawal w where w.player_id = $1
      and (select count(*) from mine where mine.reference = w.id) <> case w.status when 'paid' then 1 else 0 end`,
  'an operation made one record': `
    select operation_id from payments.withdrawal where player_id = $1 and status <> 'abandoned'
    group by operation_id having count(*) > 1
    union all
    select operation_id from payments.status_transition where record_id in (select id from payments.deposit where player_id = $1)
    group by operation_id having count(*) > 1`,
  'each change of a record is told once, and its version rises by one': `
    select record_id from payments.status_transition
    where record_id in (select id from payments.deposit where player_id = $1 union select id from payments.withdrawal where player_id = $1)
    group by record_id having max(version) <> count(*)`,
  'the daily limit holds': `
    select sum(d.amount) from payments.deposit d join players.player p on p.id = d.player_id
    where d.player_id = $1 and d.status <> 'failed' group by p.daily_deposit_limit having sum(d.amount) > p.daily_deposit_limit`,
}

const text = Object.entries(rules)
  .map(([rule, query], index) => `select '${rule}' as rule, to_json(r${index}) as what from (${query}) r${index}`)
  .join('\nunion all\n')

/** @returns which rules a player's records break */
export async function violations(admin: Pool, playerId: string): Promise<unknown[]> {
  const { rows } = await admin.query(
    `with mine as (
      select distinct t.id, t.reference from wallet.transfer t join wallet.entry e on e.transfer_id = t.id
      join wallet.account a on a.id = e.account_id where a.owner_id = $1
    ) ${text}`,
    [playerId],
  )
  return rows
}
