import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * The wallet finds both accounts of a transfer by brand, kind and currency. This holds it to that, since what is entered
 * between accounts that do not belong together cannot be taken back. A refused credit moves nothing, and was perhaps
 * refused for its currency.
 */
export const sidesOfTransfer: Migration = {
  name: '0016_sides_of_transfer',
  sql: `
create function wallet.check_sides() returns trigger language plpgsql as $$
begin
  if not exists (
    select from wallet.account d, wallet.account c
    where d.id = new.debit_account and c.id = new.credit_account
      and d.brand_id = new.brand_id and c.brand_id = new.brand_id
      and (d.currency = c.currency or new.outcome = 'refused')
      and case new.type
        when 'DEPOSIT' then d.kind = 'deposits' and c.kind = 'player'
        when 'WITHDRAWAL' then d.kind = 'player' and c.kind = 'withdrawals'
        when 'ADJUSTMENT' then 'adjustments' in (d.kind, c.kind) and 'player' in (d.kind, c.kind)
        else (d.kind = 'player') <> (c.kind = 'player')
      end
  ) then
    raise check_violation using message = format('the accounts %s and %s do not belong to a %s of %s',
      new.debit_account, new.credit_account, new.type, new.brand_id);
  end if;
  return new;
end $$;
create trigger check_sides before insert on wallet.transfer for each row execute function wallet.check_sides();
`,
}
