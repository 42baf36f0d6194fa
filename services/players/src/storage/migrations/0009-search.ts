import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * What sealed CPFs and e-mail addresses are found by: keyed digests. Null: not sealed yet, or anonymised. The words of a
 * name are compared without case and accents, so that they are found however they are typed.
 */
export const search: Migration = {
  name: '0009_search',
  sql: `
alter table players.player add column cpf_digest text collate "C", add column email_digest text collate "C";
create function players.name_words(name text) returns tsvector language sql immutable parallel safe
  -- Letters apart from their accents, which are left out. What joins words separates them.
  return to_tsvector('simple'::regconfig, translate(
    regexp_replace(normalize(name, nfd), '[\\u0300-\\u036f]', '', 'g'), $$.-_/@:'’,+&()"$$, '               '));
`,
}
