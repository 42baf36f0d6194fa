import { both } from './both.ts'

/** Texts of what was refused, of what a field wants, and of pages that cannot be shown. */
export const refusalWords = {
  refused: ['Not done', 'Não foi feito'],
  fieldWants: ['One field needs your attention:', 'Um campo precisa de atenção:'],
  fieldsWant: ['{count} fields need your attention:', '{count} campos precisam de atenção:'],
  notKnown: ['Not known whether it was done', 'Não se sabe se foi feito'],
  unknown: ['Try again: it acts once.', 'Tente de novo: só vale uma vez.'],
  unanswered: ['Nobody answered.', 'Ninguém respondeu.'],
  typedKept: both`What you had typed is here again. Nothing was sent since.
    O que você digitou está aqui de novo. Nada foi enviado desde então.`,
  'title.NOT_FOUND': ['There is no such page', 'Esta página não existe'],
  'title.ROLE_REQUIRED': ['You may not see this', 'Você não pode ver isto'],
  'title.FORGED': ['Not done', 'Não foi feito'],
  'title.FAILED': ['This cannot be shown now', 'Isto não pode ser mostrado agora'],
  back2: ['Go to the start page', 'Ir para o início'],
  tryAgain: ['Try again', 'Tentar de novo'],
  'error.NOT_FOUND': both`Its address may be wrong, or what it showed is gone.
    O endereço pode estar errado, ou o que ela mostrava não existe mais.`,
  'error.FORGED': both`The form was not sent by this page, or it is too old. Nothing was done. Load the page again.
    O formulário não veio desta página, ou é antigo demais. Nada foi feito. Recarregue a página.`,
  'error.RATE_LIMITED': ['Too many requests. Wait a minute.', 'Requisições demais. Espere um minuto.'],
  'error.SIGNATURE_REQUIRED': both`Your browser must sign this. Nothing was done. Load the page again.
    Seu navegador precisa assinar isto. Nada foi feito. Recarregue a página.`,
  'error.INVALID': ['The page sent something we could not read.', 'Não foi possível interpretar o envio.'],
  'error.FAILED': ['Something failed. It was logged.', 'Algo falhou. Foi registrado.'],
  'error.INTERNAL_ERROR': ['The service failed.', 'O serviço falhou.'],
  'error.SERVICE_STARTS': both`The service runs when it is needed, and is starting. This page is loaded again by itself.
    O serviço roda quando é preciso e está iniciando. Esta página é carregada de novo sozinha.`,
  'error.SERVICE_UNAVAILABLE': ['The service does not answer.', 'O serviço não responde.'],
  'error.PROVIDER_AWAY': both`The identity provider cannot be reached. Try again in a moment.
    O provedor de identidade não responde. Tente de novo em instantes.`,
  'error.ROLE_REQUIRED': ['Your roles do not allow this.', 'Seu perfil não permite esta ação.'],
  'error.PLAYER_NOT_FOUND': ['There is no such player.', 'Este jogador não existe.'],
  'error.WITHDRAWAL_NOT_FOUND': ['There is no such withdrawal.', 'Este saque não existe.'],
  'error.KYC_TAKEN': both`Somebody else has taken this case. Nothing was done.
    Outra pessoa assumiu este caso. Nada foi feito.`,
  'error.OPERATOR_NOT_FOUND': ['There is no such operator.', 'Este operador não existe.'],
  'error.WITHDRAWAL_INVALID_STATE': both`The withdrawal is no longer in the state for this. Somebody else may have decided.
    O saque já não está nesse estado. Outra pessoa pode ter decidido.`,
  'value.notReserved': ['no money reserved', 'sem dinheiro reservado'],
  'error.WITHDRAWAL_NOT_RESERVED': both`The ledger reserves no money for this withdrawal, so it cannot be paid. Report it before you reject it: somebody may have forged a reply.
    O livro-razão não reserva dinheiro para este saque, então ele não pode ser pago. Avise antes de rejeitar: alguém pode ter forjado uma resposta.`,
  'error.NOT_AS_APPROVED': both`It is not proven that somebody approved this as it is shown here. Pay nothing, and report it.
    Não está provado que alguém aprovou isto como aparece aqui. Não pague nada, e avise.`,
  'error.TWO_PEOPLE_REQUIRED': both`This takes two people, and the first one was you. Somebody else must do it.
    Isto exige duas pessoas, e a primeira foi você. Outra pessoa precisa fazê-lo.`,
  'error.VALIDATION_ERROR': ['Something is not filled in as it must be.', 'Algo não está preenchido como deve.'],
  'error.IDEMPOTENCY_CONFLICT': both`This form was sent before with something else in it. Load the page again.
    Este formulário já foi enviado com outro conteúdo. Recarregue a página.`,
  'error.LOGIN_NOT_BEGUN': both`This sign-in was begun in another window, or too long ago.
    Este login foi iniciado em outra janela, ou há tempo demais.`,
  'error.LOGIN_CANCELLED': both`The sign-in was cancelled at the identity provider.
    O login foi cancelado no provedor de identidade.`,
  'error.LOGIN_TOKEN_TOO_LONG': both`Your ID token is too long for a cookie. Ask whoever looks after the identity provider to send only the groups of the back office.
    Seu ID token é longo demais para um cookie. Peça a quem cuida do provedor para enviar só os grupos do back office.`,
  'error.LOGIN_NO_NAME': both`The identity provider does not say who you are: a verified name is missing. Ask whoever looks after it.
    O provedor de identidade não diz quem você é: falta um nome verificado. Peça a quem cuida dele.`,
  'error.LOGIN_REFUSED': both`The identity provider’s answer was not accepted. Ask whoever looks after the console.
    A resposta do provedor de identidade não foi aceita. Fale com quem cuida do console.`,
  'error.LOGIN_FAILED': both`The sign-in failed at the identity provider. Try again.
    O login falhou no provedor de identidade. Tente de novo.`,

  // What a field wants. First by what a service says, then by the field, then by its format or kind.
  amountLike: ['1,234.56', '1.234,56'],
  amountOf: ['{amount}', '{amount}'],
  amountGiven: ['+ {amount}, given to the player', '+ {amount}, dado ao jogador'],
  amountTaken: ['− {amount}, taken from the player', '− {amount}, tirado do jogador'],
  'rule.required': ['Fill this in.', 'Preencha.'],
  'rule.choice': ['Choose one.', 'Escolha uma opção.'],
  'rule.amount': both`This cannot be read for certain. Write an amount such as 10.50 or 1,234.56.
    Isto não pode ser lido com certeza. Escreva um valor como 10,50 ou 1.234,56.`,
  'rule.amountOverZero': both`Write an amount over zero, such as 10.50 or 1,234.56.
    Escreva um valor acima de zero, como 10,50 ou 1.234,56.`,
  'rule.number': ['Write a number from {minimum} to {maximum}.', 'Escreva um número de {minimum} a {maximum}.'],
  'rule.time': ['Write a day and a time.', 'Escreva um dia e uma hora.'],
  'rule.text': both`Write it on one line, without characters that do not show, and not longer than it may be.
    Escreva em uma linha, sem caracteres invisíveis e sem passar do tamanho máximo.`,
  'rule.lines': both`Write at most {maxLength} characters, and none that do not show.
    Escreva no máximo {maxLength} caracteres, nenhum deles invisível.`,
  'rule.cpf': both`This is no CPF: eleven digits, of which the last two fit.
    Isto não é um CPF: onze dígitos, com os dois últimos corretos.`,
  'rule.email': ['Write a whole e-mail address.', 'Escreva um e-mail completo.'],
  'rule.phone': ['Write digits only, with the country code.', 'Escreva só números, com o código do país.'],
  'rule.currency': both`Write the three letters of a currency with 2 decimals, such as BRL.
    Escreva as três letras de uma moeda com 2 decimais, como BRL.`,
  'rule.time-zone': both`Write the name of a time zone, such as America/Sao_Paulo.
    Escreva o nome de um fuso horário, como America/Sao_Paulo.`,
  'rule.allowedAddresses': both`Write IPv4 or IPv6 addresses or ranges, such as 203.0.113.0/24, one a line.
    Escreva endereços ou faixas IPv4 ou IPv6, como 203.0.113.0/24, um por linha.`,
  'rule.template': both`Write an address over https with a public host, and {reference} once in its path or query.
    Escreva um endereço com https e um servidor público, e {reference} uma vez no caminho ou na consulta.`,
  'rule.name': both`Write at most 64 letters, digits, spaces, dots, hyphens and underscores, a letter or digit first.
    Escreva no máximo 64 letras, dígitos, espaços, pontos, hífens e sublinhados, começando por letra ou dígito.`,
  'rule.reference': both`Write at most 128 letters, digits and _ . : / -, not beginning with dep_ or wdr_.
    Escreva no máximo 128 letras, dígitos e _ . : / -, sem começar por dep_ ou wdr_.`,
  'rule.type': ['Choose one.', 'Escolha uma opção.'],
  'issue.must not be zero': ['It must not be zero.', 'Não pode ser zero.'],
  'issue.must be in the future, and no earlier than the end of the exclusion that runs': both`It must be in the future, and no earlier than the end of the exclusion that runs.
    Deve estar no futuro, e não antes do fim da autoexclusão em vigor.`,
  'issue.an anonymised player stays encerrado': both`An anonymised player stays closed.
    Um jogador anonimizado permanece encerrado.`,
  'issue.is you: end all of your sessions instead': both`This is your own account: end all of your sessions instead.
    Esta é a sua própria conta: encerre todas as suas sessões.`,
  'issue.is not known to the database': both`The database does not know this time zone.
    O banco de dados não conhece este fuso horário.`,
  'issue.must have exactly one of playerId, externalId, cpf, email, phone and name': both`Fill in exactly one of CPF, e-mail, telephone and the operator’s own id.
    Preencha exatamente um: CPF, e-mail, telefone ou id no operador.`,
  'issue.other': both`What the page sent is not what is wanted. Load the page again.
    O que a página enviou não é o esperado. Recarregue a página.`,
} as const

