import { both } from './both.ts'

/** Texts of all pages, of the queues, of proposals, and of what went wrong. */
export const generalWords = {
  title: ['Back office', 'Back office'],
  production: ['Production', 'Produção'],
  sandbox: ['Sandbox', 'Sandbox'],
  environment: ['Environment', 'Ambiente'],
  skip: ['Skip to the page', 'Ir para o conteúdo'],
  menu: ['Pages', 'Páginas'],
  home: ['Home', 'Início'],
  withdrawals: ['Withdrawals', 'Saques'],
  toReview: ['To review', 'Para analisar'],
  toPay: ['To pay', 'Para pagar'],
  kyc: ['Identity checks', 'Identidade (KYC)'],
  audit: ['Audit', 'Auditoria'],
  operators: ['Operators', 'Operadores'],
  search: ['Id, name, CPF…', 'Id, nome, CPF…'],
  refusedRequests: ['Refused requests', 'Requisições recusadas'],
  refusedKept: ['Of the last seven days, without bodies.', 'Dos últimos sete dias, sem o corpo.'],
  refusedNotKept: both`Of the last seven days, without bodies. Also refused today, and not kept: {count}.
    Dos últimos sete dias, sem o corpo. Também recusadas hoje e não guardadas: {count}.`,
  outcomeNotKnown: both`Nobody knows whether it was done: a retry with the same Idempotency-Key or transaction tells.
    Não se sabe se foi feito: uma nova tentativa com a mesma Idempotency-Key ou transação diz.`,
  senderNotProven: both`The signature was not right, so somebody else may have sent it.
    A assinatura não estava certa; outra pessoa pode ter enviado.`,
  idempotencyKeys: ['Idempotency-Keys', 'Idempotency-Keys'],
  auditOfThis: ['Audit of this', 'Auditoria deste registro'],
  holdsFrom: ['holds from {time}', 'vale a partir de {time}'],
  searchLabel: ['Search', 'Busca'],
  searchNothing: ['Nothing is found under “{text}”.', 'Nada encontrado com “{text}”.'],
  searchSecret: ['Search by CPF, e-mail or telephone', 'Buscar por CPF, e-mail ou telefone'],
  searchSecretAsk: both`Fill in one of them, as a whole. Who searched, and why, is recorded; a CPF, an e-mail and a telephone are not.
    Preencha um deles, por inteiro. Fica registrado quem buscou e por quê; CPF, e-mail e telefone, não.`,
  searchSecretPasted: both`You pasted the secret as well. It is not kept or shown, but whoever else found it can sign calls: revoke the key.
    Você colou também o segredo. Ele não é guardado nem mostrado, mas quem mais o achou pode assinar chamadas: revogue a chave.`,
  searchSecretAlone: both`A secret does not say whose it is, and is not shown again. Search for the key that stood beside it (bk_… or gp_…).
    Um segredo não diz de quem é, e não é mostrado de novo. Busque a chave que estava ao lado (bk_… ou gp_…).`,
  serviceAway: ['No answer: {service}', 'Sem resposta: {service}'],
  serviceLate: ['No answer yet: {service}', 'Ainda sem resposta: {service}'],
  serviceStarts: both`Starting, since it runs only when it is needed: {service}
    Iniciando, pois só roda quando é preciso: {service}`,
  'service.gateway': ['operators and keys', 'operadores e chaves'],
  'service.players': ['players and identity', 'jogadores e identidade'],
  'service.payments': ['deposits and withdrawals', 'depósitos e saques'],
  'service.wallet': ['balances and play', 'saldos e jogo'],
  'service.webhooks': ['webhooks', 'webhooks'],
  'service.reconciler': ['reconciliation', 'conciliação'],
  restComes: ['The rest of this page is shown when it is there.', 'O resto desta página aparece quando chegar.'],
  restShow: ['Show the whole page', 'Mostrar a página inteira'],
  searchNobody: ['No player is found.', 'Nenhum jogador encontrado.'],
  signIn: ['Sign in', 'Entrar'],
  signInWith: ['Sign in with your company account', 'Entrar com a conta da empresa'],
  signInWhat: both`For the people who review identity checks, withdrawals and operators.
    Para quem analisa identidades, saques e operadores.`,
  signInOut: ['You are signed out.', 'Você saiu.'],
  signInOver: both`Your session is over: it lasts for a working day. Sign in again.
    Sua sessão terminou: ela dura um dia de trabalho. Entre de novo.`,
  signInEnded: ['This session was ended.', 'Esta sessão foi encerrada.'],
  signInLocked: both`Your account is locked here. Two people of the team can unlock it.
    A sua conta está bloqueada aqui. Duas pessoas da equipe podem desbloqueá-la.`,
  signInHere: both`You are signed out in this browser. The services did not answer: sign in again and end the session under “My sessions”.
    Você saiu neste navegador. Os serviços não responderam: entre de novo e encerre a sessão em “Minhas sessões”.`,
  signInRefused: ['You must sign in again. The session was not accepted.', 'Entre de novo. A sessão não foi aceita.'],
  signInKey: both`This browser does not have the key of your session any more. Sign in again.
    Este navegador não tem mais a chave da sua sessão. Entre de novo.`,
  signInReads: both`Your browser has made a key for this session, and lets the console read with it.
    Seu navegador criou uma chave para esta sessão, e permite que o console leia com ela.`,
  signInScript: both`Signing in needs JavaScript: your browser makes the key that you decide with.
    Para entrar é preciso JavaScript: seu navegador cria a chave com que você decide.`,
  noKey: both`This browser cannot keep a key. Use another one, and no private window.
    Este navegador não consegue guardar uma chave. Use outro, e não uma janela anônima.`,
  needsScript: both`Without JavaScript you can read and not decide: your browser signs each decision.
    Sem JavaScript você pode ler, mas não decidir: seu navegador assina cada decisão.`,
  notSigned: both`Your browser could not sign this, or the form was changed after it was shown. Nothing was sent. Load the page again.
    Seu navegador não pôde assinar, ou o formulário mudou depois de exibido. Nada foi enviado. Recarregue a página.`,
  neverUsed: ['Never', 'Nunca'],
  signOut: ['Sign out', 'Sair'],
  signedInAs: ['Signed in as {name}', 'Conectado como {name}'],
  roles: ['Roles', 'Perfis'],
  noRoles: both`Your account has no role here. Ask whoever looks after your company’s groups to put you into one.
    Sua conta não tem nenhum perfil aqui. Peça a quem cuida dos grupos da empresa para incluir você.`,
  loggedIn: ['Logged in {ago}', 'Entrou {ago}'],
  nothingWaits: ['Nothing waits', 'Fila vazia'],
  oldest: ['oldest {ago}', 'caso mais antigo: {ago}'],
  more: ['Next page', 'Próxima página'],
  first: ['First page', 'Primeira página'],
  none: ['Nothing here.', 'Nada aqui.'],
  noneFiltered: ['Nothing fits this filter.', 'Nada corresponde a este filtro.'],
  noneWaits: both`Nothing waits. What operators send is here at once, the oldest first.
    A fila está vazia. O que os operadores enviam aparece aqui na hora, o mais antigo primeiro.`,
  open: ['Open', 'Abrir'],
  next: ['Next in the queue', 'Próximo da fila'],
  history: ['History', 'Histórico'],
  documents: ['Documents', 'Documentos'],
  latestDocument: ['Latest document', 'Último documento'],
  documentHost: ['It comes from {host}.', 'Vem de {host}.'],
  documentMoved: both`This address was changed less than a day ago. Make sure that the operator knows before you decide.
    Este endereço foi alterado há menos de um dia. Confirme com o operador antes de decidir.`,
  documentUnseen: ['Nothing to be seen below?', 'Não aparece nada abaixo?'],
  documentLate: ['{host} has not sent it yet.', '{host} ainda não o enviou.'],
  documentAlone: both`Open it in a tab of its own, as a PDF may need
    Abrir em uma aba própria, como um PDF pode precisar`,
  facts: ['Facts', 'Dados'],
  decision: ['Decision', 'Decisão'],
  notYours: ['This takes the role {roles}.', 'Isto exige o perfil {roles}.'],
  forOthers: ['With other roles: {what}', 'Com outros perfis: {what}'],
  lookElsewhere: ['Check the address, or search for it above.', 'Confira o endereço, ou busque acima.'],
  nothingToDecide: ['There is nothing to decide.', 'Não há nada a decidir.'],
  settling: both`The last decision is being carried out. Load the page again in a moment.
    A última decisão está sendo executada. Recarregue a página em instantes.`,
  settlingShort: ['being carried out', 'em execução'],
  loginAgainStrong: both`It also takes a second factor, such as a passkey, which your present login did not have.
    Exige também um segundo fator, como uma chave de acesso, que o login atual não teve.`,
  loginAgain: ['Log in again to go on', 'Entrar de novo para continuar'],
  loginAgainWhy: both`For safety, log in again: your login is older than {minutes} minutes.
    Por segurança, entre de novo: seu login tem mais de {minutes} minutos.`,
  twoPeople: both`In production, whoever approved a withdrawal cannot pay it too.
    Em produção, quem aprovou um saque não pode também pagá-lo.`,
  onePerson: ['For an amount like this, one person is enough.', 'Para um valor como este, uma pessoa basta.'],
  firstPerson: ['Approved by {name}, {ago}.', 'Aprovado por {name}, {ago}.'],
  firstIsYou: both`You approved it yourself, so somebody else must pay it.
    Você mesmo aprovou; outra pessoa precisa pagar.`,
  optional: ['optional', 'opcional'],
  choose: ['Choose…', 'Escolha…'],
  done: ['Done: {what}', 'Feito: {what}'],
  proposed: both`Proposed. Somebody else must do the same until {time}; then it is carried out.
    Proposto. Outra pessoa precisa fazer o mesmo até {time}; então será executado.`,
  deposits: ['Deposits', 'Depósitos'],
  firstWithdrawal: ['first withdrawal', 'primeiro saque'],
  newDestination: ['new destination', 'destino novo'],
  sharedWithOne: ['also of another player', 'usado por mais um jogador'],
  sharedWithSome: ['also of {count} other players', 'usado por mais {count} jogadores'],
  sharedWithMany: ['also of {count} or more other players', 'usado por {count} ou mais outros jogadores'],
  players: ['Players', 'Jogadores'],
  show: ['show', 'mostrar'],
  auditNotice: both`The trail belongs to no environment: it shows production and sandbox.
    A trilha não pertence a um ambiente: mostra produção e sandbox.`,
  player: ['Player', 'Jogador'],
  playerOpen: ['Open the player', 'Abrir o jogador'],
  keys: ['Keys', 'Chaves'],
  all: ['All', 'Todos'],
  filter: ['Filter', 'Filtrar'],
  language: ['Language', 'Idioma'],
  theme: ['Colours', 'Cores'],
  'theme.system': ['As the system', 'Como o sistema'],
  'theme.light': ['Light', 'Claro'],
  'theme.dark': ['Dark', 'Escuro'],
  density: ['Lists', 'Listas'],
  'density.comfortable': ['Comfortable', 'Confortável'],
  'density.compact': ['Compact', 'Compacta'],
  sumsWhole: both`Sums of all that the filter finds, not only of this page
    Somas de tudo o que o filtro encontra, não só desta página`,
  sumsNewest: both`Sums of the {most} records that the list begins with; there are more
    Somas dos {most} primeiros registros da lista; há mais`,
  keyboard: ['Keyboard', 'Teclado'],
  keyMove: ['next, previous row', 'linha seguinte, anterior'],
  keyOpen: ['open the row', 'abrir a linha'],
  keyAct: ['approve, reject, pay, payment failed', 'aprovar, rejeitar, pagar, pagamento falhou'],
  keyAsk: ['ask for another document', 'pedir outro documento'],
  keyChoose: ['choose the row, send several again', 'escolher a linha, reenviar várias'],
  keyTake: ['take a case, give it back', 'assumir um caso, devolvê-lo'],
  keyCompare: ['show and compare', 'mostrar e comparar'],
  keyNext: ['next in the queue', 'próximo da fila'],
  keySearch: ['search', 'buscar'],
  keyBack: ['back to the list', 'voltar à lista'],
  keyHelp: ['this help', 'esta ajuda'],
  close: ['Close', 'Fechar'],

  // Withdrawals
  approve: ['Approve', 'Aprovar'],
  reject: ['Reject', 'Rejeitar'],
  pay: ['Pay', 'Pagar'],
  fail: ['Payment failed', 'Pagamento falhou'],
  approveAsk: both`Approve {amount} to {destination} for {player}. It then waits for its payment.
    Aprovar {amount} para {destination}, de {player}. Depois aguarda o pagamento.`,
  rejectAsk: both`Reject {amount} to {destination} for {player}. The money is free again.
    Rejeitar {amount} para {destination}, de {player}. O dinheiro fica livre de novo.`,
  payAsk: both`Record that {amount} was paid to {destination} for {player}. The wallet is debited.
    Registrar que {amount} foi pago para {destination}, de {player}. A carteira é debitada.`,
  failAsk: both`Record that {amount} to {destination} for {player} could not be paid. The money is free again.
    Registrar que {amount} para {destination}, de {player}, não pôde ser pago. O dinheiro fica livre de novo.`,
  approveDone: ['{amount} approved', '{amount} aprovado'],
  rejectDone: ['{amount} rejected', '{amount} rejeitado'],
  payDone: ['{amount} paid', '{amount} pago'],
  failDone: ['payment of {amount} failed', 'pagamento de {amount} falhou'],

  proposals: ['Proposals', 'Propostas'],
  openProposals: ['Open', 'Abertas'],
  decidedProposals: ['Decided', 'Decididas'],
  waitForMe: ['Waiting for me', 'Aguardando por mim'],
  waitForOthers: ['Waiting for others', 'Aguardando por outros'],
  mine: ['Proposed by me', 'Propostas por mim'],
  oneIsEnough: both`In the sandbox one person is enough. Only giving up a credit takes two: it waits under Production.
    No sandbox uma pessoa basta. Só desistir de um crédito exige duas: isso espera em Produção.`,
  missingServices: both`No answer, so what is kept there is missing: {services}.
    Sem resposta, então falta o que é guardado ali: {services}.`,
  timesIn: ['Times: {timeZone} ({offset})', 'Horários: {timeZone} ({offset})'],
  ownProposal: both`You proposed this. Somebody else with the role {roles} must approve it.
    Você propôs isto. Outra pessoa com o perfil {roles} precisa aprovar.`,
  proposedByOther: both`Proposed by {name}, {ago}. With your approval it is done.
    Proposta por {name}, {ago}. Com a sua aprovação, é executada.`,
  adjustUp: ['Add {amount} to the balance of {whom}', 'Somar {amount} ao saldo de {whom}'],
  adjustDown: ['Take {amount} from the balance of {whom}', 'Tirar {amount} do saldo de {whom}'],
  reverseUp: both`Reverse: {type} of {amount} ({reference}): the money goes back to {whom}
    Estornar: {type} de {amount} ({reference}): o dinheiro volta para {whom}`,
  reverseDown: both`Reverse: {type} of {amount} ({reference}): the money is taken from {whom}
    Estornar: {type} de {amount} ({reference}): o dinheiro é tirado de {whom}`,
  giveUp: both`Give up the credit of {amount} to {whom}: the deposit {depositId} fails
    Desistir do crédito de {amount} para {whom}: o depósito {depositId} falha`,
  askedFor: ['Asked for by {name}: {why}', 'Pedido de {name}: {why}'],
  withApproval: ['{by}, approved by {approvedBy}', '{by}, com aprovação de {approvedBy}'],
  approveProposalAsk: ['Do what {name} proposed: {what}.', 'Executar o que {name} propôs: {what}.'],
  decline: ['Decline', 'Recusar'],
  takeBack: ['Take back', 'Retirar'],
  declineAsk: ['It will not be done: {what}.', 'Não será executado: {what}.'],
  declined: ['declined: {what}', 'recusada: {what}'],
  proposalSigned: ['Signed by {name}, verified here.', 'Assinada por {name}, verificada aqui.'],
  proposalNotSigned: both`It is not proven that {name} signed what this page shows, so nobody can approve it here: {why}.
    Não está provado que {name} assinou o que esta página mostra, então ninguém pode aprová-lo aqui: {why}.`,
  unknownProposal: both`This console does not know what it is. Use a newer one.
    Este console não conhece isto. Use um mais novo.`,
  collect: ['Show the secrets', 'Mostrar os segredos'],
  collectAsk: both`{name} agreed. You asked for them, so only you are shown them, and once.
    {name} concordou. Você pediu, então só você os vê, e uma única vez.`,
  proposerIsShown: both`{what}. {name} finds the secrets on the proposal, for two days
    {what}. {name} encontra os segredos na proposta, por dois dias`,
  'error.PROPOSAL_NOT_FOUND': ['There is no such proposal.', 'Esta proposta não existe.'],
  'error.NOT_AS_SEEN': both`It is not what this page showed. Look at it again before you decide.
    Não é o que esta página mostrou. Verifique novamente antes de decidir.`,
  'error.PROPOSAL_NOT_OPEN': both`The proposal is no longer open. Somebody else may have decided.
    A proposta já não está aberta. Outra pessoa pode ter decidido.`,
} as const
