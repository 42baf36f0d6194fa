/** Texts about files for the bank. */
export const fileWords = {
  'operation.makePaymentFile': ['Make a file for the bank', 'Gerar arquivo para o banco'],
  'operation.showPaymentFile': ['Look at a file for the bank', 'Ver um arquivo para o banco'],
  'operation.discardPaymentFile': ['Discard this file', 'Descartar este arquivo'],
  'field.paymentFile': ['File for the bank', 'Arquivo para o banco'],
  'none.paymentFile': ['in none', 'em nenhum'],
  'field.batchNumber': ['Number of the Pix batch', 'Número do lote Pix'],
  'none.batchNumber': ['a CSV file', 'um arquivo CSV'],
  'field.agreement': ['Agreement with the bank', 'Convênio com o banco'],
  'none.agreement': ['none', 'nenhum'],
  'field.madeBy': ['Made by', 'Gerado por'],
  'field.madeAt': ['Made', 'Gerado'],
  'field.discarded': ['Free again', 'Livres de novo'],
  'none.discarded': ['none', 'nenhum'],
  'none.waiting': ['none', 'nenhum'],
  payFile: ['Download the file', 'Baixar o arquivo'],
  payFileChosen: ['Those chosen in the list', 'Os escolhidos na lista'],
  makeFileAsk: [
    'What you choose is then in this file, and in no other until somebody discards it. Download it on its page, as often as you need: it stays the same.',
    'O que você escolher fica neste arquivo, e em nenhum outro até que alguém o descarte. Baixe-o na página dele, quantas vezes precisar: ele fica igual.',
  ],
  discardFileAsk: [
    'Only if the bank does not carry it out: what waits in it ({count}) may then go into another file. If the bank has this one too, it is paid twice.',
    'Só se o banco não o executar: o que nele espera ({count}) poderá ir para outro arquivo. Se o banco também tiver este, será pago duas vezes.',
  ],
  inFile: ['of {who}, {ago}', 'de {who}, {ago}'],
  noneFree: [
    'Nothing waits here. What is in a file for the bank is marked as paid on the page of that file: the list of those to pay names it.',
    'Nada espera aqui. O que está em um arquivo para o banco é marcado como pago na página dele: a lista dos a pagar o indica.',
  ],
  payFileCsv: ['CSV', 'CSV'],
  payFileBatch: ['Pix batch {number}', 'Lote Pix {number}'],
  payFileMade: ['{kind}, made by {who} {ago}.', '{kind}, gerado por {who} {ago}.'],
  payFileWhat: [
    'Choose what the bank has paid. Each is signed and recorded on its own; what is refused changes nothing for the others.',
    'Escolha o que o banco pagou. Cada um é assinado e registrado por si; o que for recusado não muda nada para os outros.',
  ],
  payFileWaiting: ['Waiting for payment: {count}.', 'Esperando o pagamento: {count}.'],
  payFileDiscarded: ['Discarded by {who} {ago}: “{why}”.', 'Descartado por {who} {ago}: “{why}”.'],
  payFileNotPix: [
    'Some of those chosen are to no Pix key, or not in reais: a Pix batch has no place for them.',
    'Alguns dos escolhidos não são para uma chave Pix, ou não são em reais: não cabem em um lote Pix.',
  ],
  'error.WITHDRAWAL_IN_FILE': [
    'One of these is in another file for the bank already. Load the page again.',
    'Um destes já está em outro arquivo para o banco. Recarregue a página.',
  ],
  'error.BATCH_NUMBER_USED': [
    'Another file has this number, and the bank takes each once. Give the next one, or discard that file.',
    'Outro arquivo tem este número, e o banco aceita cada um uma vez. Informe o próximo, ou descarte aquele arquivo.',
  ],
  'error.PAYMENT_FILE_NOT_FOUND': ['There is no such file for the bank.', 'Este arquivo para o banco não existe.'],
  'error.PAYMENT_FILE_DISCARDED': [
    'This file was discarded: what was in it may be in another one.',
    'Este arquivo foi descartado: o que estava nele pode estar em outro.',
  ],
} as const

/** What the schemas of their forms say. */
export const portugueseFileSentences: Readonly<Record<string, string>> = {
  'Of the withdrawals.': 'Ids dos saques.',
  'For a batch of Pix transfers: one more than that of the last one. Without it, a CSV file is made.':
    'Para um lote de transferências Pix: um a mais que o do último. Sem ele, é gerado um arquivo CSV.',
  'Number of the bank, and of the agreement with it: its batches are counted apart.':
    'Número do banco, e do convênio com ele: os lotes dele são contados à parte.',
  'How you know that the bank does not pay what stands in it.': 'Como você sabe que o banco não paga o que está nele.',
}
