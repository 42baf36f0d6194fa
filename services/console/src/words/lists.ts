import { both } from './both.ts'

/** Texts of what lists have in common: their pages, their order, their times and days; of the list of players, and of paying several; what happened to a delivery. */
export const listWords = {
  previous: ['Previous page', 'Página anterior'],
  rowsShown: ['{from}–{to}', '{from}–{to}'],
  rowsOf: ['{from}–{to} of {total}', '{from}–{to} de {total}'],
  order: ['Order', 'Ordem'],
  'order.oldest': ['Oldest first', 'Espera mais longa'],
  'order.newest': ['Newest first', 'Espera mais curta'],
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

/** What the service says of deliveries. */
export const portugueseDeliverySentences: Readonly<Record<string, string>> = {
  // Why a delivery did not arrive
  'Not sent: no URL was set, or the endpoint was disabled. A resend or a replay sends it.':
    'Não enviada: não havia endereço, ou o destino estava desativado. Envie de novo para entregar.',
  'The connection was refused: nothing listens on that port.': 'A conexão foi recusada: nada escuta nessa porta.',
  'The receiver closed the connection before it answered.': 'O servidor fechou a conexão antes de responder.',
  'The connection could not be made in time.': 'A conexão não foi feita a tempo.',
  'There is no route to the receiver.': 'Não há rota até o servidor.',
  'The host name does not exist.': 'O nome do servidor não existe.',
  'The name servers of the host did not answer.': 'Os servidores de nomes não responderam.',
  "The receiver's certificate has expired.": 'O certificado do servidor venceu.',
  "The receiver's certificate is for another host name.": 'O certificado é de outro nome de servidor.',
  'The TLS handshake failed.': 'A negociação de TLS falhou.',
}

/** Sentences that name something. */
export const portuguesePatterns: readonly (readonly [said: RegExp, portuguese: string])[] = [
  // What happened to a delivery
  [/^(.+\.) The last one: (.+)$/, '$1 A última: $2'],
  [/^Delivered on attempt (\d+), (.+) after the event\.$/, 'Entregue na tentativa $1, $2 depois do evento.'],
  [/^Given up after (\d+) attempts, (.+) after the event\.$/, 'Encerrada após $1 tentativas, $2 depois do evento.'],
  [/^Not tried yet; (.+)\.$/, 'Ainda sem tentativa; $1.'],
  [/^Tried once; (.+)\.$/, 'Uma tentativa; $1.'],
  [/^Tried (\d+) times; (.+)\.$/, '$1 tentativas; $2.'],
  [/^the next attempt is due now$/, 'a próxima é agora'],
  [/^the next attempt is due in (.+)$/, 'a próxima é em $1'],
  [/^the receiver fails again and again and is left alone for (.+)$/, 'o servidor falha seguidas vezes; pausa de $1'],
  [/^The receiver answered (\d+)\.$/, 'O servidor respondeu $1.'],
  [/^No answer within (\S+) s\.$/, 'Sem resposta em $1 s.'],
  [/^(\S+) of (\S+) has not been finished\.$/, '$1, de $2, não foi concluído.'],
  [
    /^The host leads to an address that is not public \((.+)\); nothing was sent\.$/,
    'O servidor leva a um endereço que não é público ($1); nada foi enviado.',
  ],
  [
    /^A transfer of type (\S+) is between the wrong kinds of accounts\.$/,
    'Uma transferência do tipo $1 está entre tipos errados de contas.',
  ],
]
