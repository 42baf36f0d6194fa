import { sql } from '@backoffice/service-runtime'
import { isNotOfFuture, type SqlQuestion, sqlCheck } from './check.ts'
import { environmentOf } from './environments.ts'

/** Every player has an account. One whose account is still being opened is listed as in flight. */
export const accounts = sqlCheck('accounts', {
  kind: 'player',
  differences: (keys) => sql`
    select k.key, p.brand_id, p.id as subject, 'an account' as expected, 'none' as actual,
      'A player was registered and has no account.' as explanation
    from ${keys}
    join players.player p on p.id = k.key
    where not exists (select from wallet.account a where a.brand_id = p.brand_id and a.owner_id = p.id)
      and not exists (
        select from players.outbox o where o.aggregate = p.id and o.kind = 'command'
          and ${isNotOfFuture(sql`o.created_at`)}
      )
  `,
})

/**
 * In production a person decides who somebody is, and has signed that: a decision and its audit entry are written in one
 * transaction, at one time. Players itself ends approvals, and says so in the trail. A submission decides nothing. What a
 * player's status is now is what was decided last.
 */
export const kycDecisions: readonly SqlQuestion[] = [
  {
    ...{ check: 'decisions', kind: 'kycChange', counts: false },
    differences: (keys) => sql`
      select k.key, p.brand_id, p.id as subject, 'a decision that a person of the team has signed' as expected,
        format('%s at %s by %s', c.next, c.at, c.actor) as actual,
        'The KYC status of a player was changed by nobody who may.' as explanation
      from ${keys}
      join players.player_change c on c.id = k.key::bigint and c.field = 'kycStatus'
      join players.player p on p.id = c.player_id
      where ${environmentOf(sql`p.brand_id`)} = 'production' and c.next is distinct from 'em_analise'
        and not exists (
          select from players.audit_entry a
          where (a.subject, a.at, a.actor, a.operation, a.outcome) = (c.player_id, c.at, c.actor, 'decideKyc', 'done')
            and wallet.json_text(a.input, 'status') = c.next
            and case when c.actor = 'players' and c.next = 'expirado' then a.session is null
              else a.actor_id is not null and a.session is not null and a.proof is not null end
        )
    `,
  },
  {
    ...{ check: 'decisions', kind: 'player', counts: false },
    differences: (keys) => sql`
      select k.key, p.brand_id, p.id as subject, coalesce(last.next, 'nao_iniciado') as expected, p.kyc_status as actual,
        'The KYC status of a player is not what its history says.' as explanation
      from ${keys}
      join players.player p on p.id = k.key
      left join lateral (
        select c.next from players.player_change c where c.player_id = p.id and c.field = 'kycStatus' order by c.id desc limit 1
      ) last on true
      where p.kyc_status is distinct from coalesce(last.next, 'nao_iniciado')
    `,
  },
]
