import { both } from './both.ts'

/** Texts of what lists have in common: their pages, their order, their times and days; of the list of players, and of paying several. */
export const listWords = {
  previous: ['Previous page', 'Página anterior'],
  rowsShown: ['{from}–{to}', '{from}–{to}'],
  rowsOf: ['{from}–{to} of {total}', '{from}–{to} de {total}'],
  order: ['Order', 'Ordem'],
  'order.oldest': ['Oldest first', 'Mais antigos'],
  'order.newest': ['Newest first', 'Mais recentes'],
  'order.largest': ['Largest first', 'Maior valor'],
  'order.smallest': ['Smallest first', 'Menor valor'],
  rowsEach: ['Rows on a page', 'Linhas por página'],
  times: ['Times', 'Horários'],
  'times.short': ['Short', 'Curtos'],
  'times.exact': ['To the second', 'Com segundos'],
  menuOf: ['Menu: {page}', 'Menu: {page}'],
  playersLately: both`Players registered in the last {days} days. Choose an operator, a first day or “self-excluded” to see others.
    Jogadores cadastrados nos últimos {days} dias. Escolha um operador, um primeiro dia ou “autoexcluído” para ver outros.`,
  'empty.players': ['No player fits.', 'Nenhum jogador encontrado.'],
  'field.concerns': ['Concerns', 'Assunto'],
  'value.concerns.wallet': ['money', 'dinheiro'],
  'value.concerns.payments': ['money', 'dinheiro'],
  'value.concerns.players': ['player', 'jogador'],
  'value.concerns.gateway': ['access', 'acesso'],
  'value.concerns.webhooks': ['webhooks', 'webhooks'],
  'value.concerns.reconciler': ['reconciliation', 'conciliação'],
  payMost: both`At most {most} at once: those that wait longest.
    No máximo {most} por vez: os que esperam há mais tempo.`,
  defaultOf: ['default: {value}', 'padrão: {value}'],
  'value.anyAddress': ['any address', 'qualquer endereço'],
  payNone: ['Waiting: {count}. You can pay none of them.', 'Esperando: {count}. Você não pode pagar nenhum.'],
  payOthers: ['Others are not offered. {why}', 'Outros não são oferecidos. {why}'],
} as const