/**
 * What services and the schemas of forms say in whole sentences, by the English sentence: what a field takes, what a
 * difference of a reconciliation means, and why a reconciliation failed. Reports keep those of earlier releases too.
 */
export const portugueseSentences: Readonly<Record<string, string>> = {
  'Of the deliveries.': 'Ids das entregas.',
  // Help of forms
  'Over https, with {reference} once, where the reference goes. Null: no links.':
    'Com https e {reference} uma vez, onde entra a referência.',
  'Replace the key that signs.': 'Trocar a chave que assina.',
  'On: a signature is accepted for one request only.': 'Ligada: uma assinatura vale para uma só requisição.',
  'IPv4 or IPv6, with or without a prefix length.': 'IPv4 ou IPv6, com ou sem tamanho de prefixo.',
  'ISO 4217, with 2 decimals; never changed later; BRL when absent.': 'ISO 4217, com 2 decimais; não muda depois.',
  'IANA name; where days begin; never changed later; America/Sao_Paulo when absent.':
    'Nome IANA; onde os dias começam; não muda depois.',
  'Requests per minute and environment.': 'Requisições por minuto e ambiente.',
  'How long X-Webhook-Signature keeps the former secret: 24 unless said, 0 after a leak.':
    'Por quanto tempo X-Webhook-Signature mantém o segredo anterior: 24 se nada for dito, 0 após um vazamento.',
  'Per minute; 300 unless said.': 'Por minuto; 300 se nada for dito.',
  'ISO 8601 in UTC with milliseconds.': 'No fuso {timeZone}.',
  'Unique among operators.': 'Único entre os operadores.',
  'Account status of the player, as it is now. Deposits and play need `ativo`; withdrawals do not depend on it. `suspenso`, `bloqueado`, `encerrado` and `restrito` refuse the same, and differ in why.':
    'Depósitos e jogo exigem “ativo”; saques não dependem disso. “Suspenso”, “bloqueado”, “encerrado” e “restrito” recusam o mesmo e diferem no motivo.',
  'Null: for good.': 'No fuso {timeZone}.',
  'Null: no limit.': '',
  'Signed: a negative amount takes money from the player.': 'Com sinal: um valor negativo tira dinheiro do jogador.',
  'Unique per brand, for ever: the same reference never moves money twice.':
    'Única por marca, para sempre: a mesma referência nunca move dinheiro duas vezes.',
  'Why; the operator reads it with the withdrawal.': 'Por quê; o operador lê com o saque.',
  'Why; the operator reads it with the status.': 'Por quê; o operador lê com o status.',
  'Why; kept in the audit trail.': 'Por quê; fica na auditoria.',
  'On what an approval rests when its document opens nowhere, since the operator has no address for documents. Needed then; the audit trail keeps it.':
    'O documento não abre aqui: diga em que você se baseia. Fica na auditoria.',
  'Why the first pair of production is issued although checks are not proved.':
    'Por que o primeiro par de produção é emitido sem todas as verificações comprovadas.',
  'With or without punctuation.': 'Com ou sem pontuação.',
  'The whole address.': 'O endereço inteiro.',
  'Digits, with the country code or, in Brazil, without.': 'Só números, com o código do país ou, no Brasil, sem ele.',
  'MiB that the calls of a day (UTC) may store, for each environment; in the sandbox no more than the settings say.':
    'MiB que as chamadas de um dia (UTC) podem guardar, em cada ambiente; no sandbox, não mais do que diz a configuração.',
  'The same in rows.': 'O mesmo em linhas.',
  'The account: issuer and subject with a space between, or `machine` and its name.':
    'A conta: emissor e sujeito separados por um espaço, ou “machine” e o nome dela.',
  'Also from somebody else who has it.': 'Também de outra pessoa que o tenha.',
  "The operator's own identifier; unique per brand.": 'O identificador do próprio operador; único por marca.',

  // Why nothing may be sent to an address
  'The URL cannot be read.': 'O endereço não pode ser lido.',
  'The URL must not carry a user name or a password.': 'O endereço não pode ter usuário nem senha.',
  'The URL must not carry a fragment.': 'O endereço não pode ter fragmento (#).',
  'The URL must use https.': 'O endereço deve usar https.',
  'The port of the URL must be 443 or 8443.': 'A porta do endereço deve ser 443 ou 8443.',
  'The URL leads to this machine.': 'O endereço leva a esta máquina.',
  'The address of the URL is not a public one.': 'O endereço não é público.',

  // Reconciliations
  'A checkpoint of a player is not on the hash chain. The chain was followed from its first entry.':
    'Um ponto de controle de um jogador não está na cadeia de hash. A cadeia foi seguida desde o primeiro lançamento.',
  'Entries are missing before this one.': 'Faltam lançamentos antes deste.',
  'The account does not agree with its entries and open holds (minor units).':
    'A conta não confere com seus lançamentos e reservas abertas (em centavos).',
  'The account of entries is gone.': 'A conta de lançamentos desapareceu.',
  'The balance after an entry is not the one before plus its amount (minor units).':
    'O saldo após um lançamento não é o anterior mais o valor dele (em centavos).',
  'A record is of another environment than its brand.': 'Um registro é de outro ambiente que não o da sua marca.',
  'What is kept outside of the database could not be compared with it. All other checks were made.':
    'O que se guarda fora do banco não pôde ser comparado com ele. Todas as outras verificações foram feitas.',
  'The sum that is held against a daily limit is not that of the deposits (minor units).':
    'A soma que se compara com um limite diário não é a dos depósitos (em centavos).',
  'A record, or one that belongs to it, cannot be read. Nobody knows whether it is right.':
    'Um registro, ou outro que faz parte dele, não pode ser lido. Ninguém sabe se está certo.',
  'The KYC status of a player was changed by nobody who may.':
    'O status de KYC de um jogador não foi mudado por ninguém que pudesse.',
  'The KYC status of a player is not what its history says.':
    'O status de KYC de um jogador não é o que diz o histórico dele.',
  'The transfer of an entry is gone.': 'A transferência de um lançamento desapareceu.',
  'All entries of a currency must sum to zero (minor units).':
    'Todos os lançamentos de uma moeda devem somar zero (em centavos).',
  'An exported head is no longer in the chain: its end was cut off or written anew.':
    'Uma ponta exportada não está mais na cadeia: o fim dela foi cortado ou reescrito.',
  'Heads of the hash chains are not exported, so a chain whose end was cut off would not be seen.':
    'As pontas das cadeias de hash não são exportadas; uma cadeia com o fim cortado não seria notada.',
  'A change and what operators were told of it do not agree.':
    'Uma mudança e o que os operadores souberam dela não conferem.',
  'A decision is not the one that the audit trail names.': 'Uma decisão não é a que consta da trilha de auditoria.',
  'A decision of the team is not in the audit trail.': 'Uma decisão da equipe não consta da trilha de auditoria.',
  'A withdrawal names an approver who did not approve it.': 'Um saque indica como aprovador alguém que não o aprovou.',
  'One person approved a withdrawal and paid it.': 'Uma só pessoa aprovou e pagou um saque.',
  'A withdrawal that one person approved and paid was paid at another time than its history says.':
    'Um saque que uma só pessoa aprovou e pagou foi pago em outro momento do que diz o histórico.',
  'Somebody decided who may not.': 'Decidiu alguém que não podia.',
  'The audit trail names a decision that was not made.':
    'Na trilha de auditoria consta uma decisão que não foi tomada.',
  'The history of a deposit or withdrawal does not lead to its status and version.':
    'O histórico de um depósito ou saque não leva ao status e à versão dele.',
  'A captured hold and its transfer do not agree (minor units).':
    'Uma reserva debitada e a transferência dela não conferem (em centavos).',
  'A reversal does not take back exactly what it names.': 'Um estorno não desfaz exatamente o lançamento que indica.',
  'A transfer and its entries do not agree.': 'Uma transferência e os lançamentos dela não conferem.',
  'An adjustment or reversal and the audit trail do not agree (minor units).':
    'Um ajuste ou estorno e a trilha de auditoria não conferem (em centavos).',
  'A deposit and the ledger do not agree (minor units).': 'Um depósito e o razão não conferem (em centavos).',
  'A withdrawal and its hold do not agree (minor units).': 'Um saque e a reserva dele não conferem (em centavos).',
  'A player was registered and has no account.': 'Um jogador foi cadastrado e não tem conta.',
  'An adjustment or reversal is not proven by signatures of the team.':
    'Um ajuste ou estorno não está comprovado por assinaturas da equipe.',
  'A decision on an identity is not proven by the signature of somebody of the team.':
    'Uma decisão sobre uma identidade não está comprovada pela assinatura de alguém da equipe.',
  'A decision on a withdrawal is not proven by the call that somebody of the team has signed.':
    'Uma decisão sobre um saque não está comprovada pela chamada que alguém da equipe assinou.',
  'That a credit was given up is not proven by signatures of the team.':
    'A desistência de um crédito não está comprovada por assinaturas da equipe.',
  'What a player may do is not proven by the call that somebody of the team has signed.':
    'O que um jogador pode fazer não está comprovado pela chamada que alguém da equipe assinou.',
  'A setting is not proven by the call that somebody of the team has signed.':
    'Uma configuração não está comprovada pela chamada que alguém da equipe assinou.',
  'What a player may do was changed by nobody who may.': 'O que um jogador pode fazer foi mudado por quem não pode.',
  'What a player may do is not what its history says.': 'O que um jogador pode fazer não é o que diz o histórico dele.',
  'A checkpoint of a system account is not the sum of its entries (minor units).':
    'Um ponto de controle de uma conta do sistema não é a soma dos lançamentos dela (em centavos).',
  'The standby is too far behind to reconcile.': 'A réplica do banco está atrasada demais para conciliar.',
  'It made no progress for too long.': 'Ficou tempo demais sem avançar.',
  'It was ended for a run after a restore.': 'Foi encerrada por uma conciliação depois de uma restauração.',
  'The process that ran it has ended.': 'O processo que a executava terminou.',
  'The service was stopped; start another run.': 'O serviço foi parado; inicie outra conciliação.',
  'Of the withdrawals.': 'Ids dos saques.',
  'For a batch of Pix transfers: one more than that of the last one. Without it, a CSV file is made.':
    'Para um lote de transferências Pix: um a mais que o do último. Sem ele, é gerado um arquivo CSV.',
  'Number of the bank, and of the agreement with it: its batches are counted apart.':
    'Número do banco, e do convênio com ele: os lotes dele são contados à parte.',
  'How you know that the bank does not pay what stands in it.': 'Como você sabe que o banco não paga o que está nele.',
}

