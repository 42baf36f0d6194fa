/** Texts of what was refused, of what a field wants, and of pages that cannot be shown. */
export const refusalWords = {
  refused: ['Not done', 'Não foi feito'],
  notKnown: ['Not known whether it was done', 'Não se sabe se foi feito'],
  unknown: ['Try again: it acts once.', 'Tente de novo: só vale uma vez.'],
  unanswered: ['Nobody answered.', 'Ninguém respondeu.'],
  typedKept: [
    'What you had typed is here again. Nothing was sent since.',
    'O que você digitou está aqui de novo. Nada foi enviado desde então.',
  ],
  'title.NOT_FOUND': ['There is no such page', 'Esta página não existe'],
  'title.ROLE_REQUIRED': ['You may not see this', 'Você não pode ver isto'],
  'title.FORGED': ['Not done', 'Não foi feito'],
  'title.FAILED': ['This cannot be shown now', 'Isto não pode ser mostrado agora'],
  back2: ['Go to the start page', 'Ir para o início'],
  tryAgain: ['Try again', 'Tentar de novo'],
  'error.NOT_FOUND': [
    'Its address may be wrong, or what it showed is gone.',
    'O endereço pode estar errado, ou o que ela mostrava não existe mais.',
  ],
  'error.FORGED': [
    'The form was not sent by this page, or it is too old. Nothing was done. Load the page again.',
    'O formulário não veio desta página, ou é antigo demais. Nada foi feito. Recarregue a página.',
  ],
  'error.RATE_LIMITED': ['Too many requests. Wait a minute.', 'Pedidos demais. Espere um minuto.'],
  'error.SIGNATURE_REQUIRED': [
    'Your browser must sign this. Nothing was done. Load the page again.',
    'Seu navegador precisa assinar isto. Nada foi feito. Recarregue a página.',
  ],
  'error.INVALID': ['This cannot be read.', 'Isto não pode ser lido.'],
  'error.FAILED': ['Something failed. It was logged.', 'Algo falhou. Foi registrado.'],
  'error.INTERNAL_ERROR': ['The service failed.', 'O serviço falhou.'],
  'error.SERVICE_UNAVAILABLE': ['The service does not answer.', 'O serviço não responde.'],
  'error.PROVIDER_AWAY': [
    'The identity provider cannot be reached. Try again in a moment.',
    'O provedor de identidade não responde. Tente de novo em instantes.',
  ],
  'error.ROLE_REQUIRED': ['Your roles do not allow this.', 'Suas funções não permitem isto.'],
  'error.PLAYER_NOT_FOUND': ['There is no such player.', 'Este jogador não existe.'],
  'error.WITHDRAWAL_NOT_FOUND': ['There is no such withdrawal.', 'Este saque não existe.'],
  'error.KYC_TAKEN': [
    'Somebody else has taken this case. Nothing was done.',
    'Outra pessoa assumiu este caso. Nada foi feito.',
  ],
  'error.OPERATOR_NOT_FOUND': ['There is no such operator.', 'Este operador não existe.'],
  'error.WITHDRAWAL_INVALID_STATE': [
    'The withdrawal is no longer in the state for this. Somebody else may have decided.',
    'O saque já não está nesse estado. Outra pessoa pode ter decidido.',
  ],
  'value.notReserved': ['no money reserved', 'sem dinheiro reservado'],
  'error.WITHDRAWAL_NOT_RESERVED': [
    'The ledger reserves no money for this withdrawal, so it cannot be paid. Report it before you reject it: somebody may have forged a reply.',
    'O livro-razão não reserva dinheiro para este saque, então ele não pode ser pago. Avise antes de rejeitar: alguém pode ter forjado uma resposta.',
  ],
  'error.NOT_AS_APPROVED': [
    'It is not proven that somebody approved this as it is shown here. Pay nothing, and report it.',
    'Não está provado que alguém aprovou isto como aparece aqui. Não pague nada, e avise.',
  ],
  'error.TWO_PEOPLE_REQUIRED': [
    'This takes two people, and the first one was you. Somebody else must do it.',
    'Isto exige duas pessoas, e a primeira foi você. Outra pessoa precisa fazê-lo.',
  ],
  'error.VALIDATION_ERROR': ['Something is not filled in as it must be.', 'Algo não está preenchido como deve.'],
  'error.IDEMPOTENCY_CONFLICT': [
    'This form was sent before with something else in it. Load the page again.',
    'Este formulário já foi enviado com outro conteúdo. Recarregue a página.',
  ],
  'error.LOGIN_NOT_BEGUN': [
    'This sign-in was begun in another window, or too long ago.',
    'Este login foi iniciado em outra janela, ou há tempo demais.',
  ],
  'error.LOGIN_CANCELLED': [
    'The sign-in was cancelled at the identity provider.',
    'O login foi cancelado no provedor de identidade.',
  ],
  'error.LOGIN_TOKEN_TOO_LONG': [
    'Your ID token is too long for a cookie. Ask whoever looks after the identity provider to send only the groups of the back office.',
    'Seu ID token é longo demais para um cookie. Peça a quem cuida do provedor para enviar só os grupos do back office.',
  ],
  'error.LOGIN_NO_NAME': [
    'The identity provider does not say who you are: a verified name is missing. Ask whoever looks after it.',
    'O provedor de identidade não diz quem você é: falta um nome verificado. Peça a quem cuida dele.',
  ],
  'error.LOGIN_REFUSED': [
    'The identity provider’s answer was not accepted. Ask whoever looks after the console.',
    'A resposta do provedor de identidade não foi aceita. Fale com quem cuida do console.',
  ],
  'error.LOGIN_FAILED': [
    'The sign-in failed at the identity provider. Try again.',
    'O login falhou no provedor de identidade. Tente de novo.',
  ],

  // What a field wants. First by what a service says, then by the field, then by its format or kind.
  amountLike: ['1,234.56', '1.234,56'],
  amountOf: ['{amount}', '{amount}'],
  amountGiven: ['+ {amount}, given to the player', '+ {amount}, dado ao jogador'],
  amountTaken: ['− {amount}, taken from the player', '− {amount}, tirado do jogador'],
  'rule.required': ['Fill this in.', 'Preencha.'],
  'rule.choice': ['Choose one.', 'Escolha uma opção.'],
  'rule.amount': [
    'This cannot be read for certain. Write an amount such as 10.50 or 1,234.56.',
    'Isto não pode ser lido com certeza. Escreva um valor como 10,50 ou 1.234,56.',
  ],
  'rule.amountOverZero': [
    'Write an amount over zero, such as 10.50 or 1,234.56.',
    'Escreva um valor acima de zero, como 10,50 ou 1.234,56.',
  ],
  'rule.number': ['Write a number from {minimum} to {maximum}.', 'Escreva um número de {minimum} a {maximum}.'],
  'rule.time': ['Write a day and a time.', 'Escreva um dia e uma hora.'],
  'rule.text': [
    'Write it on one line, without characters that do not show, and not longer than it may be.',
    'Escreva em uma linha, sem caracteres invisíveis e sem passar do tamanho máximo.',
  ],
  'rule.lines': [
    'Write at most {maxLength} characters, and none that do not show.',
    'Escreva no máximo {maxLength} caracteres, nenhum deles invisível.',
  ],
  'rule.cpf': [
    'This is no CPF: eleven digits, of which the last two fit.',
    'Isto não é um CPF: onze dígitos, com os dois últimos corretos.',
  ],
  'rule.email': ['Write a whole e-mail address.', 'Escreva um e-mail completo.'],
  'rule.phone': ['Write digits only, with the country code.', 'Escreva só números, com o código do país.'],
  'rule.currency': [
    'Write the three letters of a currency with 2 decimals, such as BRL.',
    'Escreva as três letras de uma moeda com 2 decimais, como BRL.',
  ],
  'rule.time-zone': [
    'Write the name of a time zone, such as America/Sao_Paulo.',
    'Escreva o nome de um fuso horário, como America/Sao_Paulo.',
  ],
  'rule.allowedAddresses': [
    'Write IPv4 or IPv6 addresses or ranges, such as 203.0.113.0/24, one a line.',
    'Escreva endereços ou faixas IPv4 ou IPv6, como 203.0.113.0/24, um por linha.',
  ],
  'rule.template': [
    'Write an address over https with a public host, and {reference} once in its path or query.',
    'Escreva um endereço com https e um servidor público, e {reference} uma vez no caminho ou na consulta.',
  ],
  'rule.name': [
    'Write at most 64 letters, digits, spaces, dots, hyphens and underscores, a letter or digit first.',
    'Escreva no máximo 64 letras, dígitos, espaços, pontos, hífens e sublinhados, começando por letra ou dígito.',
  ],
  'rule.reference': [
    'Write at most 128 letters, digits and _ . : / -, not beginning with dep_ or wdr_.',
    'Escreva no máximo 128 letras, dígitos e _ . : / -, sem começar por dep_ ou wdr_.',
  ],
  'rule.type': ['Choose one.', 'Escolha uma opção.'],
  'issue.must not be zero': ['It must not be zero.', 'Não pode ser zero.'],
  'issue.must be in the future, and no earlier than the end of the exclusion that runs': [
    'It must be in the future, and no earlier than the end of the exclusion that runs.',
    'Deve estar no futuro, e não antes do fim da autoexclusão em vigor.',
  ],
  'issue.an anonymised player stays encerrado': [
    'An anonymised player stays closed.',
    'Um jogador anonimizado permanece encerrado.',
  ],
  'issue.is you: end all of your sessions instead': [
    'This is your own account: end all of your sessions instead.',
    'Esta é a sua própria conta: encerre todas as suas sessões.',
  ],
  'issue.is not known to the database': [
    'The database does not know this time zone.',
    'O banco de dados não conhece este fuso horário.',
  ],
  'issue.must have exactly one of playerId, externalId, cpf, email, phone and name': [
    'Fill in exactly one of CPF, e-mail, telephone and the operator’s own id.',
    'Preencha exatamente um: CPF, e-mail, telefone ou id no operador.',
  ],
  'issue.other': [
    'What the page sent is not what is wanted. Load the page again.',
    'O que a página enviou não é o esperado. Recarregue a página.',
  ],
} as const