/** What is said otherwise in English too: a form has no null, and its times are those of the console. */
export const englishSentences: Readonly<Record<string, string>> = {
  'Over https, with {reference} once, where the reference goes. Null: no links.':
    'Over https, with {reference} once, where the reference goes.',
  'ISO 4217, with 2 decimals; never changed later; BRL when absent.': 'ISO 4217, with 2 decimals; never changed later.',
  'IANA name; where days begin; never changed later; America/Sao_Paulo when absent.':
    'IANA name; where days begin; never changed later.',
  'ISO 8601 in UTC with milliseconds.': 'In the zone {timeZone}.',
  'Of the deliveries.': 'Their ids.',
  'Of the withdrawals.': 'Their ids.',
  'On what an approval rests when its document opens nowhere, since the operator has no address for documents. Needed then; the audit trail keeps it.':
    'The document does not open here: say what you rely on. Kept in the audit trail.',
  'The account: issuer and subject with a space between, or `machine` and its name.':
    'The account: issuer and subject with a space between, or “machine” and its name.',
  // As the choices are called here.
  'Account status of the player, as it is now. Deposits and play need `ativo`; withdrawals do not depend on it. `suspenso`, `bloqueado`, `encerrado` and `restrito` refuse the same, and differ in why.':
    'Deposits and play need “active”; withdrawals do not depend on it. “Suspended”, “blocked”, “closed” and “restricted” refuse the same, and differ in why.',
  // Beside the choice of a time, and of an amount.
  'Null: for good.': 'In the zone {timeZone}.',
  'Null: no limit.': '',
}
